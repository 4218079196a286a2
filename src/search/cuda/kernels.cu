/*
 * search/cuda/kernels.cu - searches on the GPU: kernels of five algorithms.
 *
 *     search_warp      a warp per needle: 32 keys divide the range into 33 parts
 *     search_binary    a thread per needle: a binary search
 *     search_build     16 bits and more: the levels of the tree
 *     search_tree      a thread has four needles: top level in shared memory, then a node per level
 *     search_codes, search_table
 *                      8 and 16 bits: the position of each possible needle; of each needle
 *                      (table.cuh)
 *     search_split     32 bits and more: a thread per tile of needles: where its first one is
 *     search_sorted    a block per tile: the range of the array between two such positions
 *
 * Every kernel counts the keys whose code is less than that of the needle. For an upper bound, the
 * needle's code is increased by 1; then all keys precede the largest code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/cuda/needle.cuh"
#if KEY_BYTES > 1
#include "search/cuda/tree.cuh"
#endif

/* ---- One needle ---- */

/* How many of sorted[low ... high - 1] have a lower code, plus low. */
static __device__ inline uint64_t search_range(const struct search_args &a, ukey code, uint64_t low,
                                               uint64_t high)
{
    const ukey *sorted = (const ukey *)a.sorted;
    while (low < high) {
        const uint64_t i = low + (high - low) / 2;
        if (merge_form(a.order, __ldg(sorted + i)) < code)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(SEARCH_THREADS)
    search_binary(const __grid_constant__ struct search_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * SEARCH_THREADS;
    wait_for_earlier();
    for (uint64_t i = (uint64_t)blockIdx.x * SEARCH_THREADS + threadIdx.x; i < a.m; i += step) {
        const struct needle x = needle_at(a, i);
        store_position(a, i, x.after_all ? a.n : search_range(a, x.code, 0, a.n));
    }
}

/* The same for all lanes of a warp together. */
static __device__ inline uint64_t search_by_warp(const struct search_args &a, ukey code)
{
    const ukey *sorted = (const ukey *)a.sorted;
    uint64_t low = 0, left = a.n; /* the position is in low ... low + left */
    while (left > 0) {
        const uint64_t part = left < 32 ? 1 : left / 32;
        const uint64_t i = low + (lane_id() + 1) * part - 1;
        const bool less = lane_id() * part < left && merge_form(a.order, __ldg(sorted + i)) < code;
        const uint32_t before = __popc(__ballot_sync(WARP_ALL, less));
        low += before * part;
        left = before < 32 ? (left < 32 ? 0 : part - 1) : left - 32 * part;
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(SEARCH_THREADS)
    search_warp(const __grid_constant__ struct search_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * SEARCH_WARPS;
    wait_for_earlier();
    for (uint64_t i = (uint64_t)blockIdx.x * SEARCH_WARPS + warp_id(); i < a.m; i += step) {
        const struct needle x = needle_at(a, i);
        const uint64_t at = x.after_all ? a.n : search_by_warp(a, x.code);
        if (lane_id() == 0) store_position(a, i, at);
    }
}

#if KEY_BYTES <= 2
#include "search/cuda/table.cuh"
#endif

/* ---- Sorted needles ---- */

#if KEY_BYTES > 2

extern "C" __global__ void __launch_bounds__(SEARCH_THREADS)
    search_split(const __grid_constant__ struct search_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * SEARCH_THREADS;
    wait_for_earlier();
    for (uint64_t t = (uint64_t)blockIdx.x * SEARCH_THREADS + threadIdx.x; t <= a.tiles;
         t += step) {
        uint64_t at = a.n;
        if (t < a.tiles) {
            const struct needle x = needle_at(a, t * SEARCH_TILE);
            if (!x.after_all) at = search_range(a, x.code, 0, a.n);
        }
        a.splits[t] = at;
    }
}

/* Loads and encodes n keys: at most SEARCH_ROOM. */
static __device__ inline void load_range(const struct search_args &a, uint64_t from, uint32_t n,
                                         ukey *keys)
{
    const ukey *sorted = (const ukey *)a.sorted + from;
    for (uint32_t i = threadIdx.x; i < n; i += SEARCH_THREADS)
        keys[i] = merge_form(a.order, __ldcs(sorted + i));
}

/* at[k] becomes the number of the n keys with a lower code than that of needle k. */
static __device__ inline void search_shared(const ukey *keys, uint32_t n,
                                            const struct needle (&x)[SEARCH_ITEMS],
                                            uint32_t (&at)[SEARCH_ITEMS])
{
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++) at[k] = 0;
    for (uint32_t left = n, half; left; left -= half) { /* the position is in at ... at + left */
        half = left - left / 2;
#pragma unroll
        for (int k = 0; k < SEARCH_ITEMS; k++)
            if (keys[at[k] + half - 1] < x[k].code) at[k] += half;
    }
}

/* The needles of a tile, whose positions are in low ... high if the needles are sorted. A position
 * at an end of this range is compared with the key outside it. */
static __device__ inline void search_tile(const struct search_args &a, uint64_t tile, ukey *keys)
{
    const ukey *sorted = (const ukey *)a.sorted;
    const uint64_t first = tile * SEARCH_TILE + threadIdx.x;
    const uint64_t low = a.splits[tile], end = a.splits[tile + 1], high = end < low ? low : end;
    const bool small = high - low <= SEARCH_ROOM;
    struct needle x[SEARCH_ITEMS];
    uint32_t at[SEARCH_ITEMS];
    ukey before = 0, after = 0;
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++) {
        const uint64_t i = first + k * SEARCH_THREADS;
        x[k] = needle_at(a, i < a.m ? i : a.m - 1);
    }
    if (low > 0) before = merge_form(a.order, __ldg(sorted + low - 1));
    if (high < a.n) after = merge_form(a.order, __ldg(sorted + high));
    __syncthreads(); /* all threads have read the previous range */
    if (small) load_range(a, low, (uint32_t)(high - low), keys);
    __syncthreads(); /* the range is loaded */
    if (small) search_shared(keys, (uint32_t)(high - low), x, at);
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++) {
        const uint64_t i = first + k * SEARCH_THREADS;
        if (i >= a.m) continue;
        uint64_t p = small ? low + at[k] : search_range(a, x[k].code, low, high);
        if ((p == low && low > 0 && before >= x[k].code) ||
            (p == high && high < a.n && after < x[k].code))
            p = search_range(a, x[k].code, 0, a.n);
        store_position(a, i, x[k].after_all ? a.n : p);
    }
}

extern "C" __global__ void __launch_bounds__(SEARCH_THREADS,
                                             RESIDENT_BLOCKS(SEARCH_SORTED_BLOCKS, SEARCH_THREADS))
    search_sorted(const __grid_constant__ struct search_args a)
{
    __shared__ ukey keys[SEARCH_ROOM];
    wait_for_earlier();
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) search_tile(a, tile, keys);
}
#endif
