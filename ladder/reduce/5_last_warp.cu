/*
 * 5_last_warp.cu - the last warp by itself.
 *
 * Idea:   when 32 threads are left nobody else need be waited for: their steps are written out,
 *         with __syncwarp() between reading and writing
 * Cost:   three barriers less a block than there are steps of one warp: 4 instead of 9
 * Wastes: shared memory is written and read for sums that one lane could hand to another
 * From:   the lecture's fifth variant, which had no barrier at all there and `volatile` instead:
 *         the lanes of a warp then went in step.  Since sm_70 they need not, and must be told to
 *         meet
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void reduce_5(const element *in, uint64_t n, element *sums)
{
    __shared__ element x[256];
    unsigned t = threadIdx.x;
    uint64_t i = (uint64_t)blockIdx.x * 512 + t;
    element first = i < n ? in[i] : (element)0, second = i + 256 < n ? in[i + 256] : (element)0;
    x[t] = first + second;
    __syncthreads(); /* all of x is there */
    for (unsigned s = 128; s >= 32; s /= 2) {
        if (t < s) x[t] += x[t + s];
        __syncthreads(); /* before the next step reads these sums */
    }
    if (t >= 32) return;
#pragma unroll
    for (unsigned s = 16; s > 0; s /= 2) {
        element sum = x[t] + x[t + s]; /* lanes from s on add what nobody will look at */
        __syncwarp();                  /* all have read */
        x[t] = sum;
        __syncwarp(); /* all have written */
    }
    if (t == 0) sums[blockIdx.x] = x[0];
}
