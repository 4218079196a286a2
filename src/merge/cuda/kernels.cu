/*
 * merge/cuda/kernels.cu - merges two sorted arrays on the GPU: two kernels.
 *
 *     merge_split    one thread per boundary of tiles: how many elements before it are from a
 *     merge_keys     a block loads its part of a and of b, merges them and writes its tile
 *     merge_pairs    ... and moves the values
 *
 *         shared memory   | part of a | part of b |
 *         thread t        finds where elements 17 t ... 17 t + 16 of the tile begin in both parts,
 *                         and merges them to registers
 *         shared memory   | tile, in order |           then written by adjacent threads
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/device/merge_tile.cuh"
#include "cuda/device/warp.cuh"
#include "merge/cuda/common.h"

enum {
    ITEMS = MERGE_ITEMS(KEY_BYTES),
    TILE = MERGE_TILE(KEY_BYTES),
    ROOM = MERGE_ROOM(MERGE_THREADS, ITEMS)
};

extern "C" __global__ void __launch_bounds__(MERGE_THREADS)
    merge_split(const __grid_constant__ struct merge_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * MERGE_THREADS, n = a.n_a + a.n_b;
    wait_for_earlier();
    for (uint64_t t = (uint64_t)blockIdx.x * MERGE_THREADS + threadIdx.x; t <= a.tiles; t += step)
        a.splits[t] = merge_path(a.order, (const ukey *)a.keys[0], a.n_a, (const ukey *)a.keys[1],
                                 a.n_b, t < a.tiles ? t * TILE : n);
}

/* ---- Keys ---- */

/* The elements of this thread, and their places in shared memory.  After the end of a part, the
 * keys that are loaded are not used. */
template <bool PLACES, bool MERGED>
static __device__ inline void merge_items(const struct echi_order &o, const ukey *keys,
                                          uint32_t n_a, uint32_t n, ukey (&item)[ITEMS],
                                          uint16_t (&place)[ITEMS])
{
    const uint32_t first = min(threadIdx.x * ITEMS, n);
    uint32_t i = merge_path_shared<MERGED>(o, keys, n_a, keys + n_a, n - n_a, first);
    uint32_t j = n_a + first - i;
    ukey x = keys[i], y = keys[j];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const bool take =
            j >= n || (i < n_a && merge_stored<MERGED>(o, x) <= merge_stored<MERGED>(o, y));
        item[k] = take ? x : y;
        if (PLACES) place[k] = (uint16_t)(take ? i : j);
        if (take)
            x = keys[++i];
        else
            y = keys[++j];
    }
}

/* Merges a tile in shared memory and writes its keys. PLACES: places[k] becomes the place that
 * element k of the tile had in the two parts. */
template <bool PLACES>
static __device__ inline void merge_tile(const struct merge_args &a, const struct merge_part &part,
                                         ukey *keys, uint16_t *places)
{
    const uint32_t n = part.n_a + part.n_b, first = threadIdx.x * ITEMS;
    ukey *out = (ukey *)a.keys_out + part.a + part.b;
    ukey item[ITEMS];
    uint16_t place[ITEMS];
    if (merge_load<MERGE_THREADS, ITEMS>(a.order, a.keys, part, keys))
        merge_items<PLACES, true>(a.order, keys, part.n_a, n, item, place);
    else
        merge_items<PLACES, false>(a.order, keys, part.n_a, n, item, place);
    __syncthreads(); /* all threads have read the parts */
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (first + k >= n) continue;
        keys[first + k] = item[k];
        if (PLACES) places[first + k] = place[k];
    }
    __syncthreads(); /* the tile is complete */
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const uint32_t i = threadIdx.x + k * MERGE_THREADS;
        if (i < n) __stcs(out + i, order_decode(a.order, keys[i]));
    }
}

/* ---- The kernels ---- */

static __device__ inline void part_of_tile(const struct merge_args &a, uint64_t tile,
                                           struct merge_part &part)
{
    const uint64_t first = tile * TILE, left = a.n_a + a.n_b - first;
    merge_part_make(part, first, left < TILE ? (uint32_t)left : (uint32_t)TILE, a.splits[tile],
                    a.splits[tile + 1]);
}

extern "C" __global__ void __launch_bounds__(MERGE_THREADS, MERGE_KEYS_BLOCKS)
    merge_keys(const __grid_constant__ struct merge_args a)
{
    __shared__ ukey keys[ROOM];
    wait_for_earlier();
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        struct merge_part part;
        part_of_tile(a, tile, part);
        __syncthreads(); /* all threads have written the previous tile */
        merge_tile<false>(a, part, keys, NULL);
    }
}

extern "C" __global__ void __launch_bounds__(MERGE_THREADS, MERGE_PAIRS_BLOCKS)
    merge_pairs(const __grid_constant__ struct merge_args a)
{
    __shared__ ukey keys[ROOM];
    __shared__ uint16_t places[TILE];
    wait_for_earlier();
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        struct merge_part part;
        part_of_tile(a, tile, part);
        __syncthreads(); /* all threads have written the previous tile */
        merge_tile<true>(a, part, keys, places);
        merge_values<MERGE_THREADS>(a.values, part, a.words, a.word_bytes, a.values_out,
                                    part.a + part.b, part.n_a + part.n_b, places);
    }
}
