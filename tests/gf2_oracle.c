/*
 * gf2_oracle.c - matrices over GF(2) with one byte per bit, and textbook elimination.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2_case.h"

#include <stdlib.h>
#include <string.h>

struct bits bits_make(size_t rows, size_t cols)
{
    struct bits m = { .rows = rows, .cols = cols, .at = calloc(rows * cols + 1, 1) };
    if (!m.at) abort();
    return m;
}

struct bits bits_copy(const struct bits *from)
{
    struct bits m = bits_make(from->rows, from->cols);
    memcpy(m.at, from->at, m.rows * m.cols);
    return m;
}

void bits_free(struct bits *m)
{
    free(m->at);
    m->at = NULL;
}

bool bits_same(const struct bits *a, const struct bits *b)
{
    return a->rows == b->rows && a->cols == b->cols && memcmp(a->at, b->at, a->rows * a->cols) == 0;
}

static void fill_random(struct bits *m, uint64_t one_in, struct rng *rng)
{
    for (size_t i = 0; i < m->rows * m->cols; i++) m->at[i] = rng_below(rng, one_in) == 0;
}

static struct bits of_rank(size_t rows, size_t cols, size_t rank, struct rng *rng)
{
    struct bits a = bits_make(rows, rank), b = bits_make(rank, cols);
    fill_random(&a, 2, rng);
    fill_random(&b, 2, rng);
    struct bits m = bits_mul(&a, &b);
    bits_free(&a);
    bits_free(&b);
    return m;
}

struct bits bits_of(const char *dist, size_t rows, size_t cols, uint64_t seed)
{
    struct rng rng = { seed };
    const size_t least = rows < cols ? rows : cols;
    if (strcmp(dist, "few") == 0) return of_rank(rows, cols, least < 3 ? least : 3, &rng);
    if (strcmp(dist, "half") == 0) return of_rank(rows, cols, (least + 1) / 2, &rng);
    struct bits m = bits_make(rows, cols);
    if (strcmp(dist, "zero") == 0) return m;
    if (strcmp(dist, "identity") == 0) {
        for (size_t i = 0; i < least; i++) m.at[i * cols + i] = 1;
        return m;
    }
    if (strcmp(dist, "ones") == 0) {
        memset(m.at, 1, rows * cols);
        return m;
    }
    fill_random(&m, strcmp(dist, "sparse") == 0 ? 20 : 2, &rng);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            uint8_t *bit = &m.at[i * cols + j];
            if (strcmp(dist, "upper") == 0) *bit = i == j || (*bit && j > i);
            if (strcmp(dist, "repeat") == 0) *bit = m.at[i / 3 * cols + j / 2];
            if (strcmp(dist, "last") == 0) *bit = *bit && j + 5 >= cols;
        }
    return m;
}

/* to and from do not overlap, so the compiler can vectorise the loop. */
static void add_bits(uint8_t *restrict to, const uint8_t *restrict from, size_t count)
{
    for (size_t j = 0; j < count; j++) to[j] ^= from[j];
}

struct bits bits_mul(const struct bits *a, const struct bits *b)
{
    struct bits out = bits_make(a->rows, b->cols);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t k = 0; k < a->cols; k++)
            if (a->at[i * a->cols + k])
                add_bits(out.at + i * b->cols, b->at + k * b->cols, b->cols);
    return out;
}

struct bits bits_transpose(const struct bits *a)
{
    struct bits out = bits_make(a->cols, a->rows);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++) out.at[j * a->rows + i] = a->at[i * a->cols + j];
    return out;
}

static void swap_rows(struct bits *m, size_t i, size_t k)
{
    for (size_t j = 0; j < m->cols; j++) {
        uint8_t bit = m->at[i * m->cols + j];
        m->at[i * m->cols + j] = m->at[k * m->cols + j];
        m->at[k * m->cols + j] = bit;
    }
}

static void add_row(struct bits *m, size_t from, size_t to)
{
    add_bits(m->at + to * m->cols, m->at + from * m->cols, m->cols);
}

uint32_t bits_echelon(struct bits *m, const uint32_t *order, size_t columns, size_t max_rank,
                      bool reduced, uint32_t *pivots, uint32_t *rows_from, struct bits *t)
{
    size_t rank = 0;
    for (size_t i = 0; i < m->rows; i++) {
        if (rows_from) rows_from[i] = (uint32_t)i;
        if (t) t->at[i * m->rows + i] = 1;
    }
    for (size_t c = 0; c < columns && rank < m->rows && rank < max_rank; c++) {
        const size_t col = order ? order[c] : c;
        size_t first = rank;
        while (first < m->rows && !m->at[first * m->cols + col]) first++;
        if (first == m->rows) continue;
        swap_rows(m, rank, first);
        if (t) swap_rows(t, rank, first);
        if (rows_from) {
            uint32_t from = rows_from[rank];
            rows_from[rank] = rows_from[first];
            rows_from[first] = from;
        }
        for (size_t i = reduced ? 0 : rank + 1; i < m->rows; i++) {
            if (i == rank || !m->at[i * m->cols + col]) continue;
            add_row(m, rank, i);
            if (t) add_row(t, rank, i);
        }
        if (pivots) pivots[rank] = (uint32_t)col;
        rank++;
    }
    return (uint32_t)rank;
}

struct bits bits_kernel(const struct bits *a)
{
    struct bits e = bits_copy(a);
    uint32_t *pivots = malloc((a->rows + 1) * sizeof *pivots);
    if (!pivots) abort();
    uint32_t rank = bits_echelon(&e, NULL, a->cols, a->rows, true, pivots, NULL, NULL);
    struct bits basis = bits_make(a->cols - rank, a->cols);
    for (size_t f = 0, next = 0, i = 0; f < a->cols; f++) {
        if (next < rank && pivots[next] == f) {
            next++;
            continue;
        }
        basis.at[i * a->cols + f] = 1;
        for (size_t r = 0; r < rank; r++) basis.at[i * a->cols + pivots[r]] = e.at[r * a->cols + f];
        i++;
    }
    free(pivots);
    bits_free(&e);
    return basis;
}

void shuffle(uint32_t *order, size_t count, struct rng *rng)
{
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t j = rng_below(rng, i);
        uint32_t other = order[j];
        order[j] = order[i - 1];
        order[i - 1] = other;
    }
}
