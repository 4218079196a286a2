/*
 * merge/cuda/common.h - definitions that host code and the kernels of merges share: tiles and
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_COMMON_H
#define ECHI_MERGE_CUDA_COMMON_H

#include "core/order.h"

enum {
    MERGE_THREADS = 256,
    MERGE_KEYS_BLOCKS = 6, /* per multiprocessor, at least */
    MERGE_PAIRS_BLOCKS = 5
};

/* Elements of a thread: an odd number, so that threads use different banks of shared memory. */
#define MERGE_ITEMS(key_bytes) ((key_bytes) == 8 ? 11 : 17)
#define MERGE_TILE(key_bytes)  (MERGE_THREADS * MERGE_ITEMS(key_bytes))

struct merge_args {
    const void *keys[2], *values[2];
    void *keys_out, *values_out;
    uint64_t *splits; /* [tiles + 1]: how many elements before each tile are from a */
    uint64_t n_a, n_b, tiles;
    uint64_t words;      /* per value */
    uint32_t word_bytes; /* of a word of a value */
    uint32_t unused;
    struct echi_order order;
};

#endif
