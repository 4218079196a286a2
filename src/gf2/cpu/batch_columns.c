/*
 * gf2/cpu/batch_columns.c - eliminations of matrices of at most 64 rows, with one word per column.
 *
 *     load       blocks of 64 x 64 bits are transposed; an order is then an order of words
 *     eliminate  the first non-pivot row with a one in a column becomes a pivot row; it is added
 *                to the other rows with a one there, in all columns at once (kernels.h)
 *     store      transposed back, and rows written in the order of their pivots
 *
 * The choice of the pivot row among several affects neither the reduced form nor rank, pivots or
 * solution.  Rows are therefore swapped only if a form is written that is not reduced, or in which
 * not all columns were searched for pivots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

#include <string.h>

enum { MOST_COLUMNS = ECHI_GF2_TURNED_COLUMNS + 8 /* a right-hand side, and full vectors */ };

struct turned {
    const struct echi_gf2_batch *request;
    const struct echi_gf2_isa *isa;
    const uint32_t *full; /* the columns' order; NULL: identity */
    uint64_t column[MOST_COLUMNS];
    uint8_t pivot_rows[64];
    uint32_t pivots[64];
    size_t rank;
    bool swapped;
};

static size_t place_of(const struct turned *t, size_t j)
{
    return t->full ? t->full[j] : j;
}

/* Loads all columns in the order of the matrix. */
static void turn_in(const struct turned *t, const uint64_t *words, uint64_t *column)
{
    const ech_gf2_batch *a = &t->request->a;
    for (size_t w = 0; w * 64 < a->cols; w++) {
        uint64_t *block = column + w * 64;
        for (size_t i = 0; i < a->rows; i++) block[i] = words[i * a->stride + w];
        memset(block + a->rows, 0, (64 - a->rows) * sizeof *block);
        t->isa->turn(block);
    }
}

static void load(struct turned *t, size_t i)
{
    const struct echi_gf2_batch *r = t->request;
    const size_t cols = r->a.cols;
    const uint64_t *words = r->a.words + i * r->a.batch_stride;
    if (t->full) {
        uint64_t as_they_lie[ECHI_GF2_TURNED_COLUMNS];
        turn_in(t, words, as_they_lie);
        for (size_t j = 0; j < cols; j++) t->column[j] = as_they_lie[t->full[j]];
    } else {
        turn_in(t, words, t->column);
    }
    memset(t->column + cols, 0, 8 * sizeof *t->column); /* padding that the last vector reads */
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): there are 1 to 64 rows */
    if (r->b) t->column[cols] = r->b[i] & ~(uint64_t)0 >> (64 - r->a.rows);
}

static void store(struct turned *t, size_t i)
{
    const struct echi_gf2_batch *r = t->request;
    const ech_gf2_batch *a = &r->a;
    uint64_t *words = r->out + i * a->batch_stride;
    uint64_t as_they_lie[ECHI_GF2_TURNED_COLUMNS];
    const size_t whole = (a->cols + 63) / 64 * 64;
    for (size_t j = 0; j < a->cols; j++) as_they_lie[place_of(t, j)] = t->column[j];
    memset(as_they_lie + a->cols, 0, (whole - a->cols) * sizeof *as_they_lie);
    for (size_t w = 0; w * 64 < a->cols; w++) {
        uint64_t *block = as_they_lie + w * 64;
        const uint64_t mask = (w + 1) * 64 <= a->cols ? ~(uint64_t)0 : echi_gf2_last_mask(a->cols);
        t->isa->turn(block);
        for (size_t k = 0; k < a->rows; k++) {
            uint64_t *word = &words[k * a->stride + w];
            const size_t from = k < t->rank ? t->pivot_rows[k] : k;
            *word = (*word & ~mask) | (t->swapped || k < t->rank ? block[from] : 0);
        }
    }
}

static void give_solution(const struct turned *t, size_t i)
{
    const struct echi_gf2_batch *r = t->request;
    uint64_t *x = r->x + i * echi_gf2_words(r->a.cols), left = t->column[r->a.cols];
    memset(x, 0, echi_gf2_words(r->a.cols) * sizeof *x);
    for (size_t k = 0; k < t->rank; k++) left &= ~((uint64_t)1 << t->pivot_rows[k]);
    r->solvable[i] = left == 0;
    if (left) return;
    for (size_t k = 0; k < t->rank; k++) {
        const size_t c = place_of(t, t->pivots[k]);
        x[c / 64] |= (t->column[r->a.cols] >> t->pivot_rows[k] & 1) << c % 64;
    }
}

bool echi_gf2_batch_columns_can(const struct echi_gf2_batch *r)
{
    return r->a.rows > 0 && r->a.rows <= 64 && r->a.cols > 0 &&
           r->a.cols <= ECHI_GF2_TURNED_COLUMNS;
}

void echi_gf2_batch_columns(const struct echi_gf2_batch *r, const struct echi_gf2_isa *isa,
                            size_t i, const uint32_t *full)
{
    struct turned t;
    t.request = r;
    t.isa = isa;
    t.full = full;
    load(&t, i);
    const bool whole = r->columns == r->a.cols && r->max_rank >= echi_min(r->a.rows, r->a.cols);
    const struct echi_gf2_turned how = { .rows = r->a.rows,
                                         .limit = r->columns,
                                         .most = r->max_rank,
                                         .swaps = r->out && !(r->reduced && whole),
                                         .reduced = r->out ? r->reduced : r->b != NULL };
    t.rank = isa->eliminate(t.column, r->a.cols + (r->b != NULL), &how, t.pivots, t.pivot_rows);
    t.swapped = how.swaps;
    if (r->rank) r->rank[i] = (uint32_t)t.rank;
    uint32_t *pivots = r->pivots ? r->pivots + i * echi_min(r->a.rows, r->a.cols) : NULL;
    for (size_t k = 0; pivots && k < t.rank; k++) pivots[k] = (uint32_t)place_of(&t, t.pivots[k]);
    if (r->out) store(&t, i);
    if (r->b) give_solution(&t, i);
}
