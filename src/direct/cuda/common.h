/*
 * direct/cuda/common.h - definitions that host and device code of the GPU's direct solvers share:
 * sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_CUDA_COMMON_H
#define ECHI_DIRECT_CUDA_COMMON_H

#include "direct/step.h"

enum {
    DIRECT_THREADS = 256,        /* of kernels that read or copy a matrix */
    DIRECT_PANEL_THREADS = 1024, /* of a block that has a column of a panel, and of one-block
                                    kernels; 32 x 32 of them have a tile */
    DIRECT_COLUMN_THREADS = 64,  /* columns that a block of direct_columns adds up */
    DIRECT_BATCHES = 16          /* of 32 row exchanges, planned at once */
};

/* The state of a panel in progress; zero before and after its kernel. */
struct direct_state {
    uint32_t ticket, done;
    uint32_t ready[ECHI_DIRECT_LEAF]; /* 1: the column is complete; of direct_vector [0]: number of
                                         known parts */
};

struct direct_args {
    struct echi_direct_step step;
    void *panel; /* [cols][rows]: the panel by columns */
    struct direct_state *state;
};

/* A vendor's factorization: converts row-major to column-major, or back; and pivots to the format
 * of the steps. */
struct direct_vendor_args {
    const void *from;
    void *to;
    uint64_t rows, cols; /* of `from` */
    uint64_t from_stride, to_stride;
    const int *ints; /* [rows] pivots, 1-based; NULL: none */
    const int *info;
    uint64_t *pivots;
    struct echi_direct_scalars *scalars;
};

#endif
