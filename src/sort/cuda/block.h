/*
 * sort/cuda/block.h - shared memory of a block that sorts all of its keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_BLOCK_H
#define ECHI_SORT_CUDA_BLOCK_H

#include "sort/cuda/common.h"

enum {
    SORT_BINS_MOST = 32,    /* keys in a bin that are compared with each other */
    SORT_BINS_EACH = 8,     /* bins of a thread, if a block ranks keys by bins */
    SORT_VALUES_TILE = 7680 /* 16-bit keys without values of a block, and up to 7 before them */
};

/* Dynamic shared memory of sort_block: counters or keys, and with values also the input
 * positions. */
#define SORT_BLOCK_SHARED_BYTES(threads, items, key_bytes, origin_bytes)                           \
    (((threads) / SORT_WARP * SORT_BINS * 4 > (threads) * (items) * ((key_bytes) + (origin_bytes)) \
          ? (threads) / SORT_WARP * SORT_BINS * 4                                                  \
          : (threads) * (items) * ((key_bytes) + (origin_bytes))) +                                \
     64)

/* Keys of 16 bits without values are counted; dynamic shared memory (small_values.cuh). */
#define SORT_BY_VALUES(key_bytes, value_bytes) ((key_bytes) == 2 && (value_bytes) == 0)
#define SORT_VALUES_BYTES                      ((1u << 14) + 6u * SORT_VALUES_TILE + 128u)

/* Keys of 8 bits without values likewise; dynamic shared memory (small_bytes.cuh). */
#define SORT_BY_BYTES(key_bytes, value_bytes) ((key_bytes) == 1 && (value_bytes) == 0)
#define SORT_BYTES_BYTES(n)                   (1024u + 32u + 16u + ((n) + 15u) / 16u * 16u)

/* Dynamic shared memory of a block that ranks keys by bins.  Keys of 8 and 16 bits are ranked by
 * digits: they need few passes. */
#define SORT_BY_BINS(key_bytes, value_bytes) ((key_bytes) >= 4 && (value_bytes) <= 8)
#define SORT_BINS_SHARED_BYTES(threads, items, key_bytes, origin_bytes)                            \
    ((unsigned)(threads) *                                                                         \
         ((unsigned)(items) * ((key_bytes) + (origin_bytes)) + SORT_BINS_EACH * 2u) +              \
     (unsigned)((threads) * (items)) / SORT_BINS_MOST * 4u +                                       \
     (unsigned)(threads) / SORT_WARP * (2u * (key_bytes) + 8u) + 16u)

#endif
