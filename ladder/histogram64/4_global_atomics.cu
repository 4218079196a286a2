/*
 * 4_global_atomics.cu - the same, with the tables of the blocks added by atomics in global memory.
 *
 * Idea:   each thread adds its bin's sum to the result by atomicAdd(): there are no tables to store
 *         and no second launch
 * Cost:   64 atomics per block, to 64 different counters
 * Wastes: blocks that end at the same time wait for each other at the counters
 * From:   our addition. The first GPUs had no atomics on 64-bit integers in global memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The counter of a value and a thread. */
static __device__ inline unsigned histogram64_4_place(unsigned value, unsigned t)
{
    return 64 * value + (t & 15) * 4 + t / 16;
}

extern "C" __global__ void histogram64_4(const uint32_t *in, uint64_t n, unsigned long long *bins)
{
    __shared__ uint32_t words[1024];
    unsigned char *counters = (unsigned char *)words;
    const unsigned t = threadIdx.x;
    unsigned long long sum = 0; /* of bin t */
    for (uint64_t tile = blockIdx.x; tile * 16128 < n; tile += gridDim.x) {
        for (unsigned i = t; i < 1024; i += 64) words[i] = 0;
        __syncthreads();                    /* all counters are 0 */
        for (unsigned k = 0; k < 63; k++) { /* 252 values per thread */
            const uint64_t i = 4 * (tile * 4032 + k * 64 + t);
            if (i + 4 <= n) {
                const uint32_t four = in[i / 4];
                for (unsigned b = 0; b < 4; b++)
                    counters[histogram64_4_place(four >> (8 * b + 2) & 63, t)]++;
            } else {
                for (uint64_t last = i; last < n; last++)
                    counters[histogram64_4_place(((const uint8_t *)in)[last] >> 2, t)]++;
            }
        }
        __syncthreads();                    /* the tile is counted */
        for (unsigned k = 0; k < 16; k++) { /* its row of 16 words, from another start per thread */
            const uint32_t four = words[16 * t + ((k + t + t / 16) & 15)];
            sum += (four & 255) + (four >> 8 & 255) + (four >> 16 & 255) + (four >> 24);
        }
        __syncthreads(); /* all have read before the next tile is counted */
    }
    atomicAdd(&bins[t], sum);
}
