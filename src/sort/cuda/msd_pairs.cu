/*
 * sort/cuda/msd_pairs.cu - stable MSD radix sort of keys of 32 and 64 bits with values or indices:
 * uses the lists of msd.cu with other scatters.
 *
 *     sort_pairs_count         counts the keys of each digit in every segment of the level, and in
 *                              the tiles of its piece before every tile
 *     sort_pairs_scatter       moves keys and values; the counts give the output positions of a
 *                              tile's digits, so that no tile waits for another
 *     sort_pairs_count_plan,   for small arrays, like sort_msd_count_plan and sort_msd_tail_levels
 *     sort_pairs_tail_levels
 *     sort_pairs_leaf          sorts segments that fit in a block; in msd_pairs_leaf.cuh
 *     sort_packed_...          the first levels of many evenly distributed keys; in msd_packed.cuh
 *
 *     tiles       |  0  |  1  |  2  |  3  |  4  |  5  |  6  |  7  |
 *     segments    |          0            |       1         |  2  |
 *     blocks      |        0        |        1        |     2     |    of the count
 *     pieces      |       0,0       | 1,0 |    1,1    | 2,1 | 2,2 |
 *
 * A block counts adjacent tiles: rows[tile] has the number of keys before the tile in its piece.
 * pieces[block], of which the plan computes prefix sums, has the number of keys up to the end of
 * the block in the segment that continues in the next block.
 *
 * In a tile, equal digits keep their order (cuda/device/block_rank.cuh).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/msd_pairs_leaf.cuh"
#include "sort/cuda/ordered.cuh"
#include "sort/cuda/small_lsd.cuh"
#if KEY_BYTES == 4 && VAL_BYTES == 4
#include "sort/cuda/packed_map.cuh"
#endif
#if PAIRS_PACKED
#include "sort/cuda/msd_packed.cuh"
#endif

/* ---- Counts ---- */

/* The digits of compared parts of keys. */
static __device__ inline void pairs_counted(const struct sort_segment &s,
                                            const ukey (&key)[MSD_ITEMS],
                                            uint32_t (&digit)[MSD_ITEMS])
{
    if (s.known & SORT_CLAMPED)
#pragma unroll
        for (int i = 0; i < MSD_ITEMS; i++) digit[i] = pairs_clamped(s, key[i]);
    else
#pragma unroll
        for (int i = 0; i < MSD_ITEMS; i++) digit[i] = msd_digit(s, key[i]);
}

/* Equal neighbours count as a rise, because their order must not be reversed. */
static __device__ inline void pairs_count_tile(const struct sort_common &a,
                                               const struct sort_segment &s, ukey first,
                                               uint32_t at, uint32_t here, uint32_t *bins,
                                               uint32_t *row, struct msd_found &found)
{
    const ukey *in = keys_of(a, s.source) + at;
    const uint32_t me = threadIdx.x;
    ukey key[MSD_ITEMS];
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++)
        key[i] = me + i * PAIRS_THREADS < here ? in[me + i * PAIRS_THREADS] : (ukey)0;
    if (me < SORT_BINS) row[me] = bins[me];
    pairs_compared(a, s.source, key);
    __syncthreads(); /* the counts of preceding tiles are stored */
    uint32_t digit[MSD_ITEMS];
    pairs_counted(s, key, digit);
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++)
        if (me + i * PAIRS_THREADS < here) {
            found.differ |= key[i] ^ first;
            atomicAdd(&bins[digit[i]], 1);
        }
    if (found.seen != SORT_SEEN_BOTH)
#pragma unroll
        for (int i = 0; i < MSD_ITEMS; i++) {
            const uint64_t next = (uint64_t)at + me + i * PAIRS_THREADS + 1;
            if (me + i * PAIRS_THREADS < here && next < a.n && found.seen != SORT_SEEN_BOTH)
                found.seen |= pairs_key(a, s.source, in[next - at]) < key[i] ? SORT_SEEN_FALL
                                                                             : SORT_SEEN_RISE;
        }
    __syncthreads(); /* every key is counted */
}

/* Counts tiles [tile, stop) of a segment: a piece; seen: where to add the order of adjacent keys,
 * or NULL. */
static __device__ inline void pairs_count_piece(const msd_args &a, const struct sort_segment &s,
                                                struct msd_count_shared &sh, uint32_t tile,
                                                uint32_t stop, uint32_t *counts, uint32_t *seen)
{
    const ukey first = pairs_key(a.common, s.source, keys_of(a.common, s.source)[s.begin]);
    rank_clear(sh.bins, SORT_BINS);
    if (threadIdx.x == 0) sh.differ = sh.seen = 0;
    __syncthreads(); /* the counters are clear */
    struct msd_found found = { 0, seen ? load_relaxed(seen) : (uint32_t)SORT_SEEN_BOTH };
    for (; tile < stop; tile++) {
        const uint32_t skip = (tile - s.first_tile) * MSD_TILE;
        pairs_count_tile(a.common, s, first, s.begin + skip,
                         min(s.count - skip, (uint32_t)MSD_TILE), sh.bins,
                         a.rows + (uint64_t)tile * SORT_BINS, found);
    }
    if (found.differ) atomicOr(&sh.differ, (unsigned long long)found.differ);
    if (found.seen) atomicOr(&sh.seen, found.seen);
    __syncthreads(); /* all threads have published their findings */
    const bool goes_on = stop < s.first_tile + msd_tiles(s.count);
    for (uint32_t bin = threadIdx.x; bin < SORT_BINS; bin += PAIRS_THREADS) {
        if (sh.bins[bin]) atomicAdd(&counts[bin], sh.bins[bin]);
        if (goes_on) a.pieces[(uint64_t)blockIdx.x * SORT_BINS + bin] = sh.bins[bin];
    }
    if (threadIdx.x == 0 && sh.differ)
        atomicOr((unsigned long long *)(counts + SORT_BINS), sh.differ);
    if (threadIdx.x == 0 && seen && sh.seen) atomicOr(seen, sh.seen);
    __syncthreads(); /* the counters may be cleared */
}

static __device__ inline void pairs_count_level(const msd_args &a, int level,
                                                struct msd_count_shared &sh)
{
    const uint32_t tiles = a.lists.msd->tiles[level], each = pairs_each(a, tiles);
    uint32_t tile = min(tiles, blockIdx.x * each);
    const uint32_t last = min(tiles, tile + each);
    while (tile < last) { /* one piece per iteration */
        const uint32_t index = msd_segment_of(a, level, tile);
        const struct sort_segment s = a.lists.segments[level & 1][index];
        const uint32_t stop = min(last, s.first_tile + msd_tiles(s.count));
        pairs_count_piece(a, s, sh, tile, stop, msd_counts(a, level, index),
                          level ? NULL : msd_seen(a));
        tile = stop;
    }
}

extern "C" __global__ void __launch_bounds__(PAIRS_THREADS, SORT_PAIRS_COUNT_BLOCKS)
    sort_pairs_count(const __grid_constant__ msd_args a)
{
    __shared__ struct msd_count_shared sh;
    wait_for_earlier();
    if (msd_copied(a)) return;
#if PAIRS_PACKED
    if (a.common.level == 0 && a.lists.msd->packed_tiles) {
        packed_unpack(a);
        return;
    }
#endif
    pairs_count_level(a, a.common.level, sh);
}

extern "C" __global__ void __launch_bounds__(PAIRS_THREADS, SORT_PAIRS_COUNT_BLOCKS)
    sort_pairs_count_plan(const __grid_constant__ msd_args a)
{
    __shared__ struct msd_count_shared sh;
    __shared__ struct msd_plan_shared p;
    __shared__ struct small_lsd_sample sample;
    wait_for_earlier();
    const struct sort_segment s = msd_whole(a.common);
    const uint32_t tiles = msd_tiles(s.count), each = pairs_each(a, tiles);
    const uint32_t tile = min(tiles, blockIdx.x * each);
    if (blockIdx.x < a.count_blocks)
        pairs_count_piece(a, s, sh, tile, min(tiles, tile + each), a.lists.first_counts->counts,
                          &a.lists.first_counts->seen);
    else
        small_lsd_look(a, sample);
    msd_plan_counted(a, p);
}

/* ---- Scatter ---- */

struct pairs_scatter_shared {
    union {
        uint32_t counts[PAIRS_WARPS * SORT_BINS]; /* during ranking */
        ukey keys[MSD_TILE];                      /* then the tile by digit */
        uval values[MSD_TILE];
    };
#if PAIRS_STAGED
    uval staged[MSD_TILE]; /* values in flight while keys are ranked; each thread accesses only its
                              own */
#endif
    uint32_t target[SORT_BINS]; /* a key of this digit and rank r goes to target + r */
    uint32_t sums[SORT_BINS / 32];
};
static_assert(sizeof(struct pairs_scatter_shared) <=
                  SORT_PAIRS_SHARED_BYTES(PAIRS_THREADS, MSD_ITEMS, KEY_BYTES, VAL_BYTES,
                                          PAIRS_STAGED),
              "the host gives less shared memory than the kernel uses");

/* A full tile needs no bounds checks; FULL is 1 for all tiles but the last of a segment. */
template <int FULL> static __device__ inline bool exists(uint32_t i, uint32_t here)
{
    return FULL || i < here;
}

/* A tile: its part of the segment, and the output position of the first key of this thread's
 * digit. */
struct scatter_tile {
    uint32_t at, here, target;
};

#if VAL_BYTES <= 8 || PAIRS_STAGED
static __device__ inline bool scatter_makes(const struct sort_common &a,
                                            const struct sort_segment &s)
{
    return VAL_BYTES <= 8 && s.source == SORT_IN && a.index;
}
#endif

/* Starts to load the tile's values; they are complete after copy_wait<0>(). */
template <int FULL>
static __device__ inline void scatter_ask(const struct sort_common &a, const struct sort_segment &s,
                                          struct pairs_scatter_shared &sh,
                                          const struct scatter_tile &t, uint32_t mine)
{
#if PAIRS_STAGED
    const uval *in = values_of(a, s.source) + t.at + mine;
    if (!scatter_makes(a, s))
#pragma unroll
        for (int i = 0; i < MSD_ITEMS; i++)
            if (exists<FULL>(mine + 32 * i, t.here))
                copy_async_of<VAL_BYTES>(&sh.staged[mine + 32 * i], in + 32 * i);
    copy_commit();
#endif
}

/* Places the values at their keys' ranks. */
template <int FULL>
static __device__ inline void
scatter_place(const struct sort_common &a, const struct sort_segment &s,
              struct pairs_scatter_shared &sh, const struct scatter_tile &t, uint32_t mine,
              const uint32_t (&slot)[MSD_ITEMS])
{
#if VAL_BYTES <= 8
    if (scatter_makes(a, s)) {
#pragma unroll
        for (int i = 0; i < MSD_ITEMS; i++)
            if (exists<FULL>(mine + 32 * i, t.here))
                sh.values[slot[i]] = (uval)(uint32_t)(t.at - pairs_origin(s) + mine + 32 * i);
        return;
    }
#endif
#if PAIRS_STAGED
    const uval *in = sh.staged + mine;
#else
    const uval *in = values_of(a, s.source) + t.at + mine;
#endif
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, t.here)) sh.values[slot[i]] = in[32 * i];
}

/* Ranks the tile's keys: slot[i] becomes the rank of key[i]. */
template <int FULL>
static __device__ inline void
scatter_rank(const struct sort_common &a, const struct sort_segment &s,
             struct pairs_scatter_shared &sh, const struct scatter_tile &t, uint32_t mine,
             const ukey (&key)[MSD_ITEMS], uint32_t (&slot)[MSD_ITEMS])
{
    const uint32_t bin = threadIdx.x;
    uint32_t *row = sh.counts + threadIdx.x / 32 * SORT_BINS;
    pairs_digits(a, s, key, slot);
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++) { /* past the end: last */
        if (!exists<FULL>(mine + 32 * i, t.here))
            slot[i] = SORT_BINS - 1;
        else
            atomicAdd(&row[slot[i]], 1);
    }
    __syncthreads(); /* all warps have counted */
    const uint32_t count = bin < SORT_BINS ? rank_column<PAIRS_WARPS>(sh.counts, bin) : 0;
    const uint32_t offset = bins_scan(count, sh.sums);
    if (bin < SORT_BINS) {
        rank_offsets<PAIRS_WARPS>(sh.counts, bin, offset);
        sh.target[bin] = t.target - offset;
    }
    __syncthreads(); /* the rows contain the start of each warp's keys of a digit */
    rank_keys<MSD_ITEMS>(row, slot, MSD_ITEMS);
    __syncthreads(); /* all warps are done with the counters */
}

template <int FULL>
static __device__ inline void
scatter_move(const struct sort_common &a, const struct sort_segment &s,
             struct pairs_scatter_shared &sh, const struct scatter_tile &t)
{
    const uint32_t me = threadIdx.x, mine = me / 32 * (32 * MSD_ITEMS) + lane_id();
    const ukey *in = keys_of(a, s.source) + t.at + mine;
    ukey key[MSD_ITEMS];
    uint32_t slot[MSD_ITEMS], to[MSD_ITEMS];
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++)
        key[i] = exists<FULL>(mine + 32 * i, t.here) ? in[32 * i] : (ukey)0;
    scatter_ask<FULL>(a, s, sh, t, mine);
    rank_clear(sh.counts, PAIRS_WARPS * SORT_BINS);
    if (s.source == SORT_IN && !a.same)
#pragma unroll
        for (int i = 0; i < MSD_ITEMS; i++) key[i] = order_encode(a.order, key[i]);
    __syncthreads(); /* the counters are clear */
    scatter_rank<FULL>(a, s, sh, t, mine, key, slot);
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, t.here)) sh.keys[slot[i]] = key[i];
    __syncthreads(); /* the tile is sorted by digit */
    ukey *out = (ukey *)keys_of(a, msd_target(s));
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++) {
        const uint32_t rank = me + i * PAIRS_THREADS;
        key[i] = exists<FULL>(rank, t.here) ? sh.keys[rank] : (ukey)0;
    }
    pairs_digits(a, s, key, to);
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++) {
        const uint32_t rank = me + i * PAIRS_THREADS;
        to[i] = sh.target[to[i]] + rank;
        if (exists<FULL>(rank, t.here)) out[to[i]] = key[i];
    }
#if PAIRS_STAGED
    copy_wait<0>();
#endif
    __syncthreads(); /* all threads have read its keys */
    scatter_place<FULL>(a, s, sh, t, mine, slot);
    __syncthreads(); /* the values are sorted by digit */
    uval *values = (uval *)values_of(a, msd_target(s));
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++) {
        const uint32_t rank = me + i * PAIRS_THREADS;
        if (exists<FULL>(rank, t.here)) values[to[i]] = sh.values[rank];
    }
}

static __device__ inline void pairs_scatter_level(const msd_args &a, int level,
                                                  struct pairs_scatter_shared &sh)
{
    const uint32_t tiles = a.lists.msd->tiles[level], bin = threadIdx.x;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint32_t index = msd_segment_of(a, level, tile);
        const struct sort_segment s = a.lists.segments[level & 1][index];
        if (!s.moves) continue;
        const uint32_t skip = (tile - s.first_tile) * MSD_TILE;
        struct scatter_tile t = { s.begin + skip, min(s.count - skip, (uint32_t)MSD_TILE), 0 };
        if (bin < SORT_BINS) {
            const uint32_t each = pairs_each(a, tiles), block = tile / each;
            t.target = msd_counts(a, level, index)[bin] + a.rows[(uint64_t)tile * SORT_BINS + bin];
            if (s.first_tile < block * each)
                t.target += a.pieces[(uint64_t)(block - 1) * SORT_BINS + bin];
        }
        if (t.here == MSD_TILE)
            scatter_move<1>(a.common, s, sh, t);
        else
            scatter_move<0>(a.common, s, sh, t);
        __syncthreads(); /* all threads have read; the counters may be cleared */
    }
}

extern "C" __global__ void __launch_bounds__(PAIRS_THREADS, PAIRS_RESIDENT)
    sort_pairs_scatter(const __grid_constant__ msd_args a)
{
    wait_for_earlier();
    pairs_scatter_level(a, a.common.level, *(struct pairs_scatter_shared *)shared_bytes);
}

/* ---- Levels that evenly distributed keys do not need ---- */

union tail_shared {
    struct msd_count_shared count;
    struct msd_plan_shared plan;
    struct pairs_scatter_shared scatter;
};
static_assert(sizeof(union tail_shared) <= SORT_PAIRS_SHARED_BYTES(PAIRS_THREADS, MSD_ITEMS,
                                                                   KEY_BYTES, VAL_BYTES,
                                                                   PAIRS_STAGED),
              "the host gives less shared memory than the kernel uses");

extern "C" __global__ void __launch_bounds__(PAIRS_THREADS, PAIRS_RESIDENT)
    sort_pairs_tail_levels(const __grid_constant__ msd_args a)
{
    union tail_shared &sh = *(union tail_shared *)shared_bytes;
    uint32_t barriers = 0;
    if (msd_ordered(a)) return;
    if (a.lists.small_lsd && a.lists.msd->skewed) {
        small_lsd_sort(a, *(struct small_lsd_shared *)shared_bytes);
        return;
    }
    for (int level = a.common.level; level < a.lists.levels && a.lists.msd->segments[level];
         level++) {
        if (blockIdx.x < a.count_blocks) pairs_count_level(a, level, sh.count);
        grid_barrier(&a.lists.msd->arrived, ++barriers);
        msd_plan_level<0>(a, level, sh.plan);
        grid_barrier(&a.lists.msd->arrived, ++barriers);
        pairs_scatter_level(a, level, sh.scatter);
        grid_barrier(&a.lists.msd->arrived, ++barriers);
    }
}
