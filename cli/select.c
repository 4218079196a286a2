/*
 * select.c - "echelon select": the numbers of a file that satisfy a condition, or their lines.
 *
 * For text, the library returns the positions of the selected numbers, and their lines are written.
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
    { 'v', "invert", NULL, &set.invert, "select the numbers that do not satisfy WHERE" },
    { 0, "count", NULL, &set.count, "print only the number of selected elements" },
    { 0, "index", NULL, &set.index, "write the positions in INPUT, counted from 0" },
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

/* Writes the elements, or their positions, to memory from malloc(). */
static int select_elements(struct job *job, const struct where *where, bool index, void **kept)
{
    const struct io_column *c = &job->column;
    size_t bytes = (size_t)c->n * (index ? sizeof(uint64_t) : ech_dtype_bytes(c->dtype));
    ech_select_options o = { .size = sizeof o,
                             .invert = set.invert,
                             .positions = index ? ECH_U64 : (ech_dtype)0 };
    *kept = malloc(bytes + 1);
    if (!*kept) return job_no_memory(job, bytes, index ? "the positions" : "the selection");
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
        return write_index(output, job->out_format, kept, sizeof(uint64_t), job->n_out, NULL,
                           error);
    if (c->lines) {
        /* Positions are ascending, so none is overwritten before it is read. */
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
        return cli_fail(EXIT_BAD, "no condition: give one, for example echelon select '>=0' INPUT");
    set.where = operands[0];
    int code = where_check("WHERE", set.where);
    if (code == EXIT_DONE && set.count && set.index)
        code = cli_fail(EXIT_BAD, "--count cannot be combined with --index");
    if (code == EXIT_DONE) code = job_input(&job, operand_count - 1, operands + 1);
    return code == EXIT_DONE ? job_run(&job, &set.job, select_to) : code;
}

const struct command command_select = {
    .name = "select",
    .summary = "select the numbers that satisfy a condition, or their lines",
    .usage = "  echelon select [OPTION]... WHERE [INPUT]\n",
    .examples = "  echelon select '>=0' data.npy -o positive.npy\n"
                "  echelon select '!=nan' data.npy -o data.npy      remove NaN, in place\n"
                "  echelon select -k price '<9.5' goods.csv         lines, by a column\n"
                "  echelon select --count nonzero data.npy          only the count\n"
                "  echelon select '&0x80' flags.u8 --index          positions, counted from 0\n",
    .notes =
        "WHERE is one of these conditions, in quotes:\n"
        "  '<3' '<=3' '==3' '!=3' '>=3' '>3'   comparison by value\n"
        "  nan '!=nan' zero nonzero            NaN, not NaN, 0, not 0; NaN is nonzero\n"
        "  '&0xff' '&=0xff' '!&0xff'           any, all, none of these bits are "
        "set\n\n" JOB_INPUT_NOTES "\n"
        "Lines are written unchanged, after the header line if there is one.  The format of the\n"
        "output is that of its extension (.npy, .txt, .u32 and so on), otherwise that of INPUT.\n"
        "--index writes u64.\n",
    .options = options,
    .most_operands = 2,
    .run = run,
};
