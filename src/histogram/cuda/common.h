/*
 * histogram/cuda/common.h - what the two halves of the GPU histogram agree on: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_CUDA_COMMON_H
#define ECHI_HISTOGRAM_CUDA_COMMON_H

#include "histogram/bins.h"

enum {
    HISTOGRAM_THREADS = 1024,      /* of histogram_bytes and histogram_shared */
    HISTOGRAM_MOVE_THREADS = 512,  /* of the others */
    HISTOGRAM_COLUMN_BITS = 5,     /* a column of counters for each lane */
    HISTOGRAM_TABLE_BYTES = 32768, /* that columns fill, when they can */
    HISTOGRAM_CHANNELS = 8,        /* most of histogram_bytes */
    HISTOGRAM_SHARED = 8192 - 512, /* counters that fit the shared memory of every GPU */
    HISTOGRAM_SPLIT = 65536,       /* counters that are worth reading the elements several times */
    HISTOGRAM_EDGE_BYTES = 32768,  /* of edges that lie in shared memory */
    HISTOGRAM_CELL_BITS = 12,      /* log2 of the most cells that edges are found by */
    HISTOGRAM_HOT_BITS = 12,       /* log2 of the values that histogram_global counts on the chip */
    HISTOGRAM_NARROW = 1 << 30,    /* counters whose numbers are 32 bits in histogram_shift */
    HISTOGRAM_COPIES = 256,        /* most tables of sums of weights */
    HISTOGRAM_SPREAD = 32768       /* counters over which sums of weights are spread */
};

/* The types of weights. */
enum histogram_weights { HISTOGRAM_I32, HISTOGRAM_U32, HISTOGRAM_64, HISTOGRAM_F32, HISTOGRAM_F64 };

/* What finds the cell of an element among edges. */
enum histogram_cells { HISTOGRAM_CELLS_WHOLE, HISTOGRAM_CELLS_F16, HISTOGRAM_CELLS_FLOAT };

/* One struct serves every kernel of the histogram. */
struct histogram_args {
    const void *in, *in_y; /* in_y NULL: one dimension */
    const void *edges;     /* of ECHI_BINS_EDGES; as the caller has them */
    const void *weights;
    uint64_t *counts;     /* [counters] */
    uint64_t *sums;       /* [copies][counters][words], of weights */
    uint64_t *largest;    /* exact_magnitude() of the weights that are floats */
    uint64_t *data_error; /* cuda/device/data_error.cuh */
    uint64_t n, stride;   /* stride: counters of a channel */
    uint64_t counters, copies;
    struct echi_bins x, y;
    uint32_t channels, column_bits;
    uint32_t parts, part_counters; /* histogram_shared: a block counts for one of parts */
    uint32_t shared_edges;         /* the edges are copied behind the counters */
    uint32_t cells, cell_kind;     /* histogram_edges: a power of two; enum histogram_cells */
    uint32_t add, weights_type;
};

#endif
