/*
 * 1_tagged.cu - 256 bins: a table per warp, with a tag in each counter that identifies the last
 * writer.
 *
 * Idea:   six warps with a table each, 6 KB. A lane reads a counter, adds one, puts its lane number
 *         into the top five bits and writes it back; if it then reads the same word, it has
 *         counted. If several lanes of the warp counted the same value, only one of them reads its
 *         own word; the others repeat. A block stores the sum of its tables, and a second kernel
 *         merges the blocks
 * Cost:   a read, a write and a read per value, repeated as often as lanes of the warp have the
 *         same value: two or three times for random values
 * Wastes: 32 repetitions if all values are equal
 * From:   the lecture; histogram256 of NVIDIA's samples (Podlozhnyuk, 2007), for hardware without
 *         atomics in shared memory. The lanes of a warp ran in lockstep there, so `volatile` was
 *         enough. Since sm_70 they must be synchronised between reading and writing: __syncwarp().
 *         The lecture's code stores a table per block; the merging kernel is new
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

#define HISTOGRAM256_1_COUNT 0x07ffffffu /* the other bits are the lane number */

/* Must be called by the whole warp; lanes without a value pass there = false. */
static __device__ inline void histogram256_1_add(volatile uint32_t *table, uint32_t value,
                                                 bool there)
{
    const uint32_t tag = threadIdx.x % 32 << 27;
    uint32_t mine = 0;
    bool waits = there;
    while (__any_sync(ALL_LANES, waits)) {
        if (waits) mine = tag | ((table[value] + 1) & HISTOGRAM256_1_COUNT);
        __syncwarp();                   /* all have read */
        if (waits) table[value] = mine; /* one of several lanes writes last */
        __syncwarp();                   /* all have written */
        if (waits) waits = table[value] != mine;
    }
}

extern "C" __global__ void histogram256_1(const uint32_t *in, uint64_t n, uint32_t *counts)
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
            histogram256_1_add(tables[warp], four >> 8 * b & 255, b < count);
    }
    __syncthreads(); /* all warps have counted */
    for (unsigned bin = t; bin < 256; bin += 192) {
        uint32_t sum = 0;
        for (unsigned w = 0; w < 6; w++) sum += tables[w][bin] & HISTOGRAM256_1_COUNT;
        counts[blockIdx.x * 256 + bin] = sum;
    }
}

/* Adds up the tables of all blocks: one block per bin. */
extern "C" __global__ void histogram256_merge(const uint32_t *counts, uint64_t blocks,
                                              unsigned long long *bins)
{
    __shared__ unsigned long long of_warp[8];
    const unsigned t = threadIdx.x;
    unsigned long long sum = 0;
    for (uint64_t block = t; block < blocks; block += 256) sum += counts[block * 256 + blockIdx.x];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(ALL_LANES, sum, s);
    if (t % 32 == 0) of_warp[t / 32] = sum;
    __syncthreads(); /* the sums of all warps are written */
    if (t > 0) return;
    for (unsigned w = 1; w < 8; w++) sum += of_warp[w];
    bins[blockIdx.x] = sum;
}
