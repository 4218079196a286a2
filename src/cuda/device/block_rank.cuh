/*
 * cuda/device/block_rank.cuh - where each key of a tile goes when the tile is sorted by one digit,
 * stably.
 *
 * A warp holds 32 x ITEMS consecutive keys, lane l of item i being key 32 i + l, and has a row of
 * counters:
 *
 *     counts[warp][bin]    1. how many keys of mine have this digit
 *                          2. how many of the warps before me                    rank_column()
 *                             + how many keys of the tile have a lower digit     rank_offsets()
 *                          3. + how many of my own items so far: the rank        rank_keys()
 *
 * or, where nobody waits for the counts, rank_keys() first, on clear counters: then it is also what
 * counts, and the rank is what it gives plus what rank_offsets() gives.
 *
 * Lanes with the same digit find each other by ballots; the least of them counts for all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_BLOCK_RANK_CUH
#define ECHI_CUDA_DEVICE_BLOCK_RANK_CUH

#include "sort/cuda/common.h"
#include "cuda/device/warp.cuh"

/* Exclusive prefix sum over the first SORT_BINS threads; every thread of the block calls it.  sums
 * is shared memory for SORT_BINS / 32 words. */
static __device__ inline uint32_t bins_scan(uint32_t x, uint32_t *sums)
{
    const uint32_t warp = threadIdx.x / 32;
    uint32_t inclusive = warp_scan(x);
    if (warp < SORT_BINS / 32 && lane_id() == 31) sums[warp] = inclusive;
    __syncthreads(); /* the sums of all warps are there */
    uint32_t before = 0;
#pragma unroll
    for (uint32_t w = 0; w < SORT_BINS / 32; w++)
        if (w < warp) before += sums[w];
    return before + inclusive - x;
}

static __device__ inline void rank_clear(uint32_t *counts, uint32_t words)
{
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) counts[i] = 0;
}

/* Thread `bin` turns its column into prefixes over the warps; returns the bin's total in the tile.
 * (Holding the column in registers until the offset is known costs more than it saves: the tile's
 * keys want them.) */
template <int WARPS> static __device__ inline uint32_t rank_column(uint32_t *counts, uint32_t bin)
{
    uint32_t total = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        uint32_t count = counts[w * SORT_BINS + bin];
        counts[w * SORT_BINS + bin] = total;
        total += count;
    }
    return total;
}

/* ... and adds where the bin itself begins. */
template <int WARPS>
static __device__ inline void rank_offsets(uint32_t *counts, uint32_t bin, uint32_t offset)
{
#pragma unroll
    for (int w = 0; w < WARPS; w++) counts[w * SORT_BINS + bin] += offset;
}

/* Replaces each digit by the key's rank in the tile.  A lane that is not the least of its peers
 * only reads the counter, and no other lane of the warp writes it, so a read and a write do what an
 * atomic would. */
template <int ITEMS>
static __device__ inline void rank_keys(uint32_t *row, uint32_t (&slot)[ITEMS], int items)
{
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (i >= items) break;
        uint32_t peers = warp_match<SORT_DIGIT_BITS>(slot[i]);
        uint32_t before = __popc(peers & lanes_below());
        uint32_t first = row[slot[i]];
        __syncwarp(); /* every lane has read */
        if (before == 0) row[slot[i]] = first + __popc(peers);
        __syncwarp(); /* the next item reads what was written */
        slot[i] = first + before;
    }
}

#endif
