/*
 * sort/cuda/msd.c - strategies "msd", "buckets" and "adaptive": MSD radix sort, until a segment
 * fits in a block.
 *
 *     msd         levels of digits of 8 bits, and leaves
 *     buckets     a first level of equal-count buckets (msd_buckets.cuh), then like msd
 *     adaptive    one of these, or lsd.c if a sample of the keys is skewed; the device decides
 *
 *     workspace   [ (argsort: keys' third) | keys' second buffer | (payload's second) | state
 *                 | lists: segments, their counts, tiles, leaves | (values: counts of tiles)
 *                 | (buckets: bins, and the bucket of each) ]
 *     adaptive    [ as above; state and tile status descriptors of lsd.c in place of the lists ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/plan.h"
#include "sort/cuda/segments.h"

#include <stdio.h>
#include <string.h>

/* ---- Which sorts ---- */

static const struct pairs_tuning *pairs_tuning_of(const struct echi_sort *s)
{
    enum sort_end end;
    int payload = echi_sort_payload(s, &end);
    return echi_sort_pairs_tuning(s->key_bytes, payload);
}

/* Positions have 32 bits.  Keys without values that are sorted by some of their bits need a stable
 * sort. */
static bool can_msd(const struct echi_sort *s)
{
    bool known = s->value_bytes ? pairs_tuning_of(s) && s->begin_bit < s->end_bit
                                : s->key_bytes >= 4 && !s->stable;
    return known && (uint64_t)s->n < (uint64_t)1 << 32;
}

static bool can_buckets(const struct echi_sort *s)
{
    return !s->value_bytes && can_msd(s);
}

/* Few keys are sorted faster with fewer launches.  With more pairs than this, two digits do not
 * produce leaves. 64-bit keys with values use msd nevertheless, because onesweep takes eight
 * passes.  Two digits do not produce leaves of 32-bit floats either: half of them may have one
 * exponent. */
static bool best_msd(const struct echi_sort *s)
{
    bool two_digits = s->n <= SORT_BINS * SORT_BINS * SORT_LEAF_FULL(SORT_PAIRS_LEAF);
    if (s->n < SORT_MSD_MIN(s->key_bytes, s->order.float_mask != 0)) return false;
    if (!s->value_bytes) return true;
    if (s->end_bit - s->begin_bit <= SORT_PAIRS_MIN_BITS) return false;
    return s->key_bytes == 8 || (two_digits && !s->order.float_mask);
}

/* "adaptive" precedes it. */
static bool best_buckets(const struct echi_sort *s)
{
    (void)s;
    return false;
}

/* Whether the lists of msd_packed.cuh fit. */
static bool packs(const struct echi_sort *s, int payload)
{
    const uint64_t most = (uint64_t)SORT_BINS * SORT_BINS * SORT_LEAF_FULL(SORT_PAIRS_LEAF);
    return s->key_bytes == 4 && payload == 4 && (uint64_t)s->n <= most &&
           (s->algorithm ||
            s->n >= (s->order.float_mask ? SORT_PACKED_FLOATS_MIN : SORT_PACKED_MIN));
}

/* Two mapped digits make leaves of floats, too. */
static bool best_adaptive(const struct echi_sort *s)
{
    enum sort_end end;
    if (s->n < SORT_SKEWED_MIN(s->key_bytes)) return false;
    return best_msd(s) || (s->value_bytes && s->order.float_mask &&
                           s->end_bit - s->begin_bit == 32 && packs(s, echi_sort_payload(s, &end)));
}

/* ---- Sizes ---- */

/* Upper bounds for the lists of all levels.  A segment has more keys than a leaf.  Adjacent bins
 * are joined while they begin in the same half of a leaf: a run of r keys between larger bins makes
 * at most 2 r / leaf + 2 leaves, and a bin of more than half a leaf is one leaf and ends a run, so
 * keys make at most 6 n / leaf leaves, and each segment, as one and as the bin that it was, 4.  A
 * bucket may be a leaf. */
static void size_levels(const struct echi_sort *s, bool buckets, struct sort_plan *plan)
{
    const struct pairs_tuning *pairs =
        s->value_bytes ? echi_sort_pairs_tuning(s->key_bytes, plan->payload_bytes) : NULL;
    struct msd_plan *p = &plan->msd;
    uint64_t n = s->n;
    *p = (struct msd_plan){ .pairs = pairs, .buckets = buckets };
    p->tile = SORT_MSD_TILE((uint64_t)s->key_bytes);
    p->leaf = SORT_MSD_LEAF((uint64_t)s->key_bytes);
    if (pairs) {
        p->tile = pairs->threads * pairs->items;
        p->leaf = SORT_PAIRS_LEAF;
    }
    p->levels = (s->key_bytes == 8 ? SORT_MSD_LEVELS : SORT_MSD_LEVELS_32) + buckets;
    p->segments = n / p->leaf + 1;
    p->tiles = n / p->tile + p->segments + 1;
    p->leaves =
        6 * (n / p->leaf + 1) + 4 * (uint64_t)p->levels * p->segments + (buckets ? SORT_BINS : 0);
    p->small = n < SORT_MSD_SMALL(s->key_bytes) && !buckets;
    p->small_lsd_blocks = echi_cuda_least(n / SORT_SMALL_LSD_KEYS + 1, SORT_SMALL_LSD_BLOCKS);
    p->count_blocks = p->tiles < SORT_PAIRS_PIECES ? (unsigned)p->tiles : SORT_PAIRS_PIECES;
}

static ech_status size_msd(const struct echi_sort *s, struct sort_plan *plan)
{
    size_levels(s, false, plan);
    return ECH_OK;
}

static ech_status size_buckets(const struct echi_sort *s, struct sort_plan *plan)
{
    size_levels(s, true, plan);
    return ECH_OK;
}

void echi_sort_msd_module(const struct echi_sort *s, struct sort_plan *plan)
{
    if (s->value_bytes)
        snprintf(plan->module, sizeof plan->module, "sort_msd_pairs_k%d_v%d", 8 * s->key_bytes,
                 plan->payload_bytes);
    else
        snprintf(plan->module, sizeof plan->module, "sort_msd_k%d", 8 * s->key_bytes);
}

/* No group is sampled, and no array is small. */
void echi_sort_msd_size_groups(const struct echi_sort *s, uint64_t leaves, struct sort_plan *plan)
{
    size_levels(s, false, plan);
    plan->msd.small = false;
    plan->msd.leaves += leaves;
}

uint32_t echi_sort_msd_leaf(const struct sort_plan *plan)
{
    return (uint32_t)plan->msd.leaf;
}

/* Keys are sampled first: no array is small, and pairs that may be packed have as many segments as
 * digits. */
static ech_status size_adaptive(const struct echi_sort *s, struct sort_plan *plan)
{
    struct msd_plan *p = &plan->msd;
    size_levels(s, can_buckets(s), plan);
    p->adaptive = true;
    p->small = false;
    if (!p->pairs || p->pairs->key_bytes != 4 || p->pairs->payload_bytes != 4) return ECH_OK;
    uint64_t n = s->n, segments = SORT_BINS, tiles = SORT_PACKED_TILES(n);
    p->packed = packs(s, p->pairs->payload_bytes);
    if (p->segments < segments) {
        p->leaves += 4 * (uint64_t)p->levels * (segments - p->segments);
        p->segments = segments;
    }
    if (p->tiles < tiles) p->tiles = tiles;
    /* Mapped digits leave all bits to the other levels, of few keys.  The lists are long enough,
     * because the first level has none. */
    if (p->packed) p->levels++;
    return ECH_OK;
}

/* ---- Workspace ---- */

/* The lists begin at *lists. */
static void lay_out_levels(const struct echi_sort *s, const struct sort_plan *plan,
                           struct echi_layout *layout, struct sort_args *args,
                           struct echi_layout *lists)
{
    const struct msd_plan *p = &plan->msd;
    const size_t key = (size_t)s->key_bytes, payload = (size_t)plan->payload_bytes;
    const size_t segments = (size_t)p->segments, tiles = (size_t)p->tiles;
    if (echi_sort_discards_keys(s)) args->common.keys_out = echi_part(layout, s->n, key);
    args->common.keys_tmp = echi_part(layout, s->n, key);
    if (payload) args->common.values_tmp = echi_part(layout, s->n, payload);
    args->lists.msd = echi_part(layout, 1, sizeof *args->lists.msd);
    if (p->small) args->lists.first_counts = echi_part(layout, 1, sizeof *args->lists.first_counts);
    *lists = *layout;
    struct sort_segment *all = echi_part(layout, 2 * segments, sizeof *all);
    uint32_t *counts = echi_part(layout, 2 * segments, SORT_MSD_ROW * sizeof *counts);
    uint32_t *tile_of = echi_part(layout, 2 * tiles, sizeof *tile_of);
    for (size_t i = 0; i < 2 && layout->base; i++) {
        args->lists.segments[i] = all + i * segments;
        args->lists.counts[i] = counts + i * segments * SORT_MSD_ROW;
        args->lists.tile_of[i] = tile_of + i * tiles;
    }
    args->lists.leaves = echi_part(layout, (size_t)p->leaves, sizeof *args->lists.leaves);
    args->lists.skewed_leaves =
        echi_part(layout, (size_t)p->leaves, sizeof *args->lists.skewed_leaves);
    if (payload) args->pairs.rows = echi_part(layout, tiles, SORT_BINS * sizeof *args->pairs.rows);
    if (payload)
        args->pairs.pieces =
            echi_part(layout, p->count_blocks, SORT_BINS * sizeof *args->pairs.pieces);
    if (p->buckets) {
        args->msd.buckets = echi_part(layout, 1, sizeof *args->msd.buckets);
        args->msd.bins = echi_part(layout, 1 << SORT_BUCKETS_BIN_BITS, sizeof *args->msd.bins);
        args->msd.bin_bucket =
            echi_part(layout, 1 << SORT_BUCKETS_BIN_BITS, sizeof *args->msd.bin_bucket);
    }
}

/* The larger of two layouts that begin at the same place. */
static void join(struct echi_layout *layout, const struct echi_layout *other)
{
    if (other->overflow || other->bytes > layout->bytes) *layout = *other;
}

/* What lsd.c needs, in place of the lists. */
static void lay_out_passes(const struct sort_plan *plan, struct echi_layout *layout,
                           const struct echi_layout *begin, struct sort_args *args)
{
    struct echi_layout lists = *begin;
    args->lsd.passes.state = echi_part(&lists, 1, sizeof *args->lsd.passes.state);
    args->lsd.passes.status =
        echi_part(&lists, plan->onesweep.tiles, SORT_BINS * sizeof *args->lsd.passes.status);
    join(layout, &lists);
}

void echi_sort_msd_lay_out(const struct echi_sort *s, const struct sort_plan *plan,
                           struct echi_layout *layout, struct sort_args *args)
{
    struct echi_layout begin;
    lay_out_levels(s, plan, layout, args, &begin);
    if (!plan->msd.small) return;
    struct echi_layout lists = begin;
    args->lists.small_lsd_counts = echi_part(&lists, plan->msd.small_lsd_blocks,
                                             SORT_BINS * sizeof *args->lists.small_lsd_counts);
    args->lists.small_lsd_sums =
        echi_part(&lists, 2 * (SORT_SMALL_LSD_BLOCKS / SORT_SMALL_LSD_GROUP),
                  SORT_BINS * sizeof *args->lists.small_lsd_sums);
    join(layout, &lists);
    lay_out_passes(plan, layout, &begin, args);
}

static void lay_out_adaptive(const struct echi_sort *s, const struct sort_plan *plan,
                             struct echi_layout *layout, struct sort_args *args)
{
    struct echi_layout begin;
    lay_out_levels(s, plan, layout, args, &begin);
    lay_out_passes(plan, layout, &begin, args);
}

/* ---- Steps ---- */

static void pdl(const struct sort_build *b, enum echi_phase phase, const char *kernel,
                unsigned blocks, unsigned threads, unsigned shared_bytes, int level)
{
    echi_sort_launch(b, phase, ECHI_LAUNCH_PDL, kernel, blocks, threads, shared_bytes, level,
                     b->plan->msd.adaptive ? "the sample is not skewed" : NULL);
}

/* No launch knows how much work there is.  Where most inputs need many blocks, each block has one
 * tile or leaf, or a few of a large array, which is faster than persistent blocks; in other
 * launches, and beyond that number, blocks loop. */
static void scatter_level(const struct sort_build *b, int level)
{
    const struct msd_plan *msd = &b->plan->msd;
    const struct sort_args *args = b->args;
    uint64_t tiles = args->common.n / msd->tile + 1 + SORT_BINS;
    uint64_t resident = SORT_MSD_BLOCKS * (uint64_t)b->gpu.multiprocessors;
    bool many = level < (args->common.n > SORT_BINS * SORT_BINS / 2 * args->msd.leaf ? 3 : 2);
    const char *kernel = args->msd.floats && level < 2 ? "sort_msd_floats" : "sort_msd_scatter";
    pdl(b, ECHI_MOVE, kernel,
        echi_cuda_least(msd->tiles, many ? tiles / SORT_EACH(args->common.n) + 1 : resident),
        SORT_MSD_THREADS, SORT_MSD_SHARED_BYTES, level);
}

unsigned echi_sort_small_lsd_bytes(const struct sort_build *b, unsigned blocks, unsigned least,
                                   unsigned element_bytes)
{
    unsigned bytes =
        (b->gpu.shared_bytes + ECHI_BLOCK_RESERVED_BYTES) / blocks - ECHI_BLOCK_RESERVED_BYTES;
    b->args->lists.small_lsd_tile = (bytes - SORT_SMALL_LSD_SHARED_BYTES(0, 1)) / element_bytes /
                                    SORT_MSD_THREADS * SORT_MSD_THREADS;
    unsigned needed = SORT_SMALL_LSD_SHARED_BYTES(b->args->lists.small_lsd_tile, element_bytes);
    uint64_t all = blocks * (uint64_t)b->gpu.multiprocessors * b->args->lists.small_lsd_tile;
    b->args->lists.small_lsd = b->args->common.n <= all;
    return needed > least ? needed : least;
}

void echi_sort_small_lsd_steps(const struct sort_build *b)
{
    if (!b->args->lists.small_lsd) echi_sort_lsd_steps(b);
}

/* Leaves are large if that saves a level; the lists have room for the small ones. */
static bool choose_leaf(const struct sort_build *b)
{
    const struct msd_plan *msd = &b->plan->msd;
    uint64_t full = SORT_LEAF_FULL(msd->leaf), n = b->args->common.n;
    bool one = n > SORT_BINS * full && n <= 2 * SORT_BINS * full;
    bool two = n > SORT_BINS * SORT_BINS / 2 * full;
    bool large = (one || two) && b->gpu.shared_bytes >= SORT_LEAF_SHARED_BYTES(1) &&
                 echi_gpu_has(&b->gpu, b->plan->module, "sort_msd_leaf_large");
    b->args->msd.leaf = (uint32_t)msd->leaf * (large ? 2 : 1);
    return large;
}

/* The number of leaves for evenly distributed keys. */
static uint64_t even_leaves(const struct sort_args *args)
{
    uint64_t leaves = 1;
    while (args->common.n / leaves > SORT_LEAF_FULL(args->msd.leaf)) leaves *= 2;
    return leaves;
}

/* The number of levels with separate launches: the levels of evenly distributed keys, and one more
 * for many keys.  The first level always has one: it detects whether the keys are in order. */
static int even_levels(const struct sort_args *args, int first)
{
    uint64_t full = SORT_LEAF_FULL(args->msd.leaf);
    int levels = first == 0 || args->common.n >= SORT_LAUNCHED_MIN || args->msd.floats;
    for (uint64_t n = args->common.n >> SORT_DIGIT_BITS; n > full; n >>= SORT_DIGIT_BITS) levels++;
    return levels;
}

/* Counts and plans a level; for a small array the first level in one launch. */
static void count_level(const struct sort_build *b, int level)
{
    const struct msd_plan *msd = &b->plan->msd;
    uint64_t processors = (uint64_t)b->gpu.multiprocessors;
    uint64_t most = SORT_MSD_COUNT_BLOCKS * processors;
    unsigned segments = level ? echi_cuda_least(msd->segments, 8 * processors) : 1;
    if (msd->small && level == 0) {
        pdl(b, ECHI_COUNT, "sort_msd_count_plan",
            echi_cuda_least(b->args->common.n / SORT_MSD_COUNT_PLAN_KEYS + 1, most) + 1,
            SORT_MSD_COUNT_THREADS, 0, level);
        echi_sort_small_lsd_steps(b);
        return;
    }
    pdl(b, ECHI_COUNT, "sort_msd_count", echi_cuda_least(msd->tiles, most), SORT_MSD_COUNT_THREADS,
        0, level);
    pdl(b, ECHI_PLAN, "sort_msd_plan", segments, SORT_BINS, 0, level);
}

/* The levels from `level` on, and the leaves. */
static void run_levels(const struct sort_build *b, int level, bool large)
{
    const struct msd_plan *msd = &b->plan->msd;
    struct sort_args *args = b->args;
    uint64_t processors = (uint64_t)b->gpu.multiprocessors, leaves = even_leaves(args);
    unsigned skewed = echi_cuda_least(msd->leaves, SORT_SKEWED_LEAF_BLOCKS * processors);
    unsigned blocks =
        b->gpu.shared_bytes >= SORT_MSD_BLOCKS * (SORT_MSD_SHARED_BYTES + ECHI_BLOCK_RESERVED_BYTES)
            ? (unsigned)SORT_MSD_BLOCKS
            : 1;
    unsigned rest = blocks * (unsigned)processors, tail_bytes = SORT_MSD_SHARED_BYTES;
    if (msd->small) {
        rest = echi_cuda_least(rest, msd->small_lsd_blocks);
        tail_bytes = echi_sort_small_lsd_bytes(b, blocks, tail_bytes, (unsigned)b->sort->key_bytes);
    }
    args->lists.levels = msd->levels;
    for (int last = level + even_levels(args, level); level < last; level++) {
        count_level(b, level);
        scatter_level(b, level);
    }
    echi_sort_launch(b, ECHI_MOVE, ECHI_LAUNCH_COOPERATIVE, "sort_msd_tail_levels", rest,
                     SORT_MSD_THREADS, tail_bytes, level,
                     "there are more levels, or the keys of a small array are skewed");
    pdl(b, ECHI_FINISH, large ? "sort_msd_leaf_large" : "sort_msd_leaf",
        echi_cuda_least(msd->leaves, (leaves + leaves / 16 + 64) / SORT_EACH(args->common.n)),
        SORT_LEAF_THREADS, SORT_LEAF_SHARED_BYTES(large), level);
    pdl(b, ECHI_FINISH, large ? "sort_msd_skewed_leaf_large" : "sort_msd_skewed_leaf", skewed,
        SORT_SKEWED_LEAF_THREADS, SORT_SKEWED_LEAF_SHARED_BYTES(large), level);
}

/* The copy of input that is in order in the sample. */
static void copy_ordered(const struct sort_build *b)
{
    const uint64_t tile = SORT_ORDERED_TILE(b->sort->key_bytes);
    echi_sort_launch(b, ECHI_MOVE, ECHI_LAUNCH_PDL, "sort_ordered_copy",
                     echi_cuda_least((b->args->common.n - 1) / tile + 1,
                                     SORT_ORDERED_BLOCKS * (uint64_t)b->gpu.multiprocessors),
                     SORT_ORDERED_THREADS, 0, -1, "the sample is in order");
}

void echi_sort_begin_lists(const struct sort_build *b)
{
    if (b->plan->msd.small) {
        struct sort_args *args = b->args;
        echi_step_add(b->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                    .kind = ECHI_ZEROS,
                                                    .level = -1,
                                                    .to = args->lists.first_counts,
                                                    .slot = &args->lists.first_counts,
                                                    .bytes = sizeof *args->lists.first_counts });
    } else if (b->plan->msd.adaptive) {
        echi_sort_launch(b, ECHI_LOOK, ECHI_LAUNCH_PDL, "sort_skewed_begin", 1, SORT_SKEWED_THREADS,
                         0, -1, NULL);
        copy_ordered(b);
        echi_sort_packed_map_step(b);
        if (!echi_sort_by_map_or_passes(b)) echi_sort_lsd_steps(b);
    } else {
        echi_sort_launch(b, ECHI_LOOK, ECHI_LAUNCH_PDL, "sort_msd_begin", 1, SORT_BINS, 0, -1,
                         NULL);
    }
}

static ech_status steps_of_levels(const struct sort_build *b)
{
    if (b->plan->msd.pairs) return echi_sort_pairs_steps(b);
    bool large = choose_leaf(b);
    echi_sort_begin_lists(b);
    run_levels(b, 0, large);
    return ECH_OK;
}

/* A leaf has at least half of the elements that fit, except the last one of a group. */
unsigned echi_sort_group_leaves(const struct sort_build *b, uint64_t longest, bool even,
                                uint64_t leaf)
{
    const uint64_t n = b->args->common.n;
    const uint64_t known = n / longest * (2 * longest / leaf + 1);
    const uint64_t loops = n / leaf + 16 * (uint64_t)b->gpu.multiprocessors;
    return echi_cuda_least(b->plan->msd.leaves, even ? known : loops);
}

/* Like run_levels(), for the groups in the lists.  Blocks loop if it is not known how many tiles
 * there are.  In a small array of segments, one launch does all levels, because often no segment is
 * long. */
ech_status echi_sort_msd_groups(const struct sort_build *b, uint64_t longest, bool even)
{
    const struct msd_plan *msd = &b->plan->msd;
    struct sort_args *args = b->args;
    if (msd->pairs) return echi_sort_pairs_groups(b, longest, even);
    uint64_t processors = (uint64_t)b->gpu.multiprocessors, resident = SORT_MSD_BLOCKS * processors;
    uint64_t full = SORT_LEAF_FULL(msd->leaf);
    const bool large = b->one_level && longest > SORT_BINS * full &&
                       b->gpu.shared_bytes >= SORT_LEAF_SHARED_BYTES(1) &&
                       echi_gpu_has(&b->gpu, b->plan->module, "sort_msd_leaf_large");
    const uint64_t known = args->common.n / msd->tile + 4 * SORT_BINS;
    const int launched = even || args->common.n > SORT_GROUP_LISTED_MOST ? 2 : 0;
    int level = 0;
    if (large) full *= 2;
    args->msd.leaf = (uint32_t)msd->leaf * (large ? 2 : 1);
    args->lists.levels = msd->levels;
    for (uint64_t n = longest; level < launched && (level ? n > full : n > msd->leaf);
         n >>= SORT_DIGIT_BITS, level++) {
        uint64_t most = SORT_MSD_COUNT_BLOCKS * processors;
        pdl(b, ECHI_COUNT, "sort_msd_count", echi_cuda_least(msd->tiles, most),
            SORT_MSD_COUNT_THREADS, 0, level);
        pdl(b, ECHI_PLAN, "sort_msd_plan", echi_cuda_least(msd->segments, 8 * processors),
            SORT_BINS, 0, level);
        pdl(b, ECHI_MOVE, "sort_msd_scatter",
            echi_cuda_least(msd->tiles, even                         ? UINT32_MAX
                                        : b->one_level && level == 0 ? known
                                                                     : resident),
            SORT_MSD_THREADS, SORT_MSD_SHARED_BYTES, level);
    }
    if (longest > msd->leaf) {
        bool two = b->gpu.shared_bytes >=
                   SORT_MSD_BLOCKS * (SORT_MSD_SHARED_BYTES + ECHI_BLOCK_RESERVED_BYTES);
        echi_sort_launch(b, ECHI_MOVE, ECHI_LAUNCH_COOPERATIVE, "sort_msd_tail_levels",
                         (two ? (unsigned)SORT_MSD_BLOCKS : 1) * (unsigned)processors,
                         SORT_MSD_THREADS, SORT_MSD_SHARED_BYTES, level, "there are more levels");
    }
    pdl(b, ECHI_FINISH, large ? "sort_msd_leaf_large" : "sort_msd_leaf",
        echi_sort_group_leaves(b, longest, even, msd->leaf), SORT_LEAF_THREADS,
        SORT_LEAF_SHARED_BYTES(large), level);
    pdl(b, ECHI_FINISH, large ? "sort_msd_skewed_leaf_large" : "sort_msd_skewed_leaf",
        echi_cuda_least(msd->leaves, SORT_SKEWED_LEAF_BLOCKS * processors),
        SORT_SKEWED_LEAF_THREADS, SORT_SKEWED_LEAF_SHARED_BYTES(large), level);
    return ECH_OK;
}

/* Whether a block has shared memory for 2^bits counters, and a scatter for a table of as many bytes
 * in addition to its tile. */
static bool holds_bins(const struct echi_gpu *gpu, int bits)
{
    enum { STATIC_BYTES = 4 << 10 }; /* maximum, in addition to the counters */
    return gpu->shared_bytes >= (4u << bits) + STATIC_BYTES &&
           gpu->shared_bytes >= SORT_MSD_SHARED_BYTES + (1u << bits);
}

/* The bins of evenly distributed keys have at most half of a leaf: fewer bins are counted and
 * planned faster.  The emulator has more, to test bins of small arrays. */
static int bin_bits(const struct sort_build *b)
{
    const bool emulated = b->gpu.ctx && strcmp(b->gpu.ctx->backend->name, "simt") == 0;
    const uint64_t most = emulated ? 15 : b->plan->msd.leaf / 2;
    int bits = SORT_DIGIT_BITS;
    while (bits < SORT_BUCKETS_BIN_BITS && holds_bins(&b->gpu, bits + 1) &&
           b->args->common.n >> bits > most)
        bits++;
    return bits;
}

/* Whether the digits can be by value: floats whose NaN, of either sign, are all at one end. */
static bool floats_by_value(const struct sort_build *b)
{
    const struct sort_args *args = b->args;
    const int key_bytes = b->sort->key_bytes;
    uint64_t nans = key_bytes == 8 ? 0xfffffffffffff : 0x7fffff; /* of one sign */
    return args->common.order.float_mask && args->common.order.shift == nans &&
           (!b->plan->msd.adaptive || args->common.n >= SORT_VALUE_DIGITS_MIN(key_bytes));
}

static ech_status steps_of_buckets(const struct sort_build *b)
{
    const struct msd_plan *msd = &b->plan->msd;
    struct sort_args *args = b->args;
    args->msd.adaptive = msd->adaptive;
    args->msd.floats = floats_by_value(b);
    bool large = choose_leaf(b);
    args->msd.bin_bits = bin_bits(b);
    unsigned bins_bytes = 4u << args->msd.bin_bits, table_bytes = 1u << args->msd.bin_bits;
    unsigned count = echi_cuda_least(args->common.n / (SORT_BUCKETS_THREADS * 64) + 1,
                                     (uint64_t)b->gpu.multiprocessors);
    echi_sort_launch(b, ECHI_LOOK, ECHI_LAUNCH_PDL, "sort_buckets_begin", 1, SORT_BUCKETS_THREADS,
                     0, 0, NULL);
    copy_ordered(b);
    if (msd->adaptive) echi_sort_lsd_steps(b);
    pdl(b, ECHI_COUNT, "sort_buckets_count", count, SORT_BUCKETS_THREADS, bins_bytes, 0);
    pdl(b, ECHI_PLAN, "sort_buckets_plan", 1, SORT_BUCKETS_THREADS, bins_bytes + 16, 0);
    pdl(b, ECHI_MOVE, "sort_buckets_scatter",
        echi_cuda_least(UINT32_MAX,
                        (args->common.n - 1) / (SORT_EACH(args->common.n) * msd->tile) + 1),
        SORT_MSD_THREADS, SORT_MSD_SHARED_BYTES + table_bytes, 0);
    scatter_level(b, 0);
    run_levels(b, 1, large);
    return ECH_OK;
}

static ech_status steps_of_adaptive(const struct sort_build *b)
{
    return b->plan->msd.buckets ? steps_of_buckets(b) : steps_of_levels(b);
}

/* ---- The strategies ---- */

const struct sort_strategy echi_sort_by_adaptive = {
    .name = "adaptive",
    .what = "like buckets or msd, or like onesweep if a sample of the keys is skewed",
    .when = "like msd, from 2^24 keys of 32 bits or 2^23 of 64 bits on; floats of 32 bits with "
            "values of 4 bytes from 2^26 on",
    .family = "sort_msd",
    .can = can_msd,
    .best = best_adaptive,
    .size = size_adaptive,
    .lay_out = lay_out_adaptive,
    .steps = steps_of_adaptive,
};

const struct sort_strategy echi_sort_by_buckets = {
    .name = "buckets",
    .what = "like msd, after a first level of equal-count buckets",
    .when = "only by name: adaptive precedes it",
    .family = "sort_msd",
    .can = can_buckets,
    .best = best_buckets,
    .size = size_buckets,
    .lay_out = echi_sort_msd_lay_out,
    .steps = steps_of_buckets,
};

const struct sort_strategy echi_sort_by_msd = {
    .name = "msd",
    .what = "most significant digit first, until a segment fits in a block",
    .when = "keys of 32 or 64 bits, fewer than 2^32; with values if the key has enough bits, and "
            "keys of 32 bits only if they are integers and two digits make leaves",
    .family = "sort_msd",
    .can = can_msd,
    .best = best_msd,
    .size = size_msd,
    .lay_out = echi_sort_msd_lay_out,
    .steps = steps_of_levels,
};
