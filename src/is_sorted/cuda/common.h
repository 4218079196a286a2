/*
 * is_sorted/cuda/common.h - definitions that host code and the kernel of the check share: parts and
 * arguments.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_IS_SORTED_CUDA_COMMON_H
#define ECHI_IS_SORTED_CUDA_COMMON_H

#include "core/order.h"

enum {
    IS_SORTED_THREADS = 256,
    IS_SORTED_WARPS = IS_SORTED_THREADS / 32,
    IS_SORTED_BLOCKS = 4,  /* per multiprocessor */
    IS_SORTED_VECTORS = 4, /* of 16 bytes, that a thread reads at a time */
    IS_SORTED_PART_BYTES = 32 * 16 * IS_SORTED_VECTORS, /* that a warp reads at a time */
    IS_SORTED_TURNS = 8 /* parts of a warp between two reads of the found position */
};

/* Zero before and after each launch. */
struct is_sorted_words {
    uint64_t found;  /* the complement of the first known position; 0: none */
    uint32_t blocks; /* blocks that are done */
    uint32_t unused;
};

struct is_sorted_args {
    const void *in;
    uint64_t *position;
    struct is_sorted_words *words;
    uint64_t n, parts;
    uint32_t skew; /* elements by which the first vector begins before the array */
    uint32_t strict;
    struct echi_order order;
};

#endif
