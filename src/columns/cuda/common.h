/*
 * columns/cuda/common.h - definitions that host code and kernels of sorts by columns share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COLUMNS_CUDA_COMMON_H
#define ECHI_COLUMNS_CUDA_COMMON_H

#include "columns/word.h"
#include "sort/cuda/block.h"

enum {
    COLUMNS_THREADS = 256,
    COLUMNS_ROWS = 4,    /* of a thread at a time */
    COLUMNS_BLOCKS = 64, /* per multiprocessor, at most */
    /* Maxima of a sort in one block: rows, words of the key, parts of them, and bytes of the
     * records of a sort in place */
    COLUMNS_BLOCK_MOST = SORT_BLOCK_MEDIUM_THREADS * SORT_BLOCK_MEDIUM_ITEMS,
    COLUMNS_BLOCK_WORDS = 4,
    COLUMNS_BLOCK_PARTS = ECHI_COLUMNS + COLUMNS_BLOCK_WORDS,
    COLUMNS_BLOCK_STAGE = 48 << 10
};

/* Its dynamic shared memory: to rank rows by a word of 64 bits with their places; and for the order
 * of the records and, in place, the records. */
#define COLUMNS_BLOCK_RANK_BYTES(threads, items) SORT_BINS_SHARED_BYTES(threads, items, 8, 2)
#define COLUMNS_BLOCK_MOVE_BYTES(record_bytes)   (COLUMNS_BLOCK_MOST * 2u + (record_bytes))

struct columns_args {
    struct echi_source source[ECHI_COLUMNS];
    struct echi_part part[ECHI_WORD_PARTS]; /* of the word */
    struct echi_column_word word;
    const void *positions; /* of the rows, in the order of out; NULL: 0, 1, 2, ... */
    void *out;             /* [n] of out_bytes */
    uint64_t n;
    uint32_t position_bytes, out_bytes;
};

struct columns_block_args {
    struct echi_source source[ECHI_COLUMNS];
    struct echi_part part[COLUMNS_BLOCK_PARTS]; /* of all words */
    struct echi_column_word word[COLUMNS_BLOCK_WORDS];
    void *indices; /* of index_bytes; or: */
    void *records_out;
    uint64_t n;
    uint32_t words, index_bytes;
    uint32_t record_bytes; /* 0: the result is indices */
    uint32_t in_place;     /* source 0 is records_out */
};

#endif
