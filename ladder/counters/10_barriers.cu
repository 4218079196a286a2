/*
 * 10_barriers.cu - barriers: a block reverses 256 words in shared memory.
 *
 * Idea:   as 4, but the words cross from one warp to another, so the whole block must wait
 * Cost:   one barrier per warp: __syncthreads() is counted once for each warp that executes it,
 *         eight times per block
 * Wastes: the time in which the first warps wait for the last one
 * From:   the definitions of Nsight Compute
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_10(const element *in, uint64_t n, element *out)
{
    __shared__ element s[256];
    unsigned t = threadIdx.x, other = 255 - t;
    uint64_t first = (uint64_t)blockIdx.x * 256;
    if (first + t < n) s[t] = in[first + t];
    __syncthreads(); /* all warps have stored their words */
    if (first + other < n) out[first + other] = s[other];
}
