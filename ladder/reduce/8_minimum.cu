/*
 * 8_minimum.cu - the same for the minimum and the maximum.
 *
 * Idea:   any associative operation can take the place of the addition. A minimum is also
 *         idempotent, x with x is x, so no identity element is needed: a thread without an element
 *         of its own takes the first one
 * Cost:   as the sum: the comparison is as fast as the addition, and memory is the limit
 * Wastes: loads of one element each, as rung 7
 * From:   the lecture names minimum and maximum as other operations, without code
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The smaller of two elements in the total order, or the larger. */
static __device__ inline element reduce_8_better(element a, element b, bool maximum)
{
    return before(a, b) != maximum ? a : b;
}

static __device__ inline element reduce_8_warp(element x, bool maximum)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2)
        x = reduce_8_better(x, __shfl_down_sync(ALL_LANES, x, s), maximum);
    return x;
}

/* n > 0; maximum is a constant in each of the two kernels. */
static __device__ __forceinline__ void reduce_8_grid(const element *in, uint64_t n, element *best,
                                                     const bool maximum)
{
    __shared__ element of_warp[8];
    unsigned t = threadIdx.x;
    element x = in[0];
    for (uint64_t i = global_thread(); i < n; i += global_threads())
        x = reduce_8_better(x, in[i], maximum);
    x = reduce_8_warp(x, maximum);
    if (t % 32 == 0) of_warp[t / 32] = x;
    __syncthreads(); /* the results of all warps are written */
    if (t >= 32) return;
    x = reduce_8_warp(of_warp[t % 8], maximum);
    if (t == 0) best[blockIdx.x] = x;
}

extern "C" __global__ void reduce_8_min(const element *in, uint64_t n, element *best)
{
    reduce_8_grid(in, n, best, false);
}

extern "C" __global__ void reduce_8_max(const element *in, uint64_t n, element *best)
{
    reduce_8_grid(in, n, best, true);
}
