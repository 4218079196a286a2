/*
 * 2_warp.cu - the same step, one warp per row.
 *
 * Idea:   the 32 lanes read adjacent elements of a row and add their sums by shuffles
 * Cost:   the same loads, of 4 sectors each instead of 32; 5 shuffles per row
 * Wastes: almost all loaded elements are zero
 * From:   our addition; the usual form of a dense matrix-vector product
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void iterate_2(const element *a, const element *f, uint64_t n, element alpha,
                                     const element *x0, element *x1)
{
    uint64_t row = global_thread() / 32;
    unsigned lane = threadIdx.x % 32;
    element sum = 0;
    if (row >= n) return;
    for (uint64_t k = lane; k < n; k += 32) sum = fma(a[row * n + k], x0[k], sum);
#pragma unroll
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(ALL_LANES, sum, s);
    if (lane == 0) x1[row] = fma(alpha, sum - f[row], x0[row]);
}
