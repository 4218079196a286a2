/*
 * gf2/cpu/columns.c - transposes of bit matrices, and gathers of their columns, on the CPU.
 *
 * Both use blocks of 64 x 64 bits, which are transposed in place: the two off-diagonal halves are
 * exchanged, then those of each quarter, down to single bits (Warren, Hacker's Delight, 7-3).  A
 * gather transposes 64 rows, so that each of their columns is a word, gathers words, and transposes
 * back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/small.h"

/* Bit j of word i becomes bit i of word j. */
static void transpose_64(uint64_t block[64])
{
    uint64_t mask = 0x00000000ffffffffu;
    for (int half = 32; half; half >>= 1, mask ^= mask << half)
        for (int i = 0; i < 64; i = (i + half + 1) & ~half) {
            uint64_t change = (block[i] >> half ^ block[i + half]) & mask;
            block[i] ^= change << half;
            block[i + half] ^= change;
        }
}

/* Loads word w of `count` rows from first on; the other rows are 0. */
static void load_block(uint64_t block[64], const ech_gf2 *m, size_t first, size_t count, size_t w)
{
    const uint64_t mask = gf2_mask(w, m->cols);
    for (size_t i = 0; i < count; i++) block[i] = gf2_row(m, first + i)[w] & mask;
    memset(block + count, 0, (64 - count) * sizeof *block);
}

static void store_block(const uint64_t block[64], const ech_gf2 *m, size_t first, size_t count,
                        size_t w)
{
    const uint64_t mask = gf2_mask(w, m->cols);
    for (size_t i = 0; i < count; i++) gf2_put(&gf2_row(m, first + i)[w], block[i], mask);
}

void echi_cpu_gf2_transpose_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const ech_gf2 *a = &job->request->a, *out = &job->request->out;
    const size_t words = echi_gf2_words(out->cols);
    uint64_t block[64];
    (void)thread;
    for (size_t i = begin; i < end; i += 64)
        for (size_t w = 0; w < words; w++) {
            load_block(block, a, w * 64, echi_min(64, a->rows - w * 64), i / 64);
            transpose_64(block);
            store_block(block, out, i, echi_min(64, end - i), w);
        }
}

void echi_cpu_gf2_gather_columns_rows(struct gf2_job *job, size_t begin, size_t end, int thread)
{
    const struct echi_gf2 *g = job->request;
    const ech_gf2 *a = &g->a, *out = &g->out;
    uint64_t *columns = (uint64_t *)job->work + (size_t)thread * a->cols;
    uint64_t block[64];
    for (size_t i = begin; i < end; i += 64) {
        const size_t rows = echi_min(64, end - i);
        for (size_t w = 0; w < echi_gf2_words(a->cols); w++) {
            load_block(block, a, i, rows, w);
            transpose_64(block);
            memcpy(columns + w * 64, block, echi_min(64, a->cols - w * 64) * sizeof *block);
        }
        for (size_t w = 0; w < echi_gf2_words(out->cols); w++) {
            for (size_t j = 0; j < 64; j++) {
                const size_t at = w * 64 + j;
                block[j] = at < out->cols && gf2_in_limit(job, at) ? columns[g->order[at]] : 0;
            }
            transpose_64(block);
            store_block(block, out, i, rows, w);
        }
    }
}
