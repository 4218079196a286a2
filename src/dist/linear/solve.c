/*
 * dist/linear/solve.c - ech_dist_solve(): the methods of src/solve, whose steps run on the rows of
 * each rank.
 *
 *     a step          local sums of vectors; partial sums of dot products, one per item of chunks
 *     subtrees        a rank adds its items to the largest aligned subtrees (docs/reduce.md)
 *     one allgather   every rank adds the subtrees of all ranks in the order of one device
 *     scalars         every rank computes them (solve/recur.h), and copies them to its device
 *
 * All ranks have the same scalars, so they take the same decisions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/linear/linear.h"
#include "solve/recur.h"
#include "solve/solve.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS = 130 }; /* subtrees of a rank: at most two per level */

/* The subtrees of a rank: 2^level chunks each. */
struct forest {
    int trees;
    unsigned char level[LEVELS];
};

struct spread {
    struct echi_spread base; /* first */
    ech_dist_csr *a;
    struct echi_solve call;
    struct echi_run run;
    ech_solve_report report;
    void *b, *x; /* in the division of the matrix; x has room for the halo */
    struct echi_linear_memory work, vectors;
    double *scalars; /* of this rank's host; the device has a copy */
    size_t scalar_count;
    double *partials; /* [items][dots], copied from the device */
    int item_level;   /* an item has 2^item_level chunks */
    uint64_t items, first_item;
    struct forest *forests; /* [ranks] */
    int most_trees;         /* of a rank */
    double *mine, *all;     /* [1 + most_trees * dots] of this rank, of all ranks */
    ech_status status;      /* of this rank; the next agreement reports it */
};

static struct spread *spread_of(const struct echi_run *run)
{
    return (struct spread *)run->spread;
}

/* ---- Subtrees ---- */

static int log2_of(uint64_t x)
{
    return 63 - __builtin_clzll(x);
}

/* Divides `items` items from `first` on into the largest aligned subtrees. */
static void plant(struct forest *f, uint64_t first, uint64_t items, int item_level)
{
    f->trees = 0;
    while (items) {
        int level = log2_of(items);
        if (first && __builtin_ctzll(first) < level) level = __builtin_ctzll(first);
        f->level[f->trees++] = (unsigned char)(level + item_level);
        first += (uint64_t)1 << level;
        items -= (uint64_t)1 << level;
    }
}

static void plant_all(struct spread *s)
{
    const ech_dist_csr *a = s->a;
    const uint64_t chunk = (uint64_t)(ECHI_SOLVE_LINE_BYTES * ECHI_SOLVE_LINES) / a->bytes;
    for (int r = 0; r < a->ranks; r++) {
        const uint64_t n = a->first[r + 1] - a->first[r];
        const uint64_t chunks = echi_solve_chunks(n, (int)a->bytes);
        const uint64_t each = echi_solve_item_chunks(chunks), items = (chunks + each - 1) / each;
        const uint64_t first = a->first[r] / (chunk * each);
        plant(&s->forests[r], first, items, log2_of(each));
        if (s->forests[r].trees > s->most_trees) s->most_trees = s->forests[r].trees;
        if (r != a->rank) continue;
        s->item_level = log2_of(each);
        s->items = items;
        s->first_item = first;
    }
}

/* The sum of a subtree of items, in adjacent pairs; in place.  Missing items do not count. */
static double add_items(double *v, uint64_t count, size_t stride)
{
    for (uint64_t apart = 1; apart < count; apart *= 2)
        for (uint64_t i = 0; i + apart < count; i += 2 * apart)
            v[i * stride] += v[(i + apart) * stride];
    return v[0];
}

static void add_own(struct spread *s, size_t dots)
{
    const struct forest *f = &s->forests[s->a->rank];
    uint64_t at = 0;
    for (int t = 0; t < f->trees; t++) {
        const uint64_t count = (uint64_t)1 << (f->level[t] - s->item_level);
        for (size_t k = 0; k < dots; k++)
            s->mine[1 + (size_t)t * dots + k] = add_items(s->partials + at * dots + k, count, dots);
        at += count;
    }
}

/* Adds subtrees of equal level that are neighbours, as a binary counter; then the rest from the
 * right. */
static double add_all(const struct spread *s, size_t dots, size_t k)
{
    const size_t words = 1 + (size_t)s->most_trees * dots;
    double sums[2 * LEVELS];
    int levels[2 * LEVELS], count = 0;
    for (int r = 0; r < s->a->ranks; r++)
        for (int t = 0; t < s->forests[r].trees; t++) {
            double sum = s->all[(size_t)r * words + 1 + (size_t)t * dots + k];
            int level = s->forests[r].level[t];
            for (; count && levels[count - 1] == level; count--, level++)
                sum = sums[count - 1] + sum;
            sums[count] = sum;
            levels[count++] = level;
        }
    if (count == 0) return -0.0;
    double sum = sums[count - 1];
    while (--count > 0) sum = sums[count - 1] + sum;
    return sum;
}

/* ---- Agreement ---- */

/* Gathers s->mine; fails on all ranks if one has failed. */
static ech_status gather(struct spread *s, size_t words)
{
    const ech_dist_csr *a = s->a;
    bool failed = false;
    s->mine[0] = s->status == ECH_OK ? 0 : 1;
    ech_status status =
        echi_comm_allgather(a->ctx, a->comm, s->mine, s->all, words * sizeof *s->mine);
    for (int r = 0; r < a->ranks && status == ECH_OK; r++) failed |= s->all[(size_t)r * words] != 0;
    if (status == ECH_OK && failed) status = echi_comm_agree(a->ctx, a->comm, s->status, NULL, 0);
    return status;
}

/* ---- Scalars ---- */

/* Copies scalars from ... to - 1 to the device. */
static void put_scalars(struct spread *s, size_t from, size_t to)
{
    double *device = s->run.parts.scalars;
    if (s->status != ECH_OK) return;
    if (s->a->ctx->backend == &echi_cpu)
        memcpy(device + from, s->scalars + from, (to - from) * sizeof *device);
    else
        s->status = s->a->ctx->backend->copy_async(s->a->ctx, device + from, s->scalars + from,
                                                   (to - from) * sizeof *device);
}

static ech_status fetch(struct echi_run *run)
{
    memcpy(run->head, spread_of(run)->scalars, sizeof run->head);
    return ECH_OK;
}

static ech_status put(struct echi_run *run)
{
    struct spread *s = spread_of(run);
    memcpy(s->scalars, run->head, sizeof run->head);
    put_scalars(s, 0, ECHI_S_RING);
    return ECH_OK;
}

/* The recurrence that follows a step; the device receives what later steps read. */
static void follow(struct spread *s, const struct echi_solve_step *step)
{
    const int m = step->restart;
    solve_recur(step->after, s->scalars, step->column, m);
    put_scalars(s, 0, ECHI_S_RING);
    if (step->after == ECHI_RECUR_GMRES_SOLVE) {
        const size_t from = (size_t)solve_gmres_list(m, ECHI_GM_Y, 0);
        put_scalars(s, from, from + (size_t)step->column);
    }
}

/* ---- Steps ---- */

static void run_local(struct spread *s, const struct echi_solve_step *step)
{
    ech_ctx *ctx = s->a->ctx;
    struct echi_solve_step mine = *step;
    mine.guarded = 0; /* the host knows whether the solver has stopped */
    if (s->status == ECH_OK && s->a->n)
        s->status = echi_operation_run(ctx, ctx->backend->operations[ECHI_OP_solve], &mine, NULL);
}

static ech_status combine(struct spread *s, const struct echi_solve_step *step)
{
    const size_t dots = (size_t)step->dots;
    const int first = step->projection.meetings ? step->projection.meets_to : (int)ECHI_S_DOT;
    if (s->status == ECH_OK && s->items)
        s->status = s->a->ctx->backend->copy(s->a->ctx, s->partials, step->partials,
                                             (size_t)s->items * dots * sizeof *s->partials);
    if (s->status == ECH_OK) add_own(s, dots);
    const ech_status status = gather(s, 1 + (size_t)s->most_trees * dots);
    if (status != ECH_OK) return status;
    for (size_t k = 0; k < dots; k++) s->scalars[(size_t)first + k] = add_all(s, dots, k) + 0.0;
    if (step->projection.meetings) put_scalars(s, (size_t)first, (size_t)first + dots);
    return ECH_OK;
}

/* The first row of all ranks without a valid divisor. */
static ech_status find_bad(struct spread *s)
{
    uint64_t where = 0, lowest = UINT64_MAX;
    double *at = &s->run.parts.scalars[ECHI_S_WHERE];
    if (s->status == ECH_OK && s->a->n)
        s->status = s->a->ctx->backend->copy(s->a->ctx, &where, at, sizeof where);
    const uint64_t row = where ? s->a->first[s->a->rank] + ~where : UINT64_MAX;
    memcpy(&s->mine[1], &row, sizeof row);
    const ech_status status = gather(s, 2);
    for (int r = 0; r < s->a->ranks && status == ECH_OK; r++) {
        uint64_t other;
        memcpy(&other, &s->all[2 * (size_t)r + 1], sizeof other);
        if (other < lowest) lowest = other;
    }
    where = lowest == UINT64_MAX ? 0 : ~lowest;
    memcpy(&s->scalars[ECHI_S_WHERE], &where, sizeof where);
    return status;
}

static ech_status step_all(const struct echi_run *run, const struct echi_solve_step *step)
{
    struct spread *s = spread_of(run);
    if (step->guarded && s->scalars[ECHI_S_STOP] != 0) return ECH_OK;
    if (step->n || step->dots) run_local(s, step);
    if (step->what == ECHI_SOLVE_INVERT || step->what == ECHI_SOLVE_BLOCKS) return find_bad(s);
    if (step->dots) {
        const ech_status status = combine(s, step);
        if (status != ECH_OK) return status;
    }
    if (step->dots || step->after) follow(s, step);
    return ECH_OK;
}

static ech_status apply(struct echi_run *run, const void *x, void *y)
{
    struct spread *s = spread_of(run);
    return echi_linear_product(s->a, 1, (void *)(uintptr_t)x, 0, y, &s->status);
}

/* ---- Memory ---- */

static ech_status allocate(struct spread *s)
{
    ech_dist_csr *a = s->a;
    const size_t ranks = (size_t)a->ranks;
    ech_status status;
    s->scalar_count = ECHI_S_MORE + ((size_t)s->call.options.restart + ECHI_GM_LISTS) *
                                        ((size_t)s->call.options.restart + 1);
    s->scalars = calloc(s->scalar_count, sizeof *s->scalars);
    s->forests = calloc(ranks, sizeof *s->forests);
    if (!s->scalars || !s->forests) FAIL(a->ctx, ECH_ERR_MEMORY, "out of memory for a solver");
    plant_all(s);
    const size_t words = 2 + (size_t)s->most_trees * ECHI_SOLVE_VECTORS;
    s->partials = malloc((size_t)(s->items + 1) * ECHI_SOLVE_VECTORS * sizeof *s->partials);
    s->mine = calloc(words, sizeof *s->mine);
    s->all = malloc(ranks * words * sizeof *s->all);
    if (!s->partials || !s->mine || !s->all)
        FAIL(a->ctx, ECH_ERR_MEMORY, "out of memory for a solver");
    TRY(echi_solve_lay_out(&s->call, NULL, &s->run.parts, &s->work.bytes));
    TRY(echi_allocate(a->ctx, s->work.bytes, "a solver", &s->work.pointer));
    TRY(echi_solve_lay_out(&s->call, s->work.pointer, &s->run.parts, &s->work.bytes));
    s->vectors.bytes = 2 * s->run.parts.vector_bytes;
    TRY(echi_allocate(a->ctx, s->vectors.bytes, "a solver", &s->vectors.pointer));
    s->x = s->vectors.pointer;
    s->b = echi_after(s->x, s->run.parts.vector_bytes);
done:
    return status;
}

static void release(struct spread *s)
{
    echi_release(s->a->ctx, s->work.pointer, s->work.bytes);
    echi_release(s->a->ctx, s->vectors.pointer, s->vectors.bytes);
    free(s->scalars);
    free(s->forests);
    free(s->partials);
    free(s->mine);
    free(s->all);
}

/* ---- The call ---- */

static ech_status check(ech_ctx *ctx, struct spread *s, const ech_solve_options *options)
{
    const ech_dist_csr *a = s->a;
    const ech_csr whole = { .size = sizeof whole,
                            .rows = (size_t)a->total,
                            .cols = (size_t)a->total,
                            .nnz = a->csr.nnz,
                            .index_dtype = a->csr.index_dtype,
                            .dtype = a->dtype };
    const ech_operator operator_ = {
        .size = sizeof operator_, .n = (size_t)a->total, .dtype = a->dtype, .csr = &whole
    };
    const int block = options->block;
    ech_status status;
    s->call.backend = ctx->backend;
    TRY(echi_solve_check(ctx, &operator_, options, &s->call));
    if (options->method != ECH_METHOD_CG && options->method != ECH_METHOD_MINRES &&
        options->method != ECH_METHOD_BICGSTAB && options->method != ECH_METHOD_GMRES)
        FAIL(ctx, ECH_ERR_UNSUPPORTED,
             "options->method is \"%s\": ech_dist_solve() supports cg, minres, bicgstab and gmres",
             ech_method_name(options->method));
    if (options->precond != ECH_PRECOND_NONE && options->precond != ECH_PRECOND_JACOBI &&
        options->precond != ECH_PRECOND_BLOCK_JACOBI)
        FAIL(ctx, ECH_ERR_UNSUPPORTED,
             "options->precond is \"%s\": ech_dist_solve() supports none, jacobi and block-jacobi",
             ech_precond_name(options->precond));
    if (options->precond == ECH_PRECOND_BLOCK_JACOBI && (block & (block - 1)) != 0)
        FAIL(ctx, ECH_ERR_UNSUPPORTED,
             "options->block is %d: ech_dist_solve() supports 1, 2, 4, 8, 16 and 32", block);
    if (options->monitor || options->precondition)
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "options->%s is set: ech_dist_solve() does not support it",
             options->monitor ? "monitor" : "precondition");
    TRY(echi_dist_no_work(ctx, options->work));
    s->call.a.n = a->n;
    s->call.csr = a->csr;
    s->call.beyond = a->halo;
    s->call.count = 1;
    s->call.options.check_every = 1;
done:
    return status;
}

static ech_status solve(struct spread *s)
{
    struct echi_run *run = &s->run;
    ech_solve_report *report = &s->report;
    ech_status status;
    run->b = s->b;
    run->x = s->x;
    run->every = 1;
    report->method = s->call.options.method;
    report->precond = s->call.options.precond;
    put_scalars(s, 0, s->scalar_count);
    TRY(echi_precond_make(run));
    run->method = echi_method_of(report->method);
    TRY(echi_solve_one(run));
done:
    return status;
}

static ech_status run_call(struct spread *s, const void *b, void *x)
{
    ech_dist_csr *a = s->a;
    const ech_solve_options *o = &s->call.options;
    const struct echi_linear_number numbers[] = { { "options->rtol", o->rtol },
                                                  { "options->atol", o->atol },
                                                  { "options->dtol", o->dtol } };
    ech_status status, step;
    TRY(echi_linear_same(a->ctx, a->comm, "ech_dist_solve", numbers, 3));
    s->report.method = o->method;
    s->report.precond = o->precond;
    s->report.status = ECH_SOLVE_STATUS_CONVERGED_RTOL;
    if (a->total == 0) return ECH_OK;
    s->report.status = (ech_solve_status)0;
    status = allocate(s);
    TRY(echi_comm_agree(a->ctx, a->comm, status, NULL, 0));
    step = echi_linear_move(a, b, a->given, s->b, a->first, a->bytes, &s->status);
    if (step == ECH_OK && o->use_initial_guess)
        step = echi_linear_move(a, x, a->given, s->x, a->first, a->bytes, &s->status);
    if (step == ECH_OK) step = solve(s);
    if (step == ECH_OK)
        step = echi_linear_move(a, s->x, a->first, x, a->given, a->bytes, &s->status);
    status = step == ECH_OK ? s->status : step;
done:
    return status;
}

/* What all ranks must choose alike; numbers of f64 are compared by echi_linear_same(). */
static const char *const names[] = { "the number of the call that made the matrix",
                                     "options->method",
                                     "options->precond",
                                     "options->max_iterations",
                                     "options->use_initial_guess",
                                     "options->restart",
                                     "options->block",
                                     NULL };

ech_status ech_dist_solve(ech_ctx *ctx, ech_comm *comm, ech_dist_csr *a, const void *b, void *x,
                          const ech_solve_options *given, ech_solve_report *report)
{
    struct spread s = { .base = { 0, apply, step_all, fetch, put }, .a = a };
    struct echi_dist d;
    ech_solve_options options = { 0 };
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ech_status status = echi_linear_check(ctx, comm, a);
    if (status == ECH_OK)
        status = echi_read_options(ctx, "ech_solve_options", given, &options, sizeof options,
                                   offsetof(ech_solve_options, work));
    if (status == ECH_OK)
        status = report ? echi_check_size(ctx, "report", "ech_solve_report", report->size,
                                          sizeof *report)
                        : echi_fail(ctx, ECH_ERR_ARG, "report is NULL");
    if (status == ECH_OK) status = check(ctx, &s, &options);
    if (status == ECH_OK && a->given[a->rank] < a->given[a->rank + 1] && (!b || !x))
        status = echi_fail(ctx, ECH_ERR_ARG, "%s is NULL", b ? "x" : "b");
    struct echi_comm_call call = { .name = "ech_dist_solve",
                                   .option = {
                                       status == ECH_OK ? a->serial : 0, (uint64_t)options.method,
                                       (uint64_t)options.precond, options.max_iterations,
                                       (uint64_t)options.use_initial_guess,
                                       (uint64_t)options.restart, (uint64_t)options.block } };
    status = echi_dist_begin(&d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    s.base.total = (size_t)a->total;
    s.run =
        (struct echi_run){ .ctx = ctx, .call = &s.call, .report = &s.report, .spread = &s.base };
    status = run_call(&s, b, x);
    release(&s);
    status = echi_dist_end(&d, status);
    if (status == ECH_OK) echi_write_struct(&s.report, sizeof s.report, report);
    return status;
}
