/*
 * sort/cuda/packed_map.cuh - a map of 32-bit keys to evenly distributed words, whose digits then
 * divide keys of any smooth distribution as well as those of even ones (msd_packed.cuh).
 *
 *     sort_skewed_begin   from a small sample: the range of the keys, without its longest gap
 *     sort_packed_map     counts a large sample in 1024 pieces of that range, of equal width; the
 *                         last block makes the map: linear in each piece, with a slope
 *                         proportional to its count.  It checks the map with the small sample.
 *                         Nothing happens if the keys are evenly distributed or in order
 *
 *     keys      |  . . .....:::|::::.. .  |              |  . . .   . |
 *     pieces    |   |   |   |   |   |   |   |  (a gap)     |   |   |   |
 *     words     | | |   |      |      |   | |
 *
 * The map is monotonic, so that equal words are adjacent keys, which leaves sort by all bits.  Keys
 * outside the range have the first or the last word, and those in the gap have one word.
 *
 * Floats that are not mapped are sorted by passes (lsd.cuh), because two digits of their bits do
 * not make leaves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_PACKED_MAP_CUH
#define ECHI_SORT_CUDA_PACKED_MAP_CUH

#include "sort/cuda/skewed.cuh"

#if PAIRS_PACKED
enum {
    MAP_THREADS = SORT_PACKED_COUNT_THREADS,
    MAP_VECTORS = 2 /* of the sample, per thread */
};
static_assert((int)MAP_THREADS == (int)SORT_PACKED_PIECES &&
                  (int)MAP_THREADS == (int)SKEWED_THREADS,
              "a thread has a piece, and two keys of the small sample");

/* The distance of a key from the first one, in the range of the map. */
static __device__ inline uint32_t map_distance(const struct sort_map &m, ukey e)
{
    const uint32_t before = min(max(e, m.low) - m.low, m.gap), after = e - m.lower;
    return min(e >= m.above ? after : before, m.last);
}

/* The word of a key.  A piece has its first word, and the number of its words; `skip` is the
 * distance from the end of 128 pieces to the next ones. */
static __device__ inline uint32_t map_word(const struct sort_map &m, const uint2 *pieces,
                                           uint32_t skip, ukey e)
{
    const uint32_t d = map_distance(m, e), piece = d >> m.shift;
    const uint2 p = pieces[piece + (piece >> 7) * skip];
    return p.x + __umulhi(d << (32 - m.shift), p.y);
}

/* Bits of the second digit: the minimum that makes leaves; mapped: with fewer keys, because a map
 * is not exact. */
static __device__ inline uint32_t packed_bits(const struct sort_common &a, bool mapped)
{
    const uint32_t most = mapped ? SORT_PACKED_FILL(MSD_LEAF) : SORT_LEAF_FULL(MSD_LEAF);
    uint32_t bits = SORT_DIGIT_BITS;
    while (bits > 1 && a.n >> (SORT_DIGIT_BITS + bits - 1) <= most) bits--;
    return bits;
}

/* The number of leaves for which the words are made.  There cannot be more than two digits have;
 * there are as many for small arrays, which are only sorted so in tests. */
static __device__ inline uint64_t map_words(const struct sort_common &a)
{
    const uint64_t most = (uint64_t)SORT_BINS << packed_bits(a, true);
    const uint64_t wanted = a.n / SORT_PACKED_FILL(MSD_LEAF);
    return wanted < SORT_PACKED_PIECES ? most : min(most, wanted);
}

/* Adds the pieces of a sample: vectors of four keys, one of each of as many parts of the input. */
static __device__ inline void map_count(const msd_args &a, const struct sort_map &m, uint32_t *bins)
{
    const struct key_vectors v = key_vectors_of((const ukey *)a.common.keys_in, a.common.n);
    const uint32_t all = gridDim.x * MAP_THREADS * MAP_VECTORS;
    union key_vector load[MAP_VECTORS];
#pragma unroll
    for (uint32_t i = 0; i < MAP_VECTORS; i++) {
        const uint32_t t = (i * gridDim.x + blockIdx.x) * MAP_THREADS + threadIdx.x;
        const uint32_t from = (uint32_t)(t * v.count / all),
                       to = (uint32_t)((t + 1) * v.count / all);
        if (v.count) load[i].vector = v.body[from + __umulhi(t * 2654435761u, to - from)];
    }
#pragma unroll
    for (uint32_t i = 0; v.count && i < MAP_VECTORS; i++)
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS; k++)
            atomicAdd(
                &bins[map_distance(m, pairs_key(a.common, SORT_IN, load[i].key[k])) >> m.shift], 1);
}

/* The counts of the pieces, then the small sample in order, then the pieces: in a list that is not
 * used yet, which has at least so many words. */
static __device__ inline uint32_t *map_counts(const msd_args &a)
{
    return a.lists.skewed_leaves;
}

static __device__ inline const uint32_t *map_sample(const msd_args &a)
{
    return a.lists.skewed_leaves + SORT_PACKED_PIECES;
}

static __device__ inline uint2 *map_pieces(const msd_args &a)
{
    return (uint2 *)(a.lists.skewed_leaves + SORT_PACKED_PIECES + SKEWED_KEYS);
}

struct map_shared {
    uint32_t bins[SORT_PACKED_PIECES]; /* counts of the block */
    uint2 pieces[SORT_PACKED_PIECES];
    uint32_t words[SKEWED_KEYS + 1]; /* of the small sample */
    uint32_t sums[32];
};

/* Makes the pieces from the counts of all blocks: one block. */
static __device__ inline void map_make(const msd_args &a, struct map_shared &s)
{
    const uint32_t me = threadIdx.x, warp = me / 32, lane = lane_id();
    const uint32_t count = map_counts(a)[me], inclusive = warp_scan(count);
    if (lane == 31) s.sums[warp] = inclusive;
    __syncthreads(); /* the sums of all warps are written */
    const uint32_t end = inclusive + warp_sum(lane < warp ? s.sums[lane] : 0);
    const uint64_t all = max(warp_sum(s.sums[lane]), 1u);
    const uint64_t leaves = (uint64_t)SORT_BINS << packed_bits(a.common, true);
    const uint64_t scale = (map_words(a.common) << 32) / leaves;
    const uint64_t first = min((end - count) * scale / all, (uint64_t)~0u);
    const uint64_t next = min(end * scale / all, (uint64_t)~0u);
    s.pieces[me] = map_pieces(a)[me] = make_uint2((uint32_t)first, (uint32_t)(next - first));
    __syncthreads(); /* the pieces are written */
}

/* Whether the words of the small sample are evenly distributed, as in skewed_even(). */
static __device__ inline bool map_even(const msd_args &a, const struct sort_map &m,
                                       struct map_shared &s)
{
    const uint32_t me = threadIdx.x;
#pragma unroll
    for (uint32_t k = 0; k < 2; k++)
        s.words[k * MAP_THREADS + me] =
            map_word(m, s.pieces, 0, map_sample(a)[k * MAP_THREADS + me]);
    if (me == 0) s.words[SKEWED_KEYS] = 0;
    __syncthreads(); /* the words are written */
    int sharing = 0;
#pragma unroll
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t *at = s.words + k * MAP_THREADS + me;
        sharing += __syncthreads_count((at[0] ^ at[1]) >> (KEY_BITS - 2 * SORT_DIGIT_BITS) == 0);
    }
    const uint64_t codes = map_words(a.common) << (SORT_DIGIT_BITS - packed_bits(a.common, true));
    return sharing * codes <= (uint64_t)SORT_PACKED_SHARED << (2 * SORT_DIGIT_BITS);
}

/* Counts a sample; true for the last block, which can read the counts of all. */
static __device__ inline bool map_counted(const msd_args &a, const struct sort_map &m,
                                          struct map_shared &s)
{
    const uint32_t me = threadIdx.x;
    uint32_t last = 0;
    s.bins[me] = 0;
    __syncthreads(); /* the counters are clear */
    map_count(a, m, s.bins);
    for (uint32_t i = blockIdx.x * MAP_THREADS + me; i < SORT_BINS * SORT_MSD_ROW / 2;
         i += gridDim.x * MAP_THREADS)
        ((uint2 *)a.lists.counts[1])[i] = make_uint2(0, 0); /* as skewed_pack() */
    __syncthreads();                                        /* every key is counted */
    if (s.bins[me]) atomicAdd(&map_counts(a)[me], s.bins[me]);
    __syncthreads(); /* this block's counts are added */
    if (me == 0) last = add_acq_rel(&a.lists.msd->map_arrived, 1) == gridDim.x - 1;
    return __syncthreads_or(last);
}
#endif

/* Like skewed_leave(), for keys that are known not to be in order, while other blocks test this. */
static __device__ inline void map_leave(const msd_args &a)
{
    a.lists.msd->segments[0] = a.lists.msd->tiles[0] = 0;
    a.lists.msd->skewed = 1;
}

extern "C" __global__ void __launch_bounds__(SORT_PACKED_COUNT_THREADS)
    sort_packed_map(const __grid_constant__ msd_args a)
{
    wait_for_earlier();
    const bool floats = a.common.order.float_mask != 0;
    if (msd_ordered(a)) return;
#if PAIRS_PACKED
    __shared__ struct map_shared s;
    if (a.lists.msd->mapping == SORT_MAPS) {
        const struct sort_map m = a.lists.msd->map;
        if (!map_counted(a, m, s)) return;
        map_make(a, s);
        const bool even = map_even(a, m, s);
        if (threadIdx.x != 0) return;
        a.lists.msd->mapping = even ? SORT_MAPPED : SORT_MAPS_NONE;
        if (even) {
            a.lists.msd->segments[0] = a.lists.msd->tiles[0] = a.lists.msd->skewed = 0;
            a.lists.msd->even = KEY_BITS;
        } else if (floats) {
            map_leave(a);
        }
        return;
    }
#endif
    if (blockIdx.x == 0 && threadIdx.x == 0 && floats && !a.lists.msd->even) map_leave(a);
}

#endif
