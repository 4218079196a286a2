/*
 * set.c - "echelon set": the union, intersection or difference of files of sorted numbers, or of
 * lines that are sorted by a number or as text.
 *
 * A union and an intersection are associative, so neighbours are combined until one remains, and a
 * number is moved about log2(files) times.  A difference takes one file after the other from the
 * first one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runs.h"

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
      "use this algorithm; \"echelon explain set\" lists them" },
    JOB_REPORT_OPTIONS(set.job),
    { 0, NULL, NULL, NULL, NULL },
};

struct set_job {
    struct runs_job runs; /* first, so that a pointer to it can be converted */
    ech_set_options options;
    ech_set operation;
    size_t n[2]; /* of the inputs of the last operation, for the report */
};

static int parse_operation(const char *word, ech_set *operation)
{
    static const char *const words[] = { "union", "intersection", "difference", "symmetric" };
    for (int i = 0; i < 4; i++)
        if (strcmp(word, words[i]) == 0) {
            *operation = (ech_set)i;
            return EXIT_DONE;
        }
    return cli_fail(EXIT_BAD,
                    "unknown operation \"%s\"; give union, intersection, difference or symmetric",
                    word);
}

/* Combines run to with run i, which is after it; the result becomes run to. */
static int combine(struct set_job *job, int to, int i)
{
    struct runs_job *r = &job->runs;
    struct run *a = &r->runs[to], *b = &r->runs[i], out;
    ech_ctx *ctx = r->base.ctx;
    const ech_dtype dtype = r->base.column.dtype;
    uint64_t count = 0;
    const int code = runs_allocate(r, a->n + b->n, "the result", &out);
    if (code != EXIT_DONE) return code;
    job->n[0] = a->n;
    job->n[1] = b->n;
    stage_begin(&r->base, STAGE_WORK);
    const ech_status status =
        r->lines ? ech_set_operation_pairs(ctx, a->keys, a->places, b->keys, b->places, out.keys,
                                           out.places, &count, a->n, b->n, job->operation, dtype,
                                           sizeof *out.places, &job->options)
                 : ech_set_operation(ctx, a->keys, b->keys, out.keys, &count, a->n, b->n,
                                     job->operation, dtype, &job->options);
    stage_end(&r->base, STAGE_WORK, r->base.n_out * ech_dtype_bytes(dtype));
    out.n = (size_t)count;
    r->base.n_out = count;
    runs_free_run(a);
    runs_free_run(b);
    *a = out;
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, ctx);
}

static int combine_all(struct set_job *job)
{
    const int count = job->runs.count;
    int code = EXIT_DONE;
    if (job->operation == ECH_SET_DIFFERENCE) {
        for (int i = 1; i < count && code == EXIT_DONE; i++) code = combine(job, 0, i);
        return code;
    }
    for (int step = 1; step < count; step *= 2)
        for (int i = 0; i < count - step && code == EXIT_DONE; i += 2 * step)
            code = combine(job, i, i + step);
    return code;
}

static void plan(const struct job *base, char *text, size_t bytes)
{
    const struct set_job *job = (const struct set_job *)base;
    text[0] = 0;
    ech_set_operation_explain(ech_device_name(base->ctx), job->n[0], job->n[1], job->operation,
                              base->column.dtype, job->runs.lines ? sizeof(uint64_t) : 0,
                              &job->options, ECH_FORMAT_TEXT, text, bytes);
}

static int set_to(struct job *base, struct io_output *output)
{
    struct set_job *job = (struct set_job *)base;
    int code = runs_load(&job->runs, &set.job, output);
    if (code == EXIT_DONE) code = combine_all(job);
    return code == EXIT_DONE ? runs_write(&job->runs, output) : code;
}

static int run(int count, char **operands)
{
    struct set_job job = { .runs = { .base = { .command = "set",
                                               .work = "combine",
                                               .working = "combining",
                                               .plan = plan },
                                     .descending = set.reverse },
                           .options = { .size = sizeof job.options,
                                        .descending = set.reverse,
                                        .algorithm = set.algorithm } };
    if (count < 3)
        return cli_fail(EXIT_BAD, "give an operation and two files or more; see echelon help set");
    int code = parse_operation(operands[0], &job.operation);
    if (code == EXIT_DONE && count > 3 && job.operation == ECH_SET_SYMMETRIC)
        code = cli_fail(EXIT_BAD, "symmetric combines two files, but %d are given", count - 1);
    if (code == EXIT_DONE) code = runs_name(&job.runs, count - 1, operands + 1);
    if (code == EXIT_DONE) code = table_check_string(set.string, &set.job);
    if (code == EXIT_DONE && set.string && set.order)
        code = cli_fail(EXIT_BAD, "--string cannot be combined with --order, the order of floats");
    if (code == EXIT_DONE) code = cli_parse_order(set.order, &job.runs.order);
    job.runs.string = set.string;
    job.options.order = job.runs.order;
    if (code == EXIT_DONE) code = job_run(&job.runs.base, &set.job, set_to);
    runs_free(&job.runs);
    return code;
}

static const struct cli_value values[] = {
    { "OPERATION", CLI_WORDS, "union intersection difference symmetric", NULL },
    { NULL, CLI_WORDS, NULL, NULL },
};

const struct command command_set = {
    .name = "set",
    .summary = "union, intersection or difference of sorted files",
    .usage = "  echelon set [OPTION]... OPERATION A B...\n",
    .examples = "  echelon set union a.npy b.npy -o c.npy           numbers of two sorted files\n"
                "  echelon set difference -k id all.csv seen.csv    lines of all.csv, by a column\n"
                "  echelon set intersection a.u32 b.u32 -o d.u32    common numbers\n"
                "  echelon set union mon.txt tue.txt wed.txt        sorted words\n",
    .notes = JOB_INPUT_NOTES
    "\n"
    "OPERATION is union, intersection, difference (A without B) or symmetric (in one of\n"
    "both).  A and B must be sorted as \"echelon sort\" sorts them; a number that is out of\n"
    "order is an error.  Both must have numbers of the same type.  If a number occurs m\n"
    "times in A and n times in B, it occurs max(m, n), min(m, n), max(m - n, 0) or |m - n|\n"
    "times in the result.  Equal numbers of A and B are paired; the one of A is written.  There\n"
    "may be more files than two, except for symmetric: the union, the intersection, or A without\n"
    "all others.\n\n"
    "With --string, and if the lines are not numbers, they are sorted and compared as text, by\n"
    "bytes.\n\n"
    "Lines are written unchanged, after the first header line.  The format of the output is\n"
    "that of its extension (.npy, .txt, .u32 and so on), otherwise that of A.\n",
    .options = options,
    .most_operands = CLI_ANY,
    .run = run,
    .values = values,
};
