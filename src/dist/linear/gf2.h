/*
 * dist/linear/gf2.h - an elimination over GF(2) whose columns are distributed block-cyclically.
 *
 * Every rank has all rows of some columns, so a rank that has the columns of a block finds its
 * pivots without the others.  A matrix that is divided by rows would need a message per pivot.
 *
 *     block j     | 0 | 1 | 2 | 3 | 4 | 5 | ...        of `block` columns
 *     rank        | 0 | 1 | 2 | 0 | 1 | 2 | ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIST_LINEAR_GF2_H
#define ECHI_DIST_LINEAR_GF2_H

#include "dist/linear/linear.h"
#include "gf2/call.h"

enum { ECHI_GF2_ARRAYS = 24 };

/* What the owner of a block computes and every rank applies: r pivots.
 *
 *     rows before   += factor (upper part, reduced form only) x the pivot rows
 *     pivot rows     = factor (middle part, r x r) x the pivot rows
 *     rows after    += factor (lower part) x the pivot rows
 *
 * after the rows from `rank` on have been permuted. */
struct echi_gf2_panel {
    uint32_t r, span;         /* span: rows from `rank` on that may move */
    uint64_t *factor;         /* [rows][echi_gf2_words(r)] */
    uint32_t *order, *pivots; /* [rows - rank], [r]: in memory of the device */
};

struct echi_gf2_dist {
    struct echi_dist d;
    ech_ctx *side;            /* factors a block while ctx applies the one before; NULL: ctx does */
    size_t rows, cols, block; /* cols: of all ranks */
    size_t own, more;         /* columns of a, and of b, on this rank */
    size_t a_words, words;    /* of a row of a, and of a and b */
    bool reduced, rank_only;
    const char *algorithm;
    uint64_t *m;                    /* [rows][words], in memory of the device: a, then b */
    uint32_t rank, *pivots;         /* pivots [min(rows, cols)] in host memory */
    struct echi_gf2_panel panel[2]; /* the current one and the next */
    uint64_t *strip, *left, *right, *inverse, *top, *moved;
    uint32_t *from, *to; /* of rows that move */
    uint32_t *host;      /* [3 * rows] */
    struct echi_linear_memory array[ECHI_GF2_ARRAYS];
    int arrays;
};

/* Memory of the device that lives as long as the call, filled with zeros. */
ech_status echi_gf2_dist_allocate(struct echi_gf2_dist *g, size_t count, size_t bytes,
                                  void *pointer);
/* Allocates everything and copies a and b (NULL: none), which have been checked, to m. */
ech_status echi_gf2_dist_begin(struct echi_gf2_dist *g, const ech_gf2 *a, const ech_gf2 *b);
/* Transforms m to echelon form. */
ech_status echi_gf2_dist_eliminate(struct echi_gf2_dist *g);
void echi_gf2_dist_end(struct echi_gf2_dist *g);

/* Columns from word `word` of m on. */
static inline ech_gf2 echi_gf2_dist_view(const struct echi_gf2_dist *g, size_t row, size_t word,
                                         size_t rows, size_t cols)
{
    return (ech_gf2){ .size = sizeof(ech_gf2),
                      .words = g->m + row * g->words + word,
                      .rows = rows,
                      .cols = cols,
                      .stride = g->words };
}

static inline ech_gf2 echi_gf2_matrix(uint64_t *words, size_t rows, size_t cols)
{
    return (ech_gf2){ .size = sizeof(ech_gf2),
                      .words = words,
                      .rows = rows,
                      .cols = cols,
                      .stride = echi_gf2_words(cols) };
}

#endif
