/*
 * sparse/cuda/common.h - what the two halves of the GPU's sparse matrices agree on: sizes and
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_CUDA_COMMON_H
#define ECHI_SPARSE_CUDA_COMMON_H

#include <stdint.h>

enum {
    SPARSE_CHUNK = 32,         /* products that are added one after the other: docs/sparse.md */
    SPARSE_GROUP = 256,        /* a row that tiles share is divided by this, from its first entry */
    SPARSE_THREADS = 128,      /* of a block of a product with a vector: each warp has a tile */
    SPARSE_TILE_MOST = 2048,   /* rows and entries of a tile there */
    SPARSE_WHOLE = 2048,       /* entries of a row up to which a tile there has all of it */
    SPARSE_WIDE_THREADS = 128, /* of a block that has a tile of a product with a matrix */
    SPARSE_WIDE_TILE = 1024,   /* its rows and entries, and up to a group of entries more */
    SPARSE_STRIP = 32,         /* columns of it at once */
    SPARSE_PLACE_THREADS = 128,
    SPARSE_MAKE_THREADS = 256 /* of what makes matrices, and looks at them */
};

/* Before an entry of a row, where a tile begins.  Read and written at once. */
struct sparse_place {
    uint64_t row;
    uint64_t entry; /* << 1 | 1: not before the row's first */
} __attribute__((aligned(16)));

struct sparse_args {
    const void *offsets, *columns, *values;
    uint64_t rows, cols, entries;
    const void *x;
    void *y;
    double alpha, beta;
    uint64_t tiles;
    uint32_t tile_bits;          /* rows and entries of one, as a power of two */
    uint32_t whole;              /* rows of so many entries at most are no two tiles' */
    uint32_t width, lanes;       /* of a product with a matrix: columns of x and y, and a power of
                                    two that is no less */
    uint64_t x_stride, y_stride; /* ... and how far apart their rows are */
    struct sparse_place *places; /* [tiles + 1]; NULL: each block finds its own */
    void *partials;              /* [][width] sums of groups of rows that tiles share */
    uint32_t *done; /* [2 tiles + 1], zero before and after: how many tiles are through of the part
                       of a row that begins in that tile, and ends in a later one; and how many
                       parts of the row.  The last, without places: how many tiles at all */
};

/* What makes a matrix of others, or looks at one; what a kernel does not use is 0. */
struct sparse_make_args {
    const void *offsets, *columns, *values; /* of a matrix; offsets: rows of entries in any order */
    uint64_t rows, cols, entries;
    uint64_t *keys; /* row << bits | column; to be transposed: column << bits | row */
    uint64_t *starts;
    const uint64_t *count; /* keys that differ; NULL: entries */
    uint64_t *order;       /* of entries; of a wide matrix */
    const uint64_t *table; /* the columns that have numbers; NULL: each its own */
    void *out_offsets, *out_columns, *out_values;
    uint64_t *out_entries;
    uint64_t *data_error;
    uint32_t bits, in_order;
};

#endif
