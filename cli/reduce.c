/*
 * reduce.c - "echelon reduce": reduces all numbers of a file, or each row, to one value.
 *
 * The standard deviation is computed here, as the square root of the variance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

static struct reduce_words set;

static const struct option options[] = {
    { 'o', "output", "FILE", &set.job.output,
      "write the result to FILE, which may be the input, as .npy\nif it has this extension, "
      "otherwise as text; default:\nstandard output" },
    { 0, "nan", "MODE", &set.nan,
      "propagate: the result is NaN if a number is NaN (default);\nignore: skip NaN" },
    { 0, "accumulate-wide", NULL, &set.accumulate_wide, "compute f16, bf16 and f32 in f64" },
    { 0, "where", "CONDITION", &set.where,
      "for count, any and all: a condition such as '>=3';\ndefault: nonzero" },
    { 0, "rows", "COLUMNS", &set.rows,
      "reduce each row of COLUMNS numbers; default: the rows of a\n.npy array with two "
      "dimensions" },
    { 0, "ddof", "N", &set.ddof, "for variance and sd: divide by n - N; 0 (default) or 1" },
    { 0, "by", "COLUMN", &set.by,
      "reduce the numbers of --column for each distinct value of\nCOLUMN; may be repeated: for "
      "each combination" },
    { 0, "string", NULL, &set.string, "with --by: compare the keys as text, by bytes" },
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    JOB_TIMING_OPTION(set.job),
    { 0, "json", NULL, &set.job.json, "print the result as one line of JSON" },
    { 0, NULL, NULL, NULL, NULL },
};

static const char *const repeated[] = { "by", NULL };

static const struct reduction reductions[] = {
    { "sum", ECH_OP_SUM, false },      { "product", ECH_OP_PRODUCT, false },
    { "min", ECH_OP_MIN, true },       { "max", ECH_OP_MAX, true },
    { "minmax", ECH_OP_MINMAX, true }, { "argmin", ECH_OP_ARGMIN, true },
    { "argmax", ECH_OP_ARGMAX, true }, { "count", ECH_OP_COUNT, false },
    { "any", ECH_OP_ANY, false },      { "all", ECH_OP_ALL, false },
    { "mean", ECH_OP_MEAN, false },    { "variance", ECH_OP_VARIANCE, false },
    { "sd", ECH_OP_STDDEV, false },    { "norm", ECH_OP_NORM, false },
    { "and", ECH_OP_AND, false },      { "or", ECH_OP_OR, false },
    { "xor", ECH_OP_XOR, false },
};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

/* The plan, after the options are parsed and the column is loaded. */
static struct {
    const struct reduction *reduction;
    ech_reduce_options options;
    uint64_t columns; /* value of --rows; 0: not given */
    bool by_row;
    uint64_t rows;
    ech_dtype dtype; /* of the results */
    size_t per;      /* results per row */
    char *results;
} plan;

/* ---- Words ---- */

int reduce_find(const char *name, const struct reduction **found)
{
    const char *names[REDUCTIONS];
    for (int i = 0; i < REDUCTIONS; i++) {
        names[i] = reductions[i].name;
        *found = &reductions[i];
        if (strcmp(name, names[i]) == 0) return EXIT_DONE;
    }
    return cli_unknown("operation", name, names, REDUCTIONS);
}

int cli_parse_op(const char *text, ech_op *op)
{
    const struct reduction *found;
    int code = reduce_find(text, &found);
    *op = found->op;
    return code;
}

int reduce_options(const struct reduce_words *words, const struct reduction *reduction,
                   ech_reduce_options *out)
{
    const char *name = reduction->name;
    const ech_op op = reduction->op;
    const bool tests = op == ECH_OP_COUNT || op == ECH_OP_ANY || op == ECH_OP_ALL;
    *out = (ech_reduce_options){ .size = sizeof *out, .accumulate_wide = words->accumulate_wide };
    if (words->where && !tests)
        return cli_fail(EXIT_BAD, "--where cannot be combined with %s, only with count, any, all",
                        name);
    if (words->ddof && op != ECH_OP_VARIANCE && op != ECH_OP_STDDEV)
        return cli_fail(EXIT_BAD, "--ddof cannot be combined with %s, only with variance and sd",
                        name);
    if (words->ddof && strcmp(words->ddof, "0") != 0 && strcmp(words->ddof, "1") != 0)
        return cli_fail(EXIT_BAD, "--ddof is \"%s\"; use 0 or 1", words->ddof);
    out->ddof = words->ddof && words->ddof[0] == '1';
    return cli_parse_nan(words->nan, &out->nan);
}

static int parse(const char *name)
{
    if (strchr(name, ',') || strcmp(name, "size") == 0)
        return cli_fail(EXIT_BAD, "\"%s\" needs --by, which groups the numbers", name);
    if (set.string) return cli_fail(EXIT_BAD, "--string is only for the keys of --by");
    if (set.job.json && set.job.output)
        return cli_fail(EXIT_BAD, "--json cannot be combined with --output");
    int code = reduce_find(name, &plan.reduction);
    if (code == EXIT_DONE) code = reduce_options(&set, plan.reduction, &plan.options);
    if (code != EXIT_DONE || !set.rows) return code;
    if ((code = cli_parse_count("rows", set.rows, &plan.columns)) != EXIT_DONE) return code;
    return plan.columns ? EXIT_DONE
                        : cli_fail(EXIT_BAD, "--rows is 0; a row has at least 1 number");
}

/* ---- Work ---- */

static int plan_rows(struct job *job)
{
    const struct io_column *c = &job->column;
    bool matrix = c->format == IO_NPY && c->npy.dimensions == 2;
    plan.by_row = plan.columns || matrix;
    plan.rows = 1;
    if (plan.columns) {
        if (c->n % plan.columns)
            return cli_fail(EXIT_BAD, "%s: has %llu numbers, which is not a multiple of --rows %s",
                            job->input, (unsigned long long)c->n, set.rows);
        plan.rows = c->n / plan.columns;
    } else {
        plan.columns = matrix ? c->npy.columns : c->n;
        if (matrix) plan.rows = c->npy.rows;
    }
    if (plan.reduction->of_some && plan.columns == 0)
        return cli_fail(EXIT_BAD, "%s: has no numbers; %s is not defined for empty input",
                        job->input, plan.reduction->name);
    return EXIT_DONE;
}

static int plan_column(struct job *job, struct where *where)
{
    const struct io_column *c = &job->column;
    int dtype = ech_reduce_dtype(plan.reduction->op, c->dtype, set.accumulate_wide);
    if (dtype < 0)
        return cli_fail(EXIT_BAD, "%s: has numbers of type %s, but \"%s\" is only for integers",
                        job->input, ech_dtype_name(c->dtype), plan.reduction->name);
    plan.dtype = (ech_dtype)dtype;
    plan.per = plan.reduction->op == ECH_OP_MINMAX ? 2 : 1;
    if (set.where) {
        int code = where_parse("--where", set.where, c->dtype, where);
        if (code != EXIT_DONE) return code;
        plan.options.compare = where->compare;
        plan.options.value = &where->value;
    }
    return plan_rows(job);
}

static int reduce(struct job *job)
{
    const struct io_column *c = &job->column;
    struct where where;
    int code = plan_column(job, &where);
    if (code == EXIT_DONE) code = job_make_rows(job);
    if (code != EXIT_DONE) return code;
    size_t bytes = (size_t)plan.rows * plan.per * ech_dtype_bytes(plan.dtype);
    plan.results = malloc(bytes + 1);
    if (!plan.results) return job_no_memory(job, bytes, "the results");
    stage_begin(job, STAGE_WORK);
    ech_op op = plan.reduction->op;
    ech_status status =
        plan.by_row ? ech_reduce_rows(job->ctx, op, c->keys, plan.results, (size_t)plan.rows,
                                      (size_t)plan.columns, c->dtype, &plan.options)
                    : ech_reduce(job->ctx, op, c->keys, plan.results, (size_t)c->n, c->dtype,
                                 &plan.options);
    stage_end(job, STAGE_WORK, c->keys_bytes);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* ---- Output ---- */

static bool is_position(void)
{
    return plan.reduction->op == ECH_OP_ARGMIN || plan.reduction->op == ECH_OP_ARGMAX;
}

static io_status write_text(struct io_output *output, struct io_error *error)
{
    const bool position = is_position();
    const char *at = plan.results;
    size_t bytes = ech_dtype_bytes(plan.dtype);
    io_status status = IO_OK;
    for (uint64_t i = 0; i < plan.rows && status == IO_OK; i++) {
        char text[2 * IO_NUMBER_TEXT + 2];
        size_t used = 0;
        for (size_t k = 0; k < plan.per; k++, at += bytes) {
            if (k) text[used++] = ' ';
            if (position && io_load(at, bytes) == UINT64_MAX)
                used += (size_t)snprintf(text + used, IO_NUMBER_TEXT, "none");
            else
                used += io_format_key(plan.dtype, at, text + used);
        }
        text[used++] = '\n';
        status = io_write(output, text, used, error);
    }
    return status;
}

static io_status write_npy(struct io_output *output, struct io_error *error)
{
    unsigned char header[IO_NPY_HEADER];
    const char *descr = io_npy_descr(plan.dtype);
    uint64_t n = plan.rows * plan.per, second = plan.by_row && plan.per > 1 ? plan.per : 0;
    size_t bytes = io_npy_header_of(descr ? descr : "<u2", second ? plan.rows : n, second, header);
    io_status status = io_write(output, header, bytes, error);
    if (status != IO_OK) return status;
    return io_write(output, plan.results, (size_t)n * ech_dtype_bytes(plan.dtype), error);
}

/* The results of all rows, one after the other. */
static void print_json(const struct job *job)
{
    const size_t bytes = ech_dtype_bytes(plan.dtype);
    struct json json = { .to = stdout };
    json_open(&json, NULL, '{');
    json_text(&json, "input", job->input);
    json_text(&json, "type", ech_dtype_name(job->column.dtype));
    json_header(&json, &job->column);
    json_count(&json, "n", job->column.n);
    json_text(&json, "operation", plan.reduction->name);
    json_text(&json, "result_type", ech_dtype_name(plan.dtype));
    json_open(&json, "results", '[');
    for (uint64_t i = 0; i < plan.rows * plan.per; i++) {
        const char *at = plan.results + (size_t)i * bytes;
        if (is_position() && io_load(at, bytes) == UINT64_MAX)
            json_literal(&json, NULL, "none");
        else
            json_value(&json, NULL, plan.dtype, at);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
}

static int reduce_to(struct job *job, struct io_output *output)
{
    struct io_error error;
    bool npy = set.job.output && io_format_from_extension(set.job.output) == IO_NPY;
    int code = npy ? EXIT_DONE : job_plan_text(&set.job);
    if (code == EXIT_DONE) code = job_load(job, &set.job);
    if (code == EXIT_DONE) code = reduce(job);
    cli_progress_end(&job->progress);
    if (code == EXIT_DONE && set.job.json) {
        print_json(job);
    } else if (code == EXIT_DONE) {
        stage_begin(job, STAGE_WRITE);
        job->n_out = plan.rows * plan.per;
        io_status status = npy ? write_npy(output, &error) : write_text(output, &error);
        code = job_commit(job, output, status, &error);
    }
    free(plan.results);
    return code;
}

static int run(int count, char **operands)
{
    struct io_records records;
    struct job job = { .command = "reduce",
                       .work = "reduce",
                       .working = "reducing",
                       .own_json = true,
                       .dimensions = 2 };
    if (count == 0)
        return cli_fail(EXIT_BAD, "no operation: give one, for example echelon reduce sum INPUT");
    const bool by = set.by.count > 0;
    if (by) job.records = &records;
    int code = by ? reduce_by_plan(&set, operands[0]) : parse(operands[0]);
    if (code == EXIT_DONE && set.where) code = where_check("--where", set.where);
    if (code == EXIT_DONE) code = job_input(&job, count - 1, operands + 1);
    if (code == EXIT_DONE) code = job_run(&job, &set.job, by ? reduce_by_to : reduce_to);
    reduce_by_free();
    return code;
}

const struct command command_reduce = {
    .name = "reduce",
    .summary = "sum, minimum, mean and so on, of all numbers, rows or groups",
    .usage = "  echelon reduce OP [OPTION]... [INPUT]\n",
    .examples = "  echelon reduce sum data.npy\n"
                "  echelon reduce mean matrix.npy -o means.npy      of each row\n"
                "  echelon reduce count --where '>=3' data.npy\n"
                "  echelon reduce max -k price goods.csv            of one column of a table\n"
                "  echelon reduce sum,size -k price --by city goods.csv    of each group\n"
                "  echelon gen normal --type f32 | echelon reduce sd --nan ignore\n",
    .notes =
        "OP is one of\n"
        "  sum product      integers: modulo 2^64, as i64 or u64; floats: in f32, or f64\n"
        "  min max minmax   -0 is less than +0\n"
        "  argmin argmax    position of the first minimum or maximum, counted from 0\n"
        "  count any all    how many numbers satisfy --where; 1 if any, or all, do, otherwise 0\n"
        "  mean variance    variance is divided by n - ddof\n"
        "  sd norm          standard deviation; square root of the sum of squares\n"
        "  and or xor       bitwise, of integers\n\n"
        "One value is printed per line (minmax: two).  Integers are printed with all digits,\n"
        "floats in the shortest form that reads back as the same number.  The values are\n"
        "bit-identical on every device and with any number of threads.\n\n"
        "With --by, OP may be several operations, separated by commas, and size is the number of\n"
        "lines of a group.  The output is a table with one line per group, in ascending order of\n"
        "the keys: the columns of --by, then the results.  It has a header if INPUT has one.\n"
        "Keys are numbers, or text in the order of its bytes, if neither of the first two keys\n"
        "is a number.  argmin and argmax are positions in INPUT.  INPUT may also be a structured\n"
        ".npy array, whose fields are the columns.\n\n" JOB_INPUT_NOTES,
    .options = options,
    .repeated = repeated,
    .most_operands = 2,
    .run = run,
};
