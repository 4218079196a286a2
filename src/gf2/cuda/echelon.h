/*
 * gf2/cuda/echelon.h - what the two halves of the GPU elimination agree on: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_ECHELON_H
#define ECHI_GF2_CUDA_ECHELON_H

#include <stdint.h>

enum {
    GF2_SLOTS = 8,     /* panels of 64 columns that a matrix is updated by at once */
    GF2_DEPTH = 512,   /* their rows */
    GF2_THREADS = 256, /* of most kernels */
    GF2_PANEL_THREADS = 512,
    GF2_WINDOW = 128,     /* rows in which a panel's pivots are sought first */
    GF2_APPLY_WORDS = 16, /* of a row, for a block of gf2_apply */
    GF2_APPLY_BYTES = GF2_APPLY_WORDS * GF2_DEPTH * 8,
    GF2_APPLY_ROWS = 512,  /* its rows are a multiple of this */
    GF2_TABLE_WORDS = 2,   /* of a row, for a block of gf2_tables */
    GF2_TABLE_ROWS = 2048, /* its rows */
    GF2_GAUSS_THREADS = 512
};

/* What a panel leaves behind for the kernels after it. */
struct gf2_state {
    uint64_t rest;             /* what the panel's columns have beyond the window, together */
    uint64_t slots[GF2_SLOTS]; /* the columns of a slot's panel that have pivots */
    uint32_t rank;
    uint32_t begin; /* the rank before the first of the slots */
    uint32_t first; /* the rank before the last panel */
    uint32_t count; /* its pivots */
    uint32_t moves; /* rows that make room for them */
    uint32_t unused;
    uint32_t from[64];               /* where the pivots' rows were */
    uint32_t source[64];             /* where a row that makes room was, */
    uint32_t target[64];             /* and goes */
    uint64_t sum[64][GF2_SLOTS + 1]; /* a pivot row is a sum of rows of the slots before and of
                                        those in `from`; by columns */
};

struct gf2_echelon_args {
    uint64_t *a;
    uint64_t stride;
    uint64_t last_mask;          /* the bits of a row's last word that are its own */
    uint64_t columns;            /* in which pivots are sought */
    uint32_t rows, words, limit; /* limit: of the rank */
    uint32_t reduced;
    uint32_t *rank, *pivots, *rows_from;
    struct gf2_state *state;
    uint64_t *strip;     /* [rows]: the panel's columns, as they are now */
    uint64_t *left;      /* [GF2_SLOTS][rows]: by which rows of the slots a row is to be updated */
    uint64_t *right;     /* [words][GF2_DEPTH]: the rows of the slots, column by column of words */
    uint32_t *packed;    /* the same as chunks of bits.cuh: [words / 4][2][2048] */
    uint32_t panel;      /* 64 panel is its first column; its slot is panel % GF2_SLOTS */
    uint32_t last;       /* gf2_strip: there is no panel any more */
    uint32_t apply_rows; /* of a block of gf2_apply */
    uint32_t column;     /* of gf2_find and gf2_add */
};

#endif
