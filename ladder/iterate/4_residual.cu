/*
 * 4_residual.cu - the step knows how far off x0 was, and the iteration stops when that is little.
 *
 * Idea:   A x0 - f is the residual: its squares are added up on the way, by shuffles in a warp and
 *         one atomic addition for each warp; the host looks at the sum every few steps
 * Cost:   5 shuffles and an atomic a warp; a copy of 8 bytes to the host for each look
 * Wastes: the steps between the one that was enough and the next look
 * From:   ours; production does the same
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void iterate_4(const int32_t *offsets, const int32_t *columns,
                                     const element *values, const element *f, uint64_t n,
                                     element alpha, const element *x0, element *x1, double *squares)
{
    uint64_t row = global_thread();
    element residual = 0;
    double square;
    if (row < n) {
        for (int32_t e = offsets[row]; e < offsets[row + 1]; e++)
            residual = fma(values[e], x0[columns[e]], residual);
        residual -= f[row];
        x1[row] = fma(alpha, residual, x0[row]);
    }
    square = (double)residual * (double)residual; /* of threads beyond n: 0 */
#pragma unroll
    for (int s = 16; s > 0; s /= 2) square += __shfl_down_sync(ALL_LANES, square, s);
    if (threadIdx.x % 32 == 0) atomicAdd(squares, square);
}
