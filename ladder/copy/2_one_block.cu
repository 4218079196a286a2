/*
 * 2_one_block.cu - the threads of one block copy the array together.
 *
 * Idea:   thread t copies elements t, t + 1024, t + 2048 ...: adjacent threads copy adjacent
 *         elements
 * Cost:   one request of a warp moves 32 elements
 * Wastes: one multiprocessor works, all others are idle
 * From:   threadIdx, the number of a thread in its block
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void copy_2(const element *in, uint64_t n, element *out)
{
    for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];
}
