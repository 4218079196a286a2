/*
 * 5_permuted_32.cu - the same for 32 banks.
 *
 * Idea:   bank b contains only the counters of threads b and b + 32: two values of two threads per
 *         word. Two lanes of a warp never access one bank, for any values, by today's rule or that
 *         of the first hardware
 * Cost:   the same
 * Wastes: 4 KB for 64 threads: 256 bins would take four times as much, and as many threads would no
 *         longer fit
 * From:   our addition: the same permutation for the banks of sm_20 and later
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The counter of a value and a thread. */
static __device__ inline unsigned histogram64_5_place(unsigned value, unsigned t)
{
    return (value / 2 * 32 + t % 32) * 4 + value % 2 * 2 + t / 32;
}

extern "C" __global__ void histogram64_5(const uint32_t *in, uint64_t n, unsigned long long *bins)
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
                    counters[histogram64_5_place(four >> (8 * b + 2) & 63, t)]++;
            } else {
                for (uint64_t last = i; last < n; last++)
                    counters[histogram64_5_place(((const uint8_t *)in)[last] >> 2, t)]++;
            }
        }
        __syncthreads();                    /* the tile is counted */
        for (unsigned k = 0; k < 32; k++) { /* half of each word of its row */
            const uint32_t two = words[t / 2 * 32 + ((k + t) & 31)] >> t % 2 * 16;
            sum += (two & 255) + (two >> 8 & 255);
        }
        __syncthreads(); /* all have read before the next tile is counted */
    }
    atomicAdd(&bins[t], sum);
}
