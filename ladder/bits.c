/*
 * bits.c - n x n matrices of bits for the elimination ladders, in the library's layout.
 *
 * The reduced echelon form, which is unique, is generated first.  Then rows are added to rows,
 * which does not change the form, until the matrix looks random.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder.h"

#include <stdlib.h>
#include <string.h>

void ladder_shape_bits(struct trial *trial)
{
    trial->rows = trial->cols = trial->n;
    trial->p[0] = 2 * ladder_ceil(trial->n, 64);
    trial->in_bytes = trial->out_bytes = trial->n * trial->p[0] * sizeof(uint32_t);
}

/* Whether the column has no pivot: about two columns, half of them, most, or none, by seed. */
static bool is_free(const struct trial *trial, uint64_t column)
{
    uint64_t x = ladder_random(trial->seed, column) >> 8;
    if (trial->seed == 0) return x % (trial->n + 1) < 2;
    if (trial->seed == 1) return x % 2;
    return trial->seed == 2 && column % 7 != 3;
}

/* Fills words with the form: pivot rows have random bits in the free columns. */
static void reduced(struct trial *trial, uint64_t *words)
{
    uint64_t stride = trial->p[0] / 2, row = 0;
    uint64_t *free_bits = calloc((size_t)stride + 1, sizeof *free_bits);
    memset(words, 0, trial->out_bytes);
    if (!free_bits) {
        ladder_fail(trial, "out of memory for the free columns");
        return;
    }
    for (uint64_t column = 0; column < trial->n; column++)
        if (is_free(trial, column)) free_bits[column / 64] |= (uint64_t)1 << column % 64;
    for (uint64_t column = 0; column < trial->n; column++) {
        uint64_t pivot = column / 64, from = row * stride;
        if (free_bits[pivot] >> column % 64 & 1) continue;
        for (uint64_t j = pivot; j < stride; j++)
            words[from + j] = ladder_random(trial->seed + 8, from + j) & free_bits[j];
        words[from + pivot] &= UINT64_MAX << column % 64;
        words[from + pivot] |= (uint64_t)1 << column % 64;
        row++;
    }
    free(free_bits);
}

void ladder_expect_reduced(struct trial *trial)
{
    reduced(trial, trial->expected);
}

static void add_row(uint64_t *to, const uint64_t *from, uint64_t stride)
{
    for (uint64_t j = 0; j < stride; j++) to[j] ^= from[j];
}

void ladder_make_bits(struct trial *trial)
{
    enum { PASSES = 4 };
    uint64_t *words = trial->host_in, stride = trial->p[0] / 2, n = trial->n;
    reduced(trial, words);
    for (uint64_t pass = 0; pass < PASSES; pass++) {
        /* Adds to each row one of the updated rows above; then, upwards, one of the rows below. */
        for (uint64_t i = 1; i < n; i++)
            add_row(words + i * stride,
                    words + ladder_random(trial->seed + 16 + pass, i) % i * stride, stride);
        for (uint64_t i = n; i-- > 1;) {
            uint64_t below = i + ladder_random(trial->seed + 32 + pass, i) % (n - i);
            add_row(words + (i - 1) * stride, words + below * stride, stride);
        }
    }
}
