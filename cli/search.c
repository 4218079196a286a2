/*
 * search.c - "echelon search": the positions of numbers in a file of sorted numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runs.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
    const char *order, *algorithm;
    bool upper, reverse;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 0, "upper", NULL, &set.upper,
      "write the last position at which the number can be inserted;\ndefault: the first one" },
    { 'r', "reverse", NULL, &set.reverse, "SORTED is in descending order" },
    JOB_TYPE_OPTIONS(set.job),
    { 0, "order", "ORDER", &set.order,
      "order of floats: nan-last, with -0 = +0 (default), or\ntotal: IEEE 754 totalOrder" },
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    { 0, "algorithm", "NAME", &set.algorithm,
      "use this algorithm; \"echelon explain search\" lists them" },
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

enum { NEEDLES, SORTED }; /* the files of the job; the column of the base is that of the needles */

struct search_job {
    struct runs_job runs; /* first, so that a pointer to it can be converted */
    ech_search_options options;
    uint64_t *positions;
};

static int load(struct search_job *job)
{
    struct runs_job *r = &job->runs;
    r->base.input = r->names[SORTED];
    int code = job_load(&r->base, &set.job);
    if (code == EXIT_DONE) code = runs_check_sorted(r);
    if (code != EXIT_DONE) return code;
    r->columns[SORTED] = r->base.column;
    memset(&r->base.column, 0, sizeof r->base.column);
    r->base.input = r->names[NEEDLES];
    code = job_load(&r->base, &set.job);
    return code == EXIT_DONE ? runs_check_types(r) : code;
}

static int find(struct search_job *job)
{
    struct job *base = &job->runs.base;
    const struct io_column *needles = &base->column, *sorted = &job->runs.columns[SORTED];
    const size_t n = (size_t)sorted->n, m = (size_t)needles->n, bytes = m * sizeof(uint64_t);
    job->positions = malloc(bytes + 1);
    if (!job->positions) return job_no_memory(base, bytes, "the positions");
    stage_begin(base, STAGE_WORK);
    const ech_status status = (set.upper ? ech_upper_bound : ech_lower_bound)(
        base->ctx, sorted->keys, needles->keys, job->positions, n, m, needles->dtype, ECH_U64,
        &job->options);
    stage_end(base, STAGE_WORK, needles->keys_bytes + sorted->keys_bytes);
    base->n_out = m;
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, base->ctx);
}

static void plan(const struct job *base, char *text, size_t bytes)
{
    const struct search_job *job = (const struct search_job *)base;
    text[0] = 0;
    ech_search_explain(ech_device_name(base->ctx),
                       set.upper ? ECH_SEARCH_CALL_UPPER : ECH_SEARCH_CALL_LOWER,
                       (size_t)job->runs.columns[SORTED].n, (size_t)base->column.n,
                       base->column.dtype, &job->options, ECH_FORMAT_TEXT, text, bytes);
}

static int search_to(struct job *base, struct io_output *output)
{
    struct search_job *job = (struct search_job *)base;
    struct io_error error;
    int code = load(job);
    if (code == EXIT_DONE) code = job_plan_output(base, &set.job, output, ECH_U64);
    if (code == EXIT_DONE) code = find(job);
    if (code != EXIT_DONE) return code;
    stage_begin(base, STAGE_WRITE);
    const io_status status = write_index(output, base->out_format, job->positions,
                                         sizeof *job->positions, base->n_out, NULL, &error);
    return job_commit(base, output, status, &error);
}

static int run(int count, char **operands)
{
    struct search_job job = { .runs = { .base = { .command = "search",
                                                  .work = "search",
                                                  .working = "searching",
                                                  .plan = plan },
                                        .descending = set.reverse },
                              .options = { .size = sizeof job.options,
                                           .descending = set.reverse,
                                           .algorithm = set.algorithm } };
    char standard[] = "-", *names[2];
    if (count == 0) return cli_fail(EXIT_BAD, "no SORTED: give a file of sorted numbers");
    names[NEEDLES] = count > 1 ? operands[1] : standard;
    names[SORTED] = operands[0];
    const char *const sorted[] = { operands[0] };
    int code = cli_check_output("output", set.job.output, sorted, 1);
    if (code == EXIT_DONE) code = job_input(&job.runs.base, count - 1, operands + 1);
    if (code == EXIT_DONE) code = runs_name(&job.runs, 2, names);
    if (code == EXIT_DONE) code = cli_parse_order(set.order, &job.runs.order);
    job.options.order = job.runs.order;
    if (code == EXIT_DONE) code = job_run(&job.runs.base, &set.job, search_to);
    runs_free(&job.runs);
    free(job.positions);
    return code;
}

const struct command command_search = {
    .name = "search",
    .summary = "positions of numbers in a sorted file",
    .usage = "  echelon search [OPTION]... SORTED [INPUT]\n",
    .examples = "  echelon search sorted.npy needles.npy -o i.npy   as numpy.searchsorted\n"
                "  echo 2.5 | echelon search sorted.txt             how many numbers are less\n"
                "  echelon search --upper edges.f64 data.f64 -o bins.u64\n",
    .notes = JOB_INPUT_NOTES
    "\n"
    "For each number of INPUT, the output has the first position, counted from 0, at which it\n"
    "can be inserted into SORTED so that SORTED remains sorted: the number of elements that\n"
    "precede it.  With --upper, equal elements are counted, too.  SORTED must be sorted as\n"
    "\"echelon sort\" sorts it; a number that is out of order is an error.  Both files must\n"
    "have numbers of the same type.  The output is u64, in the format of its extension,\n"
    "otherwise that of INPUT.\n",
    .options = options,
    .most_operands = 2,
    .run = run,
};
