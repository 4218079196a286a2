/*
 * 2_strided.cu - the same tree, with its work given to the first threads.
 *
 * Idea:   thread t takes the sum at 2 s t: whole warps work, or none of their threads does
 * Cost:   as before, without the divergence
 * Wastes: neighbouring threads are 2s words apart, so that 2, 4, 8 ... of them want the same bank
 *         of shared memory, and are served one after another
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
    __syncthreads(); /* all of x is there */
    for (unsigned s = 1; s < 256; s *= 2) {
        unsigned i = 2 * s * t;
        if (i < 256) x[i] += x[i + s];
        __syncthreads(); /* before the next step reads these sums */
    }
    if (t == 0) sums[blockIdx.x] = x[0];
}
