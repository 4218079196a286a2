/*
 * 6_shuffle.cu - lanes exchange their sums by shuffles.
 *
 * Idea:   __shfl_down_sync() reads a register of another lane: five shuffles add up a warp, and
 *         shared memory holds one sum per warp
 * Cost:   10 shuffles, one barrier, 8 words of shared memory
 * Wastes: a block of 256 threads loads 2 KB and ends; its launch costs more than the sum
 * From:   our addition; shuffles came with sm_30 (2012)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

static __device__ inline element reduce_6_warp(element x)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2) x += __shfl_down_sync(ALL_LANES, x, s);
    return x;
}

extern "C" __global__ void reduce_6(const element *in, uint64_t n, element *sums)
{
    __shared__ element of_warp[8];
    unsigned t = threadIdx.x;
    uint64_t i = (uint64_t)blockIdx.x * 512 + t;
    element first = i < n ? in[i] : (element)0, second = i + 256 < n ? in[i + 256] : (element)0;
    element x = reduce_6_warp(first + second);
    if (t % 32 == 0) of_warp[t / 32] = x;
    __syncthreads(); /* the sums of all warps are written */
    if (t >= 32) return;
    x = reduce_6_warp(t < 8 ? of_warp[t] : (element)0);
    if (t == 0) sums[blockIdx.x] = x;
}
