/*
 * set/cuda/operation.c - ech_set_operation() on the GPU, host code: a launch that finds the
 * boundaries of tiles, and one that computes and writes their results.
 *
 *     workspace   [ boundaries: tiles + 1 | tile status descriptors ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cuda/steps.h"
#include "set/cuda/common.h"
#include "set/set.h"

#include <stdio.h>

enum { BOUND_BLOCKS = 1 << 20 }; /* maximum per launch */

/* The part of the plan that depends only on the request. */
struct set_plan {
    char module[16];
    uint64_t tiles;
};

static void lay_out(const struct set_plan *p, struct echi_layout *layout, struct set_args *args)
{
    args->bounds = echi_part(layout, (size_t)p->tiles + 1, sizeof *args->bounds);
    args->words = echi_part(layout, (size_t)p->tiles + SET_WORDS_FIRST, sizeof *args->words);
}

static ech_status make_plan(const void *request, void *plan, size_t *work_bytes)
{
    const struct echi_set *s = request;
    struct set_plan *p = plan;
    struct echi_layout layout = { .base = NULL };
    struct set_args args;
    const uint64_t n = (uint64_t)s->n[0] + s->n[1], tile = SET_TILE(s->key_bytes);
    snprintf(p->module, sizeof p->module, "set_k%u", 8 * (unsigned)s->key_bytes);
    p->tiles = n / tile + (n % tile != 0);
    if (p->tiles > INT32_MAX)
        return echi_fail(NULL, ECH_ERR_ARG, "n_a + n_b is %llu: a GPU supports at most %llu",
                         (unsigned long long)n, (unsigned long long)(INT32_MAX * tile));
    if (n) lay_out(p, &layout, &args);
    *work_bytes = layout.bytes;
    return ECH_OK;
}

static struct set_args args_of(const struct echi_set *s, const struct set_plan *p, void *work)
{
    const size_t word = s->value_bytes ? echi_opaque_align(s->value_bytes) : 1;
    struct echi_layout layout = { .base = work };
    struct set_args args = { .keys = { s->keys[0], s->keys[1] },
                             .values = { s->values[0], s->values[1] },
                             .keys_out = s->keys_out,
                             .values_out = s->values_out,
                             .count = s->count,
                             .n_a = s->n[0],
                             .n_b = s->n[1],
                             .tiles = p->tiles,
                             .capacity = echi_set_capacity(s, s->n[0], s->n[1]),
                             .words_of_value = s->value_bytes / word,
                             .word_bytes = (uint32_t)word,
                             .kept = s->kept,
                             .order = s->order };
    lay_out(p, &layout, &args);
    return args;
}

static void launch(struct echi_steps *steps, const struct set_plan *p, enum echi_phase phase,
                   const char *kernel, unsigned blocks)
{
    echi_step_add(steps, (struct echi_step){ .phase = phase,
                                             .kind = ECHI_LAUNCH_PDL,
                                             .module = p->module,
                                             .name = kernel,
                                             .blocks = blocks,
                                             .threads = SET_THREADS,
                                             .level = -1 });
}

static void clear(struct echi_steps *steps, void *to, size_t bytes)
{
    echi_step_add(
        steps, (struct echi_step){
                   .phase = ECHI_PLAN, .kind = ECHI_CLEAR, .level = -1, .to = to, .bytes = bytes });
}

static void make_steps(const struct echi_set *s, const struct set_plan *p,
                       const struct set_args *args, struct echi_steps *steps)
{
    steps->count = 0;
    if (p->tiles == 0) {
        clear(steps, s->count, sizeof *s->count);
        return;
    }
    clear(steps, args->words, (size_t)(p->tiles + SET_WORDS_FIRST) * sizeof *args->words);
    launch(steps, p, ECHI_PLAN, "set_bounds",
           echi_cuda_least(p->tiles / SET_THREADS + 1, BOUND_BLOCKS));
    launch(steps, p, ECHI_MOVE, s->value_bytes ? "set_pairs" : "set_keys", (unsigned)p->tiles);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct set_args args = args_of(request, plan, work);
    struct echi_steps steps;
    make_steps(request, plan, &args, &steps);
    return echi_cuda_enqueue(ctx, &steps, &args, NULL);
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_set *s = request;
    struct set_plan plan;
    struct echi_steps steps;
    size_t bytes;
    const ech_status status = make_plan(request, &plan, &bytes);
    if (status != ECH_OK) return status;
    const struct set_args args = args_of(s, &plan, NULL);
    make_steps(s, &plan, &args, &steps);
    echi_explain_algorithm(e, true, "balanced_path",
                           "blocks compute tiles of %u elements in shared memory, whose boundaries "
                           "a binary search finds",
                           (unsigned)SET_TILE(s->key_bytes));
    echi_explain_line(e, "module", "%s", plan.module);
    echi_explain_steps(e, &steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_set = {
    .plan = make_plan, .plan_bytes = sizeof(struct set_plan), .explain = explain, .run = run
};
