/*
 * select.c - "echelon select": the numbers of a file that pass a test, or their lines, in order.
 *
 * Of text, the library says at which positions they are, and the lines there are written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
    bool invert, index, count;
    const char *where;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 'v', "invert", NULL, &set.invert, "those that do not pass instead" },
    { 'c', "count", NULL, &set.count, "print how many there are, and nothing else" },
    { 0, "index", NULL, &set.index, "write where in INPUT each was, from 0, instead" },
    JOB_TYPE_OPTIONS(set.job),
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

/* ---- Work ---- */

static int count(struct job *job, const struct where *where)
{
    const struct io_column *c = &job->column;
    ech_reduce_options o = { .size = sizeof o, .compare = where->compare, .value = &where->value };
    uint64_t passed = 0;
    stage_begin(job, STAGE_WORK);
    ech_status status =
        ech_reduce(job->ctx, ECH_OP_COUNT, c->keys, &passed, (size_t)c->n, c->dtype, &o);
    stage_end(job, STAGE_WORK, c->keys_bytes);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    job->n_out = set.invert ? c->n - passed : passed;
    return EXIT_DONE;
}

/* The elements, or where they are, into memory from malloc(). */
static int select_elements(struct job *job, const struct where *where, bool index, void **kept)
{
    const struct io_column *c = &job->column;
    size_t bytes = (size_t)c->n * (index ? sizeof(uint64_t) : ech_dtype_bytes(c->dtype));
    ech_select_options o = { .size = sizeof o,
                             .invert = set.invert,
                             .positions = index ? ECH_U64 : (ech_dtype)0 };
    *kept = malloc(bytes + 1);
    if (!*kept) return job_no_memory(job, bytes, index ? "the positions" : "what is selected");
    stage_begin(job, STAGE_WORK);
    ech_status status = ech_select_if(job->ctx, where->compare, c->keys, *kept, &job->n_out,
                                      (size_t)c->n, c->dtype, &where->value, &o);
    stage_end(job, STAGE_WORK, c->keys_bytes);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* ---- Run ---- */

static io_status write_kept(struct job *job, struct io_output *output, void *kept,
                            struct io_error *error)
{
    struct io_column *c = &job->column;
    uint64_t *positions = kept;
    if (set.index)
        return write_index(output, job->out_format, kept, sizeof(uint64_t), job->n_out, error);
    if (c->lines) {
        /* Positions rise, so that none is overwritten before it is used. */
        for (uint64_t i = 0; i < job->n_out; i++) positions[i] = c->lines[positions[i]];
        return write_lines(output, c, positions, job->n_out, error);
    }
    memcpy(c->keys, kept, (size_t)job->n_out * ech_dtype_bytes(c->dtype));
    return write_keys(output, c, job->out_format, job->n_out, error);
}

static int select_to(struct job *job, struct io_output *output)
{
    struct io_error error;
    struct where where;
    void *kept = NULL;
    const bool counts = set.count;
    int code = job_load(job, &set.job);
    if (code == EXIT_DONE) code = where_parse("WHERE", set.where, job->column.dtype, &where);
    if (code == EXIT_DONE)
        code = counts ? job_plan_text(&set.job)
                      : job_plan_output(job, &set.job, output,
                                        set.index ? ECH_U64 : job->column.dtype);
    if (code != EXIT_DONE) return code;
    bool index = set.index || job->column.lines;
    code = counts ? count(job, &where) : select_elements(job, &where, index, &kept);
    if (code == EXIT_DONE) {
        stage_begin(job, STAGE_WRITE);
        io_status status = counts ? write_numbers(output, ECH_U64, &job->n_out, 1, &error)
                                  : write_kept(job, output, kept, &error);
        code = job_commit(job, output, status, &error);
    }
    free(kept);
    return code;
}

static int run(int operand_count, char **operands)
{
    struct job job = { .command = "select", .work = "select", .working = "selecting" };
    if (operand_count == 0)
        return cli_fail(EXIT_BAD, "select what?  Try: echelon select '>=0' INPUT");
    set.where = operands[0];
    int code = where_check("WHERE", set.where);
    if (code == EXIT_DONE && set.count && set.index)
        code = cli_fail(EXIT_BAD, "--count writes a count alone, so it does not go with --index");
    if (code == EXIT_DONE) code = job_input(&job, operand_count - 1, operands + 1);
    return code == EXIT_DONE ? job_run(&job, &set.job, select_to) : code;
}

const struct command command_select = {
    .name = "select",
    .summary = "keep the numbers that pass a test, or their lines",
    .usage = "  echelon select [OPTION]... WHERE [INPUT]\n",
    .examples =
        "  echelon select '>=0' data.npy -o positive.npy\n"
        "  echelon select '!=nan' data.npy -o data.npy      drop NaN, in place\n"
        "  echelon select -k price '<9.5' goods.csv         lines, by one of their columns\n"
        "  echelon select --count nonzero data.npy          how many\n"
        "  echelon select '&0x80' flags.u8 --index          where, from 0\n",
    .notes =
        "WHERE, in quotes, is one of\n"
        "  '<3' '<=3' '==3' '!=3' '>=3' '>3'   a comparison, by value\n"
        "  nan '!=nan' zero nonzero            is NaN, is not, is 0, is not (as NaN is not)\n"
        "  '&0xff' '&=0xff' '!&0xff'           any, all, none of these bits are "
        "set\n\n" JOB_INPUT_NOTES
        "Lines are written as they are, to the byte, and a first line that names the columns\n"
        "too.  The format of the output is that of its name (.npy, .txt, .u32 and so on), else\n"
        "that of INPUT.  --index writes u64.\n",
    .options = options,
    .most_operands = 2,
    .run = run,
};
