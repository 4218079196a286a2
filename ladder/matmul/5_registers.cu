/*
 * 5_registers.cu - 64 elements of c per thread, in registers.
 *
 * Idea:   a block of 256 threads computes 128 x 128 elements of c, a thread 8 x 8: it computes 64
 *         products from 8 elements of a and 8 of b, which it loads from shared memory 4 at a time
 * Cost:   a quarter of an element is loaded per multiplication; a tile of a is transposed while it
 *         is stored, so that both tiles are read along rows
 * Wastes: loads and multiplications do not overlap, because there is one pair of tiles
 * From:   our addition; Volkov and Demmel (2008): registers are the largest and fastest memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

struct __align__(16) matmul_5_four
{
    element x[4];
};

/* Four elements beginning at (row, column); zeros outside the matrix. */
static __device__ inline matmul_5_four matmul_5_load(const element *m, uint64_t n, uint64_t row,
                                                     uint64_t column)
{
    uint64_t at = row * n + column;
    matmul_5_four four;
    if (n % 4 == 0 && row < n && column < n) return *(const matmul_5_four *)&m[at];
    for (unsigned i = 0; i < 4; i++) four.x[i] = row < n && column + i < n ? m[at + i] : (element)0;
    return four;
}

extern "C" __global__ void __launch_bounds__(256)
    matmul_5(const element *a, const element *b, uint64_t n, element *c)
{
    __shared__ matmul_5_four of_a[8][32], of_b[8][32]; /* 8 lines of 128 elements */
    unsigned t = threadIdx.x, x = t % 16, y = t / 16;
    uint64_t row = (uint64_t)blockIdx.y * 128, column = (uint64_t)blockIdx.x * 128;
    element sum[8][8] = { { 0 } };
    for (uint64_t first = 0; first < n; first += 8) {
        matmul_5_four four = matmul_5_load(a, n, row + t / 2, first + t % 2 * 4);
        for (unsigned i = 0; i < 4; i++) of_a[t % 2 * 4 + i][t / 8].x[t / 2 % 4] = four.x[i];
        of_b[t / 32][t % 32] = matmul_5_load(b, n, first + t / 32, column + t % 32 * 4);
        __syncthreads(); /* both tiles are loaded */
#pragma unroll
        for (unsigned k = 0; k < 8; k++) {
            matmul_5_four of_row[2] = { of_a[k][y], of_a[k][16 + y] };
            matmul_5_four of_column[2] = { of_b[k][x], of_b[k][16 + x] };
#pragma unroll
            for (unsigned i = 0; i < 64; i++)
                sum[i / 8][i % 8] = fma(of_row[i / 32].x[i / 8 % 4], of_column[i / 4 % 2].x[i % 4],
                                        sum[i / 8][i % 8]);
        }
        __syncthreads(); /* all threads have read the tiles */
    }
#pragma unroll
    for (unsigned i = 0; i < 64; i++) { /* rows 4 y ... and 64 + 4 y ..., columns likewise */
        uint64_t to_row = row + i / 32 * 64 + 4 * y + i / 8 % 4;
        uint64_t to_column = column + i / 4 % 2 * 64 + 4 * x + i % 4;
        if (to_row < n && to_column < n) c[to_row * n + to_column] = sum[i / 8][i % 8];
    }
}
