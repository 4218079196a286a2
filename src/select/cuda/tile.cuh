/*
 * select/cuda/tile.cuh - the exclusive prefix of a tile in one pass, for blocks that each take one
 * tile: decoupled look-back (Merrill and Garland, 2016).
 *
 *     words    [ blocks finished | gap | a word per tile | (three-way: another word per tile) ]
 *     a word   a tile status descriptor: a state in the top two bits, and a count below, which is
 *              absent, the tile's aggregate, or its inclusive prefix.  State and count are one
 *              access, so no fence is needed.
 *
 * A block publishes its aggregate. Then one warp reads the words of the preceding tiles, 128 at a
 * time, because at full rate a hundred tiles begin while one word travels. It adds aggregates until
 * it finds an inclusive prefix, and publishes its own. Tiles are numbered by blockIdx: the hardware
 * starts blocks in this order, so that a block only waits for blocks that are running.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_TILE_CUH
#define ECHI_SELECT_CUDA_TILE_CUH

#include "select/cuda/common.h"
#include "cuda/device/warp.cuh"

/* Writes the position of the r-th element that is kept, in the type that the caller requested. */
static __device__ inline void store_position(const struct select_args &a, uint64_t r,
                                             uint64_t position)
{
    if (a.narrow)
        ((uint32_t *)a.starts)[r] = (uint32_t)position;
    else
        ((uint64_t *)a.starts)[r] = position;
}

#ifndef BLOCK_THREADS
#define BLOCK_THREADS SELECT_THREADS
#endif

enum { WARPS = BLOCK_THREADS / 32, WINDOW = 4 };

#define STATE_OWN  ((uint64_t)1 << 62)
#define STATE_ALL  ((uint64_t)2 << 62)
#define COUNT_MASK (STATE_OWN - 1)

/* ---- Look-back ---- */

/* Sums of lengths saturate; counts cannot get near the limit. */
static __device__ inline uint64_t add_to(uint64_t a, uint64_t b, uint64_t most)
{
    return min(a + b, most);
}

static __device__ inline uint64_t warp_sum_to(uint64_t x, uint64_t most)
{
#pragma unroll
    for (int step = 16; step; step /= 2)
        x = add_to(x, __shfl_xor_sync(WARP_ALL, (unsigned long long)x, step), most);
    return x;
}

/* Sum over the lanes, of terms below 2^59. */
static __device__ inline uint64_t warp_sum_u64(uint64_t x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const uint32_t low = (uint32_t)x & (1u << 27) - 1, high = (uint32_t)(x >> 27);
    return ((uint64_t)__reduce_add_sync(WARP_ALL, high) << 27) + __reduce_add_sync(WARP_ALL, low);
#else
#pragma unroll
    for (int step = 16; step; step /= 2)
        x += __shfl_xor_sync(WARP_ALL, (unsigned long long)x, step);
    return x;
#endif
}

/* The word of the tile `back` before this one; before the first tile: an inclusive prefix of
 * zero. */
static __device__ inline uint64_t word_before(const uint64_t *words, uint64_t tile, uint64_t back)
{
    return back <= tile ? load_relaxed_u64(words + tile - back) : STATE_ALL;
}

/* The exclusive prefix of `tile`; called by a whole warp. */
static __device__ inline uint64_t look_back(const uint64_t *words, uint64_t tile, uint64_t most)
{
    uint64_t mine = 0;
    for (uint64_t nearest = 1;; nearest += 32 * WINDOW) {
        uint64_t word[WINDOW];
#pragma unroll
        for (int q = 0; q < WINDOW; q++)
            word[q] = word_before(words, tile, nearest + 32 * q + lane_id());
#pragma unroll
        for (int q = 0; q < WINDOW; q++) {
            uint32_t all, needed;
            for (;;) { /* until all tiles up to the first inclusive prefix have published */
                all = __ballot_sync(WARP_ALL, word[q] >= STATE_ALL);
                needed = all ? all ^ (all - 1) : WARP_ALL;
                if (!(__ballot_sync(WARP_ALL, word[q] < STATE_OWN) & needed)) break;
                word[q] = word_before(words, tile, nearest + 32 * q + lane_id());
            }
            if (needed >> lane_id() & 1) mine = add_to(mine, word[q] & COUNT_MASK, most);
            if (all) return warp_sum_to(mine, most);
        }
    }
}

/* By one warp: publishes this tile's aggregate and returns its exclusive prefix. */
static __device__ inline uint64_t place_tile(uint64_t *words, uint64_t tile, uint64_t own,
                                             uint64_t most)
{
    uint64_t before = 0;
    if (tile) before = look_back(words, tile, most);
    if (lane_id() == 0) store_relaxed_u64(words + tile, STATE_ALL | add_to(before, own, most));
    return before;
}

/* Early, by one thread; the first tile's aggregate is its inclusive prefix. */
static __device__ inline void publish_tile(uint64_t *words, uint64_t tile, uint64_t own)
{
    store_relaxed_u64(words + tile, (tile ? STATE_OWN : STATE_ALL) | own);
}

/* ---- Sums of counts ---- */

/* If blocks need the counts of all tiles before, or since another tile, and no prefixes.  With runs
 * a word is the state, the last selected position of the tile, and the count. */
enum { SUM_AT_ONCE = 8 /* words of a lane */, LAST_AT = 20 };
#define OWN_MASK ((1ull << LAST_AT) - 1)

static __device__ inline void publish_last(uint64_t *words, uint64_t tile, uint32_t own,
                                           uint32_t last)
{
    store_relaxed_u64(words + tile, STATE_OWN | (uint64_t)last << LAST_AT | own);
}

/* The minimum and the maximum over the lanes. */
static __device__ inline uint32_t warp_min(uint32_t x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_min_sync(WARP_ALL, x);
#else
#pragma unroll
    for (int step = 16; step; step /= 2) x = min(x, __shfl_xor_sync(WARP_ALL, x, step));
    return x;
#endif
}

static __device__ inline uint32_t warp_max(uint32_t x)
{
    return ~warp_min(~x);
}

static __device__ inline uint64_t warp_max_u64(uint64_t x)
{
#pragma unroll
    for (int step = 16; step; step /= 2)
        x = max(x, (uint64_t)__shfl_xor_sync(WARP_ALL, (unsigned long long)x, step));
    return x;
}

/* By one warp: the sum of the counts of tiles from ... to - 1, for which it waits. RUNS: *last
 * becomes the position of the last selected element, counted from the beginning of the first
 * vector, if there is one. */
template <int RUNS>
static __device__ inline uint64_t sum_tiles(const struct select_args &a, uint64_t from, uint64_t to,
                                            uint64_t *last)
{
    const uint64_t *words = a.words + SELECT_WORDS_FIRST;
    uint64_t sum = 0, at = 0; /* at: one past the last selected position */
    for (; from < to; from += 32 * SUM_AT_ONCE) {
        const uint64_t *mine = words + from + lane_id();
        uint64_t word[SUM_AT_ONCE];
        bool missing;
#pragma unroll
        for (int q = 0; q < SUM_AT_ONCE; q++)
            word[q] = from + 32 * q + lane_id() < to ? 0 : STATE_OWN;
        do {
            missing = false;
#pragma unroll
            for (int q = 0; q < SUM_AT_ONCE; q++)
                if (word[q] < STATE_OWN) word[q] = load_relaxed_u64(mine + 32 * q);
#pragma unroll
            for (int q = 0; q < SUM_AT_ONCE; q++) missing |= word[q] < STATE_OWN;
        } while (__any_sync(WARP_ALL, missing));
#pragma unroll
        for (int q = 0; q < SUM_AT_ONCE; q++) {
            const uint32_t own = (uint32_t)(word[q] & OWN_MASK);
            sum += own;
            if (RUNS && own)
                at = (from + 32 * q + lane_id()) * a.tile_n + 1 +
                     ((word[q] & COUNT_MASK) >> LAST_AT);
        }
    }
    if (RUNS) at = warp_max_u64(at);
    if (at) *last = at - 1;
    return warp_sum_u64(sum);
}

/* The exclusive prefix of `tile`, once all words are inclusive prefixes. */
static __device__ inline uint64_t placed_before(const uint64_t *words, uint64_t tile)
{
    return tile ? words[tile - 1] & COUNT_MASK : 0;
}

/* The exclusive prefix of `tile`, for which it waits. */
static __device__ inline uint64_t await_placed(const uint64_t *words, uint64_t tile)
{
    uint64_t word = STATE_ALL;
    if (tile) do
            word = load_relaxed_u64(words + tile - 1);
        while (word < STATE_ALL);
    return word & COUNT_MASK;
}

/* This warp's part of the exclusive prefix of `tile`, if each tile's word is its count, followed by
 * a word for each group of `group` tiles. */
static __device__ inline uint64_t sum_before(const uint64_t *words, uint64_t tiles, uint64_t group,
                                             uint64_t tile)
{
    const uint64_t whole = tile / group;
    uint64_t sum = 0;
#pragma unroll 1
    for (uint64_t g = threadIdx.x; g < whole; g += BLOCK_THREADS) sum += words[tiles + g];
#pragma unroll 1
    for (uint64_t t = whole * group + threadIdx.x; t < tile; t += BLOCK_THREADS) sum += words[t];
    return warp_sum_u64(sum);
}

/* By one warp of each block, once the whole block no longer uses the words: the last block clears
 * them. count_left() counts the block, and the result is needed only by clear_words(): the warp may
 * store in between, while the atomic is in progress. */
static __device__ inline uint64_t count_left(uint64_t *words)
{
    return lane_id() == 0 ? add_release_u64(words, 1) : 0;
}

static __device__ inline void clear_words(uint64_t *words, uint64_t count, uint64_t blocks,
                                          uint64_t left)
{
    uint32_t last = left == blocks - 1;
    last = __shfl_sync(WARP_ALL, last, 0);
    if (!last) return;
    if (lane_id() == 0) __threadfence(); /* orders the accesses of the blocks that left earlier */
    __syncwarp();                        /* extends this order to every lane */
    for (uint32_t i = lane_id(); i < SELECT_WORDS_FIRST + (uint32_t)count; i += 32) words[i] = 0;
}

static __device__ inline void leave_words(uint64_t *words, uint64_t count, uint64_t blocks)
{
    clear_words(words, count, blocks, count_left(words));
}

/* A run that continues past its tile has its start in place of its length: the next tile that
 * begins a run replaces it by the length.  By threads that are `step` apart. */
static __device__ inline void end_lengths(const struct select_args &a, uint64_t thread,
                                          uint64_t step)
{
    const uint64_t *words = a.words + SELECT_WORDS_FIRST;
    for (uint64_t t = thread; t < a.tiles; t += step) {
        uint64_t before = placed_before(words, t), through = placed_before(words, t + 1);
        if (before && through != before) /* the tile ends a run that began before it */
            a.lengths[before - 1] = t * a.tile_n - a.skew + a.first[t] - a.lengths[before - 1];
        if (t == a.tiles - 1) a.lengths[through - 1] = a.n - a.lengths[through - 1];
    }
}

/* ---- Ranks in a tile ----
 *
 * A warp holds LOADS rows of 32 vectors of VECTOR elements: element k of row j of a lane is the
 * warp's element (j * 32 + lane) * VECTOR + k.  A bit each marks the selected ones. */

/* Sums over the lanes, for all rows at once: a warp's count of a row is at most 32 * VECTOR, so
 * that two or four counts share a register. */
template <int LOADS, int VECTOR>
static __device__ inline uint32_t warp_ranks(const uint32_t (&bits)[LOADS],
                                             uint32_t (&start)[LOADS])
{
    enum { FIELDS = VECTOR <= 4 ? 4 : 2, BITS = 32 / FIELDS };
    enum { ROWS = LOADS < (int)FIELDS ? LOADS : (int)FIELDS };
    const uint32_t mask = (uint32_t)(((uint64_t)1 << BITS) - 1);
    uint32_t total = 0;
#pragma unroll
    for (int w = 0; w < LOADS / ROWS; w++) {
        uint32_t packed = 0;
#pragma unroll
        for (int f = 0; f < ROWS; f++) packed |= (uint32_t)__popc(bits[w * ROWS + f]) << f * BITS;
        uint32_t inclusive = warp_scan(packed), before = inclusive - packed;
        uint32_t all = __shfl_sync(WARP_ALL, inclusive, 31);
#pragma unroll
        for (int f = 0; f < ROWS; f++) {
            start[w * ROWS + f] = total + (before >> f * BITS & mask);
            total += all >> f * BITS & mask;
        }
    }
    return total;
}

/* The sum over the warps before this one; sums[] must contain that of every warp; total receives
 * the sum. */
static __device__ inline uint32_t warps_before(const uint32_t *sums, uint32_t *total)
{
    uint32_t own = lane_id() < WARPS ? sums[lane_id()] : 0;
    uint32_t inclusive = warp_scan(own);
    *total = __shfl_sync(WARP_ALL, inclusive, WARPS - 1);
    return __shfl_sync(WARP_ALL, inclusive - own, threadIdx.x / 32);
}

struct tile_ranks {
    uint32_t sums[WARPS];
    uint64_t before; /* in all tiles before */
};

/* The number of selected elements of the tile, blockIdx.x, before this warp, of which it has `own`;
 * total receives that of the tile, which other tiles then know. */
static __device__ inline uint32_t rank_in_tile(struct tile_ranks &s, uint64_t *words, uint32_t own,
                                               uint32_t *total)
{
    if (lane_id() == 0) s.sums[threadIdx.x / 32] = own;
    __syncthreads(); /* every warp has its sum */
    const uint32_t below = warps_before(s.sums, total);
    if (threadIdx.x == 0) publish_tile(words, blockIdx.x, *total);
    return below;
}

/* The same if there is one tile. */
static __device__ inline uint32_t rank_alone(struct tile_ranks &s, uint32_t own, uint32_t *total)
{
    if (lane_id() == 0) s.sums[threadIdx.x / 32] = own;
    if (threadIdx.x == 0) s.before = 0;
    __syncthreads(); /* every warp has its sum */
    return warps_before(s.sums, total);
}

/* The number of selected elements before the tile, after rank_in_tile().  Only the first warp waits
 * for the tiles before it; the others may have work until the barrier. */
static __device__ inline uint64_t rank_of_tile(struct tile_ranks &s, uint64_t *words,
                                               uint32_t total, uint64_t most)
{
    if (threadIdx.x < 32) {
        const uint64_t before = place_tile(words, blockIdx.x, total, most);
        if (lane_id() == 0) s.before = before;
    }
    __syncthreads(); /* the rank of the tile is known */
    return s.before;
}

/* The number of selected elements before this warp. */
static __device__ inline uint64_t rank_tile(struct tile_ranks &s, uint64_t *words, uint32_t own,
                                            uint32_t *total, uint64_t most)
{
    const uint32_t below = rank_in_tile(s, words, own, total);
    return rank_of_tile(s, words, *total, most) + below;
}

/* The elements of a tile that exist, positions first ... end - 1, as bits of the vector that begins
 * at position p. */
template <int VECTOR>
static __device__ inline uint32_t bits_between(uint32_t p, uint32_t first, uint32_t end)
{
    const uint32_t ones = (1u << VECTOR) - 1;
    uint32_t below = p >= first ? ones : p + VECTOR <= first ? 0 : ones << (first - p) & ones;
    uint32_t above = p + VECTOR <= end ? ones : p >= end ? 0 : ones >> (VECTOR - (end - p));
    return below & above;
}

#endif
