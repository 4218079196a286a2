/*
 * dist/partition.h - a sort that divides elements among ranks before the exchange: its buckets, and
 * its steps.
 *
 *     bins        ranges of equally many keys; how many elements of each rank they have is known
 *     bucket      an aligned power of two of bins, whose elements all belong to one rank; or one
 *                 bin that several ranks share
 *
 *     elements    |         rank 0          |            rank 1           |
 *     bins        |   |   |   |   |   |   | : |   |   |   |   |   |   |   |
 *     buckets     |       |       |   |   |sha|   |   |       |           |
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIST_PARTITION_H
#define ECHI_DIST_PARTITION_H

#include "dist/sort.h"
#include "sort/divide.h"

struct echi_bucket {
    uint32_t bin, log;     /* 2^log bins from this one on */
    int owner;             /* the rank of its elements; -1: several */
    uint64_t start, count; /* position of the first one in the sorted array; their number on all
                              ranks */
};

/* What a rank receives. */
struct echi_share {
    uint64_t low, middle, high; /* elements of the shared bin before, of its own buckets, of the
                                   shared bin after them */
    uint64_t start;             /* position of the first element of its own buckets */
    uint64_t shared;            /* elements that it has in shared bins */
};

struct echi_partition {
    const struct echi_dist *d;
    bool in_order;               /* each rank has its elements in the order of bins */
    uint32_t *counts;            /* [ranks][ECHI_DIVIDE_BINS] */
    uint64_t *start;             /* [ECHI_DIVIDE_BINS + 1] */
    uint32_t *shared_before;     /* [ECHI_DIVIDE_BINS + 1]: number of shared bins before each */
    struct echi_bucket *buckets; /* [ECHI_DIVIDE_BUCKETS] */
    uint32_t n_buckets;
    uint64_t *have;    /* [ECHI_DIVIDE_BUCKETS][ranks]: elements of each bucket on each rank */
    uint64_t *send_at; /* the same: where they are in `keys` of the rank */
    struct echi_share *shares; /* [ranks] */
};

/* ---- buckets.c ---- */

bool echi_partition_allocate(struct echi_partition *p, const struct echi_dist *d);
void echi_partition_free(struct echi_partition *p);

/* Chooses buckets of at most `most` elements, or one bin; false if there are too many.  p->counts
 * is set. */
bool echi_partition_plan(struct echi_partition *p, uint64_t most);

/* ---- partition_steps.c ---- */

struct echi_partition_run {
    struct echi_dist *d;
    struct echi_dist_sort *s;
    struct echi_partition p;
    struct echi_divide divide;
    struct echi_divide_table *table;
    const struct echi_divide_ops *ops; /* NULL: none */
    size_t key_bytes;
    const char **sent; /* [ranks][2]: the addresses of `keys` and `values` of each rank */
    uint64_t gathers;  /* elements of shared bins that are gathered, at most */
    bool direct;       /* ranks can read each other's memory */
    bool outside;      /* keys are outside the range of the samples */
};

/* Whether elements have values: they are then divided by a stable sort. */
static inline bool echi_partition_has_values(const struct echi_partition_run *run)
{
    return run->s->value_bytes != 0;
}

/* Moves the elements of this rank to their buckets, by p. */
ech_status echi_partition_move(struct echi_partition_run *run);

/* Exchanges and sorts, after the agreement on what has been moved. */
ech_status echi_partition_finish(struct echi_partition_run *run);

#endif
