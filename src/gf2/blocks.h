/*
 * gf2/blocks.h - an elimination over GF(2) by blocks of columns, on one device or distributed over
 * ranks.
 *
 * Every rank has all rows of some columns, so a rank that has the columns of a block finds its
 * pivots without the others.  A matrix that is divided by rows would need a message per pivot.
 *
 *     block j     | 0 | 1 | 2 | 3 | 4 | 5 | ...        of `block` columns
 *     rank        | 0 | 1 | 2 | 0 | 1 | 2 | ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_BLOCKS_H
#define ECHI_GF2_BLOCKS_H

#include "gf2/call.h"

enum {
    ECHI_GF2_ARRAYS = 32,
    ECHI_GF2_PANELS = 4,           /* panels in memory: the update may be that many blocks behind */
    ECHI_GF2_MORE_ROWS = 256,      /* searched first, beyond the columns of a block */
    ECHI_GF2_SMALL_BYTES = 1 << 20 /* for copies of results that calls return in host memory */
};

/* What the owner of a block finds and every rank applies: r pivots, with the r x r matrix B of the
 * pivot rows in the pivot columns.
 *
 *     reduced rows   = B^-1 x the pivot rows
 *     rows before   += their pivot columns x the reduced rows (reduced form only)
 *     rows after    += their pivot columns x the reduced rows
 *     pivot rows     = the reduced rows; of the echelon form: T x the pivot rows
 *
 * after the pivot rows have moved to the rows from `rank` on, and the other rows that were there
 * to their places.  Rows count from `rank` on. */
struct echi_gf2_panel {
    uint32_t r, moves;
    /* [echi_gf2_words(r)] each: pivot columns of rows before (reduced form), B^-1, pivot columns of
     * rows after, T (echelon form) */
    uint64_t *factor;
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

struct echi_gf2_blocks;

/* How ranks share panels.  On one device there is no such struct. */
struct echi_gf2_exchange {
    /* The ranks agree on the status; all know r and moves of the panel of block j then. */
    ech_status (*publish)(struct echi_gf2_blocks *g, ech_status status, size_t j);
    /* Queues copies of that panel on `ahead`, if it is not in memory of the device yet. */
    ech_status (*receive)(struct echi_gf2_blocks *g, size_t j);
    ech_status (*agree)(struct echi_gf2_blocks *g, ech_status status);
};

struct echi_gf2_blocks {
    ech_ctx *ctx;
    ech_ctx *side;                            /* the context of `ahead`; NULL: ctx */
    int number, ranks;                        /* of this rank; of all */
    const struct echi_gf2_exchange *exchange; /* NULL: one device */
    size_t rows, cols, block;                 /* cols: of all ranks */
    size_t limit;                             /* the maximum rank */
    size_t bits; /* columns of m: the own ones, then others, which begin with a word */
    size_t own_words, words, stride; /* of a row: of own columns; of all; to the next row */
    bool reduced, rank_only;
    const char *algorithm;        /* of the search of pivots */
    uint64_t *m;                  /* [rows][stride], in memory of the device */
    uint32_t rank;                /* so far */
    uint32_t *pivots, *rows_from; /* [min(rows, cols)], [rows], in host memory; may be NULL */
    uint32_t *host;               /* [rows + 3 block + 1], in host memory */
    uint32_t *before;             /* [2 block], in host memory, with rows_from */
    bool deficient, scattered;    /* the last block of this rank had columns without a pivot; its
                                     pivots were not all in the first rows */
    struct echi_gf2_lane ahead;   /* factors the next block */
    struct echi_gf2_lane rest;    /* applies panels to the other columns */
    struct echi_gf2_panel panel[ECHI_GF2_PANELS]; /* block j is in panel[j % ECHI_GF2_PANELS] */
    void *applied[ECHI_GF2_PANELS];               /* events: `rest` has applied a panel */
    void *current[2]; /* events: `rest` has applied all panels before block j - 1 to block j */
    uint64_t *strip, *left, *right, *inverse; /* of the factorization */
    uint32_t *order;
    struct {
        void *pointer;
        size_t bytes;
    } array[ECHI_GF2_ARRAYS];
    int arrays;
    struct echi_layout layout; /* of the arrays, if ctx is NULL */
};

/* Memory of the device that lives as long as the call, filled with zeros. */
ech_status echi_gf2_blocks_allocate(struct echi_gf2_blocks *g, size_t count, size_t bytes,
                                    void *pointer);
/* Allocates everything except m.  `overlaps`: with a second context. */
ech_status echi_gf2_blocks_begin(struct echi_gf2_blocks *g, bool overlaps);
/* Transforms m to echelon form. */
ech_status echi_gf2_blocks_eliminate(struct echi_gf2_blocks *g);
void echi_gf2_blocks_end(struct echi_gf2_blocks *g);

/* An elimination on one device with streams, whose arrays are on the device: the size of its
 * workspace, and the elimination, which waits for the device. */
ech_status echi_gf2_blocks_workspace(const struct echi_backend *backend,
                                     const struct echi_gf2_echelon *request, size_t *bytes);
ech_status echi_gf2_blocks_run(ech_ctx *ctx, const struct echi_gf2_echelon *request, void *work,
                               size_t work_bytes);

/* Factors block j, from row `rank` on: blocks_factor.c. */
ech_status echi_gf2_blocks_factor(struct echi_gf2_blocks *g, const struct echi_gf2_lane *lane,
                                  size_t j, struct echi_gf2_panel *p);
/* The largest workspace of the calls that a factorization makes. */
ech_status echi_gf2_blocks_factor_need(const struct echi_backend *backend,
                                       const struct echi_gf2_blocks *g, size_t *bytes);

/* A request of the operation "gf2", whose arrays are in memory of the device. */
ech_status echi_gf2_blocks_step(ech_ctx *ctx, const struct echi_gf2 *request);
/* out = a b, or out += a b; any of them may be empty, except that a has columns. */
ech_status echi_gf2_blocks_product(const struct echi_gf2_lane *lane, const ech_gf2 *a,
                                   const ech_gf2 *b, const ech_gf2 *out, bool add);
/* Moves the rows that have to make room for pivot rows; moved: memory for them. */
ech_status echi_gf2_blocks_move_rows(const struct echi_gf2_lane *lane,
                                     const struct echi_gf2_panel *p, ech_gf2 *rows,
                                     uint64_t *moved);
/* The panel of block j is no longer used. */
ech_status echi_gf2_blocks_await(struct echi_gf2_blocks *g, size_t j);

/* ---- Blocks ---- */

static inline struct echi_gf2_panel *echi_gf2_blocks_panel(struct echi_gf2_blocks *g, size_t j)
{
    return &g->panel[g->side ? j % ECHI_GF2_PANELS : 0];
}

static inline size_t echi_gf2_blocks_count(const struct echi_gf2_blocks *g)
{
    return g->cols / g->block + (g->cols % g->block != 0);
}

static inline int echi_gf2_blocks_owner(const struct echi_gf2_blocks *g, size_t j)
{
    return (int)(j % (size_t)g->ranks);
}

static inline size_t echi_gf2_blocks_width(const struct echi_gf2_blocks *g, size_t j)
{
    const size_t left = g->cols - j * g->block;
    return left < g->block ? left : g->block;
}

/* The first word of this rank's columns of block j or of the blocks after it. */
static inline size_t echi_gf2_blocks_word(const struct echi_gf2_blocks *g, size_t j)
{
    const size_t ranks = (size_t)g->ranks, rank = (size_t)g->number;
    const size_t number = j > rank ? (j - rank + ranks - 1) / ranks : 0;
    const size_t word = number * (g->block / 64);
    return word < g->own_words ? word : g->own_words;
}

/* The number of rows that are searched first. */
static inline size_t echi_gf2_blocks_few(const struct echi_gf2_blocks *g)
{
    return g->block + ECHI_GF2_MORE_ROWS;
}

/* ---- Matrices ---- */

/* Columns from word `word` of m on. */
static inline ech_gf2 echi_gf2_blocks_view(const struct echi_gf2_blocks *g, size_t row, size_t word,
                                           size_t rows, size_t cols)
{
    return (ech_gf2){ .size = sizeof(ech_gf2),
                      .words = g->m + row * g->stride + word,
                      .rows = rows,
                      .cols = cols,
                      .stride = g->stride };
}

static inline ech_gf2 echi_gf2_matrix(uint64_t *words, size_t rows, size_t cols)
{
    return (ech_gf2){ .size = sizeof(ech_gf2),
                      .words = words,
                      .rows = rows,
                      .cols = cols,
                      .stride = echi_gf2_words(cols) };
}

/* The parts of a panel's factor. */
struct echi_gf2_factor {
    ech_gf2 before, inverse, after, transform;
};

static inline struct echi_gf2_factor echi_gf2_blocks_parts(const struct echi_gf2_blocks *g,
                                                           const struct echi_gf2_panel *p)
{
    const size_t r = p->r, stride = echi_gf2_words(r), above = g->reduced ? g->rank : 0;
    const size_t below = g->rows - g->rank - r;
    uint64_t *inverse = p->factor + above * stride, *after = inverse + r * stride;
    return (struct echi_gf2_factor){ .before = echi_gf2_matrix(p->factor, above, r),
                                     .inverse = echi_gf2_matrix(inverse, r, r),
                                     .after = echi_gf2_matrix(after, below, r),
                                     .transform = echi_gf2_matrix(after + below * stride, r, r) };
}

#endif
