/*
 * gf2/cuda/tables.cuh - products by the method of the four Russians: a block makes tables of the
 * linear combinations of 8 rows each, and adds one entry of each table to a row.
 *
 *     64 rows of y, two words of each  ->  16 tables of 16 sums  ->  8 tables of 256 (32 KiB)
 *     a word of a row of x             ->  8 entries
 *
 * A thread keeps eight rows of the result in registers until all of y has been processed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_TABLES_CUH
#define ECHI_GF2_CUDA_TABLES_CUH

#include <stdint.h>

enum {
    TABLES_THREADS = 256,
    TABLES_ROWS = 8, /* of a thread */
    TABLES_WORDS = 2 /* of a row */
};

struct gf2_factors {
    const uint64_t *x; /* word k of row i: x[i * x_row + k * x_word] */
    uint64_t x_row, x_word;
    const uint64_t *y; /* word j of row k: y[k * y_row + j * y_word] */
    uint64_t y_row, y_word;
    uint64_t depth; /* rows of y */
    uint64_t *out;  /* out += x y */
    uint64_t out_stride;
    uint64_t first, rows; /* rows of out to change: from first on, below rows */
    uint64_t words;
    uint64_t last_mask;
    uint32_t add; /* otherwise out = x y */
};

struct __align__(16) gf2_pair
{
    uint64_t word[TABLES_WORDS];
};

struct tables_shared {
    struct gf2_pair wide[8][256], narrow[16][16], rows[64];
};

static __device__ inline void tables_add(struct gf2_pair &to, const struct gf2_pair &what)
{
    to.word[0] ^= what.word[0];
    to.word[1] ^= what.word[1];
}

/* Makes the tables for rows 64 k ... of y, words from `word` on. */
static __device__ inline void tables_make(const struct gf2_factors &f, uint64_t k, uint64_t word,
                                          struct tables_shared &s)
{
    const uint32_t thread = threadIdx.x;
    if (thread < 64 * TABLES_WORDS) {
        const uint64_t row = 64 * k + thread / TABLES_WORDS, column = word + thread % TABLES_WORDS;
        s.rows[thread / TABLES_WORDS].word[thread % TABLES_WORDS] =
            row < f.depth && column < f.words ? f.y[row * f.y_row + column * f.y_word] : 0;
    }
    __syncthreads();
    struct gf2_pair sum = { { 0, 0 } };
    for (uint32_t bit = 0; bit < 4; bit++)
        if (thread >> bit & 1) tables_add(sum, s.rows[thread / 16 * 4 + bit]);
    s.narrow[thread / 16][thread % 16] = sum;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++) {
        struct gf2_pair both = s.narrow[2 * i][thread % 16];
        tables_add(both, s.narrow[2 * i + 1][thread / 16]);
        s.wide[i][thread] = both;
    }
    __syncthreads();
}

/* Multiplies rows from `row` on, words from `word` on; reads the used words of x, or all. */
static __device__ inline void tables_multiply(const struct gf2_factors &f, uint64_t row,
                                              uint64_t word, const uint64_t *used,
                                              struct tables_shared &s)
{
    struct gf2_pair sum[TABLES_ROWS];
#pragma unroll
    for (int i = 0; i < TABLES_ROWS; i++) sum[i].word[0] = sum[i].word[1] = 0;
    for (uint64_t k = 0; 64 * k < f.depth; k++) {
        if (used && !used[k]) continue;
        const uint64_t left = f.depth - 64 * k;
        const uint64_t mask = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
        tables_make(f, k, word, s);
#pragma unroll
        for (int i = 0; i < TABLES_ROWS; i++) {
            const uint64_t at = row + i * TABLES_THREADS + threadIdx.x;
            const uint64_t bits =
                at >= f.first && at < f.rows ? f.x[at * f.x_row + k * f.x_word] & mask : 0;
#pragma unroll
            for (int j = 0; j < 8; j++) tables_add(sum[i], s.wide[j][bits >> 8 * j & 255]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TABLES_ROWS; i++) {
        const uint64_t at = row + i * TABLES_THREADS + threadIdx.x;
        if (at < f.first || at >= f.rows) continue;
#pragma unroll
        for (int j = 0; j < TABLES_WORDS; j++) {
            if (word + j >= f.words) continue;
            const uint64_t mask = word + j + 1 == f.words ? f.last_mask : ~(uint64_t)0;
            uint64_t *out = f.out + at * f.out_stride + word + j;
            const uint64_t value = sum[i].word[j] & mask;
            if (f.add)
                *out ^= value;
            else
                *out = ~mask ? (*out & ~mask) | value : value;
        }
    }
}

#endif
