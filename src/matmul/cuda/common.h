/*
 * matmul/cuda/common.h - what the two halves of the GPU's products agree on: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CUDA_COMMON_H
#define ECHI_MATMUL_CUDA_COMMON_H

#include <stdint.h>

enum {
    MATMUL_THREADS = 128,
    MATMUL_BAND =
        8, /* rows of tiles that blocks take together, so that they share what they read */
    MATVEC_THREADS = 256,
    MATVEC_MANY = 4,   /* rows that a thread adds up at once where there are many */
    MATVEC_LANES = 64, /* of a chunk of a row; these are ECHI_MATVEC_... of ../matmul.h */
    MATVEC_CHUNK = 4096,
    MATVEC_ROWS = 64
};

/* The tiles of c of the kernels matmul_large, matmul_medium and matmul_small, for each size of what
 * is computed in; and the shared memory of a block. */
#define MATMUL_TILE_ROWS(size, real_bytes)                                                         \
    ((size) == 0 ? ((real_bytes) == 8 ? 64 : 128) : (size) == 1 ? 64 : 32)
#define MATMUL_TILE_COLS(size, real_bytes) ((size) == 0 ? 128 : (size) == 1 ? 64 : 32)
#define MATMUL_STEPS(real_bytes)           ((real_bytes) == 8 ? 8 : 16)
enum { MATMUL_STAGES = 3 };
#define MATMUL_SHARED_BYTES(size, real_bytes)                                                      \
    ((unsigned)(MATMUL_STAGES * MATMUL_STEPS(real_bytes)) *                                        \
     ((unsigned)(MATMUL_TILE_ROWS(size, real_bytes) + MATMUL_TILE_COLS(size, real_bytes)) *        \
          (unsigned)(real_bytes) +                                                                 \
      32))

/* One struct serves every kernel of products. */
struct matmul_args {
    const void *a, *b; /* list: arrays of pointers, as is c */
    void *c;
    uint64_t m, n, k, count;
    uint64_t a_stride, b_stride, c_stride;
    uint64_t a_step, b_step, c_step;
    uint64_t row_tiles, column_tiles; /* of one product */
    double alpha, beta;
    uint32_t a_turned, b_turned, list;
    uint32_t wide; /* c is of what is computed in, and a and b are not */
};

/* ... and this one every level of a matrix times a vector. */
struct matvec_args {
    const void *a, *x; /* x NULL: ones */
    void *out;         /* sums [rows][chunks], turned: [chunks][cols]; of the last level y */
    uint64_t rows, cols, stride, chunks;
    double alpha, beta;
    uint32_t last;    /* 1: out is y */
    uint32_t vectors; /* 1: rows begin at multiples of 16 bytes, as x does */
    uint32_t lanes;   /* threads of a row */
};

#endif
