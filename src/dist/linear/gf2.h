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

enum {
    ECHI_GF2_ARRAYS = 32,
    ECHI_GF2_PANELS = 4,     /* panels in memory: the update may be that many blocks behind */
    ECHI_GF2_MORE_ROWS = 256 /* searched first, beyond the columns of a block */
};

/* What the owner of a block computes and every rank applies: r pivots.
 *
 *     rows before   += factor (upper part, reduced form only) x the pivot rows
 *     pivot rows     = factor (middle part, r x r) x the pivot rows
 *     rows after    += factor (lower part) x the pivot rows
 *
 * after the pivot rows have moved to the rows from `rank` on, and the other rows that were there
 * to their places.  Rows count from `rank` on. */
struct echi_gf2_panel {
    uint32_t r, moves;
    uint64_t *factor; /* [rows][echi_gf2_words(r)] */
    /* In memory of the device, one after the other, so that they are one message: */
    uint32_t *pivots;    /* [block]: columns of the block */
    uint32_t *rows;      /* [block]: rows that become pivot rows */
    uint32_t *from, *to; /* [block]: other rows that move */
    uint32_t *count;     /* [1]: moves */
};

/* A context with the memory that its steps need.  There are two, whose work overlaps on a GPU. */
struct echi_gf2_lane {
    ech_ctx *ctx;
    uint64_t *top, *moved; /* [block][words]: pivot rows, and rows that move */
    unsigned tiles, spare; /* as in struct echi_gf2_mul */
};

struct echi_gf2_dist {
    struct echi_dist d;
    ech_ctx *side;            /* the context of `ahead`; NULL: that of d */
    size_t rows, cols, block; /* cols: of all ranks */
    size_t own, more;         /* columns of a, and of b, on this rank */
    size_t a_words, words;    /* of a row of a, and of a and b */
    bool reduced, rank_only;
    bool direct; /* ranks copy panels from each other's memory */
    const char *algorithm;
    uint64_t *m;                /* [rows][words], in memory of the device: a, then b */
    uint32_t rank, *pivots;     /* pivots [min(rows, cols)] in host memory */
    struct echi_gf2_lane ahead; /* factors the next block */
    struct echi_gf2_lane rest;  /* applies panels to the other columns */
    struct echi_gf2_panel panel[ECHI_GF2_PANELS]; /* block j is in panel[j % ECHI_GF2_PANELS] */
    void *applied[ECHI_GF2_PANELS];               /* events: `rest` has applied a panel */
    void *current[2]; /* events: `rest` has applied all panels before block j - 1 to block j */
    uint64_t *strip, *left, *right, *inverse; /* of the factorization */
    uint32_t *order, *host;
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

/* Factors block j, from row `rank` on: gf2_factor.c. */
ech_status echi_gf2_dist_factor(struct echi_gf2_dist *g, const struct echi_gf2_lane *lane, size_t j,
                                struct echi_gf2_panel *p);

/* A request of the operation "gf2", whose arrays are in memory of the device. */
ech_status echi_gf2_dist_run(ech_ctx *ctx, const struct echi_gf2 *request);
/* out = a b, or out += a b; any of them may be empty, except that a has columns. */
ech_status echi_gf2_dist_product(const struct echi_gf2_lane *lane, const ech_gf2 *a,
                                 const ech_gf2 *b, const ech_gf2 *out, bool add);
/* Moves the rows that have to make room for pivot rows; moved: memory for them. */
ech_status echi_gf2_dist_move_rows(const struct echi_gf2_lane *lane, const struct echi_gf2_panel *p,
                                   ech_gf2 *rows, uint64_t *moved);

/* ---- Blocks ---- */

static inline size_t echi_gf2_dist_blocks(const struct echi_gf2_dist *g)
{
    return g->cols / g->block + (g->cols % g->block != 0);
}

static inline int echi_gf2_dist_owner(const struct echi_gf2_dist *g, size_t j)
{
    return (int)(j % (size_t)g->d.ranks);
}

static inline size_t echi_gf2_dist_width(const struct echi_gf2_dist *g, size_t j)
{
    const size_t left = g->cols - j * g->block;
    return left < g->block ? left : g->block;
}

/* The first word of this rank's columns of block j or of the blocks after it. */
static inline size_t echi_gf2_dist_word(const struct echi_gf2_dist *g, size_t j)
{
    const size_t ranks = (size_t)g->d.ranks, rank = (size_t)g->d.rank;
    const size_t number = j > rank ? (j - rank + ranks - 1) / ranks : 0;
    const size_t word = number * (g->block / 64);
    return word < g->a_words ? word : g->a_words;
}

/* The number of rows that are searched first. */
static inline size_t echi_gf2_dist_few(const struct echi_gf2_dist *g)
{
    return g->block + ECHI_GF2_MORE_ROWS;
}

/* ---- Matrices ---- */

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
