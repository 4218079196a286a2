/*
 * 1_interleaved.cu - a sum in shared memory, adjacent elements first.
 *
 * Idea:   a tree: in step s, every thread whose number is a multiple of 2s adds the element s
 *         positions ahead
 * Cost:   8 steps of 256 threads with a barrier each; half of the threads work in the first step
 * Wastes: the working threads are spread over all warps, so every warp diverges until its last
 *         step; % is slow
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
    __syncthreads(); /* x is loaded */
    for (unsigned s = 1; s < 256; s *= 2) {
        if (t % (2 * s) == 0) x[t] += x[t + s];
        __syncthreads(); /* before the next step reads these sums */
    }
    if (t == 0) sums[blockIdx.x] = x[0];
}
