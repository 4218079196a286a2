/*
 * 1_naive.cu - a matrix product by its definition.
 *
 * Idea:   a thread computes one element of c: a row of a times a column of b, from global memory
 * Cost:   2 n loads per thread for n multiplications
 * Wastes: n threads read the same row, and n the same column
 * From:   the lecture's first product, of 2578 ms
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void matmul_1(const element *a, const element *b, uint64_t n, element *c)
{
    uint64_t row = (uint64_t)blockIdx.y * 16 + threadIdx.y;
    uint64_t column = (uint64_t)blockIdx.x * 16 + threadIdx.x;
    element sum = 0;
    if (row >= n || column >= n) return;
    for (uint64_t k = 0; k < n; k++) sum = fma(a[row * n + k], b[k * n + column], sum);
    c[row * n + column] = sum;
}
