/*
 * merge.c - "echelon merge": merges files of sorted numbers, or of lines that are sorted by a
 * number or as text.
 *
 * Two files are merged by ech_merge(), more files by ech_merge_many(), after their numbers have
 * been moved to one array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runs.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct job_words job;
    const char *order, *algorithm;
    bool reverse, string;
} set;

static const struct option options[] = {
    JOB_OUTPUT_OPTION(set.job),
    { 'r', "reverse", NULL, &set.reverse, "the files are, and the output is, in descending order" },
    TABLE_STRING_OPTION(set.string),
    JOB_TYPE_OPTIONS(set.job),
    { 0, "order", "ORDER", &set.order,
      "order of floats: nan-last, with -0 = +0 (default), or\ntotal: IEEE 754 totalOrder" },
    JOB_FIELD_OPTIONS(set.job),
    JOB_DEVICE_OPTIONS(set.job),
    { 0, "algorithm", "NAME", &set.algorithm,
      "use this algorithm; \"echelon explain merge\" lists them" },
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

struct merge_job {
    struct runs_job runs; /* first, so that a pointer to it can be converted */
    ech_merge_options options;
    size_t a_n, b_n; /* of the merge of two, for the report */
};

/* Merges the second run into the first one. */
static int merge_two(struct merge_job *job, struct run *a, struct run *b)
{
    ech_ctx *ctx = job->runs.base.ctx;
    const ech_dtype dtype = job->runs.base.column.dtype;
    struct run out;
    job->a_n = a->n;
    job->b_n = b->n;
    const int code = runs_allocate(&job->runs, a->n + b->n, "the merged numbers", &out);
    if (code != EXIT_DONE) return code;
    const ech_status status =
        job->runs.lines
            ? ech_merge_pairs(ctx, a->keys, a->places, b->keys, b->places, out.keys, out.places,
                              a->n, b->n, dtype, sizeof *out.places, &job->options)
            : ech_merge(ctx, a->keys, b->keys, out.keys, a->n, b->n, dtype, &job->options);
    runs_free_run(a);
    runs_free_run(b);
    *a = out;
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, ctx);
}

/* Moves all runs to one array, one after the other; offsets receives where they begin. */
static int join(struct runs_job *job, struct run *all, uint64_t *offsets)
{
    const size_t bytes = ech_dtype_bytes(job->base.column.dtype);
    size_t n = 0;
    for (int i = 0; i < job->count; i++) {
        offsets[i] = n;
        n += job->runs[i].n;
    }
    offsets[job->count] = n;
    const int code = runs_allocate(job, n, "the numbers", all);
    for (int i = 0; i < job->count && code == EXIT_DONE; i++) {
        struct run *run = &job->runs[i];
        memcpy(all->keys + offsets[i] * bytes, run->keys, run->n * bytes);
        if (job->lines) memcpy(all->places + offsets[i], run->places, run->n * sizeof *all->places);
        runs_free_run(run);
    }
    return code;
}

/* Merges three or more runs. */
static int merge_many(struct merge_job *job)
{
    struct runs_job *r = &job->runs;
    const ech_dtype dtype = r->base.column.dtype;
    const size_t count = (size_t)r->count;
    struct run all = { .keys = NULL }, out;
    ech_ctx *ctx = r->base.ctx;
    uint64_t *offsets = malloc((count + 1) * sizeof *offsets);
    if (!offsets) return job_no_memory(&r->base, (count + 1) * sizeof *offsets, "the files");
    int code = join(r, &all, offsets);
    if (code == EXIT_DONE) code = runs_allocate(r, all.n, "the merged numbers", &out);
    if (code == EXIT_DONE) {
        const ech_status status =
            r->lines ? ech_merge_many_pairs(ctx, all.keys, all.places, offsets, out.keys,
                                            out.places, all.n, count, dtype, sizeof *out.places,
                                            ECH_U64, &job->options)
                     : ech_merge_many(ctx, all.keys, offsets, out.keys, all.n, count, dtype,
                                      ECH_U64, &job->options);
        if (status != ECH_OK) code = cli_fail_ech(status, ctx);
        r->runs[0] = out;
    }
    runs_free_run(&all);
    free(offsets);
    return code;
}

static int merge_all(struct merge_job *job)
{
    struct job *base = &job->runs.base;
    int code = EXIT_DONE;
    stage_begin(base, STAGE_WORK);
    if (job->runs.count == 2)
        code = merge_two(job, &job->runs.runs[0], &job->runs.runs[1]);
    else if (job->runs.count > 2)
        code = merge_many(job);
    stage_end(base, STAGE_WORK, base->n_out * ech_dtype_bytes(base->column.dtype));
    return code;
}

static void plan(const struct job *base, char *text, size_t bytes)
{
    const struct merge_job *job = (const struct merge_job *)base;
    text[0] = 0;
    const size_t value_bytes = job->runs.lines ? sizeof(uint64_t) : 0;
    if (job->runs.count > 2)
        ech_merge_many_explain(ech_device_name(base->ctx), (size_t)base->n_out,
                               (size_t)job->runs.count, base->column.dtype, value_bytes,
                               &job->options, ECH_FORMAT_TEXT, text, bytes);
    else
        ech_merge_explain(ech_device_name(base->ctx), job->a_n, job->b_n, base->column.dtype,
                          value_bytes, &job->options, ECH_FORMAT_TEXT, text, bytes);
}

static int merge_to(struct job *base, struct io_output *output)
{
    struct merge_job *job = (struct merge_job *)base;
    int code = runs_load(&job->runs, &set.job, output);
    if (code == EXIT_DONE) code = merge_all(job);
    return code == EXIT_DONE ? runs_write(&job->runs, output) : code;
}

static int run(int count, char **operands)
{
    struct merge_job job = { .runs = { .base = { .command = "merge",
                                                 .work = "merge",
                                                 .working = "merging",
                                                 .plan = plan },
                                       .descending = set.reverse },
                             .options = { .size = sizeof job.options,
                                          .descending = set.reverse,
                                          .algorithm = set.algorithm } };
    int code = runs_name(&job.runs, count, operands);
    if (code == EXIT_DONE) code = table_check_string(set.string, &set.job);
    if (code == EXIT_DONE && set.string && set.order)
        code = cli_fail(EXIT_BAD, "--string cannot be combined with --order, the order of floats");
    if (code == EXIT_DONE) code = cli_parse_order(set.order, &job.runs.order);
    job.runs.string = set.string;
    job.options.order = job.runs.order;
    if (code == EXIT_DONE) code = job_run(&job.runs.base, &set.job, merge_to);
    runs_free(&job.runs);
    return code;
}

const struct command command_merge = {
    .name = "merge",
    .summary = "merge sorted files",
    .usage = "  echelon merge [OPTION]... [INPUT]...\n",
    .examples = "  echelon merge a.npy b.npy -o c.npy          numbers of two sorted files\n"
                "  echelon merge -k time mon.csv tue.csv       lines, by a column\n"
                "  echelon merge -r a.u32 b.u32 c.u32 -o d.u32 three files in descending order\n",
    .notes = JOB_INPUT_NOTES
    "\n"
    "Each INPUT must be sorted as \"echelon sort\" sorts it; a number that is out of order is\n"
    "an error.  All files must have numbers of the same type.  Among equal numbers, those\n"
    "of the earlier INPUT come first.\n\n"
    "With --string, and if the lines are not numbers, they are sorted and compared as text, by\n"
    "bytes.\n\n"
    "Lines are written unchanged, after the first header line.  The format of the output is\n"
    "that of its extension (.npy, .txt, .u32 and so on), otherwise that of the first INPUT.\n",
    .options = options,
    .most_operands = CLI_ANY,
    .run = run,
};
