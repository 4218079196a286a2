/*
 * 2_tiles.cu - tiles of 16 x 16 in shared memory.
 *
 * Idea:   256 threads load a tile of a and one of b, one element each, and each thread then uses 16
 *         elements of both: each loaded element is used 16 times
 * Cost:   a sixteenth of the loads; two barriers per step of 16
 * Wastes: a multiplication still needs two loads, now from shared memory
 * From:   the lecture's second product, of 132 ms
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void matmul_2(const element *a, const element *b, uint64_t n, element *c)
{
    __shared__ element of_a[16][16], of_b[16][16];
    unsigned x = threadIdx.x, y = threadIdx.y;
    uint64_t row = (uint64_t)blockIdx.y * 16 + y, column = (uint64_t)blockIdx.x * 16 + x;
    element sum = 0;
    for (uint64_t first = 0; first < n; first += 16) {
        of_a[y][x] = row < n && first + x < n ? a[row * n + first + x] : (element)0;
        of_b[y][x] = first + y < n && column < n ? b[(first + y) * n + column] : (element)0;
        __syncthreads(); /* both tiles are loaded */
        for (unsigned k = 0; k < 16; k++) sum = fma(of_a[y][k], of_b[k][x], sum);
        __syncthreads(); /* all threads have read the tiles */
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
