/*
 * 3_fused_panel.cu - Gaussian elimination of 32 columns in one kernel; the rows are updated later,
 * once.
 *
 * Idea:   32 columns are one word of a row. One block does both steps of the elimination in that
 *         word, for the pivot rows only, and records which of them were added to which
 *         (gf2_panel.cuh). Then each row of the matrix adds all the pivot rows that it needs, 16 on
 *         average, at once
 * Cost:   3 launches per 32 columns; every row passes through memory once per 32 columns
 * Wastes: many rows need the same linear combinations of pivot rows, and each computes them itself
 * From:   our addition: the panel of M4RI, with Gaussian elimination for the other columns
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/gf2_panel.cuh"

extern "C" __global__ void gf2_gauss_3_panel(uint32_t *a, uint64_t n, uint64_t stride,
                                             uint64_t begin, uint32_t width, gf2_state<1> *state)
{
    gf2_panel<1>(a, n, stride, begin, width, state);
}

extern "C" __global__ void gf2_gauss_3_sums(const uint32_t *a, uint64_t n, uint64_t stride,
                                            uint64_t begin, uint32_t width,
                                            const gf2_state<1> *state, uint32_t *sums,
                                            uint32_t *pivots)
{
    gf2_sums<1>(a, n, stride, begin, width, state, sums);
    gf2_keep<1>(a, stride, begin, state, pivots);
}

/* A block updates 32 words of `rows` rows, with these words of the pivot rows in shared memory. */
extern "C" __global__ void gf2_gauss_3_add(uint32_t *a, uint64_t n, uint64_t stride, uint64_t begin,
                                           uint32_t rows, const gf2_state<1> *state,
                                           const uint32_t *sums, const uint32_t *pivots)
{
    __shared__ uint32_t pivot[32][32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint64_t j = begin / 32 + (uint64_t)blockIdx.x * 32 + lane;
    for (unsigned q = warp; q < 32; q += 8) pivot[q][lane] = gf2_pivot(state, pivots, stride, q, j);
    __syncthreads(); /* the pivot rows are loaded */
    for (unsigned i = warp; i < rows; i += 8) {
        uint64_t row = (uint64_t)blockIdx.y * rows + i;
        if (row >= n) break;
        uint32_t sum = 0;
        for (uint32_t left = sums[row]; left; left &= left - 1) sum ^= pivot[__ffs(left) - 1][lane];
        if (sum && j < stride) a[row * stride + j] ^= sum;
    }
}
