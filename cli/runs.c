/*
 * runs.c - loads sorted files, and writes one run.
 *
 * For text, the value of each number is the place of its line: its offset in the texts of all
 * files, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runs.h"

#include <stdlib.h>
#include <string.h>

static const struct io_column *column_of(const struct runs_job *job, int i)
{
    return i ? &job->columns[i] : &job->base.column;
}

/* ---- Input ---- */

int runs_name(struct runs_job *job, int count, char **operands)
{
    int standard = 0;
    const size_t n = count ? (size_t)count : 1;
    job->count = (int)n;
    job->names = calloc(n, sizeof *job->names);
    job->columns = calloc(n, sizeof *job->columns);
    job->runs = calloc(n, sizeof *job->runs);
    job->begins = calloc(n + 1, sizeof *job->begins);
    job->strings = calloc(n, sizeof *job->strings);
    if (!job->names || !job->columns || !job->runs || !job->begins || !job->strings)
        return cli_fail(EXIT_MEMORY, "out of memory: %zu files", n);
    job->names[0] = "-";
    for (int i = 0; i < count; i++) {
        job->names[i] = operands[i];
        standard += strcmp(operands[i], "-") == 0;
    }
    const int code = job_input(&job->base, count, operands);
    if (code == EXIT_DONE && standard > 1)
        return cli_fail(EXIT_BAD, "standard input is given %d times; give it once", standard);
    return code;
}

int runs_check_sorted(const struct runs_job *job)
{
    const struct io_column *c = &job->base.column;
    const size_t bytes = ech_dtype_bytes(c->dtype);
    char now[IO_NUMBER_TEXT], before[IO_NUMBER_TEXT];
    uint64_t at = 0;
    const ech_is_sorted_options o = { .size = sizeof o,
                                      .descending = job->descending,
                                      .order = job->order };
    ech_ctx *ctx = job->base.ctx;
    const ech_status status = ech_is_sorted(ctx, c->keys, &at, (size_t)c->n, c->dtype, &o);
    if (status != ECH_OK) return cli_fail_ech(status, ctx);
    if (at == c->n) return EXIT_DONE;
    const char *key = (const char *)c->keys + at * bytes;
    io_format_key(c->dtype, key, now);
    io_format_key(c->dtype, key - bytes, before);
    return cli_fail(EXIT_BAD, "%s: not sorted: %s %llu is %s, after %s; sort the file first",
                    job->base.input, c->lines ? "line" : "element",
                    (unsigned long long)(c->lines ? io_line_number(c, at) : at), now, before);
}

int runs_check_types(struct runs_job *job)
{
    struct io_column *first = &job->base.column;
    const char *name = job->base.input;
    bool known = first->n || !first->lines;
    for (int i = 1; i < job->count; i++) {
        const struct io_column *c = &job->columns[i];
        if (!c->n && c->lines) continue;
        if (!known) {
            first->dtype = c->dtype;
            name = job->names[i];
            known = true;
        }
        if (c->dtype != first->dtype)
            return cli_fail(EXIT_BAD, "%s: the numbers are %s, but those of %s are %s%s",
                            job->names[i], ech_dtype_name(c->dtype), name,
                            ech_dtype_name(first->dtype), c->lines ? "; give --type for both" : "");
    }
    return EXIT_DONE;
}

/* Loads all files, the first one last, because the base has one column. */
static int load(struct runs_job *job, const struct job_words *words)
{
    for (int i = job->count; i-- > 0;) {
        job->base.input = job->names[i];
        int code = runs_load_one(job, words, i);
        if (code == EXIT_DONE && job->base.column.keys) code = runs_check_sorted(job);
        if (code != EXIT_DONE) return code;
        if (i == 0) break;
        job->columns[i] = job->base.column;
        memset(&job->base.column, 0, sizeof job->base.column);
    }
    const int code = job->text ? runs_rank(job) : EXIT_DONE;
    return code == EXIT_DONE ? runs_check_types(job) : code;
}

/* Moves the numbers of the columns to the runs. */
static void make_runs(struct runs_job *job)
{
    job->lines = job->base.out_format == IO_TEXT;
    for (int i = 0; i < job->count; i++) job->lines &= column_of(job, i)->lines != NULL;
    for (int i = 0; i < job->count; i++) {
        struct io_column *c = i ? &job->columns[i] : &job->base.column;
        struct run *run = &job->runs[i];
        job->begins[i + 1] = job->begins[i] + c->text_bytes;
        *run = (struct run){ .keys = c->keys, .n = (size_t)c->n };
        c->keys = NULL;
        job->base.n_out += c->n;
        if (!job->lines) continue;
        run->places = c->lines;
        c->lines = NULL;
        for (size_t k = 0; k < run->n; k++) run->places[k] += job->begins[i];
    }
}

int runs_load(struct runs_job *job, const struct job_words *words, struct io_output *output)
{
    int code = load(job, words);
    if (code == EXIT_DONE && job->text) code = job_plan_text(words);
    if (code == EXIT_DONE)
        code = job_plan_output(&job->base, words, output, job->base.column.dtype);
    if (code == EXIT_DONE) make_runs(job);
    return code;
}

void runs_free_run(struct run *run)
{
    free(run->keys);
    free(run->places);
    *run = (struct run){ .keys = NULL };
}

int runs_allocate(struct runs_job *job, size_t n, const char *what, struct run *run)
{
    const size_t bytes = ech_dtype_bytes(job->base.column.dtype);
    const size_t place = job->lines ? sizeof *run->places : 0;
    *run = (struct run){ .keys = malloc(n * bytes + 1), .n = n };
    if (job->lines) run->places = malloc(n * place + 1);
    if (run->keys && (run->places || !job->lines)) return EXIT_DONE;
    runs_free_run(run);
    return job_no_memory(&job->base, n * (bytes + place), what);
}

void runs_free(struct runs_job *job)
{
    const bool filled = job->columns && job->runs && job->strings;
    for (int i = 0; filled && i < job->count; i++) {
        runs_free_run(&job->runs[i]);
        io_free_column(&job->columns[i]);
        free(job->strings[i].offsets);
        free(job->strings[i].bytes);
    }
    free(job->names);
    free(job->columns);
    free(job->runs);
    free(job->begins);
    free(job->strings);
    free(job->all.keys);
    free(job->all.offsets);
    free(job->all.bytes);
}

/* ---- Output ---- */

/* The file whose text has the place. */
static int file_of(const struct runs_job *job, uint64_t place)
{
    int low = 0, high = job->count; /* begins[low] <= place < begins[high] */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (job->begins[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The header line of the first file that has one, then the lines. */
static io_status write_merged(const struct runs_job *job, struct io_output *output,
                              struct io_error *error)
{
    const uint64_t *places = job->runs[0].places;
    io_status status = IO_OK;
    for (int i = 0; i < job->count; i++)
        if (column_of(job, i)->head_bytes) {
            status =
                io_write(output, column_of(job, i)->text, column_of(job, i)->head_bytes, error);
            break;
        }
    for (size_t i = 0; i < job->runs[0].n && status == IO_OK; i++) {
        const int file = file_of(job, places[i]);
        const struct io_column *c = column_of(job, file);
        const size_t offset = (size_t)(places[i] - job->begins[file]);
        status = io_write(output, c->text + offset, io_record_bytes(c, offset), error);
    }
    return status;
}

int runs_write(struct runs_job *job, struct io_output *output)
{
    struct job *base = &job->base;
    struct io_column *c = &base->column;
    struct io_error error;
    stage_begin(base, STAGE_WRITE);
    c->keys = job->runs[0].keys;
    job->runs[0].keys = NULL;
    const io_status status = job->lines
                                 ? write_merged(job, output, &error)
                                 : write_keys(output, c, base->out_format, base->n_out, &error);
    const int code = job_commit(base, output, status, &error);
    c->n = base->n_out; /* for the report */
    return code;
}
