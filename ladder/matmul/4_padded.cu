/*
 * 4_padded.cu - the same, with one more element in each row of a tile.
 *
 * Idea:   rows of 17 (33) words: word k of row x is in bank (17 x + k) % 16, a different one for
 *         each x
 * Cost:   16 (32) unused words of shared memory
 * Wastes: a thread still computes one element of c, and loads two operands per multiplication
 * From:   the lecture pads rows of 16 by one element; rows of 33 are our addition
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

static __device__ __forceinline__ void matmul_4_tile(const element *a, const element *b, uint64_t n,
                                                     element *c, element *of_a, element *of_b,
                                                     const unsigned width)
{
    const unsigned x = threadIdx.x, y = threadIdx.y, line = width + 1;
    uint64_t row = (uint64_t)blockIdx.y * width + y, column = (uint64_t)blockIdx.x * width + x;
    uint64_t row_of_b = (uint64_t)blockIdx.x * width + y; /* column y of the tile of c */
    element sum = 0;
    for (uint64_t first = 0; first < n; first += width) {
        bool inside = first + x < n;
        of_a[y * line + x] = inside && row < n ? a[row * n + first + x] : (element)0;
        of_b[y * line + x] = inside && row_of_b < n ? b[row_of_b * n + first + x] : (element)0;
        __syncthreads(); /* both tiles are loaded */
        for (unsigned k = 0; k < width; k++) sum = fma(of_a[y * line + k], of_b[x * line + k], sum);
        __syncthreads(); /* all threads have read the tiles */
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void matmul_4_16(const element *a, const element *b, uint64_t n, element *c)
{
    __shared__ element of_a[16 * 17], of_b[16 * 17];
    matmul_4_tile(a, b, n, c, of_a, of_b, 16);
}

extern "C" __global__ void matmul_4_32(const element *a, const element *b, uint64_t n, element *c)
{
    __shared__ element of_a[32 * 33], of_b[32 * 33];
    matmul_4_tile(a, b, n, c, of_a, of_b, 32);
}
