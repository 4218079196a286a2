/*
 * 1_strides.cu - lanes that read words with a stride.
 *
 * Idea:   lane l adds up 256 words of shared memory, beginning at word stride * l; at any time the
 *         lanes are stride words apart
 * Cost:   the bank is the word index modulo 32: with a stride of 2^k, 2^k lanes access each bank
 *         that is used, and are serialised
 * Wastes: the unused banks; an odd stride, as made by one word of padding, uses all of them
 * From:   our addition; the lecture states the rule, for 16 banks and half warps
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void banks_1(const uint32_t *in, uint64_t n, uint32_t stride, uint32_t *sums)
{
    __shared__ uint32_t x[1280];
    uint64_t first = 256 * global_thread(); /* of this thread's accesses */
    const uint32_t *from = &x[threadIdx.x % 32 * stride];
    uint32_t sum = 0;
    for (unsigned i = threadIdx.x; i < 1280; i += blockDim.x) x[i] = in[i];
    __syncthreads(); /* x is loaded */
    if (first >= n) return;
    unsigned count = n - first < 256 ? (unsigned)(n - first) : 256;
#pragma unroll 16
    for (unsigned i = 0; i < count; i++) sum += from[i];
    sums[global_thread()] = sum;
}
