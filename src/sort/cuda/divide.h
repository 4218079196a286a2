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
    SORT_DIVIDE_EACH = ECHI_DIVIDE_BUCKETS / SORT_MSD_THREADS, /* buckets of a thread */
    SORT_DIVIDE_BLOCKS =
        64 /* per multiprocessor; 10 % faster than resident ones: H200, 2026-11-27 */
};

struct sort_divide_args {
    const void *keys_in;
    void *out;
    uint64_t n;
    struct echi_order order;
    uint64_t low, span;        /* the bins cover the encoded keys low + [0, span] */
    uint32_t shift;            /* a bin has 2^shift keys */
    const uint16_t *bucket_of; /* [ECHI_DIVIDE_BINS] */
    uint32_t *next;            /* [ECHI_DIVIDE_BUCKETS]: where the next key of each goes */
};

/* Dynamic shared memory of sort_divide: a tile, two counters per bucket, sums, and the
 * table. */
#define SORT_DIVIDE_SHARED_BYTES(key_bytes)                                                        \
    (SORT_MSD_TILE(key_bytes) * (key_bytes) + ECHI_DIVIDE_BUCKETS * 8u + 64u +                     \
     ECHI_DIVIDE_BINS * 2u)

#endif
