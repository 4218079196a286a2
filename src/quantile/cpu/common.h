/*
 * quantile/cpu/common.h - declarations that the files of the CPU's selection by rank share.
 *
 * A bound is the element of a rank, as its merged key (core/order.h) and its position in the input.
 * An element comes before a bound if its key is less, or if it is equal and its position is lower.
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
    ECHI_QUANTILE_SAMPLE = 4096,  /* keys, at most */
    ECHI_QUANTILE_IDS = 2 * ECHI_RANKS + 1
};

struct echi_quantile_bound {
    uint64_t key;
    uint64_t tie; /* the number of equal elements before it */
    uint64_t position;
};

/* What is known of the element of a rank. */
struct echi_quantile_found {
    uint64_t key, less, equal; /* elements that are less, and equal */
    uint64_t next;             /* the next greater key, if ... */
    bool has_next;
};

struct echi_quantile_job {
    const struct echi_quantile *request;
    const struct echi_quantile_width *width;
    const struct echi_topk_width *keys; /* kernels on encoded keys */
    struct echi_quantile_bound bounds[ECHI_RANKS];
    size_t part, parts; /* elements of a part; their number */
    int threads;
    /* "select": */
    void *sample;      /* [ECHI_QUANTILE_SAMPLE] of encoded keys */
    char *list, *copy; /* [room] */
    size_t room;
    _Atomic size_t listed;
    uint64_t low, high;        /* of a pass */
    _Atomic uint64_t tally[4]; /* as in struct echi_topk_width */
    /* The workspace: */
    uint64_t *counts; /* [parts][ids] */
    size_t ids;
    void *sorted; /* "sort": keys or positions */
    void *sort_work;
};

/* The loops for one key width. */
struct echi_quantile_width {
    uint64_t (*key)(const struct echi_order *order, const void *in, size_t i);
    /* The number of elements that are equal to a key; the position of one of them. */
    size_t (*count_equal)(const struct echi_order *order, const void *in, size_t from, size_t to,
                          uint64_t key);
    size_t (*find_equal)(const struct echi_order *order, const void *in, size_t from, uint64_t key,
                         size_t tie);
    /* Finds the largest of n encoded keys that is at most `limit`; there is one. */
    void (*describe)(const void *e, size_t n, uint64_t limit, struct echi_quantile_found *found);
    /* Counts the elements of each part of a partition; moves them to counts[id] ... */
    void (*count)(const struct echi_quantile_job *job, size_t from, size_t to, uint64_t *counts);
    void (*move)(const struct echi_quantile_job *job, size_t from, size_t to, uint64_t *counts);
};

extern const struct echi_quantile_width *const echi_quantile_widths[4];

/* ---- select.c ---- */

/* Capacity of the lists of candidates. */
size_t echi_quantile_room(size_t n);

/* Finds the element of a rank. */
struct echi_quantile_found echi_quantile_select(struct echi_quantile_job *job, uint64_t rank);

/* The number of elements that are equal to a key, and the position of the one that has `tie` equal
 * ones before it. */
uint64_t echi_quantile_count(struct echi_quantile_job *job, uint64_t key);
uint64_t echi_quantile_position(struct echi_quantile_job *job, uint64_t key, uint64_t tie);

/* ---- partition.c ---- */

/* Writes the partition around the bounds. */
void echi_quantile_partition(struct echi_quantile_job *job);

#endif
