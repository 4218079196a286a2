/*
 * gf2/cuda/batch.h - definitions that host and device code of batched eliminations share: sizes and
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_BATCH_H
#define ECHI_GF2_CUDA_BATCH_H

#include <stdint.h>

enum {
    BATCH_LANE_THREADS = 128, /* of a block whose lanes have one row each ... */
    BATCH_LANE_ROWS = 32,     /* ... of a matrix of at most this many rows ... */
    BATCH_LANE_WORDS = 4,     /* ... of at most this many words of 32 bits */
    BATCH_ROWS = 1024,        /* maximum rows of a matrix whose rows are in threads' registers
                                 ... */
    BATCH_WORDS = 64,         /* ... and maximum words of 32 bits, with half as many rows */
    BATCH_PANEL = 32,         /* columns that are eliminated as a unit */
    BATCH_GROUP = 5,          /* pivots of a table */
    BATCH_GROUPS = (BATCH_PANEL + BATCH_GROUP - 1) / BATCH_GROUP,
    BATCH_ENTRIES = 1 << BATCH_GROUP,
    BATCH_WINDOW = 64,           /* rows in which one warp searches pivots */
    BATCH_STAGE_WORDS = 8,       /* words of 32 bits of a row that a warp loads or stores at a
                                    time */
    BATCH_MEMORY_THREADS = 1024, /* of a block that has a matrix in memory */
    BATCH_STRIP = 32,            /* words of 64 bits that it adds at a time */
    BATCH_STRIP_ROWS = 4,        /* rows of a warp at a time */
    BATCH_SLOTS = 264            /* maximum number of matrices in the workspace */
};

/* One panel, in shared memory: computed by one warp and used by all. */
struct batch_panel {
    uint32_t sums[BATCH_PANEL];      /* the current pivot row, as a sum of original pivot rows */
    uint32_t chosen[BATCH_PANEL];    /* ... when it was chosen */
    uint32_t by_column[BATCH_PANEL]; /* the sums of the pivot of each column; 0: it has none */
    uint32_t found;                  /* number of pivots */
    uint32_t b;                      /* the bits of the pivot rows in b */
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
    uint32_t width; /* columns to eliminate: the requested columns of out, otherwise columns */
    uint32_t reduced;
    /* For matrices in memory: */
    uint32_t panel;     /* columns per panel: 1 is plain elimination */
    uint32_t in_shared; /* the matrix is in shared memory, otherwise in a slot of the workspace
                           ... */
    uint32_t lists_in_shared; /* ... and so are the lists of its rows */
    uint64_t slot_words;      /* words of 64 bits of a slot: the matrix, the lists */
    uint64_t *slots;
};

#endif
