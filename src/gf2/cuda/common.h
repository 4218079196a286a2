/*
 * gf2/cuda/common.h - what the two halves of the GPU's small operations on matrices over GF(2)
 * agree on: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_COMMON_H
#define ECHI_GF2_CUDA_COMMON_H

#include <stdint.h>

enum {
    GF2_THREADS = 256,
    GF2_EACH = 8,             /* words of a thread at a time, one below the other */
    GF2_LOOK = 32,            /* ... of a thread that only looks at them */
    GF2_ORDER_THREADS = 1024, /* of the one block that finds which columns are left */
    GF2_TURN_BITS = 4,  /* a tile of a transpose is 2^this by 2^(8 - this) blocks of 32 x 32 */
    GF2_TURN_LEAST = 2, /* ... or, of a narrow or a flat matrix, this or what it leaves of 8 */
    GF2_PART_WORDS = 4  /* words of a row, 32 bytes, that a warp takes together */
};

struct gf2_matrix {
    uint64_t *words;
    uint64_t stride;
    uint32_t rows, cols;
};

/* Sums of all blocks, zero before and after. */
struct gf2_total {
    uint64_t sum;
    uint32_t done; /* blocks that have added theirs */
    uint32_t unused;
};

struct gf2_args {
    struct gf2_matrix a, b, out;
    /* What threads go through: rows x units, in tiles of 2^tile_bits units across */
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
    uint64_t *mask;         /* workspace: a bit a column */
    uint32_t *first;        /* workspace: a number a column */
    uint32_t *marks;        /* workspace: a bit a column, and after each word's marks ... */
    uint32_t *marks_before; /* ... how many there are before it */
    uint32_t *left;         /* the columns that are not marked */
};

#endif
