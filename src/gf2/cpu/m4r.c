/*
 * gf2/cpu/m4r.c - products by tables of linear combinations of rows: the method of the four
 * Russians (Arlazarov, Dinic, Kronrod, Faradzhev, 1970).
 *
 * 64 rows of b are divided into groups of a few rows, and each group has a table of all its linear
 * combinations.  A row of the result adds one entry of each table, selected by the bits of its
 * multiplier; all tables at once, so that it is read and written once per 64 rows of b.  Strips of
 * 32 words are processed one after the other, so that the tables stay in the cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

enum { MOST_BITS = 8, ROWS = 64 /* of a task */ };

static int tables_of(size_t n, int bits)
{
    return (int)((n + (size_t)bits - 1) / (size_t)bits);
}

/* Each row adds one entry per table, and making a table takes time proportional to its number of
 * entries. */
static int choose_bits(size_t rows)
{
    int best = 1;
    double least = 0;
    for (int bits = 1; bits <= MOST_BITS; bits++) {
        const double cost = tables_of(64, bits) * ((double)rows + (double)(1 << bits));
        if (bits > 1 && cost >= least) continue;
        best = bits;
        least = cost;
    }
    return best;
}

void echi_gf2_m4r_plan(struct echi_gf2_m4r *r, struct echi_layout *layout, size_t rows)
{
    r->bits = choose_bits(rows);
    r->entries = echi_part(layout, (size_t)tables_of(64, r->bits) << r->bits,
                           ECHI_GF2_STRIP * sizeof(uint64_t));
    r->multipliers = echi_part(layout, rows, sizeof(uint64_t));
}

struct add {
    const struct echi_gf2_m4r *r;
    const ech_gf2 *b, *out;
    size_t first, n, begin, end;
    size_t word, width;
    struct echi_gf2_tables tables;
};

static void make_table(void *arg, size_t table, int thread)
{
    const struct add *a = arg;
    (void)thread;
    const int bits = a->r->bits;
    uint64_t *entries = a->r->entries + table * ((size_t)ECHI_GF2_STRIP << bits);
    const size_t row = table * (size_t)bits, words = echi_gf2_words(a->b->cols);
    const uint64_t last = echi_gf2_last_mask(a->b->cols);
    memset(entries, 0, ECHI_GF2_STRIP * sizeof *entries);
    for (size_t i = 0; i < echi_min((size_t)bits, a->n - row); i++) {
        uint64_t added[ECHI_GF2_STRIP] = { 0 };
        memcpy(added, a->b->words + (a->first + row + i) * a->b->stride + a->word,
               a->width * sizeof *added);
        if (a->word + a->width == words) added[a->width - 1] &= last;
        uint64_t *to = entries + ((size_t)ECHI_GF2_STRIP << i);
        for (size_t j = 0; j < (size_t)ECHI_GF2_STRIP << i; j += ECHI_GF2_STRIP)
            for (size_t w = 0; w < ECHI_GF2_STRIP; w++) to[j + w] = entries[j + w] ^ added[w];
    }
}

static void add_rows(void *arg, size_t task, int thread)
{
    const struct add *a = arg;
    (void)thread;
    const size_t row = a->begin + task * ROWS;
    a->r->isa->combine(&a->tables, a->r->multipliers + row, echi_min(ROWS, a->end - row),
                       a->out->words + row * a->out->stride + a->word, a->out->stride, a->width);
}

void echi_gf2_m4r_add(const struct echi_gf2_m4r *r, const ech_gf2 *b, size_t first, size_t n,
                      const ech_gf2 *out, size_t begin, size_t end, size_t word)
{
    const size_t words = echi_gf2_words(out->cols);
    struct add a = { .r = r, .b = b, .out = out, .first = first, .n = n };
    a.begin = begin;
    a.end = end;
    a.tables = (struct echi_gf2_tables){ r->entries, tables_of(n, r->bits), r->bits };
    for (a.word = word; a.word < words; a.word += a.width) {
        a.width = echi_min(ECHI_GF2_STRIP, words - a.word);
        const double rows = (double)(end - begin);
        const int threads = echi_gf2_threads(r->ctx, r->isa, rows * 64 * 64 * (double)a.width);
        echi_parallel(threads, (size_t)a.tables.tables, make_table, &a);
        echi_parallel(threads, (end - begin + ROWS - 1) / ROWS, add_rows, &a);
    }
}
