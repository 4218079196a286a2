/*
 * 1_interleaved.cu - a sum in shared memory, neighbours first.
 *
 * Idea:   a tree: in step s every thread whose number is a multiple of 2s adds what lies s ahead
 * Cost:   8 steps of 256 threads with a barrier each; in the first half of the threads work
 * Wastes: the threads that work are spread over all warps, so that every warp goes both ways at the
 *         branch until its last step; % is slow
 * From:   the lecture's first variant; reduce0 of NVIDIA's reduction sample (Harris, 2007)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void reduce_1(const element *in, uint64_t n, element *sums)
{
    __shared__ element x[256];
    unsigned t = threadIdx.x;
    x[t] = global_thread() < n ? in[global_thread()] : (element)0;
    __syncthreads(); /* all of x is there */
    for (unsigned s = 1; s < 256; s *= 2) {
        if (t % (2 * s) == 0) x[t] += x[t + s];
        __syncthreads(); /* before the next step reads these sums */
    }
    if (t == 0) sums[blockIdx.x] = x[0];
}
