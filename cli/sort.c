/*
 * sort.c - "echelon sort": a file of numbers in, the same in order out.
 *
 *     run()  options -> open the device -> open the output -> load -> sort -> unique -> write
 *
 * The output is opened before the input is read, so that a directory which cannot be written is an
 * error at once and not after the work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "sort.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct sort_words words;
    const char *output, *device, *threads;
    bool unique, check, stats, json;
} set;

static const struct option options[] = {
    { 'o', "output", "FILE", &set.output,
      "write there, which may be INPUT; default: standard output" },
    { 'r', "reverse", NULL, &set.words.reverse, "greatest first" },
    { 'u', "unique", NULL, &set.unique, "keep the first of equal numbers alone" },
    { 'c', "check", NULL, &set.check,
      "write nothing; exit with 1 when INPUT is not sorted.\n"
      "With --unique: when it is not strictly sorted" },
    { 0, "argsort", NULL, &set.words.argsort, "write where in INPUT each number was, from 0" },
    SORT_COLUMN_OPTIONS(set.words),
    { 'd', "device", "DEVICE", &set.device,
      "cpu, cuda, cuda:1, simt; default: the first GPU, else cpu" },
    { 0, "threads", "N", &set.threads, "CPU threads, at most; 0: all" },
    { 0, "algorithm", "NAME", &set.words.algorithm, "one that \"echelon explain sort\" lists" },
    { 0, "stats", NULL, &set.stats, "print times and memory on standard error" },
    { 0, "json", NULL, &set.json,
      "the same as JSON; on standard output when the data goes to\na file, else on standard "
      "error" },
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- Check ---- */

static struct io_order make_order(const struct sort_job *job)
{
    const ech_sort_options *o = &job->options;
    /* By a part of the bits, a sort of keys alone tells -0 from +0; others never do. */
    bool keys_alone = !job->argsort && !job->column.lines;
    bool part =
        o->end_bit && o->end_bit - o->begin_bit < 8 * (int)ech_dtype_bytes(job->column.dtype);
    return (struct io_order){ .dtype = job->column.dtype,
                              .order = o->order,
                              .descending = o->descending != 0,
                              .merged = !(keys_alone && part),
                              .begin_bit = o->begin_bit,
                              .end_bit = o->end_bit };
}

static int check(const struct sort_job *job)
{
    const struct io_column *c = &job->column;
    struct io_order order = make_order(job);
    uint64_t at = io_first_unsorted(&order, c->keys, c->n, set.unique);
    if (at == c->n) return EXIT_DONE;
    char now[IO_NUMBER_TEXT], before[IO_NUMBER_TEXT];
    size_t bytes = ech_dtype_bytes(c->dtype);
    const char *key = (const char *)c->keys + at * bytes;
    io_format_key(c->dtype, key, now);
    io_format_key(c->dtype, key - bytes, before);
    bool equal = io_rank(&order, key) == io_rank(&order, key - bytes);
    unsigned long long number = c->lines ? at + 1 : at;
    return cli_fail(EXIT_NO, "%s: %s: %s %llu is %s, after %s", job->input,
                    equal ? "not strictly sorted" : "not sorted", c->lines ? "line" : "element",
                    number, now, before);
}

/* ---- Output ---- */

/* An index is held in as few bytes as can be and written in eight. */
static io_status write_wide(struct io_output *output, const struct sort_job *job,
                            struct io_error *error)
{
    uint64_t block[512];
    const char *at = job->index;
    for (uint64_t done = 0; done < job->n_out;) {
        uint64_t left = job->n_out - done;
        size_t n = left < 512 ? (size_t)left : 512;
        for (size_t i = 0; i < n; i++, at += job->index_bytes)
            block[i] = io_load(at, job->index_bytes);
        io_status status = io_write(output, block, n * sizeof *block, error);
        if (status != IO_OK) return status;
        done += n;
    }
    return IO_OK;
}

static io_status write_index(struct io_output *output, const struct sort_job *job,
                             struct io_error *error)
{
    io_status status = IO_OK;
    if (job->column.format == IO_TEXT) {
        const char *at = job->index;
        for (uint64_t i = 0; i < job->n_out && status == IO_OK; i++, at += job->index_bytes) {
            char text[IO_NUMBER_TEXT];
            uint64_t value = io_load(at, job->index_bytes);
            size_t n = io_format_key(ECH_U64, &value, text);
            text[n++] = '\n';
            status = io_write(output, text, n, error);
        }
        return status;
    }
    if (job->column.format == IO_NPY) {
        unsigned char header[IO_NPY_HEADER];
        size_t n = io_npy_header(io_npy_descr(ECH_U64), job->n_out, header);
        status = io_write(output, header, n, error);
    }
    return status == IO_OK ? write_wide(output, job, error) : status;
}

static io_status write_lines(struct io_output *output, const struct sort_job *job,
                             struct io_error *error)
{
    enum { AHEAD = 16 }; /* lines whose text is asked for before it is needed */
    const struct io_column *c = &job->column;
    for (uint64_t i = 0; i < job->n_out; i++) {
        if (i + AHEAD < job->n_out) __builtin_prefetch(c->text + c->lines[i + AHEAD]);
        const char *line = c->text + c->lines[i];
        const char *newline = memchr(line, '\n', c->text_bytes - (size_t)c->lines[i]);
        io_status status = io_write(output, line, (size_t)(newline - line) + 1, error);
        if (status != IO_OK) return status;
    }
    return IO_OK;
}

static io_status write_keys(struct io_output *output, struct sort_job *job, struct io_error *error)
{
    struct io_column *c = &job->column;
    size_t bytes = ech_dtype_bytes(c->dtype);
    io_status status = IO_OK;
    if (c->format == IO_NPY) {
        unsigned char header[IO_NPY_HEADER];
        size_t n = c->npy.header_bytes;
        /* The header of the input, to the byte, while it is true of the output. */
        if (job->n_out != c->n) n = io_npy_header(c->npy.descr, job->n_out, header);
        status = io_write(output, job->n_out != c->n ? header : c->header, n, error);
        if (c->npy.big_endian) io_swap(c->keys, job->n_out, bytes);
    }
    return status == IO_OK ? io_write(output, c->keys, (size_t)job->n_out * bytes, error) : status;
}

/* Of the output, about, for progress; 0 when only writing tells. */
static uint64_t expected_bytes(const struct sort_job *job)
{
    const struct io_column *c = &job->column;
    if (c->format != IO_TEXT)
        return job->n_out * (job->argsort ? sizeof(uint64_t) : ech_dtype_bytes(c->dtype));
    return !job->argsort && job->n_out == c->n ? c->text_bytes : 0;
}

static io_status write_result(struct io_output *output, struct sort_job *job,
                              struct io_error *error)
{
    stage_begin(job, STAGE_WRITE);
    output->progress = &job->progress.io;
    output->total_bytes = expected_bytes(job);
    io_status status = job->argsort        ? write_index(output, job, error)
                       : job->column.lines ? write_lines(output, job, error)
                                           : write_keys(output, job, error);
    if (status == IO_OK) status = io_commit(output, error);
    stage_end(job, STAGE_WRITE, output->written_bytes);
    return status;
}

/* ---- Run ---- */

int sort_parse(struct sort_job *job, const struct sort_words *words)
{
    job->argsort = words->argsort;
    job->options = (ech_sort_options){ .size = sizeof job->options,
                                       .descending = words->reverse,
                                       .algorithm = words->algorithm };
    return cli_parse_order(words->order, &job->options.order);
}

int sort_load(struct sort_job *job, const struct sort_words *words)
{
    struct io_source source;
    struct io_error error;
    struct io_hints hints;
    int code = cli_parse_format(words->format, &hints.format);
    if (code == EXIT_DONE) code = cli_parse_dtype(words->type, &hints.dtype);
    if (code != EXIT_DONE) return code;

    stage_begin(job, STAGE_READ);
    io_status status = io_open(&source, job->input, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    job->input = source.name;
    source.progress = &job->progress.io;
    status = io_load_column(&source, &hints, &job->column, &error);
    io_close(&source);
    cli_progress_end(&job->progress);
    if (status != IO_OK) return cli_fail_io(status, &error);
    const struct io_column *c = &job->column;
    job->values = c->lines;
    job->value_bytes = c->lines ? sizeof *c->lines : 0;
    stage_end(job, STAGE_READ, c->npy.header_bytes + (c->text ? c->text_bytes : c->keys_bytes));
    return cli_parse_bits(words->bits, c->dtype, &job->options);
}

static void keep_unique(struct sort_job *job)
{
    struct io_column *c = &job->column;
    struct io_order order = make_order(job);
    job->n_out = c->n;
    if (!set.unique) return;
    job->n_out = job->argsort ? io_unique_index(&order, c->keys, job->index, job->index_bytes, c->n)
                              : io_unique(&order, c->keys, c->lines, c->n);
}

static int sort_to(struct sort_job *job, struct io_output *output)
{
    struct io_error error;
    int code = sort_load(job, &set.words);
    if (code != EXIT_DONE) return code;
    if (!output->path && output->fd == STDOUT_FILENO && job->column.format != IO_TEXT &&
        isatty(STDOUT_FILENO))
        return cli_fail(EXIT_BAD, "the output is binary and standard output is a terminal: "
                                  "give -o FILE, or redirect it");
    code = sort_column(job);
    if (code != EXIT_DONE) return code;
    keep_unique(job);
    io_status status = write_result(output, job, &error);
    cli_progress_end(&job->progress);
    if (status != IO_OK) return cli_fail_io(status, &error);
    if (set.stats) report_text(job, stderr);
    if (set.json) report_json(job, strcmp(job->output, "-") == 0 ? stderr : stdout);
    return EXIT_DONE;
}

static int sort_file(struct sort_job *job)
{
    struct io_error error;
    struct io_output output;
    int threads, code = cli_parse_threads(set.threads, &threads);
    if (code != EXIT_DONE) return code;
    stage_begin(job, STAGE_OPEN);
    code = cli_open(&job->ctx, set.device, threads);
    stage_end(job, STAGE_OPEN, 0);
    if (code != EXIT_DONE) return code;
    io_status status = io_create(&output, set.output, &error);
    if (status == IO_OK) {
        code = sort_to(job, &output);
        io_discard(&output);
    } else {
        code = cli_fail_io(status, &error);
    }
    ech_close(job->ctx);
    return code;
}

static int run(int count, char **operands)
{
    struct sort_job job = { .input = count ? operands[0] : "-",
                            .output = set.output ? set.output : "-",
                            .staged = set.stats || set.json,
                            .started = cli_seconds() };
    if (!count && isatty(STDIN_FILENO))
        return cli_fail(EXIT_BAD, "no INPUT; give a file, or - for standard input");
    if (set.check && (set.words.argsort || set.output))
        return cli_fail(EXIT_BAD, "--check writes nothing, so it does not go with --%s",
                        set.words.argsort ? "argsort" : "output");
    int code = sort_parse(&job, &set.words);
    if (code != EXIT_DONE) return code;
    cli_progress_start(&job.progress);
    if (set.check) {
        code = sort_load(&job, &set.words);
        if (code == EXIT_DONE) code = check(&job);
    } else {
        code = sort_file(&job);
    }
    cli_progress_end(&job.progress);
    free(job.index);
    io_free_column(&job.column);
    return code;
}

const struct command command_sort = {
    .name = "sort",
    .summary = "sort a file of numbers",
    .usage = "  echelon sort [OPTION]... [INPUT]\n",
    .examples = "  echelon sort data.npy -o sorted.npy       an array that NumPy saved\n"
                "  echelon sort data.npy -o data.npy         in place; never leaves half a file\n"
                "  echelon sort keys.bin --type u32 -o out   raw little-endian elements\n"
                "  cut -f3 table.tsv | echelon sort -r       lines, by the number on each\n"
                "  echelon sort -c data.npy && echo sorted   exit code 0 or 1\n"
                "  echelon sort --argsort data.npy -o i.npy  the order instead of the numbers\n",
    .notes =
        "INPUT \"-\", the default, is standard input.  Without --format, the format is that of "
        "the\n"
        "extension (.npy; .txt .text .csv; .raw .bin, or .u32 and so on, which says the type\n"
        "too), else .npy or text when the file begins like it, else raw when --type is given.\n\n"
        "Text is one number a line.  The output is the same lines, to the byte, in order; equal\n"
        "numbers keep their order.  Without --type, a column of integers is i64, or u64 when one\n"
        "needs it, and any other is f64.  A blank line is an error.  A last line without its\n"
        "newline gets one.\n\n"
        "--argsort writes u64, as .npy, raw or one a line, like the input.\n\n"
        "Exit codes: 0 done; 1 not sorted (--check); 2 bad usage, bad input, or a file that\n"
        "cannot be read or written; 3 the device is not there or failed; 4 out of memory.\n",
    .options = options,
    .most_operands = 1,
    .run = run,
};
