/*
 * gf2/cuda/batch.h - what the two halves of the GPU's many small eliminations agree on: sizes and
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_BATCH_H
#define ECHI_GF2_CUDA_BATCH_H

#include <stdint.h>

enum {
    BATCH_LANE_THREADS = 128, /* of a block whose lanes have a row each ... */
    BATCH_LANE_ROWS = 32,     /* ... of a matrix of at most so many rows ... */
    BATCH_LANE_WORDS = 4,     /* ... of at most so many words of 32 bits */
    BATCH_ROWS = 1024,        /* most rows of a matrix whose rows are threads' registers ... */
    BATCH_WORDS = 64,         /* ... and most words of 32 bits, where there are half as many rows */
    BATCH_PANEL = 32,         /* columns that are eliminated together */
    BATCH_GROUP = 5,          /* pivots of a table */
    BATCH_GROUPS = (BATCH_PANEL + BATCH_GROUP - 1) / BATCH_GROUP,
    BATCH_ENTRIES = 1 << BATCH_GROUP,
    BATCH_WINDOW = 64,           /* rows that one warp seeks pivots among */
    BATCH_STAGE_WORDS = 8,       /* of 32 bits of a row, that a warp loads or stores at a time */
    BATCH_MEMORY_THREADS = 1024, /* of a block that has a matrix in memory */
    BATCH_STRIP = 32,            /* words of 64 bits that it adds at a time */
    BATCH_STRIP_ROWS = 4,        /* rows of a warp at a time */
    BATCH_SLOTS = 264            /* most matrices of the workspace */
};

/* One panel, in shared memory: what one warp finds out and all then do. */
struct batch_panel {
    uint32_t sums[BATCH_PANEL];      /* the pivot row now, as a sum of pivot rows as they were */
    uint32_t chosen[BATCH_PANEL];    /* ... when it was chosen */
    uint32_t by_column[BATCH_PANEL]; /* the sums of the pivot of each column; 0: it has none */
    uint32_t found;                  /* pivots */
    uint32_t b;                      /* what pivot rows had in b */
    uint32_t query;                  /* columns to add up in rows outside of the window; 0: none */
    uint32_t best;                   /* the first such row with a one */
};

struct gf2_batch_args {
    const uint64_t *a;
    uint64_t *out;
    const uint32_t *order;
    uint32_t *rank, *pivots;
    const uint64_t *b;
    uint64_t *x;
    uint8_t *solvable;
    uint64_t *data_error;
    uint64_t count, stride, step; /* of matrices, of words */
    uint32_t rows, cols;
    uint32_t columns, max_rank;
    uint32_t width; /* columns that are looked at: those that are wanted of out, else columns */
    uint32_t reduced;
    /* Matrices in memory */
    uint32_t panel;     /* columns eliminated together: 1 is plain elimination */
    uint32_t in_shared; /* the matrix is in shared memory, else in a slot of the workspace ... */
    uint32_t lists_in_shared; /* ... and so are the lists of its rows */
    uint64_t slot_words;      /* words of 64 bits of a slot: the matrix, the lists */
    uint64_t *slots;
};

#endif
