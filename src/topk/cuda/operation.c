/*
 * topk/cuda/operation.c - top-k selections on the GPU, host code: the plan, the workspace, the
 * operation.
 *
 *     algorithm   groups                             steps
 *     select      up to 64 elements                  topk_lanes_...
 *                 k <= 192, and many or short rows   topk_warp_...
 *                 up to 16,384 elements              topk_block, topk_count
 *                 longer                             topk_sample, _filter, _ties, _repair, _finish
 *                 one array, k > 2,048               the same with a sort of the candidates
 *     sort        any                                an argsort, then topk_write
 *
 *     workspace   [ packed rows | lists of segments | long groups, chunks, candidates | positions
 *                 | workspace of a sort ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "core/call.h"
#include "sort/segments.h"
#include "topk/cuda/plan.h"

#include <stdio.h>
#include <string.h>

struct algorithm {
    const char *name, *what;
};
static const struct algorithm algorithms[] = {
    { "select", "a pivot or an interval of keys, then the candidates within it" },
    { "sort", "an argsort, of which the first k positions are used" },
};
enum { SELECT, SORT, ALGORITHMS };

enum {
    LARGE_OF = 8,       /* k > TOPK_MOST: by a filter if k is at most 1 / 8 of the elements, ... */
    LARGE_OF_MANY = 11, /* ... or 1 / 11 if they are at least ... */
    LARGE_MANY = 1 << 25, /* ... this number: an argsort is faster otherwise (H200, 2026-11-28) */
    SORT_OF = 2,          /* rows: an argsort is faster if more than half of the elements ... */
    SORT_LEAST = 128      /* ... and at least this many are selected */
};

_Static_assert(sizeof(struct topk_plan) <= ECHI_PLAN_BYTES, "a plan is too large");

/* ---- The plan ---- */

static bool can_large(const struct echi_topk *t, const struct topk_plan *p)
{
    const size_t of = t->n < LARGE_MANY ? LARGE_OF : LARGE_OF_MANY;
    return !t->offsets && t->groups == 1 && t->n > p->chip && t->k <= t->n / of;
}

/* Whether topk_count selects from rows of keys of 8 and 16 bits that are longer than others of one
 * block. */
static bool has_count(const struct echi_topk *t)
{
    return t->key_bytes <= 2 && !t->offsets && t->groups <= TOPK_COUNT_GROUPS &&
           echi_topk_most(t) <= TOPK_MOST;
}

static bool can_select(const struct echi_topk *t, const struct topk_plan *p)
{
    return echi_topk_longest(t) <= UINT32_MAX - 1 && t->groups <= UINT32_MAX - 1 &&
           (echi_topk_most(t) <= TOPK_MOST || can_large(t, p));
}

static ech_status choose(const struct echi_topk *t, struct topk_plan *p)
{
    const size_t longest = echi_topk_longest(t), most = echi_topk_most(t);
    const bool can = can_select(t, p);
    const bool many = !t->offsets && most >= SORT_LEAST && most > longest / SORT_OF &&
                      !(has_count(t) && longest <= p->chip);
    p->algorithm = can && !many ? SELECT : SORT;
    if (!t->algorithm) return ECH_OK;
    for (p->algorithm = 0; p->algorithm < ALGORITHMS; p->algorithm++)
        if (strcmp(t->algorithm, algorithms[p->algorithm].name) == 0) break;
    if (p->algorithm == ALGORITHMS)
        return echi_fail(
            NULL, ECH_ERR_ARG,
            "unknown algorithm \"%s\" for top-k selections on the GPU; available: select, "
            "sort",
            t->algorithm);
    if (p->algorithm == SELECT && !can)
        return echi_fail(NULL, ECH_ERR_UNSUPPORTED,
                         "algorithm \"select\" does not support k = %zu of %zu elements; \"sort\" "
                         "does",
                         t->k, longest);
    return ECH_OK;
}

/* A large sample leaves fewer candidates. */
static uint64_t row_sample(const struct echi_topk *t, const struct topk_plan *p, uint64_t k)
{
    uint64_t large = t->cols / TOPK_SAMPLE_LARGE_OF;
    if (large > TOPK_SAMPLE_MOST) large = TOPK_SAMPLE_MOST;
    if (p->gathers && large > TOPK_SAMPLE && topk_pivot_rank(t->cols, k, large) <= TOPK_LOW_RANK)
        return large;
    return topk_sample_size(t->cols);
}

/* Sizes of the lists for long groups. */
static void plan_long(const struct echi_topk *t, struct topk_plan *p)
{
    const uint64_t n = t->n, k = echi_topk_most(t);
    p->bytes = t->key_bytes == 1 && !t->offsets && t->groups == 1;
    while (p->bytes && n / p->chunk > TOPK_CHUNKS) p->chunk *= 2; /* counters per chunk */
    if (!t->offsets) {
        p->longs = t->groups;
        p->gathers = p->longs <= TOPK_SAMPLE_APART;
        p->chunks = t->groups * ((t->cols + p->chunk - 1) / p->chunk);
        p->row_sample = row_sample(t, p, k);
        p->row_room = topk_candidate_room(t->cols, k, p->row_sample);
        p->row_rank = topk_pivot_rank(t->cols, k, p->row_sample);
        if (p->bytes) p->row_room = k;
        p->candidates = t->groups * p->row_room;
        return;
    }
    /* Longer groups need less room per element, except for rounding. */
    const uint64_t least = topk_candidate_room(p->chip + 1, k, topk_sample_size(p->chip + 1));
    p->longs = n / (p->chip + 1) + 1;
    p->chunks = n / p->chunk + p->longs;
    p->candidates = p->longs * least + p->longs * least / 4;
    if (p->candidates > n) p->candidates = n;
    if (p->longs > t->groups) p->longs = t->groups;
}

/* The kernel that selects by a bound from each group, or from each segment that is not short; NULL:
 * none.  With long rows, there must be enough of them. */
static const char *warp_kernel(const struct echi_topk *t, size_t longest, size_t k)
{
    const char *any = k <= 16   ? "topk_warp_16"
                      : k <= 32 ? "topk_warp_32"
                      : k <= 96 ? "topk_warp_96"
                                : "topk_warp_192";
    if (k > TOPK_WARP_MOST || (longest <= TOPK_LANES_MOST && (t->offsets || k > 8))) return NULL;
    if (t->offsets) return any;
    if (longest <= 16) return NULL;
    if (longest <= 64) return "topk_warp_64";
    if (longest <= 128 && k <= 16) return "topk_warp_128";
    if (longest <= 256 && k <= 16) return "topk_warp_256";
    if (longest <= 256 && k <= 32) return "topk_warp_short_32";
    return longest <= TOPK_WARP_CHUNK || t->groups >= TOPK_WARP_ROWS ? any : NULL;
}

static void plan_select(const struct echi_topk *t, struct topk_plan *p)
{
    const size_t longest = echi_topk_longest(t), k = echi_topk_most(t);
    p->warp =
        has_count(t) && k > 16 && longest > TOPK_LANES_MOST ? NULL : warp_kernel(t, longest, k);
    p->has_lanes = t->offsets || (longest <= TOPK_LANES_MOST && !p->warp);
    p->lists = t->offsets && longest > TOPK_LANES_MOST;
    p->large = k > TOPK_MOST;
    p->has_long = p->large || (longest > p->chip && (t->offsets || !p->warp));
    p->has_block = !p->warp && (t->offsets ? p->lists : !p->has_lanes && !p->has_long);
    p->bins_log = (longest <= 4096 && !has_count(t)) || t->offsets ? 8 : TOPK_BINS_LOG;
    if (p->lists) p->chip_room = t->n / (TOPK_LANES_MOST + 1) + 1;
    if (p->chip_room > t->groups) p->chip_room = t->groups;
    if (p->has_long)
        plan_long(t, p);
    else if (longest < p->chip)
        p->chip = (uint32_t)longest;
}

static ech_status plan_shape(const struct echi_topk *t, struct topk_plan *p)
{
    const size_t longest = echi_topk_longest(t);
    const size_t key = t->key_bytes == 8 ? 8 : 4;
    ech_status status;
    *p = (struct topk_plan){ .chunk = TOPK_CHUNK_MOST,
                             .word_bytes = 2 * key,
                             .position_bytes = longest <= UINT32_MAX ? 4 : 8 };
    p->chip = TOPK_EACH * (t->offsets ? TOPK_SEGMENT_THREADS : 2 * TOPK_THREADS);
    if (has_count(t)) p->chip = TOPK_COUNT_MOST / (uint32_t)t->key_bytes;
    while (p->chunk > TOPK_CHUNK_LEAST && t->n / p->chunk < TOPK_CHUNKS) p->chunk /= 2;
    p->pack = !t->offsets && t->cols > 1 && t->in_strides.element != 1;
    const int module_bits = t->key_bytes == 1 ? 16 : 8 * t->key_bytes;
    snprintf(p->module, sizeof p->module, "topk_k%d", module_bits);
    snprintf(p->long_module, sizeof p->long_module, "topk_long_k%d", module_bits);
    TRY(choose(t, p));
    if (p->algorithm == SELECT) plan_select(t, p);
done:
    return status;
}

/* ---- Sorts ---- */

/* A sort of the candidates of one group: of words; or of keys of 64 bits with positions, after one
 * by positions, because it is stable. */
static struct echi_sort candidates_sort(const struct topk_plan *p, bool by_position)
{
    const bool words = p->word_bytes == 8;
    const ech_dtype dtype = by_position ? ECH_U32 : ECH_U64;
    const int bytes = by_position ? 4 : 8;
    return (struct echi_sort){ .n = (size_t)p->row_room,
                               .value_bytes = words ? 0 : (size_t)(12 - bytes),
                               .dtype = dtype,
                               .key_bytes = bytes,
                               .order = echi_order_make(dtype, ECH_ORDER_NAN_LAST, false, false),
                               .end_bit = 8 * bytes,
                               .stable = !words };
}

/* The argsort of all groups. */
static struct echi_sort_segments argsort_of(const struct echi_topk *t, const struct topk_plan *p)
{
    return (struct echi_sort_segments){ .sort = { .n = t->n,
                                                  .value_bytes = (size_t)p->position_bytes,
                                                  .index_bytes = p->position_bytes,
                                                  .dtype = t->dtype,
                                                  .key_bytes = t->key_bytes,
                                                  .order = t->order,
                                                  .end_bit = 8 * t->key_bytes,
                                                  .stable = true },
                                        .groups = t->groups,
                                        .cols = t->offsets ? 0 : t->cols,
                                        .in = { echi_topk_row(t, p), 1 },
                                        .out = { t->cols, 1 },
                                        .offsets = t->offsets,
                                        .ends = t->ends,
                                        .offsets_index = t->offsets_index };
}

/* The sort of the selected positions, [groups][k], if they are not to be sorted by key. */
static struct echi_sort_segments picks_sort(const struct echi_topk *t, const struct topk_plan *p)
{
    const ech_dtype dtype = p->position_bytes == 4 ? ECH_U32 : ECH_U64;
    return (struct echi_sort_segments){ .sort = { .n = t->groups * t->k,
                                                  .dtype = dtype,
                                                  .key_bytes = p->position_bytes,
                                                  .order = echi_order_make(
                                                      dtype, ECH_ORDER_NAN_LAST, false, false),
                                                  .end_bit = 8 * p->position_bytes },
                                        .groups = t->groups,
                                        .cols = t->k,
                                        .in = { t->k, 1 },
                                        .out = { t->k, 1 } };
}

/* ---- Workspace ---- */

static ech_status sort_workspace(const struct echi_topk *t, const struct topk_plan *p,
                                 size_t *bytes)
{
    ech_status status = ECH_OK;
    size_t more = 0;
    *bytes = 0;
    if (p->large) {
        for (int by_position = 0; by_position <= (p->word_bytes > 8); by_position++) {
            const struct echi_sort sort = candidates_sort(p, by_position);
            TRY(echi_operation_workspace(&echi_cuda_sort, &sort, &more));
            if (more > *bytes) *bytes = more;
        }
    } else if (p->algorithm == SORT) {
        const struct echi_sort_segments all = argsort_of(t, p);
        TRY(echi_operation_workspace(&echi_cuda_sort_segments, &all, bytes));
    }
    more = 0;
    if (!t->sorted && (p->large || p->algorithm == SORT)) {
        const struct echi_sort_segments picks = picks_sort(t, p);
        TRY(echi_operation_workspace(&echi_cuda_sort_segments, &picks, &more));
    }
    if (more > *bytes) *bytes = more;
done:
    return status;
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(const struct echi_topk *t, const struct topk_plan *p,
                          struct echi_layout *layout, struct topk_parts *parts)
{
    const size_t position = (size_t)p->position_bytes;
    size_t sort_bytes;
    memset(parts, 0, sizeof *parts);
    const ech_status status = sort_workspace(t, p, &sort_bytes);
    if (status != ECH_OK) return status;
    if (p->pack) parts->packed = echi_part(layout, t->n, (size_t)t->key_bytes);
    if (p->lists) {
        parts->lists = echi_part(layout, 1, sizeof *parts->lists);
        parts->chip_list = echi_part(layout, (size_t)p->chip_room, sizeof *parts->chip_list);
    }
    if (p->has_long) {
        if (p->bytes) {
            parts->totals = echi_part(layout, 1, sizeof *parts->totals);
            parts->longs = parts->totals ? &parts->totals->all : NULL;
            parts->chunk_bins =
                echi_part(layout, TOPK_BYTES * (size_t)p->chunks, sizeof *parts->chunk_bins);
        } else {
            parts->longs = echi_part(layout, (size_t)p->longs, sizeof *parts->longs);
            parts->chunk_equal = echi_part(layout, (size_t)p->chunks, sizeof *parts->chunk_equal);
        }
        if (p->lists)
            parts->chunk_of = echi_part(layout, (size_t)p->chunks, sizeof *parts->chunk_of);
        parts->candidates = echi_part(layout, (size_t)p->candidates, p->word_bytes);
        if (p->large && p->word_bytes > 8) {
            parts->split_keys = echi_part(layout, (size_t)p->row_room, 8);
            parts->split_positions = echi_part(layout, (size_t)p->row_room, 4);
        }
        if (p->gathers && !p->bytes)
            parts->samples =
                echi_part(layout, (size_t)(p->longs * p->row_sample), p->word_bytes / 2);
    }
    if (p->algorithm == SORT) parts->positions = echi_part(layout, t->n, position);
    if (!t->sorted && (p->large || p->algorithm == SORT))
        parts->picks = echi_part(layout, t->groups * t->k, position);
    parts->sort_work = echi_part(layout, sort_bytes, 1);
    return ECH_OK;
}

/* Whether there is nothing to select, and no offsets to check. */
static bool is_empty(const struct echi_topk *t)
{
    return t->groups == 0 || t->k == 0 || (!t->offsets && t->cols == 0);
}

static ech_status plan_topk(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_topk *t = request;
    struct echi_layout layout = { 0 };
    struct topk_parts parts;
    ech_status status;
    *work_bytes = 0;
    TRY(plan_shape(t, plan));
    if (is_empty(t)) goto done;
    TRY(lay_out(t, plan, &layout, &parts));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", t->n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- The operation ---- */

/* The steps up to a sort. */
static ech_status begin(const struct echi_topk *t, const struct topk_plan *p, struct echi_gpu gpu,
                        void *work, struct topk_build *b)
{
    struct echi_layout layout = { .base = work };
    memset(b, 0, sizeof *b);
    b->t = t;
    b->p = p;
    b->gpu = gpu;
    const ech_status status = lay_out(t, p, &layout, &b->parts);
    if (status != ECH_OK) return status;
    echi_topk_begin(b, p->algorithm == SELECT);
    return ECH_OK;
}

static ech_status enqueue(ech_ctx *ctx, struct topk_build *b)
{
    const ech_status status = echi_cuda_enqueue(ctx, &b->steps, &b->args, NULL);
    b->steps.count = 0;
    return status;
}

/* Sorts the candidates, or everything, and writes the result. */
static ech_status run_sort(ech_ctx *ctx, struct topk_build *b)
{
    ech_status status;
    if (b->p->large) {
        for (int by_position = b->p->word_bytes > 8; by_position >= 0; by_position--) {
            struct echi_sort sort = candidates_sort(b->p, by_position);
            void *keys = b->parts.split_keys, *positions = b->parts.split_positions;
            sort.keys_in = sort.keys_out = by_position ? positions : keys;
            sort.values_in = sort.values_out = by_position ? keys : positions;
            if (!sort.value_bytes) sort.keys_in = sort.keys_out = b->parts.candidates;
            TRY(echi_operation_run(ctx, &echi_cuda_sort, &sort, b->parts.sort_work));
        }
    } else {
        struct echi_sort_segments all = argsort_of(b->t, b->p);
        all.sort.keys_in = b->args.in;
        all.sort.values_out = b->parts.positions;
        TRY(echi_operation_run(ctx, &echi_cuda_sort_segments, &all, b->parts.sort_work));
    }
    if (!b->t->sorted) {
        struct echi_sort_segments picks = picks_sort(b->t, b->p);
        echi_topk_add_write(b, true);
        TRY(enqueue(ctx, b));
        picks.sort.keys_in = picks.sort.keys_out = b->parts.picks;
        TRY(echi_operation_run(ctx, &echi_cuda_sort_segments, &picks, b->parts.sort_work));
    }
    echi_topk_add_write(b, false);
    TRY(enqueue(ctx, b));
done:
    return status;
}

static ech_status run_topk(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_topk *t = request;
    const struct topk_plan *p = plan;
    struct topk_build b;
    ech_status status = ECH_OK;
    if (is_empty(t)) goto done;
    TRY(begin(t, p, echi_gpu_of(ctx), work, &b));
    TRY(enqueue(ctx, &b));
    if (p->algorithm == SORT || p->large) TRY(run_sort(ctx, &b));
done:
    return status;
}

static ech_status explain_topk(const void *request, struct echi_explain *e)
{
    const struct echi_topk *t = request;
    struct topk_plan plan;
    struct topk_build b;
    size_t bytes;
    ech_status status;
    TRY(plan_topk(t, &plan, &bytes));
    echi_explain_algorithm(e, true, algorithms[plan.algorithm].name, "%s",
                           algorithms[plan.algorithm].what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (i != plan.algorithm && (i != SELECT || can_select(t, &plan)))
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    if (is_empty(t)) goto done;
    TRY(begin(t, &plan, echi_gpu_of(NULL), NULL, &b));
    if (plan.large || plan.algorithm == SORT)
        echi_explain_line(e, "sort", "of %s", plan.large ? "the candidates" : "all positions");
    if (plan.large || plan.algorithm == SORT) echi_topk_add_write(&b, false);
    echi_explain_steps(e, &b.steps);
done:
    return status;
}

const struct echi_operation echi_cuda_topk = { .plan = plan_topk,
                                               .plan_bytes = sizeof(struct topk_plan),
                                               .explain = explain_topk,
                                               .run = run_topk };
