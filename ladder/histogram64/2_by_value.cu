/*
 * 2_by_value.cu - the same counters, value by value.
 *
 * Idea:   value v of thread t is counted at 64 v + t: the bank depends on the thread, not on the
 *         data
 * Cost:   the same, for any data
 * Wastes: the counters of four adjacent threads are in one word: the first hardware, where lanes
 *         shared only whole words, took four wavefronts. Today lanes share words, but different
 *         values are in different words
 * From:   the lecture
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The counter of a value and a thread. */
static __device__ inline unsigned histogram64_2_place(unsigned value, unsigned t)
{
    return 64 * value + t;
}

extern "C" __global__ void histogram64_2(const uint32_t *in, uint64_t n, unsigned long long *tables)
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
                    counters[histogram64_2_place(four >> (8 * b + 2) & 63, t)]++;
            } else {
                for (uint64_t last = i; last < n; last++)
                    counters[histogram64_2_place(((const uint8_t *)in)[last] >> 2, t)]++;
            }
        }
        __syncthreads();                    /* the tile is counted */
        for (unsigned k = 0; k < 16; k++) { /* its row of 16 words, from another start per thread */
            const uint32_t four = words[16 * t + ((k + t + t / 16) & 15)];
            sum += (four & 255) + (four >> 8 & 255) + (four >> 16 & 255) + (four >> 24);
        }
        __syncthreads(); /* all have read before the next tile is counted */
    }
    tables[blockIdx.x * 64 + t] = sum;
}
