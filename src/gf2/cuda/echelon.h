/*
 * gf2/cuda/echelon.h - definitions that host and device code of the GPU elimination share: sizes
 * and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_ECHELON_H
#define ECHI_GF2_CUDA_ECHELON_H

#include <stdint.h>

enum {
    GF2_SLOTS = 8,     /* panels of 64 columns per update of the matrix */
    GF2_DEPTH = 512,   /* their rows */
    GF2_THREADS = 256, /* of most kernels */
    GF2_PANEL_THREADS = 512,
    GF2_WINDOW_MORE = 64, /* gf2_window has 512 rows and that many more */
    GF2_WINDOW_ROWS = GF2_DEPTH + GF2_WINDOW_MORE,
    GF2_WINDOW_THREADS = GF2_WINDOW_ROWS / 3 * 4,
    GF2_WINDOW = 128,     /* rows that are searched first for a panel's pivots */
    GF2_APPLY_WORDS = 16, /* of a row, for a block of gf2_apply */
    GF2_APPLY_BYTES = GF2_APPLY_WORDS * GF2_DEPTH * 8,
    GF2_APPLY_ROWS = 512,  /* its rows are a multiple of this */
    GF2_TABLE_WORDS = 2,   /* of a row, for a block of gf2_tables */
    GF2_TABLE_ROWS = 2048, /* its rows */
    GF2_GAUSS_THREADS = 512
};

/* The results of a panel, for the kernels after it; one of each slot. */
struct gf2_state {
    uint64_t slots[GF2_SLOTS]; /* the columns of a slot's panel that have pivots */
    uint32_t rank;
    uint32_t begin; /* the rank before the first of the slots */
    uint32_t first; /* the rank before this panel */
    uint32_t count; /* its pivots */
    uint32_t moves; /* rows that move to make space for them */
    uint32_t unused;
    uint32_t from[64];               /* original rows of the pivots */
    uint32_t source[64];             /* source of a moved row */
    uint32_t target[64];             /* and its destination */
    uint64_t sum[64][GF2_SLOTS + 1]; /* the rows that a pivot row is a sum of: rows of earlier slots
                                        and the rows in `from`; by columns */
};

/* What the blocks of a gf2_step share; zero before and after, except done_before. */
struct gf2_join {
    uint64_t rest;        /* the OR of the panel's columns beyond the window */
    uint32_t done;        /* the number of blocks that have brought their rows up to date */
    uint32_t done_before; /* gf2_window has found the pivots of up to 8 panels before this one */
};

/* The results of gf2_window, for gf2_window_rows. */
struct gf2_window {
    uint64_t sum[GF2_SLOTS][GF2_DEPTH];    /* rows of B^-1, by words */
    uint64_t upper[GF2_SLOTS * GF2_DEPTH]; /* of an echelon form: the bits of the pivot rows */
    uint32_t from[GF2_DEPTH];              /* original rows of the pivots */
    uint32_t source[GF2_DEPTH], target[GF2_DEPTH]; /* of rows that move */
    uint32_t moves;
    uint32_t rank; /* before these panels */
};

struct gf2_echelon_args {
    uint64_t *a;
    uint64_t stride;
    uint64_t last_mask;          /* the valid bits of a row's last word */
    uint64_t columns;            /* number of columns that are searched for pivots */
    uint32_t rows, words, limit; /* limit: maximum rank */
    uint32_t reduced, quick;
    uint32_t *rank, *pivots, *rows_from;
    struct gf2_state *state; /* [GF2_SLOTS] */
    struct gf2_join *join;
    struct gf2_window *window;
    uint64_t *strip;     /* [rows]: the current values of the panel's columns */
    uint64_t *left;      /* [GF2_SLOTS][rows]: multipliers of each row for the rows of the slots */
    uint64_t *right;     /* [words][GF2_DEPTH]: the rows of the slots, in word columns */
    uint32_t *packed;    /* the same as chunks of bits.cuh: [words / 4][2][2048] */
    uint32_t panel;      /* its first column is 64 panel; its slot is panel % GF2_SLOTS */
    uint32_t strips;     /* blocks of gf2_step that have rows, of gf2_rows that have words */
    uint32_t apply_rows; /* of a block of gf2_apply */
    uint32_t column;     /* of gf2_find and gf2_add */
    uint32_t partial;    /* gf2_apply: only if gf2_window has found some of 8 panels */
};

#endif
