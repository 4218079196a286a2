/*
 * unique/cuda/common.h - definitions that host code and kernels of searches for distinct elements
 * share: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_UNIQUE_CUDA_COMMON_H
#define ECHI_UNIQUE_CUDA_COMMON_H

#include "core/both.h"
#include "core/order.h"

enum {
    UNIQUE_THREADS = 512,
    UNIQUE_POSITIONS = 32 * UNIQUE_THREADS, /* of a block of unique_appear: 32 bits per thread */
    UNIQUE_WORDS_FIRST = 2,                 /* before the tile status descriptors */
    UNIQUE_BLOCKS = 4,                      /* per multiprocessor, of the other kernels */
    UNIQUE_LONGEST_BLOCKS = 512,            /* of unique_longest, at most */
    UNIQUE_PRESENT_WORDS = 1 << 11,         /* a bit for each value of 16 bits */
    UNIQUE_PRESENT_BYTES = 1 << 15,         /* of keys per block of unique_present, at least */
    UNIQUE_PRESENT_BLOCKS = 3               /* per multiprocessor */
};

/* Elements of a thread of unique_heads: its registers permit two blocks per multiprocessor. */
#define UNIQUE_EACH(key_bytes) ((key_bytes) == 8 ? 8 : 16)
#define UNIQUE_TILE(key_bytes) (UNIQUE_THREADS * UNIQUE_EACH(key_bytes))

/* Shared memory of unique_present: a byte for each value. */
#define UNIQUE_PRESENT_SHARED(key_bytes) ((key_bytes) == 2 ? 1 << 16 : 1 << 8)

/* The complements of the first positions of zero and of NaN in the input; 0: none, or not needed.
 * They are needed if equal keys with different bits occur: then zero_run and nan_run are the ranks
 * of their runs, plus 1. */
struct unique_firsts {
    uint64_t zero, nan;
    uint64_t zero_run, nan_run;
    uint64_t finished; /* blocks of unique_firsts */
};

struct unique_longest {
    uint64_t length, rank;
} __attribute__((aligned(16)));

/* The argument of all kernels. */
struct unique_args {
    const void *in;
    const void *keys, *positions; /* sorted; positions NULL: not needed */
    void *values, *first, *inverse;
    uint64_t *counts, *count;
    void *starts;   /* of each run, then n; of position_bytes, as the next ones; NULL: not needed */
    void *ranks;    /* of each position, if the outputs are in order of appearance */
    void *map;      /* the rank in order of appearance, by the rank in ascending order */
    uint32_t *bits; /* of the first positions, in order of appearance; of the values that occur */
    uint64_t *words;              /* tile status descriptors of unique_heads */
    uint64_t *appear_words;       /* of unique_appear */
    struct unique_firsts *firsts; /* NULL: not needed */
    struct unique_longest *longest;
    uint64_t n, tiles;
    struct echi_order order;
    uint32_t position_bytes, index_bytes;
    uint32_t longest_blocks;
    uint32_t clear; /* the last block to use them sets words, firsts and bits to zero */
};

#endif
