/*
 * gf2/cuda/common.h - definitions that host and device code of the element-wise operations over
 * GF(2) share: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_COMMON_H
#define ECHI_GF2_CUDA_COMMON_H

#include <stdint.h>

enum {
    GF2_THREADS = 256,
    GF2_EACH = 8,             /* words of a thread at a time, in consecutive rows */
    GF2_LOOK = 32,            /* ... of a thread that only reads them */
    GF2_ORDER_THREADS = 1024, /* of the one block that finds the remaining columns */
    GF2_TURN_BITS = 4, /* a tile of a transpose is 2^this by 2^(8 - this) blocks of 32 x 32 */
    GF2_TURN_MIN = 2,  /* ... or, for a narrow or a flat matrix, this or 8 minus this */
    GF2_PART_WORDS = 4 /* words of a row, 32 bytes, that a warp reads as a unit */
};

struct gf2_matrix {
    uint64_t *words;
    uint64_t stride;
    uint32_t rows, cols;
};

/* Sums of all blocks, zero before and after. */
struct gf2_total {
    uint64_t sum;
    uint32_t done; /* number of blocks that have added their sums */
    uint32_t unused;
};

struct gf2_args {
    struct gf2_matrix a, b, out;
    /* Iteration space: rows x units, in tiles of 2^tile_bits units across */
    uint64_t rows, units;
    uint64_t tiles, tiles_across;
    uint32_t tile_bits;
    uint32_t a_bit, out_bit;
    const uint32_t *order;
    uint64_t limit, columns;
    uint32_t *full, *inverse;
    const uint32_t *rank;
    uint32_t *positions, *dim;
    uint64_t seed, threshold;
    uint8_t *bytes;
    uint64_t *count;
    uint64_t *data_error;
    struct gf2_total *total;
    uint64_t *mask;         /* workspace: a bit per column */
    uint32_t *first;        /* workspace: a number per column */
    uint32_t *marks;        /* workspace: a bit per column, and for each word ... */
    uint32_t *marks_before; /* ... the number of marks before it */
    uint32_t *left;         /* the unmarked columns */
};

#endif
