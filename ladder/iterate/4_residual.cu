/*
 * 4_residual.cu - the step also computes the residual of x0, and the iteration stops when it is
 * small.
 *
 * Idea:   A x0 - f is the residual: its squares are added by shuffles in a warp and one atomic
 *         addition per warp; the host reads the sum every few steps. If it has grown, the iteration
 *         diverges
 * Cost:   5 shuffles and an atomic per warp; a copy of 8 bytes to the host per test
 * Wastes: the steps between convergence and the next test
 * From:   our addition; production does the same
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
    square = (double)residual * (double)residual; /* 0 for threads beyond n */
#pragma unroll
    for (int s = 16; s > 0; s /= 2) square += __shfl_down_sync(ALL_LANES, square, s);
    if (threadIdx.x % 32 == 0) atomicAdd(squares, square);
}
