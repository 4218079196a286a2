/*
 * cuda/device/block_rank.cuh - the position of each key of a tile after a stable sort of the tile
 * by one digit.
 *
 * A warp holds 32 x ITEMS consecutive keys, lane l of item i being key 32 i + l, and has a row of
 * counters:
 *
 *     counts[warp][bin]    1. the number of the warp's keys with this digit
 *                          2. the number in preceding warps                          rank_column()
 *                             + the number of the tile's keys with a lower digit     rank_offsets()
 *                          3. + the number in the warp's preceding items: the rank   rank_keys()
 *
 * If no other block waits for the counts, rank_keys() is called first, on zeroed counters. It then
 * also counts, and the rank is its result plus the result of rank_offsets().
 *
 * Lanes with the same digit find each other by ballots; the lowest of them counts for all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_BLOCK_RANK_CUH
#define ECHI_CUDA_DEVICE_BLOCK_RANK_CUH

#include "sort/cuda/common.h"
#include "cuda/device/warp.cuh"

/* Exclusive prefix sum over the first SORT_BINS threads; every thread of the block calls it. sums
 * is shared memory for SORT_BINS / 32 words. */
static __device__ inline uint32_t bins_scan(uint32_t x, uint32_t *sums)
{
    const uint32_t warp = threadIdx.x / 32;
    uint32_t inclusive = warp_scan(x);
    if (warp < SORT_BINS / 32 && lane_id() == 31) sums[warp] = inclusive;
    __syncthreads(); /* the sums of all warps are written */
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

/* Thread `bin` replaces its column by exclusive prefixes over the warps, and returns the number of
 * the tile's keys in the bin. (Keeping the column in registers until the offset is known is slower,
 * because the tile's keys need the registers.) */
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

/* ... and adds the beginning of the bin. */
template <int WARPS>
static __device__ inline void rank_offsets(uint32_t *counts, uint32_t bin, uint32_t offset)
{
#pragma unroll
    for (int w = 0; w < WARPS; w++) counts[w * SORT_BINS + bin] += offset;
}

/* Replaces each digit by the key's rank in the tile. Only the lowest lane of a group writes the
 * counter; the other lanes only read it. So a read and a write replace an atomic operation. */
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
        __syncwarp(); /* the next item reads the written counters */
        slot[i] = first + before;
    }
}

#endif
