/*
 * sparse/cuda/common.h - definitions that host and device code of the GPU's sparse operations
 * share: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_CUDA_COMMON_H
#define ECHI_SPARSE_CUDA_COMMON_H

#include <stdint.h>

enum {
    SPARSE_CHUNK = 32,         /* products that are added sequentially: docs/sparse.md */
    SPARSE_GROUP = 256,        /* a row that tiles share is divided into groups of this size, from
                                  its first entry */
    SPARSE_THREADS = 128,      /* of a block of a product with a vector: each warp has one tile */
    SPARSE_TILE_MOST = 2048,   /* rows and entries of a tile there, maximum */
    SPARSE_WHOLE = 2048,       /* rows of at most this many entries belong to one tile there */
    SPARSE_WIDE_THREADS = 128, /* of a block that has one tile of a product with a matrix */
    SPARSE_WIDE_TILE = 1024,   /* its rows and entries, plus at most a group of entries */
    SPARSE_STRIP = 32,         /* columns of it at once */
    SPARSE_PLACE_THREADS = 128,
    SPARSE_MAKE_THREADS = 256 /* of conversions, transposes and checks */
};

/* Columns of a thread of it: 16 bytes. */
#define SPARSE_WIDE_EACH(real_bytes) (16 / (unsigned)(real_bytes))

/* A position before an entry of a row, at which a tile begins.  Read and written as a unit. */
struct sparse_place {
    uint64_t row;
    uint64_t entry; /* << 1 | 1: after the row's first entry */
} __attribute__((aligned(16)));

struct sparse_args {
    const void *offsets, *columns, *values;
    uint64_t rows, cols, entries;
    const void *x;
    void *y;
    double alpha, beta;
    uint64_t tiles;
    uint32_t tile_bits;          /* rows and entries of a tile, as a power of two */
    uint32_t whole;              /* rows of at most this many entries belong to one tile */
    uint32_t width, lanes;       /* of a product with a matrix: columns of x and y; threads for
                                    them, a power of two */
    uint64_t x_stride, y_stride; /* ... and their row strides */
    struct sparse_place *places; /* [tiles + 1]; NULL: each block searches its own */
    void *partials;              /* [][width] sums of groups of rows that tiles share */
    uint32_t *done;   /* [2 tiles + 1], zero before and after: for the part of a row that begins in
                       that tile and ends in a later one, the number of tiles that have finished;
                       and the number of finished parts of the row.  The last, without places: the
                       number of finished tiles.  NULL: tiles share no row */
    double row_share; /* rows / (rows + entries) */
};

/* The arguments of conversions, transposes and checks; unused fields are 0. */
struct sparse_make_args {
    const void *offsets, *columns, *values; /* of a matrix; offsets: rows of COO entries */
    uint64_t rows, cols, entries;
    uint64_t *keys; /* row << bits | column; for a transpose: column << bits | row */
    uint64_t *starts;
    const uint64_t *count; /* number of distinct keys; NULL: entries */
    uint64_t *order;       /* of entries; for a wide matrix */
    const uint64_t *table; /* the numbered columns; NULL: columns are their own numbers */
    void *out_offsets, *out_columns, *out_values;
    uint64_t *out_entries;
    uint64_t *data_error;
    uint32_t bits, in_order;
};

#endif
