/*
 * 1_work_inefficient.cu - a scan in shared memory with n log n additions.
 *
 * Idea:   in step s = 1, 2, 4, ... every element adds the element s positions before it; after
 *         log2(512) steps it holds its inclusive prefix sum. Two buffers, so that no thread
 *         overwrites data that others read
 * Cost:   9 steps of 512 threads: 4097 additions per tile instead of 511; one barrier per step
 * Wastes: additions; and one block works while all other multiprocessors are idle
 * From:   Hillis and Steele (1986); our addition, the lecture begins with the tree of rung 2
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void scan_1(const element *in, uint64_t n, element *out)
{
    __shared__ element x[2][512];
    const unsigned t = threadIdx.x;
    element before = 0; /* the sum of the preceding tiles */
    for (uint64_t first = 0; first < n; first += 512) {
        unsigned now = 0;
        x[0][t] = first + t < n ? in[first + t] : (element)0;
        __syncthreads(); /* the tile is loaded */
        for (unsigned s = 1; s < 512; s *= 2) {
            element sum = x[now][t];
            if (t >= s) sum += x[now][t - s];
            now ^= 1;
            x[now][t] = sum;
            __syncthreads(); /* before the next step reads these sums */
        }
        if (first + t < n) out[first + t] = before + (t > 0 ? x[now][t - 1] : (element)0);
        before += x[now][511];
        __syncthreads(); /* all have read before the next tile is loaded */
    }
}
