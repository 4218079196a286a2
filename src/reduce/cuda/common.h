/*
 * reduce/cuda/common.h - definitions that host and device code of the GPU's reduction share: sizes,
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_COMMON_H
#define ECHI_REDUCE_CUDA_COMMON_H

#include "core/index.h"
#include "reduce/value.h"

/* The kinds of ../reduce.h with the same numbers; kernels cannot include that header. */
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
    REDUCE_OTHER,  /* IPRODUCT, BITS, COUNT or NUMBERS, selected by reduce_args */
    REDUCE_NUMBERS /* COUNT of an inverted rule that ignores NaN */
};

enum {
    REDUCE_WARP = 32,
    REDUCE_WARPS = 8, /* maximum of a block */
    REDUCE_THREADS = REDUCE_WARP * REDUCE_WARPS,
    REDUCE_TINY_BYTES = 64,     /* maximum size of a segment that one thread reduces */
    REDUCE_SHORT_BYTES = 128,   /* ... and that eight threads reduce, with one load each */
    REDUCE_LONG_CHUNKS = 32,    /* longer segments are shared by blocks */
    REDUCE_FEW_SEGMENTS = 8192, /* if there are at most so many segments, ... */
    REDUCE_FEW_CHUNKS = 2,      /* ... those longer than this are shared */
    REDUCE_ALONE_CHUNKS = 64,   /* arrays of at most so many chunks have no shared segments; */
    REDUCE_BLOCK_CHUNKS = 128,  /* ... of at most so many, sums: the warps of a block share them */
    REDUCE_ITEM_CHUNKS = 32,    /* unit of a long segment that a block processes at a time */
    REDUCE_MOST_CHUNKS = 256,   /* maximum of an item */
    REDUCE_DIGITS = 16,         /* of a binary counter of values */
    REDUCE_PART_BYTES = 4224    /* shared memory per warp for variances */
};

/* Whether blocks list or share long segments: sums only, because this makes a kernel larger. */
#define REDUCE_LISTS(kind) ((kind) == REDUCE_ISUM || (kind) == REDUCE_SUM || (kind) == REDUCE_SUM64)

/* A part of a long segment, which one block reduces. */
struct reduce_item {
    uint64_t segment, begin, n; /* where it begins in the array; its length */
    uint32_t group, groups;     /* number of this item, and of the segment's items: consecutive */
};

/* Shared memory of a block of reduce_long: at most so many chunks, with values of `words`. */
#define REDUCE_SHARED_BYTES(words, chunks)                                                         \
    (sizeof(struct reduce_item) * REDUCE_WARPS + 16 +                                              \
     8 * (words) * (REDUCE_WARPS * REDUCE_DIGITS + (chunks)))

/* Long segments that are listed for blocks to share; zero before and after. */
struct reduce_counts {
    uint64_t items;  /* in the list, if the next launch shares them */
    uint64_t state;  /* otherwise << 32, plus the number of blocks that have listed segments; 0 when
                        all items are finished */
    uint32_t blocks; /* of reduce_long that have finished */
    uint32_t unused;
};

/* Items of the list, in workspace: the first block sets them to 0. */
struct reduce_turns {
    uint32_t taken, finished;
};

/* The argument of every kernel of the reduction. */
struct reduce_args {
    const void *in, *b;
    void *out;
    const void *offsets; /* NULL: rows of `columns` */
    struct echi_index offsets_index;
    uint64_t
        offsets_limit; /* the maximum of a valid offset: n, or 2^31 - 1 if it is less and they are
                               i32.  Rows: n */
    const uint64_t *segments_at; /* the number of segments, in device memory; NULL: segments */
    uint64_t segments, columns, n;
    uint32_t each;        /* segments that a warp loads as a unit: 1 ... 32 */
    uint32_t long_chunks; /* segments of more chunks are listed for reduce_long */
    uint32_t row_lanes;   /* rows of full vectors: threads per row; otherwise 0 */
    uint32_t row_share;   /* ... log2 of the warps that share 32 rows */
    uint32_t scans;       /* blocks that list long segments, before those of one segment each */
    /* For reduce_long: */
    uint32_t per_block; /* a block takes a segment, and lists long ones; otherwise items are listed,
                           or of rows */
    uint64_t row_items; /* items per row; 0: items are listed */
    uint32_t item;  /* chunks that a block processes at a time: if the order matters, 2^k; 0: the
                           blocks read vectors of the entire row in turn */
    uint32_t warps; /* of a block */
    uint64_t *partials; /* [items][words of a value] */
    uint32_t *done;     /* [rows] or [items]: number of finished parts; zero before and after */
    struct reduce_item *items;
    uint64_t capacity; /* of items */
    struct reduce_counts *counts;
    struct reduce_turns *turns;
    uint64_t *data_error;
    uint32_t kind; /* of reduce_other_* */
    struct echi_reduce_rule rule;
};

#endif
