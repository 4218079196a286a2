/*
 * scan.c - "echelon scan": running sums, maxima and so on of a file of numbers.
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
    bool exclusive, backward, wide;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 'x', "exclusive", NULL, &set.exclusive, "of the numbers before each, without itself" },
    { 'r', "backward", NULL, &set.backward, "from the last to the first" },
    { 0, "init", "VALUE", &set.init, "put this before the first" },
    { 0, "wide", NULL, &set.wide,
      "sums and products of integers in 64 bits, of floats in f64,\nwhich the output then is of" },
    { 0, "nan", "WHAT", &set.nan,
      "propagate: all after a NaN is NaN (default);\nignore: as if it were not there" },
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

static bool find_operation(const char *name)
{
    for (int i = 0; i < OPERATIONS; i++) {
        if (strcmp(name, operations[i].name) != 0) continue;
        op = operations[i].op;
        op_name = name;
        return true;
    }
    return false;
}

/* The first of two operands must be an operation; a single one may be, else it is the input. */
static int take_operation(int *count, char ***operands)
{
    const char *names[OPERATIONS];
    if (*count == 0) return EXIT_DONE;
    if (!find_operation((*operands)[0])) {
        for (int i = 0; i < OPERATIONS; i++) names[i] = operations[i].name;
        const char *word = (*operands)[0];
        bool file = strcmp(word, "-") == 0 || strpbrk(word, "./") || access(word, F_OK) == 0;
        if (*count == 1 && (file || !cli_nearest(word, names, OPERATIONS))) return EXIT_DONE;
        return cli_unknown("operation", word, names, OPERATIONS);
    }
    ++*operands;
    --*count;
    return EXIT_DONE;
}

/* The type of the output, and the value before the first in it. */
static int plan(const struct job *job, ech_dtype *dtype, uint64_t *init)
{
    const struct io_column *c = &job->column;
    bool is_float = io_is_float(c->dtype), adds = op == ECH_OP_SUM || op == ECH_OP_PRODUCT;
    if (is_float && op >= ECH_OP_AND)
        return cli_fail(EXIT_BAD, "%s: %s is of the bits of integers, but the numbers are %s",
                        job->input, op_name, ech_dtype_name(c->dtype));
    /* A sum of bools in 8 bits is what nobody wants. */
    scan_options.accumulate_wide = set.wide || (c->npy.boolean && adds);
    *dtype = c->dtype;
    if (scan_options.accumulate_wide)
        *dtype = is_float ? ECH_F64 : io_is_signed(c->dtype) ? ECH_I64 : ECH_U64;
    if (!set.init) return EXIT_DONE;
    scan_options.init = init;
    if (io_parse_key(set.init, set.init + strlen(set.init), *dtype, init) == IO_NUMBER_OK)
        return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--init is \"%s\", not a number of type %s", set.init,
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
        /* Sums in place are keys, of the same header. */
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
    if (code == EXIT_DONE && set.wide && op != ECH_OP_SUM && op != ECH_OP_PRODUCT)
        code = cli_fail(EXIT_BAD, "--wide is of sum and product, not of %s", op_name);
    scan_options.exclusive = set.exclusive;
    scan_options.reverse = set.backward;
    if (code == EXIT_DONE) code = cli_parse_nan(set.nan, &scan_options.nan);
    if (code == EXIT_DONE) code = job_input(&job, count, operands);
    return code == EXIT_DONE ? job_run(&job, &set.job, scan_to) : code;
}

const struct command command_scan = {
    .name = "scan",
    .summary = "running sums, minima, maxima and so on",
    .usage = "  echelon scan [OP] [OPTION]... [INPUT]\n",
    .examples = "  echelon scan sum data.npy -o sums.npy\n"
                "  echelon scan max column.txt                  the greatest so far, line by line\n"
                "  echelon scan --exclusive --wide lengths.u32 -o offsets.u64\n"
                "  seq 5 | echelon scan product --init 2\n",
    .notes =
        "OP is sum (the default), product, min, max, and, or or xor; the last three are of\n"
        "the bits of integers.  A file that is called so is ./sum.\n\n"
        "The output has a number for each of INPUT and, without --wide, is of its type: integers\n"
        "wrap around.  Sums of bools are always wide.  Its format is that of its name (.npy,\n"
        ".txt, .u32 and so on), else that of INPUT.\n\n" JOB_INPUT_NOTES,
    .options = options,
    .most_operands = 2,
    .run = run,
};
