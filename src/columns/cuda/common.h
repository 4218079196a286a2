/*
 * columns/cuda/common.h - definitions that host code and the kernel of sorts by columns share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COLUMNS_CUDA_COMMON_H
#define ECHI_COLUMNS_CUDA_COMMON_H

#include "columns/word.h"

enum {
    COLUMNS_THREADS = 256,
    COLUMNS_ROWS = 4,   /* of a thread at a time */
    COLUMNS_BLOCKS = 64 /* per multiprocessor, at most */
};

struct columns_args {
    struct echi_source source[ECHI_COLUMNS];
    struct echi_part part[ECHI_WORD_PARTS]; /* of the word */
    struct echi_column_word word;
    const void *positions; /* of the rows, in the order of out; NULL: 0, 1, 2, ... */
    void *out;             /* [n] of out_bytes */
    uint64_t n;
    uint32_t position_bytes, out_bytes;
};

#endif
