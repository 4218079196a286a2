/*
 * cuda/sparse.h - what the two halves of the GPU's sparse matrices agree on: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SPARSE_H
#define ECHI_CUDA_SPARSE_H

#include <stdint.h>

enum {
    SPARSE_CHUNK = 32,    /* products that are added one after the other: docs/sparse.md */
    SPARSE_GROUP = 256,   /* a row that tiles share is divided by this, from its first entry */
    SPARSE_THREADS = 256, /* of a block that has a tile of a product with a vector */
    SPARSE_TILE = 2048,   /* its rows and entries, and up to a group of entries more */
    SPARSE_PLACE_THREADS = 128
};

/* Before an entry of a row, where a tile begins. */
struct sparse_place {
    uint64_t row;
    uint64_t entry; /* << 1 | 1: not before the row's first */
};

struct sparse_args {
    const void *offsets, *columns, *values;
    uint64_t rows, cols, entries;
    const void *x;
    void *y;
    double alpha, beta;
    uint64_t tiles;
    struct sparse_place *places; /* [tiles + 1]; NULL: each block finds its own */
    void *partials;              /* sums of groups of rows that tiles share */
    uint32_t *done; /* [tiles], zero before and after: how many tiles of the row that begins in
                       that tile, and ends in a later one, are through.  Without places another:
                       how many are through at all */
};

#endif
