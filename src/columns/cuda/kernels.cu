/*
 * columns/cuda/kernels.cu - writes one word of the key of each row.
 *
 * The rows are taken in their order, or in the order of a permutation: the words of a later pass of
 * an LSD sort.  A thread processes several rows at a time, so that their loads overlap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include "columns/cuda/common.h"

/* Adds what a column contributes to the words of a thread's rows. */
template <int BYTES>
static __device__ inline void add_column(const struct columns_args &a, const struct echi_column &c,
                                         const uint64_t (&row)[COLUMNS_ROWS],
                                         uint64_t (&word)[COLUMNS_ROWS])
{
    uint64_t u[COLUMNS_ROWS];
    uint32_t valid[COLUMNS_ROWS];
#pragma unroll
    for (int j = 0; j < COLUMNS_ROWS; j++) u[j] = echi_column_load(c.data, BYTES, row[j]);
#pragma unroll
    for (int j = 0; j < COLUMNS_ROWS; j++)
        valid[j] = c.validity ? echi_column_valid(&c, row[j]) : 1;
#pragma unroll
    for (int j = 0; j < COLUMNS_ROWS; j++)
        word[j] |=
            echi_column_part(&c, &a.word, echi_column_encode(&c.order, BYTES, u[j]), valid[j]);
}

static __device__ inline void store(const struct columns_args &a, uint64_t i, uint64_t word)
{
    if (a.out_bytes == 8)
        ((uint64_t *)a.out)[i] = word;
    else if (a.out_bytes == 4)
        ((uint32_t *)a.out)[i] = (uint32_t)word;
    else if (a.out_bytes == 2)
        ((uint16_t *)a.out)[i] = (uint16_t)word;
    else
        ((uint8_t *)a.out)[i] = (uint8_t)word;
}

extern "C" __global__ void __launch_bounds__(COLUMNS_THREADS)
    columns_words(const __grid_constant__ struct columns_args a)
{
    const uint64_t tile = COLUMNS_THREADS * COLUMNS_ROWS;
    for (uint64_t first = blockIdx.x * tile; first < a.n; first += gridDim.x * tile) {
        uint64_t row[COLUMNS_ROWS], word[COLUMNS_ROWS];
        /* Rows after the last are copies of it: loads need no conditions. */
#pragma unroll
        for (int j = 0; j < COLUMNS_ROWS; j++) {
            const uint64_t i = first + j * COLUMNS_THREADS + threadIdx.x;
            row[j] = i < a.n ? i : a.n - 1;
            word[j] = 0;
        }
        if (a.positions)
#pragma unroll
            for (int j = 0; j < COLUMNS_ROWS; j++)
                row[j] = echi_column_load(a.positions, a.position_bytes, row[j]);
        for (uint32_t k = a.word.first; k < a.word.first + a.word.count; k++) {
            const struct echi_column &c = a.column[k];
            switch (c.bytes) {
            case 1:
                add_column<1>(a, c, row, word);
                break;
            case 2:
                add_column<2>(a, c, row, word);
                break;
            case 4:
                add_column<4>(a, c, row, word);
                break;
            default:
                add_column<8>(a, c, row, word);
            }
        }
#pragma unroll
        for (int j = 0; j < COLUMNS_ROWS; j++) {
            const uint64_t i = first + j * COLUMNS_THREADS + threadIdx.x;
            if (i < a.n) store(a, i, word[j] & echi_column_mask(&a.word));
        }
    }
}
