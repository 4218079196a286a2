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

/* Adds what a part contributes to the words of a thread's rows.  BYTES: those of an aligned part;
 * 0: any part. */
template <int BYTES>
static __device__ inline void add_part(const struct columns_args &a, const struct echi_part &p,
                                       const uint64_t (&row)[COLUMNS_ROWS],
                                       uint64_t (&word)[COLUMNS_ROWS])
{
    const struct echi_source &s = a.source[p.source];
    const uint32_t bytes = BYTES ? BYTES : p.bytes;
    uint64_t u[COLUMNS_ROWS];
    uint32_t valid[COLUMNS_ROWS];
#pragma unroll
    for (int j = 0; j < COLUMNS_ROWS; j++) {
        const uint8_t *at = echi_part_at(&s, &p, row[j]);
        u[j] = BYTES ? echi_column_load(at, BYTES, 0) : echi_load_bytes(at, bytes);
        if (p.reversed) u[j] = echi_reverse_bytes(u[j], bytes);
    }
#pragma unroll
    for (int j = 0; j < COLUMNS_ROWS; j++) valid[j] = echi_source_valid(&s, row[j]);
#pragma unroll
    for (int j = 0; j < COLUMNS_ROWS; j++)
        word[j] |=
            echi_part_place(&p, &a.word, echi_column_encode(&p.order, bytes, u[j]), valid[j]);
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
        for (uint32_t k = 0; k < a.word.count; k++) {
            const struct echi_part &p = a.part[k];
            switch (p.aligned ? p.bytes : 0) {
            case 1:
                add_part<1>(a, p, row, word);
                break;
            case 2:
                add_part<2>(a, p, row, word);
                break;
            case 4:
                add_part<4>(a, p, row, word);
                break;
            case 8:
                add_part<8>(a, p, row, word);
                break;
            default:
                add_part<0>(a, p, row, word);
            }
        }
#pragma unroll
        for (int j = 0; j < COLUMNS_ROWS; j++) {
            const uint64_t i = first + j * COLUMNS_THREADS + threadIdx.x;
            if (i < a.n) store(a, i, word[j] & echi_column_mask(&a.word));
        }
    }
}
