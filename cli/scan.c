/*
 * scan.c - "echelon scan": prefix sums, running maxima and so on of a file of numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct job_words job;
    const char *nan, *init;
    bool exclusive, reverse, accumulate_wide;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 'x', "exclusive", NULL, &set.exclusive, "output i excludes number i" },
    { 'r', "reverse", NULL, &set.reverse, "scan from the last number to the first" },
    { 0, "init", "VALUE", &set.init, "a value that precedes the first number" },
    { 0, "accumulate-wide", NULL, &set.accumulate_wide,
      "compute and write sums and products as i64, u64 or f64" },
    { 0, "nan", "MODE", &set.nan,
      "propagate: results after a NaN are NaN (default);\nignore: skip NaN" },
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

static const struct {
    const char *name;
    ech_op op;
} operations[] = {
    { "sum", ECH_OP_SUM }, { "product", ECH_OP_PRODUCT }, { "min", ECH_OP_MIN },
    { "max", ECH_OP_MAX }, { "and", ECH_OP_AND },         { "or", ECH_OP_OR },
    { "xor", ECH_OP_XOR },
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static ech_op op;
static const char *op_name = "sum";
static ech_scan_options scan_options = { .size = sizeof scan_options };

/* ---- Words ---- */

static int find_operation(const char *name)
{
    int i = 0;
    while (i < OPERATIONS && strcmp(name, operations[i].name) != 0) i++;
    return i;
}

static int unknown_operation(const char *name)
{
    const char *names[OPERATIONS];
    for (int i = 0; i < OPERATIONS; i++) names[i] = operations[i].name;
    return cli_unknown("operation", name, names, OPERATIONS);
}

int cli_parse_scan_op(const char *text, ech_op *found)
{
    const int i = find_operation(text);
    if (i == OPERATIONS) return unknown_operation(text);
    *found = operations[i].op;
    return EXIT_DONE;
}

/* The first of two operands must be an operation.  A single one is an operation or the input. */
static int take_operation(int *count, char ***operands)
{
    const char *names[OPERATIONS];
    if (*count == 0) return EXIT_DONE;
    const char *word = (*operands)[0];
    const int found = find_operation(word);
    if (found == OPERATIONS) {
        for (int i = 0; i < OPERATIONS; i++) names[i] = operations[i].name;
        bool file = strcmp(word, "-") == 0 || strpbrk(word, "./") || access(word, F_OK) == 0;
        if (*count == 1 && (file || !cli_nearest(word, names, OPERATIONS))) return EXIT_DONE;
        return unknown_operation(word);
    }
    op = operations[found].op;
    op_name = word;
    ++*operands;
    --*count;
    return EXIT_DONE;
}

/* The type of the output, and the value of --init in this type. */
static int plan(const struct job *job, ech_dtype *dtype, uint64_t *init)
{
    const struct io_column *c = &job->column;
    bool is_float = io_is_float(c->dtype), adds = op == ECH_OP_SUM || op == ECH_OP_PRODUCT;
    if (is_float && op >= ECH_OP_AND)
        return cli_fail(EXIT_BAD, "%s: has numbers of type %s, but \"%s\" is only for integers",
                        job->input, ech_dtype_name(c->dtype), op_name);
    /* A sum of bools would overflow 8 bits. */
    scan_options.accumulate_wide = set.accumulate_wide || (c->npy.boolean && adds);
    *dtype = c->dtype;
    if (scan_options.accumulate_wide)
        *dtype = is_float ? ECH_F64 : io_is_signed(c->dtype) ? ECH_I64 : ECH_U64;
    if (!set.init) return EXIT_DONE;
    scan_options.init = init;
    if (io_parse_key(set.init, set.init + strlen(set.init), *dtype, init) == IO_NUMBER_OK)
        return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--init is \"%s\"; give a number of type %s", set.init,
                    ech_dtype_name(*dtype));
}

/* ---- Run ---- */

static int scan_column(struct job *job, ech_dtype dtype, void **out)
{
    struct io_column *c = &job->column;
    size_t bytes = (size_t)c->n * ech_dtype_bytes(dtype);
    bool in_place = ech_dtype_bytes(dtype) == ech_dtype_bytes(c->dtype);
    *out = in_place ? c->keys : malloc(bytes + 1);
    if (!*out) return job_no_memory(job, bytes, "the results");
    stage_begin(job, STAGE_WORK);
    ech_status status =
        ech_scan(job->ctx, op, c->keys, *out, (size_t)c->n, c->dtype, &scan_options);
    stage_end(job, STAGE_WORK, c->keys_bytes + bytes);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

static int scan_to(struct job *job, struct io_output *output)
{
    struct io_error error;
    struct io_column *c = &job->column;
    ech_dtype dtype = ECH_F64;
    uint64_t init = 0;
    void *out = NULL;
    int code = job_load(job, &set.job);
    if (code == EXIT_DONE) code = plan(job, &dtype, &init);
    if (code == EXIT_DONE) code = job_plan_output(job, &set.job, output, dtype);
    if (code == EXIT_DONE) code = scan_column(job, dtype, &out);
    if (code == EXIT_DONE) {
        stage_begin(job, STAGE_WRITE);
        job->n_out = c->n;
        /* In place, the results are keys and keep the header. */
        io_status status = dtype == c->dtype
                               ? write_keys(output, c, job->out_format, c->n, &error)
                               : write_values(output, job->out_format, dtype, out, c->n, &error);
        code = job_commit(job, output, status, &error);
    }
    if (out != c->keys) free(out);
    return code;
}

static int run(int count, char **operands)
{
    struct job job = { .command = "scan", .work = "scan", .working = "scanning" };
    int code = take_operation(&count, &operands);
    if (code == EXIT_DONE && set.accumulate_wide && op != ECH_OP_SUM && op != ECH_OP_PRODUCT)
        code = cli_fail(EXIT_BAD,
                        "--accumulate-wide cannot be combined with %s, only with sum and product",
                        op_name);
    scan_options.exclusive = set.exclusive;
    scan_options.reverse = set.reverse;
    if (code == EXIT_DONE) code = cli_parse_nan(set.nan, &scan_options.nan);
    if (code == EXIT_DONE) code = job_input(&job, count, operands);
    return code == EXIT_DONE ? job_run(&job, &set.job, scan_to) : code;
}

static const char *operation_word(int i)
{
    return i < OPERATIONS ? operations[i].name : NULL;
}

static const struct cli_value values[] = {
    { "OP", CLI_WORDS, NULL, operation_word },
    { NULL, CLI_WORDS, NULL, NULL },
};

const struct command command_scan = {
    .name = "scan",
    .summary = "prefix sums, running minima, maxima and so on",
    .usage = "  echelon scan [OP] [OPTION]... [INPUT]\n",
    .examples = "  echelon scan sum data.npy -o sums.npy\n"
                "  echelon scan max column.txt                  running maximum\n"
                "  echelon scan --exclusive --accumulate-wide lengths.u32 -o offsets.u64\n"
                "  seq 5 | echelon scan product --init 2\n",
    .notes =
        "OP is sum (the default), product, min, max, and, or or xor; the last three are bitwise,\n"
        "of integers.  Write ./sum for a file with the name sum.\n\n"
        "The output has as many numbers as INPUT.  Its type is that of INPUT, in which integers\n"
        "wrap around, or the type of --accumulate-wide.  Sums of bools are always u64.  The\n"
        "format of the output is that of its extension (.npy, .txt, .u32 and so on), otherwise\n"
        "that of INPUT.\n\n" JOB_INPUT_NOTES,
    .options = options,
    .most_operands = 2,
    .run = run,
    .values = values,
};
