/*
 * merge/cuda/many.c - ech_merge_many() on the GPU, host code: rounds that merge all pairs of
 * neighbours, or a stable sort.
 *
 *     workspace   rounds   [ invalid | parts of the tiles | keys | values ]
 *                 sort     [ workspace of the sort ]
 *
 * The keys and values of the workspace are the output of every second round; the output of the
 * last round is that of the call. Offsets are only read on the device. If they are invalid, the
 * kernels of the rounds end immediately.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cuda/steps.h"
#include "merge/cuda/common.h"
#include "merge/cuda/launch.h"
#include "merge/merge.h"

#include <stdio.h>

enum { ROUNDS_LISTED = 30 };

/* The part of the plan that depends only on the request. */
struct many_plan {
    char module[16];
    enum echi_merge_way way;
    unsigned rounds;
};

struct many_parts {
    uint32_t *invalid;
    struct merge_run_tile *tiles;
    void *keys, *values;
};

static uint64_t pairs_of(const struct echi_merge_many *m, unsigned round)
{
    return ((uint64_t)(m->runs - 1) >> (round + 1)) + 1;
}

static uint64_t tiles_of(const struct echi_merge_many *m, unsigned round)
{
    return m->n / (uint64_t)MERGE_TILE(m->key_bytes) + pairs_of(m, round);
}

static void lay_out(const struct echi_merge_many *m, const struct many_plan *p,
                    struct echi_layout *layout, struct many_parts *parts)
{
    *parts = (struct many_parts){ .invalid = NULL };
    if (p->way == ECHI_MERGE_SORT || p->rounds == 0) return;
    parts->invalid = echi_part(layout, 1, sizeof *parts->invalid);
    parts->tiles = echi_part(layout, (size_t)tiles_of(m, 0), sizeof *parts->tiles);
    if (p->rounds == 1) return;
    parts->keys = echi_part(layout, m->n, m->key_bytes);
    parts->values = echi_part(layout, m->n, m->value_bytes);
}

/* The largest number of rounds that takes less time than a sort.  A round moves each element once,
 * as does a pass of a radix sort, of which there is one per byte of the key.  Launches dominate the
 * rounds of few elements.  NVIDIA H200, 2026-11-24, times in ms:
 *
 *                          n      1 round   4 rounds   sort
 *     u32                  2^20   0.027     0.103      0.042
 *                          2^26   0.254     0.979      1.04
 *     u32, 4-byte values   2^20   0.032     0.121      0.051
 *                          2^26   0.407     1.59       2.28
 *     u64                  2^20   0.033     0.113      0.037
 *                          2^26   0.378     1.47       1.50
 *     u64, 4-byte values   2^20   0.041     0.128      0.068
 *                          2^26   0.540     2.11       2.50
 *
 * Between them, a round and a sort take a constant and a time per element: 2 rounds take less time
 * than a sort from 2^21 or 2^22 elements on, 3 from 2^23 or 2^24 on. */
static size_t rounds_most(const struct echi_merge_many *m)
{
    static const size_t from[] = { (size_t)1 << 22, (size_t)1 << 24, (size_t)1 << 26 };
    size_t most = 1;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) most += m->n >= from[i];
    if (m->key_bytes < most) return m->key_bytes;
    return most + (most == 4 && m->key_bytes == 4 && m->value_bytes);
}

static ech_status make_plan(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_merge_many *m = request;
    struct many_plan *p = plan;
    struct echi_layout layout = { .base = NULL };
    struct many_parts parts;
    ech_status status;
    *work_bytes = 0;
    TRY(echi_merge_choose(m, "GPU", rounds_most(m), &p->way));
    p->rounds = m->n ? echi_merge_rounds(m) : 0;
    snprintf(p->module, sizeof p->module, "merge_k%u", 8 * (unsigned)m->key_bytes);
    if (p->way == ECHI_MERGE_SORT) {
        const struct echi_sort sort = echi_merge_sort(m);
        TRY(echi_operation_workspace(&echi_cuda_sort, &sort, work_bytes));
        goto done;
    }
    lay_out(m, p, &layout, &parts);
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", m->n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- Steps ---- */

/* The check of the offsets; if there is one run, also its copy. */
static void add_check(const struct echi_merge_many *m, const struct many_plan *p,
                      const struct many_parts *parts, struct echi_steps *steps)
{
    if (parts->invalid)
        echi_step_add(steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                 .kind = ECHI_CLEAR,
                                                 .level = -1,
                                                 .to = parts->invalid,
                                                 .bytes = sizeof *parts->invalid });
    merge_launch(steps, p->module, ECHI_LOOK, "merge_runs_check", m->runs / MERGE_THREADS + 1, -1);
    if (p->way == ECHI_MERGE_SORT || p->rounds || m->n == 0) return;
    echi_step_add(steps, (struct echi_step){ .phase = ECHI_MOVE,
                                             .kind = ECHI_COPY,
                                             .level = -1,
                                             .to = m->keys_out,
                                             .from = m->keys,
                                             .bytes = m->n * m->key_bytes });
    if (m->value_bytes)
        echi_step_add(steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                 .kind = ECHI_COPY,
                                                 .level = -1,
                                                 .to = m->values_out,
                                                 .from = m->values,
                                                 .bytes = m->n * m->value_bytes });
}

static void add_round(const struct echi_merge_many *m, const struct many_plan *p, unsigned round,
                      struct echi_steps *steps)
{
    const uint64_t tiles = tiles_of(m, round);
    merge_launch(steps, p->module, ECHI_PLAN, "merge_runs_split", tiles / MERGE_THREADS + 1,
                 (int)round);
    merge_launch(steps, p->module, ECHI_MOVE,
                 m->value_bytes ? "merge_runs_pairs" : "merge_runs_keys", tiles, (int)round);
}

static struct merge_runs_args args_of(const struct echi_merge_many *m,
                                      const struct many_parts *parts)
{
    const size_t word = m->value_bytes ? echi_opaque_align(m->value_bytes) : 1;
    return (struct merge_runs_args){ .common = { .keys = { m->keys },
                                                 .values = { m->values },
                                                 .words = m->value_bytes / word,
                                                 .tile = MERGE_TILE(m->key_bytes),
                                                 .word_bytes = (uint32_t)word,
                                                 .order = m->order },
                                     .offsets = m->offsets,
                                     .parts = parts->tiles,
                                     .invalid = parts->invalid,
                                     .n = m->n,
                                     .runs = m->runs,
                                     .index = m->index };
}

/* ---- The operation ---- */

static ech_status run_rounds(ech_ctx *ctx, const struct echi_merge_many *m,
                             const struct many_plan *p, const struct many_parts *parts,
                             struct merge_runs_args *args)
{
    struct echi_steps steps;
    ech_status status = ECH_OK;
    for (unsigned round = 0; round < p->rounds; round++) {
        const bool last = (p->rounds - 1 - round) % 2 == 0; /* to the output of the call */
        args->width = (uint64_t)1 << round;
        args->pairs = pairs_of(m, round);
        args->common.tiles = tiles_of(m, round);
        args->common.keys_out = last ? m->keys_out : parts->keys;
        args->common.values_out = last ? m->values_out : parts->values;
        steps.count = 0;
        add_round(m, p, round, &steps);
        TRY(echi_cuda_enqueue(ctx, &steps, args, NULL));
        args->common.keys[0] = args->common.keys_out;
        args->common.values[0] = args->common.values_out;
    }
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct echi_merge_many *m = request;
    const struct many_plan *p = plan;
    struct echi_layout layout = { .base = work };
    struct many_parts parts;
    struct echi_steps steps = { .count = 0 };
    ech_status status;
    lay_out(m, p, &layout, &parts);
    struct merge_runs_args args = args_of(m, &parts);
    args.data_error = echi_cuda_error_word(ctx);
    add_check(m, p, &parts, &steps);
    TRY(echi_cuda_enqueue(ctx, &steps, &args, NULL));
    if (p->way == ECHI_MERGE_SORT) {
        const struct echi_sort sort = echi_merge_sort(m);
        TRY(echi_operation_run(ctx, &echi_cuda_sort, &sort, work));
    } else {
        TRY(run_rounds(ctx, m, p, &parts, &args));
    }
done:
    return status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    static const char *const what[] = {
        [ECHI_MERGE_ROUNDS] = "each round merges all pairs of neighbouring runs by tiles",
        [ECHI_MERGE_SORT] = "a stable sort, which does not use the order of the runs"
    };
    const struct echi_merge_many *m = request;
    struct many_plan plan;
    struct many_parts parts;
    struct echi_layout layout = { .base = NULL };
    struct echi_steps steps = { .count = 0 };
    size_t bytes;
    const ech_status status = make_plan(request, &plan, &bytes);
    if (status != ECH_OK) return status;
    const enum echi_merge_way other =
        plan.way == ECHI_MERGE_SORT ? ECHI_MERGE_ROUNDS : ECHI_MERGE_SORT;
    lay_out(m, &plan, &layout, &parts);
    echi_explain_algorithm(e, true, echi_merge_way_name(plan.way), "%s", what[plan.way]);
    echi_explain_algorithm(e, false, echi_merge_way_name(other), "%s", what[other]);
    echi_explain_line(e, "module", "%s", plan.module);
    echi_explain_count(e, "rounds", plan.rounds);
    add_check(m, &plan, &parts, &steps);
    if (plan.way == ECHI_MERGE_ROUNDS)
        for (unsigned r = 0; r < plan.rounds && r < ROUNDS_LISTED; r++)
            add_round(m, &plan, r, &steps);
    echi_explain_steps(e, &steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_merge_many = {
    .plan = make_plan, .plan_bytes = sizeof(struct many_plan), .explain = explain, .run = run
};
