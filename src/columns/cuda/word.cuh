/*
 * columns/cuda/word.cuh - one word of the keys of a thread's rows, several at a time, so that their
 * loads overlap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COLUMNS_CUDA_WORD_CUH
#define ECHI_COLUMNS_CUDA_WORD_CUH

#include <stdint.h>
#include "columns/cuda/common.h"

/* Adds what a part contributes to the words of the rows.  BYTES: those of an aligned part; 0: any
 * part. */
template <int BYTES, int ROWS, typename position>
static __device__ inline void add_part(const struct echi_source &s, const struct echi_part &p,
                                       const struct echi_column_word &w,
                                       const position (&row)[ROWS], uint64_t (&word)[ROWS])
{
    const uint32_t bytes = BYTES ? BYTES : p.bytes;
    uint64_t u[ROWS];
    uint32_t valid[ROWS];
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        const uint8_t *at = echi_part_at(&s, &p, row[j]);
        u[j] = BYTES ? echi_column_load(at, BYTES, 0) : echi_load_bytes(at, bytes);
        if (p.reversed) u[j] = echi_reverse_bytes(u[j], bytes);
    }
#pragma unroll
    for (int j = 0; j < ROWS; j++) valid[j] = echi_source_valid(&s, row[j]);
#pragma unroll
    for (int j = 0; j < ROWS; j++)
        word[j] |= echi_part_place(&p, &w, echi_column_encode(&p.order, bytes, u[j]), valid[j]);
}

/* The words of the rows, which are zero before; parts are those of the word. */
template <int ROWS, typename position>
static __device__ inline void
add_word(const struct echi_source *sources, const struct echi_part *parts,
         const struct echi_column_word &w, const position (&row)[ROWS], uint64_t (&word)[ROWS])
{
    for (uint32_t k = 0; k < w.count; k++) {
        const struct echi_part &p = parts[k];
        const struct echi_source &s = sources[p.source];
        switch (p.aligned ? p.bytes : 0) {
        case 1:
            add_part<1>(s, p, w, row, word);
            break;
        case 2:
            add_part<2>(s, p, w, row, word);
            break;
        case 4:
            add_part<4>(s, p, w, row, word);
            break;
        case 8:
            add_part<8>(s, p, w, row, word);
            break;
        default:
            add_part<0>(s, p, w, row, word);
        }
    }
#pragma unroll
    for (int j = 0; j < ROWS; j++) word[j] &= echi_column_mask(&w);
}

#endif
