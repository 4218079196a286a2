/*
 * 2_global_atomics.cu - the same, with the tables of the blocks added by atomics in global memory.
 *
 * Idea:   each thread adds the sum of its bins to the result by atomicAdd(): there are no tables to
 *         store and no second launch
 * Cost:   256 atomics per block, to 256 different counters
 * Wastes: 32 repetitions if all values are equal, as rung 1
 * From:   our addition. The first GPUs had no atomics on 64-bit integers in global memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

#define HISTOGRAM256_2_COUNT 0x07ffffffu /* the other bits are the lane number */

/* Must be called by the whole warp; lanes without a value pass there = false. */
static __device__ inline void histogram256_2_add(volatile uint32_t *table, uint32_t value,
                                                 bool there)
{
    const uint32_t tag = threadIdx.x % 32 << 27;
    uint32_t mine = 0;
    bool waits = there;
    while (__any_sync(ALL_LANES, waits)) {
        if (waits) mine = tag | ((table[value] + 1) & HISTOGRAM256_2_COUNT);
        __syncwarp();                   /* all have read */
        if (waits) table[value] = mine; /* one of several lanes writes last */
        __syncwarp();                   /* all have written */
        if (waits) waits = table[value] != mine;
    }
}

extern "C" __global__ void histogram256_2(const uint32_t *in, uint64_t n, unsigned long long *bins)
{
    __shared__ uint32_t tables[6][256];
    const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    for (unsigned i = t; i < 6 * 256; i += 192) tables[i / 256][i % 256] = 0;
    __syncthreads(); /* all counters are 0 */
    for (uint64_t i = 4 * global_thread(); i - 4 * lane < n; i += 4 * global_threads()) {
        const unsigned count = i + 4 <= n ? 4 : i < n ? (unsigned)(n - i) : 0;
        uint32_t four = 0;
        if (count == 4)
            four = in[i / 4];
        else
            for (unsigned b = 0; b < count; b++)
                four |= (uint32_t)((const uint8_t *)in)[i + b] << 8 * b;
        for (unsigned b = 0; b < 4; b++)
            histogram256_2_add(tables[warp], four >> 8 * b & 255, b < count);
    }
    __syncthreads(); /* all warps have counted */
    for (unsigned bin = t; bin < 256; bin += 192) {
        unsigned long long sum = 0;
        for (unsigned w = 0; w < 6; w++) sum += tables[w][bin] & HISTOGRAM256_2_COUNT;
        atomicAdd(&bins[bin], sum);
    }
}
