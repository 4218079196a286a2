/*
 * search/cuda/common.h - definitions that host code and the kernels of searches share: the sizes of
 * blocks and nodes, and the arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SEARCH_CUDA_COMMON_H
#define ECHI_SEARCH_CUDA_COMMON_H

#include "core/order.h"

enum {
    SEARCH_THREADS = 256,
    SEARCH_WARPS = SEARCH_THREADS / 32,
    SEARCH_ITEMS = 4, /* needles of a thread: tree and sorted */
    SEARCH_TILE = SEARCH_THREADS * SEARCH_ITEMS,
    SEARCH_TREE_THREADS = 512,
    SEARCH_TREE_TILE = SEARCH_TREE_THREADS * SEARCH_ITEMS,
    SEARCH_TREE_BLOCKS = 2, /* per multiprocessor, at least */
    SEARCH_SORTED_BLOCKS = 6,
    SEARCH_ROOM = 4096,      /* keys of a range in shared memory: sorted */
    SEARCH_TOP = 4095,       /* maximum number of keys of the top level in shared memory */
    SEARCH_LEVELS = 24,      /* more than 2^61 keys of 64 bits need */
    SEARCH_TABLE_AT_ONCE = 4 /* vectors of positions of a thread: table */
};

/* Keys of a window of the sorted array, of which the tree contains the last one: 128 bytes. Keys of
 * a sector, which a thread reads at once: 32 bytes. */
#define SEARCH_WINDOW(key_bytes) (128 / (key_bytes))
#define SEARCH_SECTOR(key_bytes) (32 / (key_bytes))

struct search_args {
    const void *sorted, *needles;
    void *positions;
    uint64_t *splits; /* sorted: [tiles + 1] the position of the first needle of each tile */
    void *level[SEARCH_LEVELS + 1];    /* tree: encoded keys of level 1 ... levels */
    uint64_t count[SEARCH_LEVELS + 1]; /* tree: keys of these levels; of level 0, n */
    uint64_t *table; /* table: the position of each possible needle, by its bits; of 4 bytes if n
                        is less than 2^32 */
    uint64_t n, m, tiles;
    uint32_t levels;
    uint32_t top_bits; /* tree: the top level has fewer than 2^top_bits keys */
    uint32_t upper, index_bytes;
    struct echi_order order;
};

#endif
