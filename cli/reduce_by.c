/*
 * reduce_by.c - "echelon reduce --by": reduces the numbers of a column for each distinct key.
 *
 *     reduce_by_to()  load -> sort the rows by their keys -> reduce each group -> table
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "groups.h"
#include "reduce.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 32 };

static struct {
    const struct reduce_words *words;
    struct groups groups;
    const struct reduction *operations[MOST_OPERATIONS]; /* NULL: size */
    int count;
    char *results[MOST_OPERATIONS];
} plan;

/* ---- Words ---- */

static const char *name_of(const struct reduction *operation)
{
    return operation ? operation->name : "size";
}

static int add_operation(const char *name)
{
    const struct reduction *found = NULL;
    if (strcmp(name, "size") != 0) {
        const int code = reduce_find(name, &found);
        if (code != EXIT_DONE) return code;
    }
    if (plan.count == MOST_OPERATIONS)
        return cli_fail(EXIT_BAD, "more than %d operations are given", MOST_OPERATIONS);
    for (int i = 0; i < plan.count; i++)
        if (plan.operations[i] == found)
            return cli_fail(EXIT_BAD, "the operation %s is given twice", name_of(found));
    plan.operations[plan.count++] = found;
    return EXIT_DONE;
}

static bool tests(const struct reduction *r)
{
    return r && (r->op == ECH_OP_COUNT || r->op == ECH_OP_ANY || r->op == ECH_OP_ALL);
}

static bool deviates(const struct reduction *r)
{
    return r && (r->op == ECH_OP_VARIANCE || r->op == ECH_OP_STDDEV);
}

/* The options without those that are for other operations. */
static struct reduce_words words_for(const struct reduction *r)
{
    struct reduce_words own = *plan.words;
    if (!tests(r)) own.where = NULL;
    if (!deviates(r)) own.ddof = NULL;
    return own;
}

/* --where and --ddof must apply to one of the operations. */
static int check_options(const struct reduce_words *words)
{
    bool where = false, ddof = false;
    int code = EXIT_DONE;
    for (int i = 0; i < plan.count && code == EXIT_DONE; i++) {
        ech_reduce_options ignored;
        const struct reduction *r = plan.operations[i];
        const struct reduce_words own = words_for(r);
        where |= tests(r);
        ddof |= deviates(r);
        if (r) code = reduce_options(&own, r, &ignored);
    }
    if (code == EXIT_DONE && words->where && !where)
        code = cli_fail(EXIT_BAD, "--where is only for count, any and all");
    if (code == EXIT_DONE && words->ddof && !ddof)
        code = cli_fail(EXIT_BAD, "--ddof is only for variance and sd");
    return code;
}

int reduce_by_plan(const struct reduce_words *words, char *operations)
{
    int code = EXIT_DONE;
    bool numbers = false;
    plan.words = words;
    for (char *at = operations, *comma; at && code == EXIT_DONE; at = comma) {
        comma = strchr(at, ',');
        if (comma) *comma++ = 0;
        code = add_operation(at);
        numbers |= plan.count && plan.operations[plan.count - 1];
    }
    if (code == EXIT_DONE && words->rows)
        code = cli_fail(EXIT_BAD, "--rows cannot be combined with --by");
    if (code == EXIT_DONE && words->job.json && words->job.output)
        code = cli_fail(EXIT_BAD, "--json cannot be combined with --output");
    if (code == EXIT_DONE && words->job.column && !numbers)
        code = cli_fail(EXIT_BAD, "size is the number of lines, which needs no --column");
    if (code == EXIT_DONE) code = job_plan_text(&words->job);
    if (code == EXIT_DONE) code = check_options(words);
    if (code == EXIT_DONE)
        code = groups_plan(&plan.groups, &words->by, words->string, &words->job, numbers);
    return code;
}

/* ---- Work ---- */

static void add_value(const char *name, ech_dtype dtype, const char *results, size_t stride)
{
    struct groups_value *value = &plan.groups.values[plan.groups.value_count++];
    *value = (struct groups_value){ .dtype = dtype, .results = results, .stride = stride };
    snprintf(value->name, sizeof value->name, "%s", name);
}

static char *allocate(struct job *job, int i, size_t bytes, int *code)
{
    plan.results[i] = malloc(bytes + 1);
    if (!plan.results[i]) *code = job_no_memory(job, bytes, "the results");
    return plan.results[i];
}

static int count_rows(struct job *job, int i)
{
    const struct groups *groups = &plan.groups;
    int code = EXIT_DONE;
    char *sizes = allocate(job, i, (size_t)groups->count * sizeof(uint64_t), &code);
    for (uint64_t g = 0; g < groups->count && sizes; g++)
        io_store(sizes + g * sizeof(uint64_t), sizeof(uint64_t),
                 groups->offsets[g + 1] - groups->offsets[g]);
    if (!sizes) return code;
    add_value("size", ECH_U64, sizes, 1);
    plan.groups.values[plan.groups.value_count - 1].plain = true;
    return code;
}

/* Positions in a group become positions in the input. */
static void find_positions(uint64_t *positions)
{
    const struct groups *groups = &plan.groups;
    for (uint64_t g = 0; g < groups->count; g++)
        if (positions[g] != UINT64_MAX)
            positions[g] = groups_row(groups, groups->offsets[g] + positions[g]);
    plan.groups.values[plan.groups.value_count - 1].position = true;
}

static void name_results(const struct reduction *r, ech_dtype dtype, char *results)
{
    if (r->op == ECH_OP_MINMAX) {
        add_value("min", dtype, results, 2);
        add_value("max", dtype, results + ech_dtype_bytes(dtype), 2);
        return;
    }
    add_value(r->name, dtype, results, 1);
    if (r->op == ECH_OP_ARGMIN || r->op == ECH_OP_ARGMAX) find_positions((uint64_t *)results);
}

static int reduce_one(struct job *job, int i)
{
    const struct reduction *r = plan.operations[i];
    const struct groups *groups = &plan.groups;
    if (!r) return count_rows(job, i);
    const ech_dtype dtype = groups->table.columns[groups->value].dtype;
    const struct reduce_words words = words_for(r);
    struct where where = { ECH_COMPARE_NONZERO, 0 };
    ech_reduce_options options;
    int code = reduce_options(&words, r, &options);
    if (code == EXIT_DONE && words.where) code = where_parse("--where", words.where, dtype, &where);
    if (code != EXIT_DONE) return code;
    if (words.where) {
        options.compare = where.compare;
        options.value = &where.value;
    }
    const int result = ech_reduce_dtype(r->op, dtype, words.accumulate_wide);
    if (result < 0)
        return cli_fail(EXIT_BAD, "%s: has numbers of type %s, but \"%s\" is only for integers",
                        job->input, ech_dtype_name(dtype), r->name);
    const size_t per = r->op == ECH_OP_MINMAX ? 2 : 1;
    const size_t bytes = (size_t)groups->count * per * ech_dtype_bytes((ech_dtype)result);
    char *results = allocate(job, i, bytes, &code);
    if (!results) return code;
    const ech_status status =
        ech_reduce_segments(job->ctx, r->op, groups->sorted, groups->offsets, results,
                            (size_t)job->column.n, (size_t)groups->count, dtype, ECH_U64, &options);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    name_results(r, (ech_dtype)result, results);
    return EXIT_DONE;
}

int reduce_by_to(struct job *job, struct io_output *output)
{
    int code = groups_load(job, &plan.words->job, &plan.groups);
    stage_begin(job, STAGE_WORK);
    for (int i = 0; i < plan.count && code == EXIT_DONE; i++) code = reduce_one(job, i);
    stage_end(job, STAGE_WORK, 0);
    if (code == EXIT_DONE) code = groups_check(&plan.groups);
    if (code != EXIT_DONE) return code;
    if (!plan.words->job.json) return groups_write(job, output, &plan.groups);
    cli_progress_end(&job->progress);
    return groups_print_json(job, &plan.groups);
}

void reduce_by_free(void)
{
    for (int i = 0; i < MOST_OPERATIONS; i++) free(plan.results[i]);
    groups_free(&plan.groups);
}
