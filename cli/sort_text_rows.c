/*
 * sort_text_rows.c - sorts each row of lines of a text that does not fit in memory, for "echelon
 * sort --rows".
 *
 *     some rows -> numbers and offsets of their lines -> ech_sort_pairs_rows() -> lines in order
 *
 * The text was checked before (sort_text.c).  One row must fit in the budget.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_files.h"

#include <stdlib.h>
#include <string.h>

struct text_rows {
    struct sort_files *files;
    struct io_output *output;
    size_t columns;
    size_t most; /* lines that are sorted at once */
    struct sort_reader reader;
    uint64_t *lines; /* [most + 1] offsets in the block */
    char *keys;      /* [most] */
};

/* The memory to sort rows, without their text. */
static uint64_t need_of(const struct text_rows *t, uint64_t rows)
{
    const struct sort_files *files = t->files;
    const uint64_t n = rows * t->columns;
    size_t work = 0;
    ech_sort_segments_workspace(ech_device_name(files->job->base.ctx), ECH_SORT_CALL_ROWS,
                                (size_t)n, (size_t)rows, files->column.dtype, sizeof(uint64_t),
                                &files->job->options, &work);
    return (n + 1) * (sizeof *t->lines + ech_dtype_bytes(files->column.dtype)) + work;
}

static int fail_row(const struct text_rows *t, uint64_t budget)
{
    return cli_fail(EXIT_MEMORY,
                    "%s: a row of %zu lines does not fit in the budget of %llu bytes; give a "
                    "larger one with --memory",
                    t->files->inputs[0].name, t->columns, (unsigned long long)budget);
}

/* Half of the budget is for the numbers, a quarter for the text. */
static int allocate(struct text_rows *t)
{
    const uint64_t budget = sort_files_memory(t->files->set);
    const size_t bytes = ech_dtype_bytes(t->files->column.dtype);
    uint64_t rows = t->files->text_records / t->columns;
    while (rows && need_of(t, rows) > budget / 2) rows /= 2;
    if (!rows) return fail_row(t, budget);
    t->most = (size_t)rows * t->columns;
    t->lines = malloc((t->most + 1) * sizeof *t->lines);
    t->keys = malloc(t->most * bytes);
    if (!t->lines || !t->keys)
        return job_no_memory(&t->files->job->base, need_of(t, rows), "its rows");
    return sort_reader_open(t->files, &t->reader, (size_t)(budget / 4));
}

/* Sorts n lines of whole rows, and writes them. */
static int sort_some(struct text_rows *t, size_t n)
{
    struct job *base = &t->files->job->base;
    struct io_error error;
    ech_sort_options options = t->files->job->options;
    /* The lines of the block, whose ends follow their begins, are found by a search. */
    struct io_column column = { .format = IO_TEXT,
                                .text = t->reader.block,
                                .text_bytes = t->reader.have,
                                .delimiter = t->files->column.delimiter };
    stage_begin(base, STAGE_WORK);
    const ech_status status =
        ech_sort_pairs_rows(base->ctx, t->keys, t->lines, t->keys, t->lines, n / t->columns,
                            t->columns, t->files->column.dtype, sizeof *t->lines, &options);
    stage_end(base, STAGE_WORK, n * sizeof *t->lines);
    if (status != ECH_OK) return cli_fail_ech(status, base->ctx);
    stage_begin(base, STAGE_WRITE);
    const io_status written = write_lines(t->output, &column, t->lines, n, &error);
    stage_end(base, STAGE_WRITE, 0);
    return written == IO_OK ? EXIT_DONE : cli_fail_io(written, &error);
}

static int sort_all(struct text_rows *t)
{
    struct sort_reader *r = &t->reader;
    size_t done = 0, n;
    int code = EXIT_DONE;
    while (code == EXIT_DONE) {
        stage_begin(&t->files->job->base, STAGE_READ);
        const uint64_t before = r->at;
        code = sort_reader_fill(r, done);
        stage_end(&t->files->job->base, STAGE_READ, r->at - before);
        if (code != EXIT_DONE || !r->have) return code;
        done = sort_parse_records(t->files, r->block, r->have, t->most, t->lines, t->keys, &n);
        const size_t whole = n - n % t->columns;
        if (!whole) return fail_row(t, sort_files_memory(t->files->set));
        done = (size_t)t->lines[whole];
        code = sort_some(t, whole);
    }
    return code;
}

static void plan(const struct job *job, char *text, size_t bytes)
{
    sort_plan((const struct sort_job *)job, text, bytes);
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%-12s %s\n", "rows", "sorted out of core");
}

int sort_text_rows(struct sort_files *files, struct io_output *output)
{
    struct job *base = &files->job->base;
    struct io_error error;
    struct text_rows t = { .files = files,
                           .output = output,
                           .columns = (size_t)files->set->columns };
    if (files->text_records % t.columns)
        return cli_fail(EXIT_BAD, "%s: has %llu numbers, which is not a multiple of --rows %s",
                        files->inputs[0].name, (unsigned long long)files->text_records,
                        files->set->rows);
    base->column.n = base->n_out = files->text_records;
    files->job->rows = (size_t)files->text_records / t.columns;
    files->job->cols = t.columns;
    files->job->value_bytes = sizeof *t.lines;
    base->plan = plan;
    const io_status status = io_write(output, files->head, files->head_bytes, &error);
    int code = status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    if (code == EXIT_DONE && files->text_records) code = allocate(&t);
    if (code == EXIT_DONE && files->text_records) code = sort_all(&t);
    free(t.reader.block);
    free(t.lines);
    free(t.keys);
    if (code != EXIT_DONE) return code;
    base->stages[STAGE_WRITE].seconds -= cli_seconds();
    return job_commit(base, output, IO_OK, &error);
}
