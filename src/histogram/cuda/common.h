/*
 * histogram/cuda/common.h - definitions that host code and kernels of the histogram share: sizes
 * and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_CUDA_COMMON_H
#define ECHI_HISTOGRAM_CUDA_COMMON_H

#include "histogram/bins.h"

enum {
    HISTOGRAM_THREADS = 1024,      /* of histogram_bytes and histogram_shared */
    HISTOGRAM_MOVE_THREADS = 512,  /* of the others */
    HISTOGRAM_COLUMN_BITS = 5,     /* one column of counters per lane */
    HISTOGRAM_TABLE_BYTES = 32768, /* size of the columns, if they fit */
    HISTOGRAM_CHANNELS = 8,        /* maximum of histogram_bytes */
    HISTOGRAM_SHARED = 8192 - 512, /* counters that fit in the shared memory of every GPU */
    HISTOGRAM_SPLIT = 65536, /* maximum of counters for which the elements are read several times */
    HISTOGRAM_EDGE_BYTES = 32768, /* edges kept in shared memory */
    HISTOGRAM_CELL_BITS = 12,     /* log2 of the maximum number of cells of the edges */
    HISTOGRAM_HOT_BITS = 12, /* log2 of the values that histogram_global counts in shared memory */
    HISTOGRAM_NARROW = 1 << 30, /* histogram_shift uses 32-bit indices below this many counters */
    HISTOGRAM_COPIES = 256,     /* maximum number of tables of sums of weights */
    HISTOGRAM_SPREAD = 32768    /* counters over which sums of weights are spread */
};

/* The dtypes of weights. */
enum histogram_weights { HISTOGRAM_I32, HISTOGRAM_U32, HISTOGRAM_64, HISTOGRAM_F32, HISTOGRAM_F64 };

/* The operation that computes the cell of an element between edges. */
enum histogram_cells { HISTOGRAM_CELLS_WHOLE, HISTOGRAM_CELLS_F16, HISTOGRAM_CELLS_FLOAT };

/* The argument of all kernels of the histogram. */
struct histogram_args {
    const void *in, *in_y; /* in_y NULL: one dimension */
    const void *edges;     /* ECHI_BINS_EDGES: the caller's edges */
    const void *weights;
    uint64_t *counts;     /* [counters] */
    uint64_t *sums;       /* [copies][counters][words], of weights */
    uint64_t *largest;    /* maximum exact_magnitude() of float weights */
    uint64_t *data_error; /* cuda/device/data_error.cuh */
    uint64_t n, stride;   /* stride: counters per channel */
    uint64_t counters, copies;
    struct echi_bins x, y;
    uint32_t channels, column_bits;
    uint32_t parts, part_counters; /* histogram_shared: a block counts for one of several parts */
    uint32_t shared_edges;         /* the edges are copied to shared memory, after the counters */
    uint32_t cells, cell_kind;     /* histogram_edges: a power of two; enum histogram_cells */
    uint32_t add, weights_type;
};

#endif
