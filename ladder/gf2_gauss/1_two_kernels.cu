/*
 * 1_two_kernels.cu - Gaussian elimination column by column, with two alternating kernels.
 *
 * Idea:   the first searches for a row with a one in the column and swaps it up; the second adds it
 *         to all other rows with a one there. There are two kernels, because the first is best done
 *         by one block, the second by as many blocks as there are rows
 * Cost:   2 n launches; every row, or half of them, passes through memory once per column
 * Wastes: one addition per load and store of a word
 * From:   the lecture's elimination, which stopped at the echelon form
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

/* One warp per row. */
extern "C" __global__ void gf2_gauss_1_add(uint32_t *a, uint64_t n, uint64_t stride,
                                           uint64_t column, const uint32_t *state)
{
    uint64_t row = global_thread() / 32, pivot = state[0];
    if (row >= n || row == pivot || !state[1]) return;
    bool one = a[row * stride + column / 32] >> column % 32 & 1;
    __syncwarp(); /* all lanes have read the bit before one of them clears it */
    if (!one) return;
    for (uint64_t j = column / 32 + threadIdx.x % 32; j < stride; j += 32)
        a[row * stride + j] ^= a[pivot * stride + j];
}
