/*
 * 2_reduced.cu - the same to reduced echelon form.
 *
 * Idea:   the second kernel adds the pivot row to all other rows with a one, also to those above:
 *         in the end a pivot is the only one in its column (Gauss-Jordan elimination)
 * Cost:   2 n launches; n^3 / 2 additions of bits. The grid shrinks only with the words of a row
 * Wastes: one addition per load and store of a word
 * From:   our addition: the reduced form is unique, so that the following rungs must compute the
 *         same bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* `lanes` threads per row, a power of two up to 32.  gf2_gauss_1_find() has found the pivot. */
extern "C" __global__ void gf2_gauss_2_add(uint32_t *a, uint64_t n, uint64_t stride,
                                           uint64_t column, uint32_t lanes, const uint32_t *state)
{
    uint64_t pivot = state[0], row = global_thread() / lanes;
    bool other = state[1] && row < n && row != pivot;
    bool one = other && a[row * stride + column / 32] >> column % 32 & 1;
    __syncwarp(); /* all lanes of a row have read the bit before one of them clears it */
    if (!one) return;
    for (uint64_t j = column / 32 + threadIdx.x % lanes; j < stride; j += lanes)
        a[row * stride + j] ^= a[pivot * stride + j];
}
