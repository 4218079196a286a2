/*
 * 1_thread.cu - one step of x1 = x0 + alpha (A x0 - f), one thread per row.
 *
 * Idea:   thread i computes element i of A x0 in a loop along row i of A
 * Cost:   n loads of A and n of x0 per thread: with a thread per row, a step takes O(n) time, and
 *         n^2 multiplications in all
 * Wastes: at any time the lanes are in 32 different rows: each load of a warp touches 32 sectors
 *         and uses one element of each
 * From:   the lecture's kernel, for any n
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void iterate_1(const element *a, const element *f, uint64_t n, element alpha,
                                     const element *x0, element *x1)
{
    uint64_t row = global_thread();
    element sum = 0;
    if (row >= n) return;
    for (uint64_t k = 0; k < n; k++) sum = fma(a[row * n + k], x0[k], sum);
    x1[row] = fma(alpha, sum - f[row], x0[row]);
}
