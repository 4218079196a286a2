/*
 * 1_tagged.cu - 256 bins: a table for each warp, where a counter says who wrote it last.
 *
 * Idea:   six warps with a table each, 6 KB. A lane reads a counter, adds one, puts its own
 *         number into the top five bits and writes it back; if it then reads what it wrote, it
 *         has counted. If another lane of the warp counted the same value, only one of them finds
 *         its own write; the others begin again
 * Cost:   a read, a write and a read for each value, as often as there are lanes of one value in
 *         the warp: of random values two or three times
 * Wastes: of values all alike 32 times
 * From:   the lecture; histogram256 of NVIDIA's samples (Podlozhnyuk, 2007), for hardware without
 *         atomics in shared memory. There the lanes of a warp went in step, and `volatile` was
 *         all it took. Since sm_70 they must be told to meet between reading and writing:
 *         __syncwarp()
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

#define HISTOGRAM256_1_COUNT 0x07ffffffu /* the rest of the bits are the lane's number */

/* To be called by the whole warp: lanes with nothing to count wait for the others. */
static __device__ inline void histogram256_1_add(volatile uint32_t *table, uint32_t value,
                                                 bool there)
{
    const uint32_t tag = threadIdx.x % 32 << 27;
    uint32_t mine = 0;
    bool waits = there;
    while (__any_sync(ALL_LANES, waits)) {
        if (waits) mine = tag | ((table[value] + 1) & HISTOGRAM256_1_COUNT);
        __syncwarp();                   /* all have read */
        if (waits) table[value] = mine; /* of several lanes, one is the last */
        __syncwarp();                   /* all have written */
        if (waits) waits = table[value] != mine;
    }
}

extern "C" __global__ void histogram256_1(const uint32_t *in, uint64_t n, unsigned long long *bins)
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
        unsigned long long sum = 0;
        for (unsigned w = 0; w < 6; w++) sum += tables[w][bin] & HISTOGRAM256_1_COUNT;
        atomicAdd(&bins[bin], sum);
    }
}
