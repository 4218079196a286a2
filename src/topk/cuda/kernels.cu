/*
 * topk/cuda/kernels.cu - kernels of top-k selections from groups of one block or less.
 *
 *     topk_lanes_2, _8        groups of up to 16 and 64 elements: the best element again and again,
 *                             by some lanes of a warp
 *     topk_lanes_segments     the same for segments of up to 64 elements; lists the others
 *     topk_warp_64, _128, _256, _short_32
 *                             groups of up to 64, 128, 256 and 256 elements, k up to 8, 16, 16 and
 *                             32: the elements that are not worse than a bound, by some lanes
 *     topk_warp_16, _32, _96, _192
 *                             the same for k up to this number, by a warp, for any length
 *     topk_block, _block_16   groups of up to 8 and 16 elements per thread of a block
 *     topk_count, _count_8    instead of these for keys of 16 and 8 bits (count.cuh)
 *     topk_order, _order_8    for a large k of few of them (order.cuh)
 *     topk_pick, topk_write   the first k of sorted positions: to another array, or as the result
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk/cuda/narrow.cuh"
#include "topk/cuda/warp.cuh"
#if KEY_BITS == 16
#include "topk/cuda/count.cuh"
#include "topk/cuda/order.cuh"
#endif

/* ---- Some lanes per group ---- */

/* The keys of a lane: adjacent ones, so that the lowest lane has the lowest positions. */
struct lane {
    ekey e[TOPK_LANE_ELEMENTS];
    uint32_t left; /* not selected yet */
};

template <int LANES>
static __device__ inline struct lane lane_load(const struct topk_args &a, const struct group &group)
{
    struct lane lane;
    const uint32_t first = lane_id() % LANES * TOPK_LANE_ELEMENTS;
    lane.left = 0;
#pragma unroll
    for (uint32_t j = 0; j < TOPK_LANE_ELEMENTS; j++) {
        const bool here = group.k && first + j < group.n;
        lane.e[j] = here ? group_key(a, group, first + j) : WORST;
        lane.left |= (uint32_t)here << j;
    }
    return lane;
}

static __device__ inline ekey lane_best(const struct lane &lane)
{
    ekey best = lane.e[0];
#pragma unroll
    for (int j = 1; j < TOPK_LANE_ELEMENTS; j++) best = min(best, lane.e[j]);
    return best;
}

/* Removes the first element with this key, and returns its number. */
static __device__ inline uint32_t lane_take(struct lane &lane, ekey best)
{
    uint32_t equal = 0;
#pragma unroll
    for (uint32_t j = 0; j < TOPK_LANE_ELEMENTS; j++) equal |= (uint32_t)(lane.e[j] == best) << j;
    equal &= lane.left;
    const uint32_t bit = equal & (0u - equal);
    lane.left ^= bit;
#pragma unroll
    for (uint32_t j = 0; j < TOPK_LANE_ELEMENTS; j++)
        if (bit >> j & 1) lane.e[j] = WORST;
    return (uint32_t)__ffs((int)bit) - 1;
}

/* Selects from one group per LANES lanes. */
template <int LANES>
static __device__ inline void lanes_select(const struct topk_args &a, const struct group &group)
{
    const uint32_t me = lane_id() % LANES, base = lane_id() - me;
    struct lane lane = lane_load<LANES>(a, group);
    const uint32_t all = lane.left, k = (uint32_t)group.k;
    for (uint32_t r = 0; __any_sync(WARP_ALL, r < k); r++) {
        const ekey mine = lane_best(lane), best = lanes_min<LANES>(mine);
        const uint32_t has = __ballot_sync(WARP_ALL, lane.left && mine == best) >> base;
        if (r >= k || (has & ((2u << me) - 1)) != 1u << me) continue; /* not the lowest lane */
        const uint32_t j = lane_take(lane, best);
        if (a.sorted) write_result(a, group, r, me * TOPK_LANE_ELEMENTS + j);
    }
    if (a.sorted) return;
    const uint32_t taken = all & ~lane.left;
    uint32_t at = warp_scan(__popc(taken)) - __popc(taken);
    at -= __shfl_sync(WARP_ALL, at, (int)base);
#pragma unroll
    for (uint32_t j = 0; j < TOPK_LANE_ELEMENTS; j++)
        if (taken >> j & 1) write_result(a, group, at++, me * TOPK_LANE_ELEMENTS + j);
}

template <int LANES> static __device__ inline void lanes_rows(const struct topk_args &a)
{
    const uint64_t each = 32 / LANES, step = (uint64_t)gridDim.x * TOPK_LANES_THREADS / 32 * each;
    const uint64_t warp = ((uint64_t)blockIdx.x * TOPK_LANES_THREADS + threadIdx.x) / 32;
    for (uint64_t first = warp * each; first < a.groups; first += step) {
        const uint64_t g = first + lane_id() / LANES;
        struct group group = { g, 0, 0, 0 };
        if (g < a.groups) group = group_at(a, g);
        lanes_select<LANES>(a, group);
    }
}

extern "C" __global__ void __launch_bounds__(TOPK_LANES_THREADS)
    topk_lanes_2(const __grid_constant__ struct topk_args a)
{
    wait_for_earlier();
    lanes_rows<2>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_LANES_THREADS)
    topk_lanes_8(const __grid_constant__ struct topk_args a)
{
    wait_for_earlier();
    lanes_rows<8>(a);
}

/* ---- Some lanes, by a bound ---- */

template <int LANES, int EACH, int W>
static __device__ inline void warps_select(const struct topk_args &a)
{
    __shared__ word words[W * TOPK_WARP_THREADS];
    const uint32_t part = threadIdx.x / LANES, each = TOPK_WARP_THREADS / LANES;
    const uint64_t step = (uint64_t)gridDim.x * each;
    wait_for_earlier();
    const uint64_t count = chip_groups(a);
    for (uint64_t first = (uint64_t)blockIdx.x * each + part - part % (32 / LANES); first < count;
         first += step) {
        const uint64_t i = first + part % (32 / LANES);
        struct group group = { 0, 0, 0, 0 };
        if (i < count) group = chip_group(a, i);
        warp_select<LANES, EACH, W>(a, group, words + part * W * LANES);
    }
}

/* 64-bit keys take two registers. */
#define WIDE (KEY_BITS == 64 ? 2 : 1)

extern "C" __global__ void __launch_bounds__(TOPK_WARP_THREADS)
    topk_warp_64(const __grid_constant__ struct topk_args a)
{
    warps_select<8, 8, 2>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_WARP_THREADS)
    topk_warp_128(const __grid_constant__ struct topk_args a)
{
    warps_select<16, 8, 2>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_WARP_THREADS)
    topk_warp_256(const __grid_constant__ struct topk_args a)
{
    warps_select<16, 16, 2>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_WARP_THREADS)
    topk_warp_short_32(const __grid_constant__ struct topk_args a)
{
    warps_select<32, 8, 2>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_WARP_THREADS)
    topk_warp_16(const __grid_constant__ struct topk_args a)
{
    warps_select<32, 32 / WIDE, 1>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_WARP_THREADS)
    topk_warp_32(const __grid_constant__ struct topk_args a)
{
    warps_select<32, 32 / WIDE, 2>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_WARP_THREADS)
    topk_warp_96(const __grid_constant__ struct topk_args a)
{
    warps_select<32, 32 / WIDE, 4>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_WARP_THREADS)
    topk_warp_192(const __grid_constant__ struct topk_args a)
{
    warps_select<32, 32 / WIDE, 8>(a);
}

/* ---- Segments ---- */

/* Puts a segment on the list of those for a block, or on that of long ones, with its chunks.  With
 * valid offsets the lists have enough room. */
static __device__ inline void list_segment(const struct topk_args &a, const struct group &group)
{
    if (group.n <= a.chip) {
        const uint32_t at = atomicAdd(&a.lists->chip, 1);
        if (at < a.chip_room) a.chip_list[at] = (uint32_t)group.number;
        return;
    }
    const uint64_t room = topk_candidate_room(group.n, group.k, topk_sample_size(group.n));
    const uint32_t chunks = (uint32_t)((group.n + a.chunk - 1) / a.chunk);
    const uint32_t at = atomicAdd(&a.lists->longs, 1);
    const uint32_t chunk = atomicAdd(&a.lists->chunks, chunks);
    const uint64_t candidates = atomicAdd((unsigned long long *)&a.lists->candidates, room);
    if (at >= a.long_room || chunk + chunks > a.chunk_room || candidates + room > a.candidate_room)
        return;
    struct topk_long l = {};
    l.group = group.number;
    l.candidates = candidates;
    l.room = room;
    l.rank = topk_pivot_rank(group.n, group.k, topk_sample_size(group.n));
    l.first_chunk = chunk;
    l.chunks = chunks;
    a.longs[at] = l;
    for (uint32_t c = 0; c < chunks; c++) a.chunk_of[chunk + c] = at;
}

extern "C" __global__ void __launch_bounds__(TOPK_LANES_THREADS)
    topk_lanes_segments(const __grid_constant__ struct topk_args a)
{
    __shared__ word words[2 * TOPK_LANES_THREADS];
    const uint64_t step = (uint64_t)gridDim.x * TOPK_LANES_THREADS / 32 * 4;
    const uint64_t warp = ((uint64_t)blockIdx.x * TOPK_LANES_THREADS + threadIdx.x) / 32;
    wait_for_earlier();
    for (uint64_t first = warp * 4; first < a.groups; first += step) {
        const uint64_t g = first + lane_id() / 8;
        struct group group = { g, 0, 0, 0 };
        if (g < a.groups) group = group_at(a, g);
        if (group.n > TOPK_LANES_MOST) {
            if (group.k && lane_id() % 8 == 0) list_segment(a, group);
            group.k = 0;
        }
        if (a.k <= 8)
            warp_select<8, 8, 2>(a, group, words + threadIdx.x / 8 * 16);
        else
            lanes_select<8>(a, group);
    }
}

/* ---- A block per group ---- */

#if KEY_BITS == 16
extern "C" __global__ void __launch_bounds__(TOPK_THREADS)
    topk_count(const __grid_constant__ struct topk_args a)
{
    count_groups<ukey>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_THREADS)
    topk_count_8(const __grid_constant__ struct topk_args a)
{
    count_groups<uint8_t>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_THREADS)
    topk_order(const __grid_constant__ struct topk_args a)
{
    order_groups<ukey>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_THREADS)
    topk_order_8(const __grid_constant__ struct topk_args a)
{
    order_groups<uint8_t>(a);
}
#else
/* The elements of a thread, i = v * blockDim.x + threadIdx.x, and the minimum of each half. */
template <int EACH> struct block_words {
    ekey e[EACH];
    few<ekey, 2> best;
    uint32_t n;
    template <typename call> __device__ inline void each(const call &f) const
    {
#pragma unroll
        for (uint32_t v = 0; v < EACH; v++) {
            const uint32_t i = v * blockDim.x + threadIdx.x;
            if (i < n) f(word_of(e[v], i));
        }
    }
};

template <int EACH> struct block_minima {
    const block_words<EACH> &words;
    template <typename call> __device__ inline void each(const call &f) const
    {
        f(words.best.of[0]);
        f(words.best.of[1]);
    }
};

template <int EACH>
static __device__ inline void block_select(const struct topk_args &a, struct narrow_shared &s,
                                           const struct group &group)
{
    const uint32_t n = (uint32_t)group.n, k = (uint32_t)group.k, room = topk_room(k);
    word *candidates = (word *)shared_bytes;
    block_words<EACH> words;
    words.n = n;
    words.best.of[0] = words.best.of[1] = WORST;
#pragma unroll
    for (uint32_t v = 0; v < EACH; v++) {
        const uint32_t i = v * blockDim.x + threadIdx.x;
        words.e[v] = i < n ? group_key(a, group, i) : WORST;
        words.best.of[v & 1] = min(words.best.of[v & 1], words.e[v]);
    }
    struct limit limit = { WORST, ~0u };
    uint32_t count = ~0u;
    if (n <= room || k <= blockDim.x) { /* there are enough minima for a good bound */
        if (n > room) {
            ekey low = min(words.best.of[0], words.best.of[1]);
            ekey high = max(words.best.of[0], words.best.of[1]);
            const block_minima<EACH> minima = { words };
            block_range(s, low, high);
            limit.key = block_narrow(s, minima, low, high, k, k + k / 8, a.bins_log).high;
        }
        count = block_collect(s, words, limit, candidates, room);
    }
    if (count > room) {
        limit = block_limit(s, words, (ekey)0, WORST, k, room, (uint32_t)TOPK_BINS_LOG);
        count = block_collect(s, words, limit, candidates, room);
    }
    write_best(a, group, candidates, count);
    __syncthreads(); /* all threads have read the candidates, and s.slots is 0 */
}

template <int EACH> static __device__ inline void blocks_select(const struct topk_args &a)
{
    __shared__ struct narrow_shared s;
    if (threadIdx.x == 0) s.slots = 0;
    __syncthreads(); /* the counter is zero */
    wait_for_earlier();
    const uint64_t count = chip_groups(a);
    for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
        const struct group group = chip_group(a, i);
        if (group.k) block_select<EACH>(a, s, group);
    }
}

extern "C" __global__ void __launch_bounds__(TOPK_THREADS)
    topk_block(const __grid_constant__ struct topk_args a)
{
    blocks_select<TOPK_EACH>(a);
}

extern "C" __global__ void __launch_bounds__(TOPK_THREADS)
    topk_block_16(const __grid_constant__ struct topk_args a)
{
    blocks_select<2 * TOPK_EACH>(a);
}
#endif

/* ---- Sorted positions ---- */

/* Position j of the group. */
static __device__ inline uint64_t sorted_position(const struct topk_write_args &a,
                                                  const struct group &group, uint64_t j)
{
    const uint64_t at = (a.from_row ? group.number * a.from_row : group.begin) + j;
    if (a.from_bytes == 4) return ((const uint32_t *)a.from)[at];
    const uint64_t x = ((const uint64_t *)a.from)[at];
    return a.words ? (uint64_t)(uint32_t)x : x;
}

extern "C" __global__ void __launch_bounds__(TOPK_WRITE_THREADS)
    topk_pick(const __grid_constant__ struct topk_write_args a)
{
    const uint64_t k = a.topk.k, all = a.topk.groups * k;
    wait_for_earlier();
    for (uint64_t t = (uint64_t)blockIdx.x * TOPK_WRITE_THREADS + threadIdx.x; t < all;
         t += (uint64_t)gridDim.x * TOPK_WRITE_THREADS) {
        const struct group group = group_at(a.topk, t / k);
        const uint64_t position = t % k < group.k ? sorted_position(a, group, t % k) : ~(uint64_t)0;
        if (a.from_bytes == 4 || a.words)
            ((uint32_t *)a.picks)[t] = (uint32_t)position;
        else
            ((uint64_t *)a.picks)[t] = position;
    }
}

extern "C" __global__ void __launch_bounds__(TOPK_WRITE_THREADS)
    topk_write(const __grid_constant__ struct topk_write_args a)
{
    const uint64_t k = a.topk.k, all = a.topk.groups * k;
    wait_for_earlier();
    for (uint64_t t = (uint64_t)blockIdx.x * TOPK_WRITE_THREADS + threadIdx.x; t < all;
         t += (uint64_t)gridDim.x * TOPK_WRITE_THREADS) {
        const struct group group = group_at(a.topk, t / k);
        if (t % k < group.k) write_result(a.topk, group, t % k, sorted_position(a, group, t % k));
    }
}
