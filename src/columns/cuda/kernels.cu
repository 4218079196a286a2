/*
 * columns/cuda/kernels.cu - writes one word of the key of each row.
 *
 * The rows are taken in their order, or in the order of a permutation: the words of a later pass of
 * an LSD sort.  A thread processes several rows at a time, so that their loads overlap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "columns/cuda/word.cuh"

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
        add_word(a.source, a.part, a.word, row, word);
#pragma unroll
        for (int j = 0; j < COLUMNS_ROWS; j++) {
            const uint64_t i = first + j * COLUMNS_THREADS + threadIdx.x;
            if (i < a.n) store(a, i, word[j]);
        }
    }
}
