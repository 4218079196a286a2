/*
 * dist/partition.h - a sort that divides elements among ranks before the exchange: its buckets, and
 * its steps.
 *
 *     bins        ranges of keys; how many elements of each rank they have is known.  At first they
 *                 are equally large; those with many elements are then divided, as often as needed
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

enum {
    ECHI_PARTITION_LEAST_TOP = 8, /* bits of a digit of the sort of keys */
    /* Instead of the rank that has the elements of a bucket: several ranks; several, but the keys
     * are equal, so that each rank writes its own. */
    ECHI_PARTITION_SHARED = -1,
    ECHI_PARTITION_EQUAL = -2
};

struct echi_bin {
    uint64_t offset; /* its first key, from that of the range on */
    uint32_t entry;  /* of the table */
    uint8_t
        bits; /* it is one of 2^bits bins next to each other, of 2^shift keys; if the range has */
    int8_t shift; /* fewer keys than bins, shift is negative, and 2^-shift bins have one key */
};

struct echi_bucket {
    uint32_t bin, log;     /* 2^log bins from this one on */
    int top;               /* its keys agree from this bit on; -1: not at all */
    int owner;             /* the rank of its elements, or one of the numbers above */
    uint32_t group;        /* of the buckets of this rank, which are exchanged together */
    uint64_t start, count; /* position of the first one in the sorted array; their number on all
                              ranks */
};

/* The elements of a shared bin that are at one end of a share. */
struct echi_end {
    uint64_t n;
    uint64_t offset; /* of the first key of the bin */
    bool equal;      /* it is the only key */
};

/* What a rank receives. */
struct echi_share {
    struct echi_end low, high; /* before and after its own buckets */
    uint64_t middle;           /* elements of these */
    uint64_t start;            /* position of the first one */
    uint64_t shared;           /* elements that it has in shared bins, whose keys are not equal */
    uint64_t needed;           /* these, and those of the buckets of other ranks */
};

struct echi_partition {
    const struct echi_dist *d;
    bool in_order;                   /* each rank has its elements in the order of bins */
    bool outside;                    /* keys are outside the range, in the first or the last bin */
    uint64_t group_least;            /* elements of a group, at least */
    uint32_t align;                  /* what a rank sends of a group begins at a multiple of it */
    uint32_t lengths;                /* 0, or bins by lengths: sort/divide_sizes.h */
    int shift;                       /* the bins at first have 2^shift keys */
    struct echi_divide_table *table; /* from bins to buckets */
    uint32_t *counts;      /* [ECHI_DIVIDE_SLOTS / ECHI_DIVIDE_BINS][ranks][ECHI_DIVIDE_BINS],
                                    of the entries of the table */
    struct echi_bin *bins; /* [ECHI_DIVIDE_SLOTS], in the order of keys */
    uint32_t n_bins;
    uint64_t *start;             /* [ECHI_DIVIDE_SLOTS + 1] */
    uint32_t *shared_before;     /* [ECHI_DIVIDE_SLOTS + 1]: number of shared bins before each */
    struct echi_bucket *buckets; /* [ECHI_DIVIDE_BUCKETS] */
    uint32_t n_buckets;
    uint64_t *have;    /* [ECHI_DIVIDE_BUCKETS][ranks]: elements of each bucket on each rank */
    uint64_t *send_at; /* the same: where they are in `keys` of the rank */
    struct echi_share *shares; /* [ranks] */
};

/* ---- buckets.c ---- */

bool echi_partition_allocate(struct echi_partition *p, const struct echi_dist *d);

/* Where the counts of the last ECHI_DIVIDE_BINS entries are: [ranks][ECHI_DIVIDE_BINS]. */
uint32_t *echi_partition_counts(const struct echi_partition *p);

/* The bits that bins by lengths keep, in a range of 2^bits keys. */
uint32_t echi_partition_lengths(uint32_t bits);

/* Whether the first bin has more than `most` elements. */
bool echi_partition_near(const struct echi_partition *p, uint64_t most);

/* Divides the bins that have more than `limit` elements, if there are some: p->table has
 * ECHI_DIVIDE_BINS more entries, of the nodes from *first_node on.  All counts are set.  Bins of
 * one rank may have more elements. */
bool echi_partition_divide(struct echi_partition *p, uint64_t limit, uint32_t *first_node);

/* Chooses buckets of at most `most` elements, or one bin; false if there are too many.
 * echi_partition_divide() has found nothing to divide. */
bool echi_partition_plan(struct echi_partition *p, uint64_t most);

/* The number of groups of the rank that has most of them. */
uint32_t echi_partition_groups(const struct echi_partition *p);

/* ---- partition_steps.c ---- */

struct echi_partition_run {
    struct echi_dist *d;
    struct echi_dist_sort *s;
    struct echi_partition p;
    struct echi_divide divide;
    const struct echi_divide_ops *ops; /* NULL: none */
    size_t key_bytes;
    struct echi_copy *copies; /* [ECHI_DIVIDE_BUCKETS] */
    const char **sent;        /* [ranks][2]: the addresses of `keys` and `values` of each rank */
    uint64_t gathers;         /* elements of shared bins that are gathered, at most */
    bool direct;              /* ranks can read each other's memory */
    bool queues;              /* otherwise: exchanges can overlap with sorts */
    bool ordered;             /* the keys may be in order */
    bool near;                /* many keys of a sample are in the first bin */
    bool tries;               /* elements with values can be counted before they are sorted */
};

/* Whether elements have values: they are then divided by a stable sort. */
static inline bool echi_partition_has_values(const struct echi_partition_run *run)
{
    return run->s->value_bytes != 0;
}

/* The number of a bucket of a rank in the arrays of p. */
static inline size_t echi_partition_cell(const struct echi_partition_run *run, uint32_t bucket,
                                         size_t rank)
{
    return (size_t)bucket * (size_t)run->d->ranks + rank;
}

/* Where the elements of a rank in a bucket of this rank are in `got`. */
static inline uint64_t echi_partition_got_at(const struct echi_partition_run *run, uint32_t bucket,
                                             size_t rank)
{
    uint64_t at = run->p.buckets[bucket].start - run->p.shares[run->d->rank].start;
    for (size_t r = 0; r < rank; r++) at += run->p.have[echi_partition_cell(run, bucket, r)];
    return at;
}

/* Moves the elements of this rank to their buckets, by p. */
ech_status echi_partition_move(struct echi_partition_run *run);

/* Exchanges and sorts, after the agreement on what has been moved. */
ech_status echi_partition_finish(struct echi_partition_run *run);

/* ---- partition_exchange.c ---- */

/* Copies the elements of the buckets [from, to), which belong to this rank, from the memory of the
 * other ranks, while the stream works. */
ech_status echi_partition_pull(struct echi_partition_run *run, uint32_t from, uint32_t to);

/* Exchanges all buckets by the communicator. */
ech_status echi_partition_exchange(struct echi_partition_run *run, ech_status status);

/* Queues the exchange of one group of buckets of each rank, for which all ranks must call it.  What
 * this rank receives lands in the output, where the sorted buckets are written later. */
ech_status echi_partition_queue(struct echi_partition_run *run, uint32_t group);

/* Moves it from there to `got`: of the buckets [from, to). */
ech_status echi_partition_collect(struct echi_partition_run *run, uint32_t from, uint32_t to);

#endif
