/*
 * columns/cpu/operation.c - sorts by columns on the CPU: the choice, the workspace and the passes.
 *
 *     pack     one stable sort of (word, position)
 *     refine   the same by the most significant word; then the ties (refine.c)
 *     lsd      one such sort per word, the least significant word first
 *
 *     workspace   [ words ][ workspace of a sort ][ refine: both for a short tie, per thread ]
 *                 [ records: positions ][ records in place: copy ]
 *
 * Records are moved to their places after the positions are sorted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "columns/cpu/common.h"
#include "core/backend.h"
#include "core/call.h"

#include <string.h>

enum { IOTA_CHUNK = 1 << 16 };

/* ---- Algorithms ---- */

static ech_status run_lsd(const struct echi_columns_job *job);
static ech_status run_refine(const struct echi_columns_job *job);

static bool pack_applicable(const struct echi_columns *c)
{
    return c->bits <= 64;
}

static bool any(const struct echi_columns *c)
{
    (void)c;
    return true;
}

static const struct algorithm {
    const char *name, *what;
    const char *when;                                 /* when it is chosen, for the documentation */
    bool (*applicable)(const struct echi_columns *c); /* the first that applies is chosen */
    ech_status (*run)(const struct echi_columns_job *job);
} algorithms[] = {
    {
        .name = "pack",
        .what = "packs the columns into one key of at most 64 bits: one sort",
        .when = "the columns have at most 64 bits, with one for each bitmap",
        .applicable = pack_applicable,
        .run = run_lsd, /* of one word */
    },
    {
        .name = "refine",
        .what = "sorts by the first 64 bits of the columns, then rows with equal bits by the next",
        .when = "all other columns",
        .applicable = any,
        .run = run_refine,
    },
    {
        .name = "lsd",
        .what = "packs the columns into words of 64 bits, and sorts by the least significant word "
                "first: one sort per word",
        .when = "only on request: it takes less time than refine only for two words, if nearly all "
                "rows have ties of 2 to 32 rows in the first",
        .applicable = any,
        .run = run_lsd,
    },
};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static ech_status choose(const struct echi_columns *c, const struct algorithm **algorithm)
{
    const char *pack = pack_applicable(c) ? "pack, " : "";
    for (int i = 0; i < ALGORITHMS; i++) {
        *algorithm = &algorithms[i];
        if (c->algorithm ? strcmp(c->algorithm, algorithms[i].name) != 0
                         : !algorithms[i].applicable(c))
            continue;
        if (algorithms[i].applicable(c)) return ECH_OK;
        return echi_fail(NULL, ECH_ERR_ARG,
                         "algorithm \"%s\" (%s) cannot sort by these columns, which have %u bits; "
                         "available: refine, lsd",
                         c->algorithm, algorithms[i].what, c->bits);
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\" for sorts by columns on the CPU; available: "
                     "%srefine, lsd",
                     c->algorithm, pack);
}

/* ---- Workspace ---- */

/* The sort of a word of all rows.  The first sort of pack and lsd creates the positions. */
static struct echi_sort sort_of(const struct echi_columns *c, const struct algorithm *algorithm,
                                uint32_t word)
{
    const bool first = algorithm->run == run_lsd && word + 1 == echi_columns_words(c);
    return echi_columns_sort(c, word, first);
}

/* The workspace of a sort of a short tie, by one thread. */
static ech_status short_work(const struct echi_columns *c, size_t room, size_t *bytes)
{
    struct echi_sort sort = echi_columns_sort(c, 0, false);
    sort.n = room;
    const ech_status status = echi_operation_workspace(&echi_cpu_sort, &sort, bytes);
    *bytes = (*bytes + ECHI_ALIGN - 1) / ECHI_ALIGN * ECHI_ALIGN;
    return status;
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(const struct echi_columns *c, const struct algorithm *algorithm,
                          struct echi_layout *layout, struct echi_columns_job *job)
{
    const size_t word_bytes = (size_t)echi_columns_sort(c, 0, true).key_bytes;
    size_t sort_bytes = 0;
    ech_status status = ECH_OK;
    for (uint32_t i = 0; i < echi_columns_words(c); i++) {
        const struct echi_sort sort = sort_of(c, algorithm, i);
        size_t bytes;
        TRY(echi_operation_workspace(&echi_cpu_sort, &sort, &bytes));
        if (bytes > sort_bytes) sort_bytes = bytes;
    }
    if (algorithm->run == run_refine || !c->plain) job->words = echi_part(layout, c->n, word_bytes);
    job->sort_work = echi_part(layout, sort_bytes, 1);
    job->room = echi_min(c->n, COLUMNS_SHORT);
    if (algorithm->run == run_refine && echi_columns_words(c) > 1) {
        TRY(short_work(c, job->room, &job->own_bytes));
        job->own_bytes += job->room * sizeof(uint64_t);
        job->own_bytes = (job->own_bytes + ECHI_ALIGN - 1) / ECHI_ALIGN * ECHI_ALIGN;
        job->own = echi_part(layout, echi_parts(c->n), job->own_bytes);
    }
    job->indices = c->record_bytes ? echi_part(layout, c->n, (size_t)c->index_bytes) : c->indices;
    if (c->in_place) job->copy = echi_part(layout, c->n, c->record_bytes);
done:
    return status;
}

struct plan {
    const struct algorithm *algorithm;
};

static ech_status make_plan(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_columns *c = request;
    struct plan *p = plan;
    struct echi_layout layout = { 0 };
    struct echi_columns_job job = { 0 };
    ech_status status;
    *work_bytes = 0;
    TRY(choose(c, &p->algorithm));
    if (c->n == 0) goto done;
    TRY(lay_out(c, p->algorithm, &layout, &job));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", c->n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- Runs ---- */

ech_status echi_columns_pass(const struct echi_columns_job *job, uint32_t word, size_t begin,
                             size_t n, void *words, void *sort_work, int threads)
{
    const struct echi_columns *c = job->request;
    struct echi_sort sort = echi_columns_sort(c, word, false);
    char *positions = (char *)job->indices + begin * (size_t)c->index_bytes;
    sort.n = n;
    sort.keys_in = sort.keys_out = words;
    sort.values_in = sort.values_out = positions;
    echi_columns_build(job, word, positions, words, n, threads);
    return echi_operation_run(job->ctx, &echi_cpu_sort, &sort, sort_work);
}

/* The same for all rows. */
static ech_status pass(const struct echi_columns_job *job, uint32_t word)
{
    return echi_columns_pass(job, word, 0, job->request->n, job->words, job->sort_work,
                             job->threads);
}

static ech_status run_lsd(const struct echi_columns_job *job)
{
    const struct echi_columns *c = job->request;
    uint32_t word = echi_columns_words(c) - 1;
    struct echi_sort sort = echi_columns_sort(c, word, true);
    ech_status status;
    sort.keys_in = c->plain ? c->source[0].data : job->words;
    sort.values_out = job->indices;
    if (!c->plain) echi_columns_build(job, word, NULL, job->words, c->n, job->threads);
    TRY(echi_operation_run(job->ctx, &echi_cpu_sort, &sort, job->sort_work));
    while (word-- > 0) TRY(pass(job, word));
done:
    return status;
}

struct positions {
    void *out;
    size_t n;
    int bytes;
};

static void write_positions(void *arg, size_t i, int thread)
{
    const struct positions *p = arg;
    const size_t begin = i * IOTA_CHUNK, end = echi_min(p->n, begin + IOTA_CHUNK);
    (void)thread;
    if (p->bytes == 8)
        for (size_t j = begin; j < end; j++) ((uint64_t *)p->out)[j] = j;
    else
        for (size_t j = begin; j < end; j++) ((uint32_t *)p->out)[j] = (uint32_t)j;
}

static ech_status run_refine(const struct echi_columns_job *job)
{
    const struct echi_columns *c = job->request;
    struct positions positions = { job->indices, c->n, c->index_bytes };
    ech_status status;
    echi_parallel(job->threads, (c->n + IOTA_CHUNK - 1) / IOTA_CHUNK, write_positions, &positions);
    TRY(pass(job, 0));
    if (echi_columns_words(c) > 1) TRY(echi_columns_refine(job, 0, 0, c->n, job->words));
done:
    return status;
}

static ech_status move_records(const struct echi_columns_job *job)
{
    const struct echi_columns *c = job->request;
    ech_status status = ECH_OK;
    if (c->in_place) {
        const struct echi_arrange copy = echi_records_copy(c, job->copy);
        TRY(echi_operation_run(job->ctx, &echi_cpu_arrange, &copy, NULL));
    }
    const void *from = c->in_place ? job->copy : c->source[0].data;
    const struct echi_arrange move = echi_records_move(c, from, job->indices);
    TRY(echi_operation_run(job->ctx, &echi_cpu_arrange, &move, NULL));
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_columns *c = request;
    const struct plan *p = plan;
    struct echi_layout layout = { .base = work };
    struct echi_columns_job job = { .ctx = ctx, .request = c };
    ech_status status;
    job.threads = (int)echi_min((size_t)echi_threads(ctx), echi_parts(c->n));
    TRY(lay_out(c, p->algorithm, &layout, &job));
    TRY(p->algorithm->run(&job));
    if (c->record_bytes) TRY(move_records(&job));
done:
    return status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_columns *c = request;
    const struct algorithm *algorithm;
    const ech_status status = choose(c, &algorithm);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, algorithm->name, "%s", algorithm->what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (&algorithms[i] != algorithm && algorithms[i].applicable(c))
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    echi_explain_count(e, "key_bits", c->bits);
    echi_explain_count(e, "words", echi_columns_words(c));
    if (c->record_bytes)
        echi_explain_line(e, "move", "%s",
                          c->in_place ? "of a copy of the records" : "of the records");
    echi_explain_line(e, "threads", "at most %zu",
                      echi_min(echi_parts(c->n), (size_t)echi_processors()));
    return ECH_OK;
}

const struct echi_operation echi_cpu_columns = {
    .plan = make_plan, .plan_bytes = sizeof(struct plan), .explain = explain, .run = run
};
