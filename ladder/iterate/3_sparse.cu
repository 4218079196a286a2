/*
 * 3_sparse.cu - the same step with a sparse matrix.
 *
 * Idea:   only the nonzeros of each row are stored, with their columns (CSR); one thread per row is
 *         enough for short rows
 * Cost:   the nonzeros of A, 5 per row here, and as many elements of x0
 * Wastes: a launch per step, and a fixed number of steps that may be too large
 * From:   the lecture names sparse matrices as a case for iterations, without code; the format is
 *         the usual one
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void iterate_3(const int32_t *offsets, const int32_t *columns,
                                     const element *values, const element *f, uint64_t n,
                                     element alpha, const element *x0, element *x1)
{
    uint64_t row = global_thread();
    element sum = 0;
    if (row >= n) return;
    for (int32_t e = offsets[row]; e < offsets[row + 1]; e++)
        sum = fma(values[e], x0[columns[e]], sum);
    x1[row] = fma(alpha, sum - f[row], x0[row]);
}
