/*
 * sort_numbers.c - the part of "echelon sort" that sorts numbers: rows, the check, the output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows ---- */

static bool is_matrix(const struct io_column *c)
{
    return c->format == IO_NPY && c->npy.dimensions == 2;
}

/* Checks the options before the input is read. */
int sort_parse_rows(struct sort_set *set)
{
    const char *other = set->check ? "check" : "unique";
    if (set->rows && set->axis) return cli_fail(EXIT_BAD, "--rows cannot be combined with --axis");
    if ((set->rows || set->axis) && (set->check || set->unique))
        return cli_fail(EXIT_BAD, "--%s cannot be combined with --%s", other,
                        set->rows ? "rows" : "axis");
    if (set->axis && strcmp(set->axis, "0") != 0 && strcmp(set->axis, "1") != 0)
        return cli_fail(EXIT_BAD, "--axis is \"%s\"; use 0 or 1", set->axis);
    if (!set->rows) return EXIT_DONE;
    const int code = cli_parse_count("rows", set->rows, &set->columns);
    if (code != EXIT_DONE || set->columns) return code;
    return cli_fail(EXIT_BAD, "--rows is 0; a row has at least 1 number");
}

/* Fills in the strides of a matrix in C or Fortran order.  An index is in C order. */
static int plan_matrix(const struct sort_set *set, struct sort_job *job)
{
    const struct io_column *c = &job->base.column;
    const bool keep = job->argsort || job->base.out_format == IO_NPY;
    const bool fortran = c->npy.fortran && keep, down = set->axis && set->axis[0] == '0';
    const size_t rows = (size_t)c->npy.rows, columns = (size_t)c->npy.columns;
    const size_t strides[2] = { fortran ? 1 : columns, fortran ? rows : 1 };
    if (c->n == 0) return EXIT_DONE;
    job->rows = down ? columns : rows;
    job->cols = down ? rows : columns;
    job->options.row_stride = strides[down];
    job->options.element_stride = strides[!down];
    if (job->argsort) {
        job->options.out_row_stride = down ? 1 : columns;
        job->options.out_element_stride = down ? columns : 1;
    }
    return keep ? EXIT_DONE : job_make_rows(&job->base);
}

static int plan_rows(const struct sort_set *set, struct sort_job *job)
{
    const struct io_column *c = &job->base.column;
    if (is_matrix(c)) return plan_matrix(set, job);
    if (set->axis)
        return cli_fail(EXIT_BAD,
                        "%s: has one dimension; --axis needs a .npy array with two dimensions",
                        job->base.input);
    if (!set->columns) return EXIT_DONE;
    if (c->n % set->columns)
        return cli_fail(EXIT_BAD, "%s: has %llu numbers, which is not a multiple of --rows %s",
                        job->base.input, (unsigned long long)c->n, set->rows);
    job->cols = (size_t)set->columns;
    job->rows = (size_t)(c->n / set->columns);
    return EXIT_DONE;
}

/* ---- Check ---- */

static struct io_order make_order(const struct sort_job *job)
{
    const ech_sort_options *o = &job->options;
    /* Only a sort of keys by part of their bits distinguishes -0 from +0. */
    bool keys_only = !job->argsort && !job->base.column.lines;
    bool part =
        o->end_bit && o->end_bit - o->begin_bit < 8 * (int)ech_dtype_bytes(job->base.column.dtype);
    return (struct io_order){ .dtype = job->base.column.dtype,
                              .order = o->order,
                              .descending = o->descending != 0,
                              .merged = !(keys_only && part),
                              .begin_bit = o->begin_bit,
                              .end_bit = o->end_bit };
}

/* The library's check supports only whole keys.  It runs on the CPU, because the column is in host
 * memory and is read once. */
static int first_unsorted(const struct sort_set *set, const struct sort_job *job,
                          const struct io_order *order, uint64_t *at)
{
    const struct io_column *c = &job->base.column;
    const int width = 8 * (int)ech_dtype_bytes(c->dtype);
    ech_is_sorted_options o = { .size = sizeof o,
                                .descending = order->descending,
                                .order = order->order,
                                .strict = set->unique };
    if (order->begin_bit || (order->end_bit && order->end_bit != width)) {
        *at = io_first_unsorted(order, c->keys, c->n, set->unique);
        return EXIT_DONE;
    }
    ech_ctx *ctx;
    ech_status status = ech_open(&ctx, "cpu");
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    status = ech_is_sorted(ctx, c->keys, at, (size_t)c->n, c->dtype, &o);
    int code = status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, ctx);
    ech_close(ctx);
    return code;
}

int sort_check_numbers(const struct sort_set *set, const struct sort_job *job, uint64_t preceding)
{
    const struct io_column *c = &job->base.column;
    struct io_order order = make_order(job);
    uint64_t at = c->n;
    int code = first_unsorted(set, job, &order, &at);
    if (code != EXIT_DONE || at == c->n) return code;
    if (set->text.check_quiet) return EXIT_NO;
    char now[IO_NUMBER_TEXT], before[IO_NUMBER_TEXT];
    size_t bytes = ech_dtype_bytes(c->dtype);
    const char *key = (const char *)c->keys + at * bytes;
    io_format_key(c->dtype, key, now);
    io_format_key(c->dtype, key - bytes, before);
    bool equal = io_rank(&order, key) == io_rank(&order, key - bytes);
    const unsigned long long number = c->lines ? io_line_number(c, at) : preceding + at;
    return cli_fail(EXIT_NO, "%s: %s: %s %llu is %s, after %s", job->base.input,
                    equal ? "not strictly sorted" : "not sorted", c->lines ? "line" : "element",
                    number, now, before);
}

/* ---- Output ---- */

/* The approximate size of the output, for progress; 0: unknown. */
static uint64_t expected_bytes(const struct sort_job *job)
{
    const struct io_column *c = &job->base.column;
    if (job->base.out_format != IO_TEXT)
        return job->base.n_out * (job->argsort ? sizeof(uint64_t) : ech_dtype_bytes(c->dtype));
    return c->lines && !job->argsort && job->base.n_out == c->n ? c->text_bytes : 0;
}

static io_status write_result(struct io_output *output, struct sort_job *job,
                              struct io_error *error)
{
    struct io_column *c = &job->base.column;
    const io_format format = job->base.out_format;
    uint64_t n = job->base.n_out;
    stage_begin(&job->base, STAGE_WRITE);
    output->total_bytes = expected_bytes(job);
    if (job->argsort)
        return write_index(output, format, job->index, job->index_bytes, n, is_matrix(c) ? c : NULL,
                           error);
    return c->lines ? write_lines(output, c, c->lines, n, error)
                    : write_keys(output, c, format, n, error);
}

/* ---- Run ---- */

static void plan(const struct job *job, char *text, size_t bytes)
{
    sort_plan((const struct sort_job *)job, text, bytes);
}

int sort_parse(struct sort_job *job, const struct sort_words *words)
{
    job->argsort = words->argsort;
    job->base.command = words->argsort ? "argsort" : "sort";
    job->base.work = "sort";
    job->base.working = "sorting";
    job->base.plan = plan;
    job->options = (ech_sort_options){ .size = sizeof job->options,
                                       .descending = words->reverse,
                                       .algorithm = words->algorithm };
    return cli_parse_order(words->order, &job->options.order);
}

/* The lines of a text are the values of the sort. */
static void attach_lines(struct sort_job *job)
{
    const struct io_column *c = &job->base.column;
    job->values = c->lines;
    job->value_bytes = c->lines ? sizeof *c->lines : 0;
}

int sort_loaded(struct sort_job *job, const struct sort_words *words)
{
    attach_lines(job);
    return cli_parse_bits(words->bits, job->base.column.dtype, &job->options);
}

int sort_load(struct sort_job *job, const struct sort_words *words)
{
    int code = job_load(&job->base, &words->job);
    return code == EXIT_DONE ? sort_loaded(job, words) : code;
}

static void keep_unique(const struct sort_set *set, struct sort_job *job)
{
    struct io_column *c = &job->base.column;
    struct io_order order = make_order(job);
    job->base.n_out = c->n;
    if (!set->unique) return;
    job->base.n_out = job->argsort
                          ? io_unique_index(&order, c->keys, job->index, job->index_bytes, c->n)
                          : io_unique(&order, c->keys, c->lines, c->n);
}

int sort_numbers(const struct sort_set *set, struct sort_job *job, struct io_output *output)
{
    struct io_error error;
    int code = job_plan_output(&job->base, &set->words.job, output,
                               job->argsort ? ECH_U64 : job->base.column.dtype);
    if (code == EXIT_DONE) code = plan_rows(set, job);
    if (code != EXIT_DONE) return code;
    attach_lines(job); /* binary output has no lines */
    code = sort_column(job);
    if (code != EXIT_DONE) return code;
    keep_unique(set, job);
    io_status status = write_result(output, job, &error);
    return job_commit(&job->base, output, status, &error);
}
