/*
 * 7_many_loads.cu - few resident blocks, and many loads in flight.
 *
 * Idea:   as many blocks as the GPU can run at once; each thread strides through the array by the
 *         size of the grid, four loads at a time, and the tree is computed once at the end
 * Cost:   n loads; a second launch of one block adds the sums of the blocks
 * Wastes: loads of one element each; production loads 16 bytes at a time and needs one launch
 * From:   our addition; Brent's theorem, as used in Harris's last variant (2007): more work per
 *         thread, fewer steps
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

static __device__ inline element reduce_7_warp(element x)
{
#pragma unroll
    for (int s = 16; s > 0; s /= 2) x += __shfl_down_sync(ALL_LANES, x, s);
    return x;
}

extern "C" __global__ void reduce_7(const element *in, uint64_t n, element *sums)
{
    __shared__ element of_warp[8];
    unsigned t = threadIdx.x;
    uint64_t i = global_thread(), step = global_threads();
    element x = 0;
    for (; i + 3 * step < n; i += 4 * step) {
        element a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
        x += (a + b) + (c + d);
    }
    for (; i < n; i += step) x += in[i];
    x = reduce_7_warp(x);
    if (t % 32 == 0) of_warp[t / 32] = x;
    __syncthreads(); /* the sums of all warps are written */
    if (t >= 32) return;
    x = reduce_7_warp(t < 8 ? of_warp[t] : (element)0);
    if (t == 0) sums[blockIdx.x] = x;
}
