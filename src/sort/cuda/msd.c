/*
 * sort/cuda/msd.c - sorts by most significant digits on the GPU, host half: how large the lists
 * are, and which kernels of msd.cu are queued.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/msd.h"
#include "core/backend.h"

/* How much of everything the levels can need.  A segment has more keys than a leaf.  Bins are
 * joined while they begin in the same half of a leaf: a run of r keys between larger bins makes at
 * most 2 r / leaf + 2 leaves, and a bin of more than half a leaf is one more and ends a run, so
 * that keys make at most 6 n / leaf, and each segment, as one and as the bin that it was, 4.  A
 * class may be a leaf. */
struct msd_plan echi_cuda_plan_msd(const struct echi_sort *s, const struct pairs_tuning *pairs,
                                   bool classes)
{
    struct msd_plan p = { 0 };
    uint64_t n = s->n;
    p.key_bytes = s->key_bytes;
    p.tile = SORT_MSD_TILE((uint64_t)s->key_bytes);
    p.leaf = SORT_MSD_LEAF((uint64_t)s->key_bytes);
    p.pairs = pairs;
    if (pairs) {
        p.tile = pairs->threads * pairs->items;
        p.leaf = SORT_PAIRS_LEAF;
    }
    p.levels = (s->key_bytes == 8 ? SORT_MSD_LEVELS : SORT_MSD_LEVELS_32) + classes;
    p.segments = n / p.leaf + 1;
    p.tiles = n / p.tile + p.segments + 1;
    p.leaves =
        6 * (n / p.leaf + 1) + 4 * (uint64_t)p.levels * p.segments + (classes ? SORT_BINS : 0);
    p.few = n < SORT_MSD_FEW(s->key_bytes) && !classes;
    p.few_blocks = echi_cuda_least(n / SORT_FEW_KEYS + 1, SORT_FEW_BLOCKS);
    p.count_blocks = p.tiles < SORT_PAIRS_PIECES ? (unsigned)p.tiles : SORT_PAIRS_PIECES;
    return p;
}

void echi_cuda_plan_adaptive(const struct echi_sort *s, struct msd_plan *plan)
{
    uint64_t n = s->n, segments = SORT_BINS, tiles = SORT_PACKED_TILES(n);
    uint64_t most = (uint64_t)SORT_BINS * SORT_BINS / 16 * 15 * SORT_PAIRS_LEAF;
    plan->few = false;
    if (!plan->pairs || plan->pairs->key_bytes != 4 || plan->pairs->moved_bytes != 4) return;
    plan->packed = (s->algorithm || n >= SORT_PACKED_LEAST) && n <= most;
    if (plan->segments < segments) {
        plan->leaves += 4 * (uint64_t)plan->levels * (segments - plan->segments);
        plan->segments = segments;
    }
    if (plan->tiles < tiles) plan->tiles = tiles;
}

ech_status echi_cuda_shared_bytes(ech_ctx *ctx, unsigned *bytes)
{
    enum { MOST_SHARED_BYTES = 97 }; /* the driver's number of this attribute of a device */
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    int most = 0;
    CU(cuDeviceGetAttribute, &most, MOST_SHARED_BYTES, cuda->device);
    *bytes = (unsigned)most;
done:
    return status;
}

/* No launch knows how much there is to do.  Where most inputs need many blocks each has a tile or a
 * leaf, which is faster than blocks that stay; elsewhere, and beyond, blocks take turns. */
static ech_status scatter_level(ech_ctx *ctx, const char *image, const struct msd_plan *msd,
                                struct sort_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    uint64_t tiles = args->n / msd->tile + 1 + SORT_BINS;
    uint64_t few = SORT_MSD_BLOCKS * (uint64_t)cuda->multiprocessors;
    bool many = args->level < (args->n > SORT_BINS * SORT_BINS / 2 * args->leaf ? 3 : 2);
    const char *kernel = args->floats && args->level < 2 ? "sort_msd_floats" : "sort_msd_scatter";
    return echi_cuda_launch_early(ctx, image, kernel,
                                  echi_cuda_least(msd->tiles, many ? tiles : few), SORT_MSD_THREADS,
                                  SORT_MSD_SHARED_BYTES, args);
}

unsigned echi_cuda_few_bytes(unsigned most, unsigned blocks, unsigned least, unsigned element_bytes,
                             struct sort_args *args)
{
    unsigned bytes = (most + 1024) / blocks - 1024; /* of which each block takes 1 KiB more */
    args->few_tile =
        (bytes - SORT_FEW_SHARED_BYTES(0, 1)) / element_bytes / SORT_MSD_THREADS * SORT_MSD_THREADS;
    unsigned needed = SORT_FEW_SHARED_BYTES(args->few_tile, element_bytes);
    return needed > least ? needed : least;
}

/* Leaves are large where they save a level, and memory for lists is there for the small ones. */
static ech_status choose_leaf(ech_ctx *ctx, const char *image, const struct msd_plan *msd,
                              struct sort_args *args, bool *large)
{
    unsigned shared_bytes = 0;
    uint64_t full = msd->leaf / 16 * 15, n = args->n; /* digits are not quite even */
    bool one = n > SORT_BINS * full && n <= 2 * SORT_BINS * full;
    bool two = n > SORT_BINS * SORT_BINS / 2 * full;
    ech_status status = echi_cuda_shared_bytes(ctx, &shared_bytes);
    *large = (one || two) && shared_bytes >= SORT_LEAF_SHARED_BYTES(1) &&
             echi_cuda_has(ctx, image, "sort_msd_leaf_large");
    args->leaf = (uint32_t)msd->leaf * (*large ? 2 : 1);
    return status;
}

/* As many leaves as digits make of evenly distributed keys. */
static uint64_t even_leaves(const struct sort_args *args)
{
    uint64_t leaves = 1;
    while (args->n / leaves > args->leaf / 16 * 15) leaves *= 2;
    return leaves;
}

/* How many levels have launches of their own: those of evenly distributed keys, and of many keys
 * one more.  The first, which finds out whether they are in order, always has. */
static int even_levels(const struct sort_args *args)
{
    uint64_t full = args->leaf / 16 * 15;
    int levels = args->level == 0 || args->n >= SORT_TOP_LEAST || args->floats;
    for (uint64_t n = args->n >> SORT_DIGIT_BITS; n > full; n >>= SORT_DIGIT_BITS) levels++;
    return levels;
}

ech_status echi_cuda_first(ech_ctx *ctx, struct sort_args *args)
{
    ech_status status = ECH_OK;
    void *first = NULL;
    TRY(echi_cuda_zeros(ctx, args->first, sizeof *args->first, &first));
    args->first = first;
done:
    return status;
}

/* Counts and plans a level; of few keys the first in one launch. */
static ech_status count_level(ech_ctx *ctx, const char *image, const struct msd_plan *msd,
                              struct sort_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    ech_status status = ECH_OK;
    uint64_t processors = (uint64_t)cuda->multiprocessors;
    uint64_t most = SORT_MSD_COUNT_BLOCKS * processors;
    unsigned segments = args->level ? echi_cuda_least(msd->segments, 8 * processors) : 1;
    if (msd->few && args->level == 0)
        return echi_cuda_launch_early(ctx, image, "sort_msd_first",
                                      echi_cuda_least(args->n / SORT_MSD_FIRST_KEYS + 1, most) + 1,
                                      SORT_MSD_COUNT_THREADS, 0, args);
    TRY(echi_cuda_launch_early(ctx, image, "sort_msd_count", echi_cuda_least(msd->tiles, most),
                               SORT_MSD_COUNT_THREADS, 0, args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_msd_plan", segments, SORT_BINS, 0, args));
done:
    return status;
}

/* The levels from args->level on, and the leaves. */
static ech_status run_levels(ech_ctx *ctx, const char *image, const struct msd_plan *msd,
                             struct sort_args *args, bool large)
{
    const struct echi_cuda *cuda = ctx->state;
    ech_status status = ECH_OK;
    uint64_t processors = (uint64_t)cuda->multiprocessors, leaves = even_leaves(args);
    unsigned crowded = echi_cuda_least(msd->leaves, SORT_CROWDED_BLOCKS * processors);
    unsigned leaf_bytes = SORT_LEAF_SHARED_BYTES(large), shared_bytes = 0;
    TRY(echi_cuda_shared_bytes(ctx, &shared_bytes));
    unsigned blocks = shared_bytes >= SORT_MSD_BLOCKS * (SORT_MSD_SHARED_BYTES + 1024)
                          ? (unsigned)SORT_MSD_BLOCKS
                          : 1;
    unsigned rest = blocks * (unsigned)cuda->multiprocessors, rest_bytes = SORT_MSD_SHARED_BYTES;
    if (msd->few) {
        rest = echi_cuda_least(rest, msd->few_blocks);
        rest_bytes =
            echi_cuda_few_bytes(shared_bytes, blocks, rest_bytes, (unsigned)msd->key_bytes, args);
    }
    args->levels = msd->levels;
    for (int last = args->level + even_levels(args); args->level < last; args->level++) {
        TRY(count_level(ctx, image, msd, args));
        TRY(scatter_level(ctx, image, msd, args));
    }
    TRY(echi_cuda_launch_together(ctx, image, "sort_msd_rest", rest, SORT_MSD_THREADS, rest_bytes,
                                  args));
    TRY(echi_cuda_launch_early(ctx, image, large ? "sort_msd_leaf_large" : "sort_msd_leaf",
                               echi_cuda_least(msd->leaves, leaves + leaves / 16 + 64),
                               SORT_LEAF_THREADS, leaf_bytes, args));
    TRY(echi_cuda_launch_early(ctx, image, large ? "sort_msd_crowded_large" : "sort_msd_crowded",
                               crowded, SORT_CROWDED_THREADS,
                               SORT_CROWDED_THREADS * (large ? 128 : 64), args));
done:
    return status;
}

ech_status echi_cuda_sort_msd_begin(ech_ctx *ctx, const char *image, const struct sort_args *args)
{
    if (args->adaptive)
        return echi_cuda_launch_early(ctx, image, "sort_crowd_begin", 1, SORT_CROWD_THREADS, 0,
                                      args);
    return echi_cuda_launch_early(ctx, image, "sort_msd_begin", 1, SORT_BINS, 0, args);
}

ech_status echi_cuda_sort_msd(ech_ctx *ctx, const char *image, const struct msd_plan *msd,
                              struct sort_args *args)
{
    ech_status status = ECH_OK;
    bool large = false;
    TRY(choose_leaf(ctx, image, msd, args, &large));
    if (msd->few)
        TRY(echi_cuda_first(ctx, args));
    else
        TRY(echi_cuda_sort_msd_begin(ctx, image, args));
    TRY(run_levels(ctx, image, msd, args, large));
done:
    return status;
}

/* How many bins a multiprocessor's shared memory counts, and a scatter has a table for; no more
 * than a few keys need. */
static ech_status top_bits(ech_ctx *ctx, uint64_t n, int *bits)
{
    unsigned shared_bytes = 0;
    ech_status status = echi_cuda_shared_bytes(ctx, &shared_bytes);
    int most = shared_bytes >= 132 << 10 ? SORT_TOP_BITS : shared_bytes >= 96 << 10 ? 14 : 12;
    for (*bits = SORT_DIGIT_BITS; *bits < most && n >> (*bits + 4); *bits += 1) continue;
    return status;
}

/* Floats of which NaN are at one end, whatever their signs. */
static bool floats_by_places(const struct msd_plan *msd, const struct sort_args *args)
{
    uint64_t nans = msd->key_bytes == 8 ? 0xfffffffffffff : 0x7fffff; /* of one sign */
    return args->order.float_mask && args->order.shift == nans &&
           (!args->adaptive || args->n >= SORT_PLACES_LEAST(msd->key_bytes));
}

ech_status echi_cuda_sort_classes(ech_ctx *ctx, const char *image, const struct msd_plan *msd,
                                  struct sort_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    ech_status status = ECH_OK;
    bool large = false;
    args->floats = floats_by_places(msd, args);
    TRY(choose_leaf(ctx, image, msd, args, &large));
    TRY(top_bits(ctx, args->n, &args->top_bits));
    unsigned bins_bytes = 4u << args->top_bits, table_bytes = 1u << args->top_bits;
    unsigned count =
        echi_cuda_least(args->n / (SORT_TOP_THREADS * 64) + 1, (uint64_t)cuda->multiprocessors);
    TRY(echi_cuda_launch_early(ctx, image, "sort_top_begin", 1, SORT_TOP_THREADS, 0, args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_top_count", count, SORT_TOP_THREADS, bins_bytes,
                               args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_top_plan", 1, SORT_TOP_THREADS, bins_bytes + 16,
                               args));
    TRY(echi_cuda_launch_early(ctx, image, "sort_top_scatter",
                               echi_cuda_least(UINT32_MAX, (args->n - 1) / (4 * msd->tile) + 1),
                               SORT_MSD_THREADS, SORT_MSD_SHARED_BYTES + table_bytes, args));
    TRY(scatter_level(ctx, image, msd, args));
    args->level = 1;
    TRY(run_levels(ctx, image, msd, args, large));
done:
    return status;
}
