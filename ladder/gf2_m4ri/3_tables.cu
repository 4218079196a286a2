/*
 * 3_tables.cu - four tables at once.
 *
 * Idea:   32 columns have four tables of 8 rows each, and a row adds four entries while it is in
 *         registers: one pass over memory per 32 columns
 * Cost:   64 KB of shared memory, half of the size of tables of 2^8 entries; 4 x 2^7 additions for
 *         the tables of a block; 4 per word of a row
 * Wastes: four loads from shared memory per word
 * From:   Albrecht, Bard and Hart (2010), who found several small tables better than one large one
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/gf2_panel.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* As in rung 1; the tables [4][128][32] are in shared memory. */
extern "C" __global__ void gf2_m4ri_3_add(uint32_t *a, uint64_t n, uint64_t stride, uint64_t begin,
                                          uint32_t rows, const gf2_state<1> *state,
                                          const uint32_t *sums, const uint32_t *pivots)
{
    uint32_t(*table)[128][32] = (uint32_t(*)[128][32])shared_bytes;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, mine = warp / 2;
    uint64_t j = begin / 32 + (uint64_t)blockIdx.x * 32 + lane;
    unsigned i = warp % 2 * 64, end = i + 64, gray = i ^ i >> 1; /* half a table per warp */
    uint32_t sum = 0, last[4];
#pragma unroll
    for (unsigned k = 0; k < 4; k++) last[k] = gf2_pivot(state, pivots, stride, 8 * k + 7, j);
    for (unsigned left = gray; left; left &= left - 1)
        sum ^= gf2_pivot(state, pivots, stride, 8 * mine + __ffs(left) - 1, j);
    table[mine][gray][lane] = sum;
    while (++i < end) {
        sum ^= gf2_pivot(state, pivots, stride, 8 * mine + __ffs(i) - 1, j);
        table[mine][i ^ i >> 1][lane] = sum;
    }
    __syncthreads(); /* the tables are complete */
    for (unsigned r = warp; r < rows; r += 8) {
        uint64_t row = (uint64_t)blockIdx.y * rows + r;
        if (row >= n) break;
        uint32_t which = sums[row];
        if (which == 0 || j >= stride) continue;
        uint32_t word = a[row * stride + j];
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            word ^= table[k][which >> 8 * k & 127][lane];
            if (which >> (8 * k + 7) & 1) word ^= last[k];
        }
        a[row * stride + j] = word;
    }
}
