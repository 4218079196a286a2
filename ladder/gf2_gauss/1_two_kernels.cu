/*
 * 1_two_kernels.cu - Gauss: a column at a time, by two kernels that alternate.
 *
 * Idea:   the first looks for a row with a one in the column, and swaps it up; the second adds it
 *         to all other rows with a one there.  They are two, since one block is best for the first,
 *         and as many as there are rows for the second
 * Cost:   2 n launches; every row goes through memory once for each column, or half of them do
 * Wastes: one addition for each time a word is loaded and stored
 * From:   the lecture's elimination, which stopped at the echelon form
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* state[0]: rows that are done; state[1]: whether the next is this column's pivot. */
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
        any = __syncthreads_or(one);               /* all have looked */
    }
    if (t == 0) state[0] = (uint32_t)top;
    if (t == 0) state[1] = any != 0;
    if (!any) return;
    for (uint64_t j = column / 32 + t; j < stride; j += blockDim.x) { /* before are zeros */
        uint32_t x = a[found * stride + j];
        a[found * stride + j] = a[top * stride + j];
        a[top * stride + j] = x;
    }
}

/* A warp a row. */
extern "C" __global__ void gf2_gauss_1_add(uint32_t *a, uint64_t n, uint64_t stride,
                                           uint64_t column, const uint32_t *state)
{
    uint64_t row = global_thread() / 32, pivot = state[0];
    if (row >= n || row == pivot || !state[1]) return;
    bool one = a[row * stride + column / 32] >> column % 32 & 1;
    __syncwarp(); /* all lanes have read the bit, which one of them will clear */
    if (!one) return;
    for (uint64_t j = column / 32 + threadIdx.x % 32; j < stride; j += 32)
        a[row * stride + j] ^= a[pivot * stride + j];
}
