/*
 * 3_transposed.cu - a times the transpose of b, in tiles of 16 x 16 or 32 x 32.
 *
 * Idea:   c(i, j) is row i of a times row j of b: both tiles are loaded by rows
 * Cost:   the same loads as before
 * Wastes: lane x reads word k of row x: 16 lanes are 16 words apart, which is one of 16 banks, so a
 *         load takes 16 wavefronts instead of one. With today's 32 banks these are two banks, and
 *         only a tile of 32 x 32 has all lanes in one bank
 * From:   the lecture's A B^T of 16 x 16 tiles; 32 x 32 is our addition, for today's banks
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

static __device__ __forceinline__ void matmul_3_tile(const element *a, const element *b, uint64_t n,
                                                     element *c, element *of_a, element *of_b,
                                                     const unsigned width)
{
    const unsigned x = threadIdx.x, y = threadIdx.y, line = width;
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

extern "C" __global__ void matmul_3_16(const element *a, const element *b, uint64_t n, element *c)
{
    __shared__ element of_a[16 * 16], of_b[16 * 16];
    matmul_3_tile(a, b, n, c, of_a, of_b, 16);
}

extern "C" __global__ void matmul_3_32(const element *a, const element *b, uint64_t n, element *c)
{
    __shared__ element of_a[32 * 32], of_b[32 * 32];
    matmul_3_tile(a, b, n, c, of_a, of_b, 32);
}
