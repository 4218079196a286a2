/*
 * gf2/cuda/mul.h - definitions that host and device code of the GPU's product over GF(2) share:
 * sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_MUL_H
#define ECHI_GF2_CUDA_MUL_H

#include <stdint.h>

enum {
    GF2_MUL_THREADS = 256,
    GF2_MUL_ROWS = 128, /* of the result, for a block of gf2_mul */
    GF2_MUL_COLUMNS = 256,
    GF2_MUL_STEPS = 2,         /* of 256 bits, that arrive in one stage */
    GF2_MUL_STAGES = 8,        /* number of stages in flight or in use */
    GF2_MUL_STAGES_COPIED = 3, /* ... in gf2_mul_copied, which has less shared memory */
    GF2_MUL_STAGE_BYTES = (GF2_MUL_ROWS + GF2_MUL_COLUMNS) * 32 * GF2_MUL_STEPS,
    GF2_PACK_ROWS = 128,       /* for a block that packs rows */
    GF2_MUL_VECTORS = 8,       /* for a block of gf2_mul_vectors, of 64 rows of the matrix */
    GF2_MUL_BAND = 16,         /* rows of blocks that are processed column by column as a unit */
    GF2_MUL_TABLE_WORDS = 2,   /* of a row, for a block of gf2_mul_tables */
    GF2_MUL_TABLE_ROWS = 2048, /* its rows */
    GF2_MUL_PARTS = 4          /* maximum number of matrices that are added before they are
                                  multiplied */
};

/* A rectangle of a matrix's words; elements beyond its rows and bits count as zero. */
struct gf2_source {
    const uint64_t *words;
    uint64_t rows, cols; /* of this part */
};

/* The sum of parts, as chunks of bits.cuh: vectors of `depth` bits. */
struct gf2_operand {
    struct gf2_source part[GF2_MUL_PARTS];
    uint64_t stride;
    uint32_t parts;
    uint32_t steps, chunks; /* of 256 bits; of 256 vectors */
    uint32_t *out;          /* [steps][chunks][2048] */
};

struct gf2_pack_args {
    struct gf2_operand left, right;
    uint32_t left_blocks; /* the first blocks of the grid */
};

/* out (+)= a b, of packed operands, in one or two places. */
struct gf2_target {
    uint64_t *words;
    uint64_t rows, cols;
    uint32_t add;
};

struct gf2_mul_args {
    const uint32_t *a, *b; /* packed */
    uint32_t steps;        /* a multiple of GF2_MUL_STEPS */
    uint32_t a_chunks, b_chunks;
    uint32_t row_blocks, column_blocks; /* of the result */
    struct gf2_target target[GF2_MUL_PARTS];
    uint64_t stride;
    uint32_t targets;
};

/* out (+)= x a^T, for a few rows of x. */
struct gf2_mul_vectors_args {
    const uint64_t *a, *x;
    uint64_t a_stride, x_stride, out_stride;
    uint64_t rows, depth; /* of a */
    uint32_t vectors;
    struct gf2_target out;
};

/* The product by tables; b is not transposed. */
struct gf2_mul_tables_args {
    const uint64_t *a, *b;
    uint64_t a_stride, b_stride, out_stride;
    uint64_t *out;
    uint64_t rows, depth, cols;
    uint32_t add;
};

/* out = b^T, for gf2_mul_tables. */
struct gf2_mul_turn_args {
    const uint64_t *in;
    uint64_t *out;
    uint64_t in_stride, out_stride;
    uint64_t rows, cols; /* of in */
};

#endif
