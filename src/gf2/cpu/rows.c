/*
 * gf2/cpu/rows.c - elimination on rows of words: column by column, and in blocks of 64 columns.
 *
 * A block keeps its column of words and, for each row, multipliers: the block's pivot rows, with
 * their values at its start, that are added to the row.  The words to the right are updated with
 * tables (m4r.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

static uint64_t mask_of(const ech_gf2 *a, size_t word)
{
    return word + 1 < echi_gf2_words(a->cols) ? ~(uint64_t)0 : echi_gf2_last_mask(a->cols);
}

/* Swaps rows from the given word on, except for bits beyond the matrix's columns. */
void echi_gf2_swap_rows(const ech_gf2 *a, size_t i, size_t j, size_t word)
{
    uint64_t *x = a->words + i * a->stride, *y = a->words + j * a->stride;
    const size_t words = echi_gf2_words(a->cols);
    for (size_t w = word; w < words; w++) {
        const uint64_t change = (x[w] ^ y[w]) & mask_of(a, w);
        x[w] ^= change;
        y[w] ^= change;
    }
}

static void swap_numbers(uint32_t *from, size_t i, size_t j)
{
    const uint32_t number = from[i];
    from[i] = from[j];
    from[j] = number;
}

static void add_row(const ech_gf2 *a, size_t row, size_t to, size_t word)
{
    const uint64_t *x = a->words + row * a->stride;
    uint64_t *y = a->words + to * a->stride;
    const size_t last = echi_gf2_words(a->cols) - 1;
    for (size_t w = word; w < last; w++) y[w] ^= x[w];
    y[last] ^= x[last] & mask_of(a, last);
}

/* Reports progress as if every remaining column had a pivot: each updates the columns to its right,
 * of the rows below or of all rows. */
static bool report(const struct echi_gf2_rows *e, size_t column)
{
    const struct echi_gf2_echelon *r = e->request;
    const double part = 1 - (double)echi_min(column, r->columns) / (double)r->columns;
    const double left = r->reduced ? part * part : part * part * part;
    return echi_progress(e->m4r.ctx, 1 - left, left);
}

void echi_gf2_gauss(struct echi_gf2_rows *e)
{
    const struct echi_gf2_echelon *r = e->request;
    const ech_gf2 *a = &r->a;
    for (size_t i = 0; i < a->rows; i++) e->from[i] = (uint32_t)i;
    e->rank = 0;
    for (size_t c = 0; c < r->columns && e->rank < r->max_rank && e->rank < a->rows; c++) {
        const size_t word = c / 64, pivot = e->rank;
        const uint64_t bit = (uint64_t)1 << c % 64;
        if (c % 64 == 0 && report(e, c)) return;
        size_t row = pivot;
        while (row < a->rows && !(a->words[row * a->stride + word] & bit)) row++;
        if (row == a->rows) continue;
        if (row != pivot) echi_gf2_swap_rows(a, row, pivot, word);
        swap_numbers(e->from, row, pivot);
        for (size_t i = r->reduced ? 0 : pivot + 1; i < a->rows; i++)
            if (i != pivot && a->words[i * a->stride + word] & bit) add_row(a, pivot, i, word);
        e->pivots[e->rank++] = (uint32_t)c;
    }
}

/* Finds pivots in word column `word`, rows from e->rank on; afterwards column and multipliers are
 * those of the block's end. */
static void factor_word(struct echi_gf2_rows *e, size_t word, size_t begin)
{
    const struct echi_gf2_echelon *r = e->request;
    const size_t rows = r->a.rows, start = e->rank;
    uint64_t *column = e->column, *multipliers = e->m4r.multipliers;
    const int bits = (int)echi_min(64, r->columns - word * 64);
    for (int t = 0; t < bits && e->rank < r->max_rank && e->rank < rows; t++) {
        const size_t pivot = e->rank;
        size_t row = pivot;
        while (row < rows && !(column[row] >> t & 1)) row++;
        if (row == rows) continue;
        if (row != pivot) echi_gf2_swap_rows(&r->a, row, pivot, word);
        swap_numbers(e->from, row, pivot);
        const uint64_t own = column[row], sum = multipliers[row];
        column[row] = column[pivot];
        multipliers[row] = multipliers[pivot];
        column[pivot] = own;
        multipliers[pivot] = sum;
        const uint64_t taken = sum ^ (uint64_t)1 << (pivot - start);
        for (size_t i = r->reduced ? begin : pivot + 1; i < rows; i++) {
            const uint64_t has = 0 - (column[i] >> t & 1);
            column[i] ^= own & has;
            multipliers[i] ^= taken & has;
        }
        column[pivot] = own;
        multipliers[pivot] = sum;
        e->pivots[e->rank++] = (uint32_t)(word * 64 + (size_t)t);
    }
}

void echi_gf2_m4r(struct echi_gf2_rows *e)
{
    const struct echi_gf2_echelon *r = e->request;
    const ech_gf2 *a = &r->a;
    for (size_t i = 0; i < a->rows; i++) e->from[i] = (uint32_t)i;
    e->rank = 0;
    for (size_t word = 0; word * 64 < r->columns; word++) {
        const size_t start = e->rank, begin = r->reduced ? 0 : start;
        if (start == r->max_rank || start == a->rows) break;
        const uint64_t mask = mask_of(a, word);
        for (size_t i = begin; i < a->rows; i++) {
            e->column[i] = a->words[i * a->stride + word] & mask;
            e->m4r.multipliers[i] = 0;
        }
        factor_word(e, word, begin);
        if (e->rank == start) continue;
        for (size_t i = begin; i < a->rows; i++) {
            uint64_t *at = a->words + i * a->stride + word;
            *at = (*at & ~mask) | e->column[i];
        }
        echi_gf2_m4r_add(&e->m4r, a, start, e->rank - start, a, begin, a->rows, word + 1);
        if (report(e, (word + 1) * 64)) return;
    }
}
