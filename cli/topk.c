/*
 * topk.c - "echelon topk": the largest or smallest numbers of a file, or their lines.
 *
 * For text, the library returns the positions of the selected numbers, and their lines are written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
    const char *head, *rows, *order, *algorithm;
    uint64_t count, columns; /* values of --head and --rows; columns 0: not given */
    bool smallest, unsorted, index, string;
    struct cli_list by;
} set = { .count = 10 };

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 'K', "head", "K", &set.head, "write K numbers, or all if there are fewer; default: 10" },
    { 0, "smallest", NULL, &set.smallest, "write the smallest numbers, in ascending order" },
    { 0, "unsorted", NULL, &set.unsorted, "write the numbers in the order of INPUT" },
    { 0, "index", NULL, &set.index,
      "write the positions in INPUT, counted from 0; of rows, the\npositions in the row" },
    { 0, "rows", "COLUMNS", &set.rows,
      "write K of each row of COLUMNS numbers, or lines; default: the\nrows of a .npy array with "
      "two dimensions" },
    { 0, "by", "COLUMN", &set.by,
      "write K lines for each distinct value of COLUMN; may be\nrepeated: for each combination" },
    { 0, "string", NULL, &set.string, "with --by: compare the keys as text, by bytes" },
    JOB_TYPE_OPTIONS(set.job),
    { 0, "order", "ORDER", &set.order,
      "order of floats: nan-last, with -0 = +0 (default), or\ntotal: IEEE 754 totalOrder" },
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    { 0, "algorithm", "NAME", &set.algorithm,
      "use this algorithm; \"echelon explain topk\" lists them" },
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

struct topk_job {
    struct job base; /* first, so that a pointer to it can be converted */
    ech_topk_options options;
    size_t rows, cols, k; /* an array is one row */
    void *kept;           /* [rows][k] elements, or positions of 64 bits; from malloc() */
    bool positions;
    struct groups groups; /* with --by */
};

static const char *const repeated[] = { "by", NULL };

/* ---- Work ---- */

static bool is_matrix(const struct io_column *c)
{
    return c->format == IO_NPY && c->npy.dimensions == 2;
}

static bool is_array(const struct topk_job *job)
{
    return !set.rows && !is_matrix(&job->base.column);
}

static int plan_rows(struct topk_job *job)
{
    const struct io_column *c = &job->base.column;
    job->rows = 1;
    job->cols = (size_t)c->n;
    if (set.columns) {
        if (c->n % set.columns)
            return cli_fail(EXIT_BAD, "%s: has %llu numbers, which is not a multiple of --rows %s",
                            job->base.input, (unsigned long long)c->n, set.rows);
        job->cols = (size_t)set.columns;
        job->rows = (size_t)(c->n / set.columns);
    } else if (is_matrix(c)) {
        job->rows = (size_t)c->npy.rows;
        job->cols = (size_t)c->npy.columns;
        if (c->npy.fortran && c->n) {
            job->options.row_stride = 1;
            job->options.element_stride = job->rows;
        }
    }
    job->k = set.count < job->cols ? (size_t)set.count : job->cols;
    job->base.n_out = (uint64_t)job->rows * job->k;
    return EXIT_DONE;
}

static int select_numbers(struct topk_job *job)
{
    const struct io_column *c = &job->base.column;
    const size_t each = job->positions ? sizeof(uint64_t) : ech_dtype_bytes(c->dtype);
    const size_t bytes = (size_t)job->base.n_out * each;
    job->kept = malloc(bytes + 1);
    if (!job->kept) return job_no_memory(&job->base, bytes, "the selection");
    void *values = job->positions ? NULL : job->kept, *indices = job->positions ? job->kept : NULL;
    ech_ctx *ctx = job->base.ctx;
    stage_begin(&job->base, STAGE_WORK);
    const ech_status status =
        is_array(job) ? ech_topk(ctx, c->keys, values, indices, job->cols, job->k, c->dtype,
                                 ECH_U64, &job->options)
                      : ech_topk_rows(ctx, c->keys, values, indices, job->rows, job->cols, job->k,
                                      c->dtype, ECH_U64, &job->options);
    stage_end(&job->base, STAGE_WORK, c->keys_bytes);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, ctx);
}

static void plan(const struct job *base, char *text, size_t bytes)
{
    const struct topk_job *job = (const struct topk_job *)base;
    text[0] = 0;
    ech_topk_explain(ech_device_name(base->ctx),
                     is_array(job) ? ECH_TOPK_CALL_ARRAY : ECH_TOPK_CALL_ROWS,
                     (size_t)base->column.n, job->rows, job->k, base->column.dtype, &job->options,
                     ECH_FORMAT_TEXT, text, bytes);
}

/* ---- Output ---- */

static io_status write_selected_lines(struct topk_job *job, struct io_output *output,
                                      struct io_error *error)
{
    const struct io_column *c = &job->base.column;
    uint64_t *positions = job->kept;
    for (size_t i = 0; i < job->base.n_out; i++)
        positions[i] = c->lines[i / job->k * job->cols + positions[i]];
    return write_lines(output, c, positions, job->base.n_out, error);
}

/* A .npy array of two dimensions, in the byte order of the input. */
static io_status write_matrix(struct topk_job *job, struct io_output *output,
                              struct io_error *error)
{
    const struct io_column *c = &job->base.column;
    const size_t bytes = ech_dtype_bytes(c->dtype);
    unsigned char header[IO_NPY_HEADER];
    const size_t header_bytes = io_npy_header_matrix(c->npy.descr, job->rows, job->k, header);
    const io_status status = io_write(output, header, header_bytes, error);
    if (c->npy.big_endian) io_swap(job->kept, job->base.n_out, bytes);
    return status == IO_OK ? io_write(output, job->kept, (size_t)job->base.n_out * bytes, error)
                           : status;
}

static io_status write_kept(struct topk_job *job, struct io_output *output, struct io_error *error)
{
    struct io_column *c = &job->base.column, shape = *c;
    const io_format format = job->base.out_format;
    const uint64_t n = job->base.n_out;
    shape.npy.columns = job->k;
    if (set.index)
        return write_index(output, format, job->kept, sizeof(uint64_t), n,
                           is_matrix(c) ? &shape : NULL, error);
    if (c->lines) return write_selected_lines(job, output, error);
    if (is_matrix(c) && format == IO_NPY) return write_matrix(job, output, error);
    if (n) memcpy(c->keys, job->kept, (size_t)n * ech_dtype_bytes(c->dtype));
    return write_keys(output, c, format, n, error);
}

/* ---- Groups ---- */

/* Selects positions in each group, and replaces them by positions in the input. */
static int select_groups(struct topk_job *job)
{
    struct job *base = &job->base;
    const struct groups *groups = &job->groups;
    const size_t n = (size_t)base->column.n, k = set.count < n ? (size_t)set.count : n;
    size_t bytes;
    if (__builtin_mul_overflow((size_t)groups->count, k * sizeof(uint64_t), &bytes) ||
        bytes == SIZE_MAX)
        bytes = SIZE_MAX - 1;
    uint64_t *kept = job->kept = malloc(bytes + 1), to = 0;
    if (!kept) return job_no_memory(base, bytes, "the selection");
    const ech_dtype dtype = groups->table.columns[groups->value].dtype;
    stage_begin(base, STAGE_WORK);
    const ech_status status =
        ech_topk_segments(base->ctx, groups->sorted, groups->offsets, NULL, NULL, kept, n,
                          (size_t)groups->count, k, dtype, ECH_U64, ECH_U64, &job->options);
    stage_end(base, STAGE_WORK, 0);
    if (status != ECH_OK) return cli_fail_ech(status, base->ctx);
    for (uint64_t g = 0; g < groups->count; g++) {
        const uint64_t first = groups->offsets[g], size = groups->offsets[g + 1] - first;
        for (uint64_t i = 0; i < size && i < k; i++)
            kept[to++] = groups_row(groups, first + kept[g * k + i]);
    }
    base->n_out = to;
    return EXIT_DONE;
}

static int topk_by_to(struct job *base, struct io_output *output)
{
    struct topk_job *job = (struct topk_job *)base;
    struct io_column *c = &base->column;
    struct io_error error;
    int code = groups_load(base, &set.job, &job->groups);
    if (code == EXIT_DONE && !c->text)
        code = cli_fail(EXIT_BAD, "%s: the format is %s, but --by is only for text", base->input,
                        io_format_name(c->format));
    base->positions = set.index;
    if (code == EXIT_DONE)
        code = job_plan_output(base, &set.job, output, set.index ? ECH_U64 : c->dtype);
    if (code == EXIT_DONE) code = select_groups(job);
    if (code != EXIT_DONE) return code;
    uint64_t *positions = job->kept;
    for (uint64_t i = 0; i < base->n_out && !set.index; i++) positions[i] = c->lines[positions[i]];
    stage_begin(base, STAGE_WRITE);
    const io_status status = set.index ? write_index(output, base->out_format, positions,
                                                     sizeof *positions, base->n_out, NULL, &error)
                                       : write_lines(output, c, positions, base->n_out, &error);
    return job_commit(base, output, status, &error);
}

static void plan_groups(const struct job *base, char *text, size_t bytes)
{
    const struct topk_job *job = (const struct topk_job *)base;
    const struct groups *groups = &job->groups;
    text[0] = 0;
    ech_topk_explain(ech_device_name(base->ctx), ECH_TOPK_CALL_SEGMENTS, (size_t)base->column.n,
                     (size_t)groups->count,
                     set.count < base->column.n ? (size_t)set.count : (size_t)base->column.n,
                     groups->table.columns[groups->value].dtype, &job->options, ECH_FORMAT_TEXT,
                     text, bytes);
}

/* ---- Run ---- */

static int topk_to(struct job *base, struct io_output *output)
{
    struct topk_job *job = (struct topk_job *)base;
    struct io_error error;
    int code = job_load(base, &set.job);
    if (code == EXIT_DONE)
        code = job_plan_output(base, &set.job, output, set.index ? ECH_U64 : base->column.dtype);
    if (code == EXIT_DONE) code = plan_rows(job);
    if (code != EXIT_DONE) return code;
    job->positions = set.index || base->column.lines;
    code = select_numbers(job);
    if (code != EXIT_DONE) return code;
    stage_begin(base, STAGE_WRITE);
    const io_status status = write_kept(job, output, &error);
    return job_commit(base, output, status, &error);
}

static int run(int count, char **operands)
{
    struct topk_job job = { .base = { .command = "topk",
                                      .work = "topk",
                                      .working = "selecting",
                                      .plan = plan,
                                      .dimensions = set.rows ? 1 : 2 },
                            .options = { .size = sizeof job.options,
                                         .smallest = set.smallest,
                                         .unsorted = set.unsorted,
                                         .algorithm = set.algorithm } };
    int code = job_input(&job.base, count, operands);
    if (code == EXIT_DONE && set.head) code = cli_parse_count("head", set.head, &set.count);
    if (code == EXIT_DONE && set.rows) code = cli_parse_count("rows", set.rows, &set.columns);
    if (code == EXIT_DONE) code = cli_parse_order(set.order, &job.options.order);
    if (code == EXIT_DONE && set.rows && !set.columns)
        code = cli_fail(EXIT_BAD, "--rows is 0; a row has at least 1 number");
    if (code == EXIT_DONE && set.rows && set.by.count)
        code = cli_fail(EXIT_BAD, "--rows cannot be combined with --by");
    if (code == EXIT_DONE && set.string && !set.by.count)
        code = cli_fail(EXIT_BAD, "--string is only for the keys of --by");
    if (code == EXIT_DONE && set.by.count) {
        job.base.plan = plan_groups;
        code = groups_plan(&job.groups, &set.by, set.string, &set.job, true);
    }
    if (code == EXIT_DONE) code = job_run(&job.base, &set.job, set.by.count ? topk_by_to : topk_to);
    groups_free(&job.groups);
    free(job.kept);
    return code;
}

const struct command command_topk = {
    .name = "topk",
    .summary = "write the largest or smallest numbers, or their lines",
    .usage = "  echelon topk [OPTION]... [INPUT]\n",
    .examples = "  echelon topk -K 100 data.npy -o top.npy           the 100 largest numbers\n"
                "  echelon topk --smallest -k price goods.csv        10 lines, by a column\n"
                "  echelon topk -K 5 --index scores.npy -o i.npy     positions; of each row, if\n"
                "                                                    scores.npy is a matrix\n"
                "  echelon topk -K 3 -k price --by city goods.csv    3 lines of each group\n"
                "  echelon topk --rows 1000 -K 5 a.u32 -o b.u32      5 of each 1000 numbers\n",
    .notes = JOB_INPUT_NOTES
    "\n"
    "The largest numbers are in descending order.  Among equal numbers, the first ones in\n"
    "INPUT are selected and written first.  NaN is the largest number.\n\n"
    "Lines are written unchanged, after the header line if there is one.  The format of the\n"
    "output is that of its extension (.npy, .txt, .u32 and so on), otherwise that of INPUT.\n"
    "--index writes u64.  With --by, the groups are in ascending order of their keys, which\n"
    "are numbers, or text if neither of the first two keys is a number.\n",
    .options = options,
    .repeated = repeated,
    .most_operands = 1,
    .run = run,
};
