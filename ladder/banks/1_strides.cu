/*
 * 1_strides.cu - lanes that read words so many words apart.
 *
 * Idea:   lane l adds up 256 words of shared memory, from word stride * l on; at any time the lanes
 *         are stride words apart
 * Cost:   banks are words modulo 32: with a stride of 2^k, 2^k lanes meet in each bank that is
 *         used, and are served one after another
 * Wastes: the banks between; an odd stride, as one word of padding makes, uses all of them
 * From:   the lecture's bank conflicts, on hardware of 16 banks and half warps
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void banks_1(const uint32_t *in, uint64_t n, uint32_t stride, uint32_t *sums)
{
    __shared__ uint32_t x[1280];
    uint64_t first = 256 * global_thread(); /* of the accesses */
    const uint32_t *from = &x[threadIdx.x % 32 * stride];
    uint32_t sum = 0;
    for (unsigned i = threadIdx.x; i < 1280; i += blockDim.x) x[i] = in[i];
    __syncthreads(); /* all of x is there */
    if (first >= n) return;
    unsigned count = n - first < 256 ? (unsigned)(n - first) : 256;
#pragma unroll 16
    for (unsigned i = 0; i < count; i++) sum += from[i];
    sums[global_thread()] = sum;
}
