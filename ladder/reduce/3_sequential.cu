/*
 * 3_sequential.cu - the tree from its other end: the upper half is added to the lower.
 *
 * Idea:   in step s, thread t < s adds the element s positions ahead; adjacent threads access
 *         adjacent words
 * Cost:   8 steps; no divergence except within the last warp, no bank conflict
 * Wastes: half of the threads never add anything
 * From:   the lecture's third variant
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void reduce_3(const element *in, uint64_t n, element *sums)
{
    __shared__ element x[256];
    unsigned t = threadIdx.x;
    x[t] = global_thread() < n ? in[global_thread()] : (element)0;
    __syncthreads(); /* x is loaded */
    for (unsigned s = 128; s > 0; s /= 2) {
        if (t < s) x[t] += x[t + s];
        __syncthreads(); /* before the next step reads these sums */
    }
    if (t == 0) sums[blockIdx.x] = x[0];
}
