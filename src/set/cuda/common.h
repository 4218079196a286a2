/*
 * set/cuda/common.h - definitions that host code and the kernels of set operations share: tiles and
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SET_CUDA_COMMON_H
#define ECHI_SET_CUDA_COMMON_H

#include "core/order.h"
#include "set/kept.h"

enum {
    SET_THREADS = 256,
    SET_PAIRS_BLOCKS = 5, /* per multiprocessor, at least */
    SET_WORDS_FIRST = 2   /* before the tile status descriptors */
};

#define SET_KEYS_BLOCKS(key_bytes) ((key_bytes) == 8 ? 5 : 6)

/* Elements of a thread: an odd number, so that threads use different banks of shared memory. A tile
 * begins at a multiple of SET_TILE, or one earlier, so it has at most one element more. */
#define SET_ITEMS(key_bytes) ((key_bytes) == 8 ? 15 : 23)
#define SET_TILE(key_bytes)  (SET_THREADS * SET_ITEMS(key_bytes) - 1)

/* How many elements of a and of b precede a tile. */
struct set_bound {
    uint64_t a, b;
};

struct set_args {
    const void *keys[2], *values[2];
    void *keys_out, *values_out;
    uint64_t *count;
    struct set_bound *bounds; /* [tiles + 1] */
    uint64_t *words;          /* tile status descriptors */
    uint64_t n_a, n_b, tiles;
    uint64_t capacity;       /* elements of the outputs */
    uint64_t words_of_value; /* per value */
    uint32_t word_bytes;     /* of a word of a value */
    uint32_t kept;           /* ECHI_SET_A, ... */
    struct echi_order order;
};

#endif
