/*
 * reduce/cuda/common.h - what the two halves of the GPU's reduction agree on: sizes, arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_COMMON_H
#define ECHI_REDUCE_CUDA_COMMON_H

#include "core/index.h"
#include "reduce/value.h"

/* The kinds of ../reduce.h, by the same numbers: it is no header for kernels. */
enum {
    REDUCE_ISUM,
    REDUCE_IPRODUCT,
    REDUCE_IDOT,
    REDUCE_SUM,
    REDUCE_PRODUCT,
    REDUCE_DOT,
    REDUCE_SUM64,
    REDUCE_PRODUCT64,
    REDUCE_DOT64,
    REDUCE_VARIANCE,
    REDUCE_BITS,
    REDUCE_MAX,
    REDUCE_MINMAX,
    REDUCE_ARG,
    REDUCE_COUNT,
    REDUCE_OTHER /* IPRODUCT, BITS or COUNT: kernels ask reduce_args */
};

enum {
    REDUCE_WARP = 32,
    REDUCE_WARPS = 8, /* most of a block */
    REDUCE_THREADS = REDUCE_WARP * REDUCE_WARPS,
    REDUCE_TINY_BYTES = 64,   /* of a segment that one thread reduces */
    REDUCE_SHORT_BYTES = 128, /* ... and eight threads, with a load each */
    REDUCE_LONG_CHUNKS = 32,  /* more than these, and blocks share a segment */
    REDUCE_ITEM_CHUNKS = 32,  /* of what a block takes of a long segment at a time */
    REDUCE_MOST_CHUNKS = 256  /* of an item */
};

/* A part of a long segment, which one block reduces. */
struct reduce_item {
    uint64_t segment;
    uint32_t group, groups; /* the group-th of so many, whose items follow one another */
};

/* What long segments have in common; zero before and after. */
struct reduce_counts {
    uint64_t items;  /* in the list */
    uint32_t blocks; /* of reduce_long that are done */
    uint32_t unused;
};

/* One struct serves every kernel of the reduction. */
struct reduce_args {
    const void *in, *b;
    void *out;
    const void *offsets; /* NULL: rows of `columns` */
    struct echi_index offsets_index;
    const uint64_t *segments_at; /* the number of segments, on the device; NULL: segments */
    uint64_t segments, columns, n;
    uint32_t each;      /* segments that a warp looks at together: 1 ... 32 */
    uint32_t row_lanes; /* rows of whole vectors, 32 to a warp: threads for each; else 0 */
    /* reduce_long */
    uint64_t row_items; /* of rows: items each; 0: items are listed */
    uint32_t item;      /* chunks that a block takes at a time: a power of two */
    uint32_t warps;     /* of a block */
    uint64_t *partials; /* [items][words of a value] */
    uint32_t *done;     /* [rows] or [items]: parts that are done; zero before and after */
    struct reduce_item *items;
    uint64_t capacity; /* of items */
    struct reduce_counts *counts;
    uint64_t *data_error;
    uint32_t kind; /* of reduce_other_* */
    struct echi_reduce_rule rule;
};

#endif
