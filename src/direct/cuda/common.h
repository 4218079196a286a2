/*
 * direct/cuda/common.h - what the two halves of the GPU's direct solvers agree on: sizes and
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_CUDA_COMMON_H
#define ECHI_DIRECT_CUDA_COMMON_H

#include "direct/step.h"

enum {
    DIRECT_THREADS = 256,        /* of what moves a matrix or looks at it */
    DIRECT_PANEL_THREADS = 1024, /* of a block that has a column of a panel, and of all that is one
                                    block; 32 x 32 of them have a tile */
    DIRECT_COLUMN_THREADS = 64,  /* columns that a block of direct_columns adds up */
    DIRECT_BATCHES = 16          /* of 32 exchanges of rows, looked through at once */
};

/* Of a panel under way; zero before its kernel and after it. */
struct direct_state {
    uint32_t ticket, done;
    uint32_t ready[ECHI_DIRECT_LEAF]; /* 1: the column is done; of direct_vector [0]: how many
                                         parts are known */
};

struct direct_args {
    struct echi_direct_step step;
    void *panel; /* [cols][rows]: the panel by columns */
    struct direct_state *state;
};

/* A vendor's factorization: from row after row to column after column, or back; what it says of
 * pivots, as the steps have it. */
struct direct_vendor_args {
    const void *from;
    void *to;
    uint64_t rows, cols; /* of `from` */
    uint64_t from_stride, to_stride;
    const int *ints; /* [rows] pivots, from 1 on; NULL: there are none */
    const int *info;
    uint64_t *pivots;
    struct echi_direct_scalars *scalars;
};

#endif
