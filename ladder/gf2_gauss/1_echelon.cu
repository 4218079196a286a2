/*
 * 1_echelon.cu - Gaussian elimination to echelon form, with two alternating kernels.
 *
 * Idea:   the first kernel searches for a row with a one in the column and swaps it up; the second
 *         adds it to all rows below that have a one there. The rest of the matrix shrinks, so each
 *         launch has a grid of its own: `lanes` threads per row below the pivot, at most one per
 *         remaining word
 * Cost:   2 n launches; n^3 / 3 additions of bits; every remaining row, or half of them, passes
 *         through memory once per column
 * Wastes: one addition per load and store of a word; the search uses one block
 * From:   Lebedev (2013), page 52: two kernels, because the shape of the grid changes all the time
 *         and large groups of threads would idle otherwise. The paper does not state its shape
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* state[0]: number of finished rows; state[1]: whether the next row is the pivot of this column. */
extern "C" __global__ void gf2_gauss_1_find(uint32_t *a, uint64_t n, uint64_t stride,
                                            uint64_t column, uint32_t *state)
{
    __shared__ uint32_t found;
    uint64_t top = (uint64_t)state[0] + state[1];
    unsigned t = threadIdx.x;
    int any = 0;
    if (t == 0) found = 0xffffffffu;
    __syncthreads(); /* found is set, the state is read */
    for (uint64_t from = top; from < n && !any; from += blockDim.x) {
        uint64_t row = from + t;
        int one = row < n && a[row * stride + column / 32] >> column % 32 & 1;
        if (one) atomicMin(&found, (uint32_t)row); /* the first wins */
        any = __syncthreads_or(one);               /* all have searched */
    }
    if (t == 0) state[0] = (uint32_t)top;
    if (t == 0) state[1] = any != 0;
    if (!any) return;
    for (uint64_t j = column / 32 + t; j < stride; j += blockDim.x) { /* earlier words are zero */
        uint32_t x = a[found * stride + j];
        a[found * stride + j] = a[top * stride + j];
        a[top * stride + j] = x;
    }
}

/* `lanes` threads per row, a power of two up to 32; the first row is the one below the pivot. */
extern "C" __global__ void gf2_gauss_1_add(uint32_t *a, uint64_t n, uint64_t stride,
                                           uint64_t column, uint32_t lanes, const uint32_t *state)
{
    uint64_t pivot = state[0], row = pivot + 1 + global_thread() / lanes;
    bool one = state[1] && row < n && a[row * stride + column / 32] >> column % 32 & 1;
    __syncwarp(); /* all lanes of a row have read the bit before one of them clears it */
    if (!one) return;
    for (uint64_t j = column / 32 + threadIdx.x % lanes; j < stride; j += lanes)
        a[row * stride + j] ^= a[pivot * stride + j];
}
