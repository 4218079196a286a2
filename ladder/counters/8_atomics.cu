/*
 * 8_atomics.cu - wavefronts: atomics on one word are serialised.
 *
 * Idea:   each lane draws a number from a counter in shared memory, and copies the word of that
 *         number
 * Cost:   32 wavefronts for the atomic request of a warp, one per lane. They are not bank
 *         conflicts: the lanes access one word, not several words of a bank
 * Wastes: 31 wavefronts per warp
 * From:   work queues
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_8(const element *in, uint64_t n, element *out)
{
    __shared__ unsigned next[32];
    unsigned lane = threadIdx.x;
    uint64_t first = (uint64_t)blockIdx.x * 32;
    next[lane] = 0;
    __syncwarp(); /* the counter is zero */
    if (first + lane >= n) return;
    uint64_t i = first + atomicAdd(&next[0], 1u);
    out[i] = in[i];
}
