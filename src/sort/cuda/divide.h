/*
 * sort/cuda/divide.h - definitions that host and device code of the division among ranks share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_DIVIDE_H
#define ECHI_SORT_CUDA_DIVIDE_H

#include "sort/cuda/msd.h"
#include "sort/divide_sizes.h"

enum {
    SORT_DIVIDE_COUNT_THREADS = 1024,
    SORT_DIVIDE_SAMPLE_THREADS = 32,
    SORT_DIVIDE_SAMPLE_BLOCKS = 128, /* many, because each key is in a page of its own */
    SORT_DIVIDE_BLOCKS =
        64 /* per multiprocessor; 10 % faster than resident ones: H200, 2026-11-27 */
};

/* A sample; each field is all ones before. */
struct sort_divide_sample {
    uint64_t least, rest; /* the minimum encoded key, and of the complements */
    uint32_t ordered;     /* 0: not in order */
    /* 1 less than the number of encoded keys of each number of bits; and of those that have
     * SORT_ZEROS zeros below each bit, from bit 1 on. */
    uint32_t lengths[65], zeros[64];
};

struct sort_divide_args {
    const void *keys_in;
    void *out;
    uint64_t n;
    struct echi_order order;
    uint64_t low, span; /* the bins cover the encoded keys low + [0, span] */
    uint32_t shift;     /* a bin has 2^shift keys */
    uint32_t lengths;   /* 0, or bins by lengths */
    uint32_t buckets;   /* of a move: their number, rounded up to a multiple of SORT_MSD_THREADS */
    uint32_t new_nodes; /* sort_divide_count: nodes from this one on, whose slots begin at first */
    uint32_t first;
    const uint16_t *table; /* [slots]: buckets, and nodes */
    const struct echi_divide_node *nodes;
    uint32_t *next; /* [ECHI_DIVIDE_BUCKETS]: where the next key of each goes; of
                       sort_divide_count: [ECHI_DIVIDE_BINS], the counts */
    struct sort_divide_sample *sample;
};

/* Copies from the memory of other GPUs by multiprocessors. */
enum {
    SORT_DIVIDE_PULL_BLOCKS = 16,
    SORT_DIVIDE_PULL_THREADS = 1024,
    SORT_DIVIDE_PULL_BYTES = 64, /* of a thread in a tile, which it reads before it writes them */
    SORT_DIVIDE_PULLS = 128      /* copies of a launch, at most: its argument has 4 KiB */
};
struct sort_divide_copy {
    const void *from;
    void *to;
    uint64_t n; /* keys */
};
struct sort_divide_pull_args {
    uint32_t copies;
    struct sort_divide_copy copy[SORT_DIVIDE_PULLS];
};

/* Dynamic shared memory of sort_divide: a tile, two counters per bucket, sums, and the table of the
 * first bins; of sort_divide_count: counters and this table. */
#define SORT_DIVIDE_SHARED_BYTES(key_bytes)                                                        \
    (SORT_MSD_THREADS * SORT_DIVIDE_THREAD_BYTES(key_bytes) + ECHI_DIVIDE_BUCKETS * 8u + 64u +     \
     ECHI_DIVIDE_BINS * 2u)
#define SORT_DIVIDE_COUNT_BYTES (ECHI_DIVIDE_BINS * 6u)
#define SORT_DIVIDE_TILE(key_bytes)                                                                \
    (SORT_MSD_THREADS * (SORT_DIVIDE_THREAD_BYTES(key_bytes) / (key_bytes)))

/* The bytes of a thread's keys, of 4 or 8 bytes.  A larger tile is written in longer runs; keys of
 * 4 bytes would need too many registers.  H200, 2026-11-27. */
#define SORT_DIVIDE_THREAD_BYTES(key_bytes) ((key_bytes) == 8 ? 168u : 128u)

#endif
