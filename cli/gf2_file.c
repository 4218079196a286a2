/*
 * gf2_file.c - reads and writes matrices, and reads column orders, for "echelon gf2".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "gf2.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Words ---- */

static int bad_packed(const char *text)
{
    return cli_fail(EXIT_BAD,
                    "--packed is \"%s\"; give little or big and the columns of each input, such as "
                    "little:1000 or big:1000,1",
                    text);
}

static int parse_packed(struct gf2_job *job)
{
    const char *text = job->words.packed, *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    bool little = n == 6 && memcmp(text, "little", n) == 0;
    if (!little && !(n == 3 && memcmp(text, "big", n) == 0)) return bad_packed(text);
    for (int i = 0; i < 2; i++)
        job->hints[i].packed = little ? IO_BITS_NPY_LITTLE : IO_BITS_NPY_BIG;
    for (int i = 0; colon && i < 2; i++) {
        const char *at = colon + 1, *end = at + strcspn(at, ",");
        bool negative;
        uint64_t *columns = &job->hints[i].columns;
        if (io_parse_integer(at, end, &negative, columns) != IO_NUMBER_OK || negative ||
            *columns == 0 || *columns > io_bits_most)
            return bad_packed(text);
        colon = *end ? end : NULL;
    }
    return colon ? bad_packed(text) : EXIT_DONE;
}

int gf2_parse_files(struct gf2_job *job)
{
    const char *names[IO_BITS_FORMATS], *name = job->words.format;
    job->format = -1;
    job->hints[0] = job->hints[1] = (struct io_bits_hints){ .packed = -1 };
    for (int i = 0; i < IO_BITS_FORMATS; i++) names[i] = io_bits_name((io_bits_format)i);
    if (name) job->format = io_bits_from_name(name);
    if (name && job->format < 0) return cli_unknown("format", name, names, IO_BITS_FORMATS);
    return job->words.packed ? parse_packed(job) : EXIT_DONE;
}

/* ---- Inputs ---- */

int gf2_load(struct gf2_job *job, int which, struct io_bits *bits)
{
    struct io_source source;
    struct io_error error;
    cli_progress_stage(&job->progress, "reading");
    io_status status = io_open(&source, job->input[which], &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    job->input[which] = source.name;
    source.progress = &job->progress.io;
    status = io_bits_load(&source, &job->hints[which], bits, &error);
    io_close(&source);
    cli_progress_end(&job->progress);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

static int take_order(struct gf2_job *job, const struct io_column *c, uint64_t columns)
{
    const char *name = job->words.order;
    size_t bytes = ech_dtype_bytes(c->dtype);
    if (io_is_float(c->dtype))
        return cli_fail(EXIT_BAD, "%s: contains %s, but column numbers must be integers", name,
                        ech_dtype_name(c->dtype));
    if (c->n == 0) return cli_fail(EXIT_BAD, "%s: contains no column numbers", name);
    if (c->n > columns)
        return cli_fail(EXIT_BAD,
                        "%s: contains %llu column numbers, but the matrix has %llu columns", name,
                        (unsigned long long)c->n, (unsigned long long)columns);
    if (job->options.pivot_cols > c->n)
        return cli_fail(EXIT_BAD, "--columns is %s, but %s contains only %llu column numbers",
                        job->words.columns, name, (unsigned long long)c->n);
    job->order = malloc((size_t)c->n * sizeof *job->order);
    bool *seen = calloc((size_t)columns, sizeof *seen);
    int code = job->order && seen
                   ? EXIT_DONE
                   : cli_fail(EXIT_MEMORY, "%s: out of memory for the column numbers", name);
    for (uint64_t i = 0; code == EXIT_DONE && i < c->n; i++) {
        const char *at = (const char *)c->keys + i * bytes;
        uint64_t column = io_load(at, bytes), sign = (uint64_t)1 << (8 * bytes - 1);
        bool negative = io_is_signed(c->dtype) && column & sign;
        char text[IO_NUMBER_TEXT];
        io_format_key(c->dtype, at, text);
        if (negative || column >= columns)
            code = cli_fail(EXIT_BAD, "%s: entry %llu is %s; column numbers are from 0 to %llu",
                            name, (unsigned long long)i + 1, text, (unsigned long long)columns - 1);
        else if (seen[column])
            code = cli_fail(EXIT_BAD, "%s: entry %llu is a duplicate of column %s", name,
                            (unsigned long long)i + 1, text);
        else
            seen[column] = true, job->order[i] = (uint32_t)column;
    }
    free(seen);
    job->options.column_order = job->order;
    if (!job->options.pivot_cols) job->options.pivot_cols = (size_t)c->n;
    return code;
}

int gf2_load_order(struct gf2_job *job, uint64_t columns)
{
    struct io_source source;
    struct io_error error;
    struct io_column column;
    struct io_hints hints = { .format = -1, .dtype = -1 };
    io_status status = io_open(&source, job->words.order, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    status = io_load_column(&source, &hints, &column, &error);
    io_close(&source);
    if (status != IO_OK) return cli_fail_io(status, &error);
    int code = take_order(job, &column, columns);
    io_free_column(&column);
    return code;
}

/* ---- Outputs ---- */

static bool is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

int gf2_create(struct gf2_job *job, bool output, const char *second)
{
    struct io_error error;
    if (output && second && is_stdout(second) && is_stdout(job->words.output))
        return cli_fail(EXIT_BAD,
                        "two matrices cannot both be written to standard output: give -o FILE");
    if (second && job->words.output && strcmp(second, job->words.output) == 0)
        return cli_fail(EXIT_BAD, "two matrices cannot both be written to %s", second);
    if (second) {
        io_status status = io_create(&job->second, second, &error);
        if (status != IO_OK) return cli_fail_io(status, &error);
        job->to_second = true;
        job->second.progress = &job->progress.io;
    }
    if (output) {
        io_status status = io_create(&job->output, job->words.output, &error);
        if (status != IO_OK) return cli_fail_io(status, &error);
        job->to_output = true;
        job->output.progress = &job->progress.io;
    }
    return EXIT_DONE;
}

/* The format of --format, otherwise of the extension, otherwise of the input.  If the extension has
 * several variants, that of the input is preferred. */
static io_bits_format choose_format(const struct gf2_job *job, const char *path)
{
    int named = is_stdout(path) ? -1 : io_bits_from_extension(path);
    if (job->format >= 0) return (io_bits_format)job->format;
    if (named < 0 || io_bits_same_family((io_bits_format)named, job->a.format))
        return job->a.format;
    return (io_bits_format)named;
}

int gf2_write(struct gf2_job *job, const struct io_bits *bits, bool second)
{
    const struct gf2_words *w = &job->words;
    struct io_output *output = second ? &job->second : &job->output;
    const char *path = !second ? w->output : w->transform ? w->transform : w->certificate;
    struct io_error error;
    if (second ? !job->to_second : !job->to_output) return EXIT_DONE;
    io_bits_format format = choose_format(job, path);
    if (io_bits_is_binary(format) && is_stdout(path) && isatty(STDOUT_FILENO))
        return cli_fail(EXIT_BAD, CLI_TERMINAL ", or use --format pbm-text");
    cli_progress_stage(&job->progress, "writing");
    io_status status = io_bits_write(output, format, bits, &error);
    if (status == IO_OK) status = io_commit(output, &error);
    cli_progress_end(&job->progress);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

/* ---- Memory ---- */

int gf2_zeros(struct gf2_job *job, struct io_bits *bits, uint64_t rows, uint64_t cols,
              const char *what)
{
    struct io_error error;
    if (io_bits_zeros(bits, rows, cols, job->input[0], &error) == IO_OK) return EXIT_DONE;
    return cli_fail(EXIT_MEMORY, "%s: out of memory: cannot allocate %llu bytes for %s",
                    job->input[0], (unsigned long long)(rows * bits->stride * 8), what);
}

int gf2_copy(struct gf2_job *job, const struct io_bits *from, struct io_bits *to)
{
    int code = gf2_zeros(job, to, from->rows, from->cols, "a copy");
    if (code == EXIT_DONE)
        memcpy(to->words, from->words, (size_t)from->rows * from->stride * sizeof *to->words);
    return code;
}
