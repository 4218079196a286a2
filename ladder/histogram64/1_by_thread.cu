/*
 * 1_by_thread.cu - 64 bins: byte counters per thread, thread by thread.
 *
 * Idea:   64 threads have 64 counters of a byte each, 4 KB per block (a privatised histogram);
 *         thread t counts value v at 64 t + v. Before a counter can overflow, after 252 values,
 *         they are summed up. Values are loaded four per word
 *         A block stores one table, and a second kernel merges the tables
 * Cost:   n byte loads, 2n accesses to shared memory, 4096 bytes summed up per 16128 values
 * Wastes: the counters of adjacent threads are 16 words apart, so the bank depends only on the
 *         value: if all values are equal, 16 threads access one bank
 * From:   the lecture; histogram64 of NVIDIA's samples (Podlozhnyuk, 2007). The lecture's code
 *         stores a table per block; the merging kernel is new
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The counter of a value and a thread. */
static __device__ inline unsigned histogram64_1_place(unsigned value, unsigned t)
{
    return 64 * t + value;
}

extern "C" __global__ void histogram64_1(const uint32_t *in, uint64_t n, unsigned long long *tables)
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
                    counters[histogram64_1_place(four >> (8 * b + 2) & 63, t)]++;
            } else {
                for (uint64_t last = i; last < n; last++)
                    counters[histogram64_1_place(((const uint8_t *)in)[last] >> 2, t)]++;
            }
        }
        __syncthreads(); /* the tile is counted */
        for (unsigned k = 0; k < 64; k++) sum += counters[histogram64_1_place(t, k)];
        __syncthreads(); /* all have read before the next tile is counted */
    }
    tables[blockIdx.x * 64 + t] = sum;
}

/* Adds up the tables of all blocks of rungs 1 to 3: one block per bin. */
extern "C" __global__ void histogram64_merge(const unsigned long long *tables, uint64_t count,
                                             unsigned long long *bins)
{
    __shared__ unsigned long long of_warp[8];
    const unsigned t = threadIdx.x;
    unsigned long long sum = 0;
    for (uint64_t table = t; table < count; table += 256) sum += tables[table * 64 + blockIdx.x];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(ALL_LANES, sum, s);
    if (t % 32 == 0) of_warp[t / 32] = sum;
    __syncthreads(); /* the sums of all warps are written */
    if (t > 0) return;
    for (unsigned w = 1; w < 8; w++) sum += of_warp[w];
    bins[blockIdx.x] = sum;
}
