/*
 * 2_strided.cu - the same tree, with the work assigned to the first threads.
 *
 * Idea:   thread t computes the sum at 2 s t: all threads of a warp work, or none
 * Cost:   the same, without the divergence
 * Wastes: adjacent threads are 2s words apart, so 2, 4, 8 ... of them access the same bank of
 *         shared memory and are serialised
 * From:   the lecture's second variant
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void reduce_2(const element *in, uint64_t n, element *sums)
{
    __shared__ element x[256];
    unsigned t = threadIdx.x;
    x[t] = global_thread() < n ? in[global_thread()] : (element)0;
    __syncthreads(); /* x is loaded */
    for (unsigned s = 1; s < 256; s *= 2) {
        unsigned i = 2 * s * t;
        if (i < 256) x[i] += x[i + s];
        __syncthreads(); /* before the next step reads these sums */
    }
    if (t == 0) sums[blockIdx.x] = x[0];
}
