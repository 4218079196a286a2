/*
 * dist/partition.h - the buckets of a sort that divides keys among ranks before the exchange.
 *
 *     bins        ranges of equally many keys; their counts on every rank are known
 *     bucket      an aligned power of two of bins, whose keys all belong to one rank; or one bin
 *                 that several ranks share
 *
 *     elements    |         rank 0          |            rank 1           |
 *     bins        |   |   |   |   |   |   | : |   |   |   |   |   |   |   |
 *     buckets     |       |       |   |   |sha|   |   |       |           |
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIST_PARTITION_H
#define ECHI_DIST_PARTITION_H

#include "dist/dist.h"
#include "sort/divide.h"

struct echi_bucket {
    uint32_t bin, log;     /* 2^log bins from this one on */
    int owner;             /* the rank of its keys; -1: several */
    uint64_t start, count; /* position of its first key in the sorted array; keys on all ranks */
};

/* What a rank receives. */
struct echi_share {
    uint64_t low, middle, high; /* keys of the shared bin before, of its own buckets, of the shared
                                   bin after them */
    uint64_t start;             /* position of the first key of its own buckets */
    uint64_t shared;            /* keys that it has in shared bins */
};

struct echi_partition {
    const struct echi_dist *d;
    uint32_t *counts;            /* [ranks][ECHI_DIVIDE_BINS] */
    uint64_t *start;             /* [ECHI_DIVIDE_BINS + 1] */
    uint32_t *shared_before;     /* [ECHI_DIVIDE_BINS + 1]: number of shared bins before each */
    struct echi_bucket *buckets; /* [ECHI_DIVIDE_BUCKETS] */
    uint32_t n_buckets;
    uint64_t *have;            /* [ECHI_DIVIDE_BUCKETS][ranks]: keys of each bucket on each rank */
    uint64_t *send_at;         /* the same: where they are among those that the rank sends */
    struct echi_share *shares; /* [ranks] */
    uint16_t *bucket_of;       /* [ECHI_DIVIDE_BINS] */
};

bool echi_partition_allocate(struct echi_partition *p, const struct echi_dist *d);
void echi_partition_free(struct echi_partition *p);

/* Chooses buckets of at most `most` keys, or one bin; false if there are too many.  p->counts is
 * set. */
bool echi_partition_plan(struct echi_partition *p, uint64_t most);

#endif
