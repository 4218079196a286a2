/*
 * sort/cuda/msd_pairs.c - pairs most significant digit first on the GPU, host half: queues the
 * kernels of msd_pairs.cu.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/msd_pairs.h"

#include "core/backend.h"

#include <string.h>

static const struct pairs_tuning tunings[] = {
#define ROW(key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks)             \
    { key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks },
    SORT_PAIRS_TUNING(ROW)
#undef ROW
};

const struct pairs_tuning *echi_sort_pairs_tuning(int key_bytes, int moved_bytes)
{
    for (size_t i = 0; i < sizeof tunings / sizeof *tunings; i++)
        if (tunings[i].key_bytes == key_bytes && tunings[i].moved_bytes == moved_bytes)
            return &tunings[i];
    return NULL;
}

/* Is there copying beside a kernel, and room for it?  As msd.cuh has it for the architecture
 * that the kernel is compiled for, which is not always the GPU's: one of 8.6 runs code of 8.0. */
static ech_status find_staged(ech_ctx *ctx, const char *image, unsigned *staged)
{
    int architecture = 0;
    ech_status status = ECH_OK;
    TRY(echi_cuda_compiled_for(ctx, image, "sort_pairs_scatter", &architecture));
    *staged = strcmp(ctx->backend->name, "simt") == 0 || (architecture >= 80 && architecture < 110);
done:
    return status;
}

/* One level by launches of its own; of few pairs the first is counted and planned by one. */
static ech_status run_level(ech_ctx *ctx, const char *image, const struct msd_plan *plan,
                            struct sort_args *args, unsigned shared_bytes)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct pairs_tuning *t = plan->pairs;
    ech_status status = ECH_OK;
    uint64_t processors = (uint64_t)cuda->multiprocessors;
    uint64_t tiles = args->n / plan->tile + 1 + SORT_BINS;
    unsigned segments = args->level ? echi_cuda_least(plan->segments, 8 * processors) : 1;
    unsigned blocks =
        echi_cuda_least(plan->tiles, args->level < 2 ? tiles : t->blocks * processors);
    if (plan->few && args->level == 0) {
        TRY(echi_cuda_launch_early(ctx, image, "sort_pairs_first", args->count_blocks + 1,
                                   t->threads, 0, args));
    } else {
        TRY(echi_cuda_launch_early(ctx, image, "sort_pairs_count", args->count_blocks, t->threads,
                                   0, args));
        TRY(echi_cuda_launch_early(ctx, image, "sort_msd_plan", segments, SORT_BINS, 0, args));
    }
    TRY(echi_cuda_launch_early(ctx, image, "sort_pairs_scatter", blocks, t->threads, shared_bytes,
                               args));
done:
    return status;
}

/* How many blocks count: a tile takes one of them as long as a score of them take the plan. */
static unsigned count_blocks(const struct msd_plan *plan, uint64_t most)
{
    unsigned all = echi_cuda_least(plan->count_blocks, most), blocks = 1;
    while (blocks < all && blocks * blocks < 16 * plan->tiles) blocks++;
    return plan->few ? blocks : all;
}

/* The levels that evenly distributed keys do not have, of few pairs, by one launch. */
static ech_status run_rest(ech_ctx *ctx, const char *image, const struct msd_plan *plan,
                           struct sort_args *args, unsigned shared_bytes)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct pairs_tuning *t = plan->pairs;
    ech_status status = ECH_OK;
    unsigned room = 0, resident = 1, element_bytes = (unsigned)(t->key_bytes + t->moved_bytes);
    TRY(echi_cuda_shared_bytes(ctx, &room));
    if (room >= t->blocks * (shared_bytes + 1024)) resident = t->blocks;
    shared_bytes = echi_cuda_few_bytes(room, resident, shared_bytes, element_bytes, args);
    unsigned blocks = echi_cuda_least(resident * (unsigned)cuda->multiprocessors, plan->few_blocks);
    args->count_blocks = count_blocks(plan, blocks);
    TRY(echi_cuda_launch_together(ctx, image, "sort_pairs_rest", blocks, t->threads, shared_bytes,
                                  args));
done:
    return status;
}

/* Whether msd_packed.cuh may sort them.  Between its levels pairs lie in the output, where
 * there must be room for them that nothing is read from, and in the workspace, in two buffers that
 * are one. */
static ech_status find_packed(ech_ctx *ctx, const struct msd_plan *plan, unsigned staged,
                              struct sort_args *args)
{
    ech_status status = ECH_OK;
    unsigned room = 0;
    uintptr_t keys = (uintptr_t)args->keys_out, values = (uintptr_t)args->values_out;
    TRY(echi_cuda_shared_bytes(ctx, &room));
    args->packed = plan->packed && args->adaptive && staged && args->plain && !args->in_place &&
                   (keys | values) % 8 == 0 && room >= SORT_PACKED_COUNT_BYTES + 1024;
done:
    return status;
}

/* As many leaves as two digits make at most, the second of packed_bits(). */
static uint64_t packed_leaves(uint64_t n)
{
    uint64_t bins = 2 * SORT_BINS;
    while (n / bins > SORT_PAIRS_LEAF / 16 * 15) bins *= 2;
    return bins;
}

/* Keys that look even; where they do not, these launches do nothing. */
static ech_status run_packed(ech_ctx *ctx, const char *image, struct sort_args *args,
                             unsigned leaf_threads, unsigned leaf_shared_bytes)
{
    const struct echi_cuda *cuda = ctx->state;
    ech_status status = ECH_OK;
    unsigned count = echi_cuda_least(args->n / (SORT_PACKED_COUNT_THREADS * 16) + 1,
                                     (uint64_t)cuda->multiprocessors);
    TRY(echi_cuda_launch_early(ctx, image, "sort_packed_count", count, SORT_PACKED_COUNT_THREADS,
                               SORT_PACKED_COUNT_BYTES, args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_packed_plan", 1, SORT_PACKED_COUNT_THREADS, 0,
                               args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_packed_first",
                               (unsigned)((args->n - 1) / SORT_PACKED_TILE(0) + 1),
                               SORT_PACKED_THREADS, SORT_PACKED_SHARED_BYTES(0), args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_packed_bins", SORT_BINS, SORT_BINS, 0, args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_packed_second",
                               (unsigned)SORT_PACKED_TILES(args->n), SORT_PACKED_THREADS,
                               SORT_PACKED_SHARED_BYTES(1), args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_packed_leaf", (unsigned)packed_leaves(args->n),
                               leaf_threads, leaf_shared_bytes, args));
done:
    return status;
}

/* As run_msd() of operation.c, with values.  The count's blocks agree with the plan and the scatter
 * on which tiles each has, so all launches of a level have the same number. */
ech_status echi_cuda_sort_pairs(ech_ctx *ctx, const char *image, const struct msd_plan *plan,
                                struct sort_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct pairs_tuning *t = plan->pairs;
    ech_status status = ECH_OK;
    unsigned staged = 0, key = (unsigned)t->key_bytes, moved = (unsigned)t->moved_bytes;
    TRY(find_staged(ctx, image, &staged));
    unsigned leaf = staged ? t->leaf_threads * t->leaf_items : SORT_PAIRS_LEAF;
    unsigned shared_bytes = SORT_PAIRS_SHARED_BYTES(t->threads, t->items, key, moved, staged);
    unsigned leaf_shared_bytes = SORT_PAIRS_LEAF_SHARED_BYTES(leaf, key, moved, staged);
    uint64_t processors = (uint64_t)cuda->multiprocessors, leaves = args->n / leaf + 1;
    unsigned crowded = echi_cuda_least(plan->leaves, t->leaf_blocks * processors);
    int even = args->n > SORT_BINS * (leaf / 16 * 15) ? 2 : 1; /* levels of keys distributed so */
    args->count_blocks = count_blocks(plan, SORT_PAIRS_COUNT_BLOCKS * processors);
    TRY(find_packed(ctx, plan, staged, args));
    if (plan->few) args->levels = plan->levels;
    if (plan->few)
        TRY(echi_cuda_first(ctx, args));
    else
        TRY(echi_cuda_sort_msd_begin(ctx, image, args));
    if (args->packed) TRY(run_packed(ctx, image, args, t->leaf_threads, leaf_shared_bytes));
    for (args->level = 0; args->level < (plan->few ? even : plan->levels); args->level++)
        TRY(run_level(ctx, image, plan, args, shared_bytes));
    if (plan->few) TRY(run_rest(ctx, image, plan, args, shared_bytes));
    /* Where it probably has nothing to do, fewer blocks are sooner done with that. */
    TRY(echi_cuda_launch_early(ctx, image, "sort_pairs_leaf",
                               echi_cuda_least(plan->leaves, (args->packed ? 1 : 2) * leaves),
                               t->leaf_threads, leaf_shared_bytes, args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_pairs_crowded", crowded, t->leaf_threads,
                               leaf_shared_bytes, args));
done:
    return status;
}
