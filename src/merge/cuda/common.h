/*
 * merge/cuda/common.h - definitions that host code and the kernels of merges share: tiles and
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_COMMON_H
#define ECHI_MERGE_CUDA_COMMON_H

#include "core/index.h"
#include "core/order.h"

enum {
    MERGE_THREADS = 256,
    MERGE_RUNS_BLOCKS = 6,   /* per multiprocessor, at least: of merges of runs without values */
    MERGE_PAIRS_BLOCKS = 5,  /* ... of pairs */
    MERGE_NARROW_BLOCKS = 5, /* of merge_narrow */
    MERGE_ALONE = 6, /* tiles per multiprocessor, at most, whose boundaries their blocks find */
    MERGE_FEW =
        1 << 15, /* tiles, at most, whose boundaries merge_split finds with eight lanes each */
    MERGE_FILL_EACH = 4,        /* vectors of a thread of merge_fill */
    MERGE_FILL_BLOCKS = 8,      /* ... its blocks per multiprocessor, at most */
    MERGE_TABLE_LEAST = 1 << 25 /* elements from which on keys of 8 and 16 bits use a table */
};

/* Elements of a thread: an odd number, so that threads use different banks of shared memory. Merges
 * of keys of 32 and 64 bits without values have more of them; so do merges of runs of 32 bits. */
#define MERGE_ITEMS(key_bytes)       ((key_bytes) == 8 ? 11 : 17)
#define MERGE_TILE(key_bytes)        (MERGE_THREADS * MERGE_ITEMS(key_bytes))
#define MERGE_KEYS_ITEMS(key_bytes)  ((key_bytes) == 8 ? 15 : 23)
#define MERGE_KEYS_BLOCKS(key_bytes) 4
/* The tiles of merge_runs_keys and merge_runs_pairs. */
#define MERGE_RUNS_TILE(key_bytes, value_bytes)                                                    \
    ((key_bytes) == 4 && !(value_bytes) ? MERGE_THREADS * MERGE_KEYS_ITEMS(key_bytes)              \
                                        : MERGE_TILE(key_bytes))
/* Whether merges of keys of 32 and 64 bits have codes of all ones after each part, and no tests for
 * their ends. */
#define MERGE_KEYS_PADDED 1
/* Words of 4 bytes of a thread of merge_narrow: an odd number for the same reason. */
#define MERGE_NARROW_WORDS(key_bytes) ((key_bytes) == 1 ? 9 : 17)

/* Possible keys of 8 and 16 bits; elements of a block of merge_fill. */
#define MERGE_CODES(key_bytes)     ((uint32_t)1 << 8 * (key_bytes))
#define MERGE_FILL_TILE(key_bytes) (MERGE_THREADS * MERGE_FILL_EACH * 16 / (key_bytes))

struct merge_args {
    const void *keys[2], *values[2];
    void *keys_out, *values_out;
    uint64_t
        *splits; /* [tiles + 1]: how many elements before each tile are from a; NULL: not known */
    /* [codes + 1]: how many elements have a lower code, of both arrays and of a */
    uint64_t *starts, *starts_a;
    uint64_t n_a, n_b, tiles;
    uint64_t words;      /* per value */
    uint32_t word_bytes; /* of a word of a value */
    uint32_t few;        /* merge_split: eight lanes per boundary */
    uint32_t tile;       /* elements */
    struct echi_order order;
};

/* ---- Merges of runs ---- */

/* A tile of a merge of two neighbours of one array. */
struct merge_run_tile {
    uint64_t a, b;     /* its first element of the first neighbour, in the array; of the second one,
                          in that neighbour */
    uint64_t second;   /* where the second neighbour begins in the array */
    uint32_t n_a, n_b; /* both 0: the tile is empty */
};

/* The tiles of a round: pair p has those from floor(begin / tile) + p on, where begin is its first
 * element. */
struct merge_runs_args {
    struct merge_args common; /* keys[0], values[0] and the outputs: of this round */
    const void *offsets;
    struct merge_run_tile *parts; /* [tiles] */
    uint32_t *invalid;            /* becomes 1 if offsets are invalid; NULL: not needed */
    uint64_t *data_error;
    uint64_t n, runs, width, pairs; /* width: runs of each neighbour */
    struct echi_index index;
};

#endif
