/*
 * 1_work_inefficient.cu - a scan in shared memory that adds n log n times.
 *
 * Idea:   in step s every element gets what lies s before it added, s = 1, 2, 4, ...; after
 *         log2(512) steps it holds the sum of all up to itself.  Two buffers: nobody writes what
 *         others read
 * Cost:   9 steps of 512 threads: 4097 additions a tile, where 511 would do; one barrier a step
 * Wastes: additions; and one block works while all other multiprocessors have nothing to do
 * From:   Hillis and Steele (1986); the lecture's first scan
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void scan_1(const element *in, uint64_t n, element *out)
{
    __shared__ element x[2][512];
    const unsigned t = threadIdx.x;
    element before = 0; /* the sum of the tiles that are done */
    for (uint64_t first = 0; first < n; first += 512) {
        unsigned now = 0;
        x[0][t] = first + t < n ? in[first + t] : (element)0;
        __syncthreads(); /* the tile is there */
        for (unsigned s = 1; s < 512; s *= 2) {
            element sum = x[now][t];
            if (t >= s) sum += x[now][t - s];
            now ^= 1;
            x[now][t] = sum;
            __syncthreads(); /* before the next step reads these sums */
        }
        if (first + t < n) out[first + t] = before + (t > 0 ? x[now][t - 1] : (element)0);
        before += x[now][511];
        __syncthreads(); /* all have read, and the next tile may come */
    }
}
