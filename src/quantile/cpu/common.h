/*
 * quantile/cpu/common.h - declarations that the files of the CPU's selection by rank share.
 *
 * A bound is the element of a rank, as its merged key (core/order.h) and the number of equal
 * elements before it.  An element comes before a bound if its key is less, or if it is equal and
 * fewer equal elements are before it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CPU_COMMON_H
#define ECHI_QUANTILE_CPU_COMMON_H

#include "core/call.h"
#include "quantile/quantile.h"
#include "topk/cpu/common.h"

enum {
    ECHI_QUANTILE_PART = 1 << 16, /* elements that one thread processes at a time, at least */
    ECHI_QUANTILE_PARTS = 256,    /* at most */
    ECHI_QUANTILE_BLOCK = 1024,   /* elements that are encoded at once */
    ECHI_QUANTILE_SAMPLE = 4096,  /* keys per target, at most */
    ECHI_QUANTILE_TARGETS = 8     /* ranks that one pass searches for */
};

struct echi_quantile_bound {
    uint64_t key, tie; /* tie: the number of equal elements before it */
};

/* What is known of the element of a rank. */
struct echi_quantile_found {
    uint64_t key, less, equal; /* elements that are less, and equal */
    uint64_t next;             /* the next greater key, if ... */
    bool has_next;
};

/* exact: both pivots may be equal to many keys. */
struct echi_quantile_pivots {
    uint64_t low, high;
    bool exact;
};

/* A rank whose element is searched for. */
struct echi_quantile_target {
    uint64_t rank;
    struct echi_quantile_found found;
    bool done;
    uint64_t low, high, below, within;  /* the keys it is between, inclusive; how many keys are
                                          less than low, and in the interval */
    struct echi_quantile_pivots pivots; /* of a pass */
    _Atomic uint64_t counts[4];         /* keys that are less than and at most each pivot */
    char *list;                         /* [room], the keys between the pivots */
    _Atomic size_t listed;
};

/* Where a thread writes its elements of each part, and for each bound how many equal elements were
 * before. */
struct echi_quantile_places {
    uint64_t *to;   /* [bounds + 1], the next element */
    uint64_t *end;  /* [bounds + 1], after the last one */
    uint64_t *seen; /* [bounds] */
    uint64_t *next; /* [bounds]: the first bound of this key that was not reached */
};

struct echi_quantile_job {
    const struct echi_quantile *request;
    const struct echi_quantile_width *width;
    const struct echi_topk_width *keys; /* kernels on encoded keys */
    size_t part, parts;                 /* elements of a part; their number */
    int threads;
    bool ordered; /* the input is in order */
    /* "select": */
    size_t n_targets;
    void *sample; /* of encoded keys */
    size_t most;  /* capacity of the sample */
    char *list, *copy;
    size_t room;           /* of the list of a target, and of copy */
    bool count_nan;        /* a pass also counts NaN: */
    _Atomic uint64_t nans; /* their number */
    uint64_t equal;        /* the key that echi_quantile_count() counts */
    /* The workspace: */
    uint64_t *counts; /* [parts][state] */
    size_t state;     /* words of struct echi_quantile_places */
    void *sort_work;
    void *keys_out;     /* "sort" */
    const void *sorted; /* sorted keys, NULL if there are none */
    /* Large arrays, which are not cleared: */
    struct echi_quantile_bound bounds[ECHI_RANKS];
    struct echi_quantile_target targets[ECHI_QUANTILE_TARGETS]; /* of "select" */
};

/* The loops for one key width, over n elements x of an order. */
struct echi_quantile_width {
    uint64_t (*key)(const struct echi_order *order, const void *in, size_t i);
    /* The number of keys that are equal to one; the position of the one with `tie` before it. */
    size_t (*count_equal)(const struct echi_order *order, const void *x, size_t n, uint64_t key);
    size_t (*find_equal)(const struct echi_order *order, const void *x, size_t n, uint64_t key,
                         size_t tie);
    /* Writes the keys between the pivots, and returns their number.  Adds the number of keys that
     * are at most the first pivot to counts[1]; for exact pivots also that of keys that are less
     * than it, less than the second pivot, and at most the second pivot, to the others.  list has
     * room for 64 more keys. */
    size_t (*sift)(const struct echi_order *order, const void *x, size_t n,
                   const struct echi_quantile_pivots *pivots, void *list, uint64_t counts[4]);
    /* Finds the largest of n encoded keys that is at most `limit`; there is one. */
    void (*describe)(const void *e, size_t n, uint64_t limit, struct echi_quantile_found *found);
    /* Adds the number of keys that are less than each bound, and equal to it, to counts. */
    void (*count)(const struct echi_quantile_job *job, const struct echi_order *order,
                  const void *x, size_t n, uint64_t *counts);
    /* Moves the elements from ... to - 1: for few bounds, for many. */
    void (*move)(const struct echi_quantile_job *job, size_t from, size_t to,
                 const struct echi_quantile_places *places);
    void (*place)(const struct echi_quantile_job *job, size_t from, size_t to,
                  const struct echi_quantile_places *places);
};

struct echi_quantile_isa {
    const struct echi_quantile_width *widths[4]; /* by log2 of the key's bytes */
};

extern const struct echi_quantile_isa echi_quantile_portable, echi_quantile_avx2,
    echi_quantile_avx512,
    echi_quantile_vbmi2; /* the last one only for 8 and 16 bits, sift() and move() */

/* ---- select.c ---- */

/* Lays out the workspace of a selection of `count` ranks. */
void echi_quantile_lay_out(const struct echi_quantile *s, struct echi_layout *layout,
                           struct echi_quantile_job *job);

/* Finds the elements of up to ECHI_QUANTILE_TARGETS ranks: job->targets. */
void echi_quantile_select(struct echi_quantile_job *job, const uint64_t *ranks, size_t n);

/* The number of elements that are equal to a key, and the position of the one that has `tie` equal
 * ones before it. */
uint64_t echi_quantile_count(struct echi_quantile_job *job, uint64_t key);
uint64_t echi_quantile_position(struct echi_quantile_job *job, uint64_t key, uint64_t tie);

/* ---- partition.c ---- */

/* Writes the partition around the bounds. */
void echi_quantile_partition(struct echi_quantile_job *job);

#endif
