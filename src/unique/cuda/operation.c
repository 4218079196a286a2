/*
 * unique/cuda/operation.c - distinct elements and the mode on the GPU, host code: the plan, the
 * workspace, the operation.
 *
 *     steps        a sort of the keys, with their positions if the outputs need them
 *                  unique_firsts     floats without positions
 *                  unique_heads      one pass over the sorted keys
 *                  unique_counts                      counts, in ascending order
 *                  unique_appear, unique_inverse      outputs in order of appearance
 *                  unique_longest, unique_mode        a mode
 *
 *     workspace    [ sorted keys | positions | workspace of the sort, or what follows it ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cuda/steps.h"
#include "unique/cuda/common.h"
#include "unique/unique.h"

#include <stdio.h>

struct unique_parts {
    void *sort_work, *clear; /* clear: the next four, which are zero before the first kernel */
    size_t clear_bytes;
};

struct unique_build {
    const struct echi_unique *u;
    struct echi_gpu gpu;
    struct unique_parts parts;
    struct unique_args args;
    char module[16];
    struct echi_steps steps;
};

static size_t tiles_of(size_t n, size_t each)
{
    return n / each + (n % each != 0);
}

/* ---- Workspace ---- */

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(const struct echi_unique *u, struct echi_layout *layout,
                          struct unique_parts *parts, struct unique_args *a)
{
    const size_t n = u->n, position = (size_t)echi_unique_position_bytes(u);
    const size_t appear_tiles = tiles_of(n, UNIQUE_POSITIONS);
    const struct echi_sort sort = echi_unique_sort(u);
    size_t sort_bytes;
    const ech_status status = echi_operation_workspace(&echi_cuda_sort, &sort, &sort_bytes);
    if (status != ECH_OK) return status;
    *a = (struct unique_args){ .tiles = tiles_of(n, (size_t)UNIQUE_TILE(u->key_bytes)) };
    a->keys = echi_part(layout, n, (size_t)u->key_bytes);
    if (echi_unique_pairs(u)) a->positions = echi_part(layout, n, position);
    struct echi_layout after = *layout; /* the sort is done before these are used */
    parts->sort_work = echi_part(&after, sort_bytes, 1);
    const size_t clear = layout->bytes;
    a->words = echi_part(layout, (size_t)a->tiles + UNIQUE_WORDS_FIRST, sizeof *a->words);
    parts->clear = a->words;
    if (echi_unique_repairs(u)) a->firsts = echi_part(layout, 1, sizeof *a->firsts);
    if (u->appearance) {
        a->appear_words =
            echi_part(layout, appear_tiles + UNIQUE_WORDS_FIRST, sizeof *a->appear_words);
        a->bits = echi_part(layout, appear_tiles * UNIQUE_THREADS, sizeof *a->bits);
    }
    parts->clear_bytes = layout->bytes - clear;
    if (u->appearance && (u->has_counts || u->has_inverse))
        a->ranks = echi_part(layout, n, position);
    if (u->appearance && u->has_inverse) a->map = echi_part(layout, n, position);
    if (u->has_counts || u->mode) a->starts = echi_part(layout, n + 1, position);
    if (u->mode) a->longest = echi_part(layout, UNIQUE_LONGEST_BLOCKS, sizeof *a->longest);
    if (after.bytes > layout->bytes) layout->bytes = after.bytes;
    layout->overflow |= after.overflow;
    return ECH_OK;
}

static ech_status plan_unique(const void *request, void *no_plan, size_t *work_bytes)
{
    const struct echi_unique *u = request;
    struct echi_layout layout = { 0 };
    struct unique_parts parts;
    struct unique_args args;
    ech_status status = ECH_OK;
    (void)no_plan;
    *work_bytes = 0;
    if (u->n == 0) goto done;
    TRY(lay_out(u, &layout, &parts, &args));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", u->n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- Steps ---- */

static void launch(struct unique_build *b, enum echi_phase phase, const char *kernel,
                   unsigned blocks)
{
    echi_step_add(&b->steps, (struct echi_step){ .phase = phase,
                                                 .kind = ECHI_LAUNCH_PDL,
                                                 .module = b->module,
                                                 .name = kernel,
                                                 .blocks = blocks,
                                                 .threads = UNIQUE_THREADS,
                                                 .level = -1 });
}

static void clear(struct unique_build *b, void *to, size_t bytes)
{
    echi_step_add(
        &b->steps,
        (struct echi_step){
            .phase = ECHI_LOOK, .kind = ECHI_CLEAR, .level = -1, .to = to, .bytes = bytes });
}

static void set_args(struct unique_build *b)
{
    const struct echi_unique *u = b->u;
    struct unique_args *a = &b->args;
    a->in = u->in;
    a->values = u->values;
    a->first = u->first;
    a->inverse = u->inverse;
    a->counts = u->counts;
    a->count = u->count;
    a->n = u->n;
    a->order = u->order;
    a->position_bytes = (uint32_t)echi_unique_position_bytes(u);
    a->index_bytes = (uint32_t)u->index_bytes;
}

/* The steps after the sort. */
static void add_steps(struct unique_build *b)
{
    const struct echi_unique *u = b->u;
    const unsigned most =
        echi_cuda_least(tiles_of(u->n, (size_t)4 * UNIQUE_THREADS),
                        (uint64_t)UNIQUE_BLOCKS * (uint64_t)b->gpu.multiprocessors);
    set_args(b);
    clear(b, b->parts.clear, b->parts.clear_bytes);
    if (b->args.firsts || echi_unique_repairs(u)) launch(b, ECHI_LOOK, "unique_firsts", most);
    launch(b, ECHI_MOVE, "unique_heads", (unsigned)b->args.tiles);
    if (u->mode) {
        b->args.longest_blocks = echi_cuda_least(most, UNIQUE_LONGEST_BLOCKS);
        launch(b, ECHI_FINISH, "unique_longest", b->args.longest_blocks);
        launch(b, ECHI_FINISH, "unique_mode", 1);
    } else if (u->appearance) {
        launch(b, ECHI_MOVE, "unique_appear", (unsigned)tiles_of(u->n, UNIQUE_POSITIONS));
        if (u->has_inverse) launch(b, ECHI_FINISH, "unique_inverse", most);
    } else if (u->has_counts) {
        launch(b, ECHI_FINISH, "unique_counts", most);
    }
}

/* ---- The operation ---- */

static ech_status begin(const struct echi_unique *u, struct echi_gpu gpu, void *work,
                        struct unique_build *b)
{
    struct echi_layout layout = { .base = work };
    b->u = u;
    b->gpu = gpu;
    b->steps.count = 0;
    snprintf(b->module, sizeof b->module, "unique_k%d", 8 * u->key_bytes);
    return lay_out(u, &layout, &b->parts, &b->args);
}

static ech_status run_unique(ech_ctx *ctx, const void *request, const void *no_plan, void *work)
{
    const struct echi_unique *u = request;
    struct unique_build b;
    ech_status status;
    (void)no_plan;
    if (u->n == 0) {
        b.steps.count = 0;
        clear(&b, u->count, sizeof *u->count);
        return echi_cuda_enqueue(ctx, &b.steps, &b.args, NULL);
    }
    TRY(begin(u, echi_gpu_of(ctx), work, &b));
    struct echi_sort sort = echi_unique_sort(u);
    sort.keys_in = u->in;
    sort.keys_out = (void *)(uintptr_t)b.args.keys;
    sort.values_out = (void *)(uintptr_t)b.args.positions;
    TRY(echi_operation_run(ctx, &echi_cuda_sort, &sort, b.parts.sort_work));
    add_steps(&b);
    TRY(echi_cuda_enqueue(ctx, &b.steps, &b.args, NULL));
done:
    return status;
}

static ech_status explain_unique(const void *request, struct echi_explain *e)
{
    const struct echi_unique *u = request;
    struct unique_build b;
    ech_status status;
    echi_explain_algorithm(e, true, "sort", "sorts %s, then finds the runs of equal keys",
                           echi_unique_pairs(u) ? "keys with their positions" : "keys only");
    if (u->n == 0) return ECH_OK;
    TRY(begin(u, echi_gpu_of(NULL), NULL, &b));
    add_steps(&b);
    echi_explain_steps(e, &b.steps);
done:
    return status;
}

const struct echi_operation echi_cuda_unique = { .plan = plan_unique,
                                                 .explain = explain_unique,
                                                 .run = run_unique };
