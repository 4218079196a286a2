/*
 * matmul/cuda/common.h - definitions that host and device code of the GPU's products share: sizes
 * and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CUDA_COMMON_H
#define ECHI_MATMUL_CUDA_COMMON_H

#include <stdint.h>

enum {
    MATMUL_THREADS = 128, /* of matmul_scale */
    MATMUL_BAND = 8, /* rows of tiles that blocks process as a band, so that they share loads */
    MATVEC_THREADS = 128,
    MATVEC_MANY = 4,   /* rows that a thread adds up at once if there are many rows */
    MATVEC_LANES = 64, /* of a chunk of a row; the same as ECHI_MATVEC_... of ../matmul.h */
    MATVEC_CHUNK = 4096,
    MATVEC_ROWS = 64
};

/* The tiles of c of the kernels matmul_large, _medium, _square and _small (size 0, 1, 2, 3), by
 * MATMUL_TYPE (real.cuh); only f32 has matmul_square.  Then the warps of a block, steps of k per
 * stage, and stages: small tiles of f32 have more, to hide latency, in code for GPUs that have
 * enough shared memory. */
#define MATMUL_TILE_ROWS(size, type) ((size) == 3 ? 32 : (size) == 0 && (type) != 1 ? 128 : 64)
#define MATMUL_TILE_COLS(size, type)                                                               \
    ((size) == 3 ? 32 : (size) == 2 || ((size) == 1 && (type) == 1) ? 64 : 128)
#define MATMUL_WARP_ROWS(size, type) ((size) == 0 && (type) != 1 ? 4 : 2)
#define MATMUL_WARP_COLS(size, type) ((size) == 3 && (type) == 0 ? 1 : 2)
#define MATMUL_TILE_THREADS(size, type)                                                            \
    (32 * MATMUL_WARP_ROWS(size, type) * MATMUL_WARP_COLS(size, type))
#define MATMUL_STEPS(type)        ((type) == 1 ? 8 : 16)
#define MATMUL_STAGES(size, more) ((size) >= 2 && (more) ? 6 : 3)
#define MATMUL_STAGE_BYTES(size, type)                                                             \
    ((unsigned)MATMUL_STEPS(type) *                                                                \
     ((unsigned)(MATMUL_TILE_ROWS(size, type) + MATMUL_TILE_COLS(size, type)) *                    \
          ((type) == 1 ? 8U : 4U) +                                                                \
      32))

/* Tiles of matmul_tensor_large, _medium and _small (size 0, 1, 2), for FP64 tensor cores.  Stages
 * are fewer in code for compute capability 8.0, whose GPUs have less shared memory. */
#define TENSOR_TILE_ROWS(size)    ((size) == 0 ? 128 : (size) == 1 ? 64 : 32)
#define TENSOR_TILE_COLS(size)    TENSOR_TILE_ROWS(size)
#define TENSOR_WARP_ROWS(size)    ((size) == 1 ? 4 : 2)
#define TENSOR_WARP_COLS(size)    ((size) == 0 ? 4 : 2)
#define TENSOR_TILE_THREADS(size) (32 * TENSOR_WARP_ROWS(size) * TENSOR_WARP_COLS(size))
enum { TENSOR_STEPS = 32, TENSOR_STAGES_80 = 2, TENSOR_STAGES_90 = 3 };
#define TENSOR_STAGE_BYTES(size)                                                                   \
    ((unsigned)TENSOR_STEPS * (unsigned)(TENSOR_TILE_ROWS(size) + TENSOR_TILE_COLS(size)) * 8U)

/* The argument of every kernel of products. */
struct matmul_args {
    const void *a, *b; /* list: arrays of pointers, as c is */
    void *c;
    uint64_t m, n, k, count;
    uint64_t a_stride, b_stride, c_stride;
    uint64_t a_step, b_step, c_step;
    uint64_t row_tiles, column_tiles; /* of one product */
    double alpha, beta;
    uint32_t a_turned, b_turned, list;
    uint32_t wide; /* c has the type of computation, a and b have not */
};

/* The argument of every level of a matrix-vector product. */
struct matvec_args {
    const void *a, *x; /* x NULL: ones */
    void *out;         /* sums [rows][chunks], turned: [chunks][cols]; in the last level y */
    uint64_t rows, cols, stride, chunks;
    double alpha, beta;
    uint32_t last;    /* 1: out is y */
    uint32_t vectors; /* 1: rows begin at multiples of 16 bytes, and so does x */
    uint32_t lanes;   /* threads per row */
};

#endif
