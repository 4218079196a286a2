/*
 * cpu/groups.h - rows and segments: where each begins, the check of their offsets, and their
 * distribution to threads.
 *
 *     groups  | 0 | 1 |         2         | 3 |4|5|  6  | ...
 *     chunks  |   0   |      (long)       |     1       | ...
 *
 * A long group is processed by all threads, one group after the other. The other groups are
 * distributed in chunks of about equally many elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_GROUPS_H
#define ECHI_CPU_GROUPS_H

#include "cpu/cpu.h"

enum {
    ECHI_PARTS = 64, /* maximum number of threads of one sort or selection */
    ECHI_MOST_LONG = 2 * ECHI_PARTS
};

struct echi_groups {
    const void *offsets; /* of segments; NULL: rows */
    const void *ends;    /* NULL: a segment ends where the next one begins */
    struct echi_index index;
    size_t n;       /* of segments, the elements of the array; of rows, of all rows */
    size_t groups;  /* rows or segments */
    size_t cols;    /* of a row */
    size_t longest; /* longer groups are long; at least n / ECHI_MOST_LONG, or SIZE_MAX */

    /* Filled in by the functions below. */
    void (*run)(void *arg, size_t first, size_t last, int thread);
    void *arg;
    size_t chunks, chunk_size;
    size_t longs[ECHI_MOST_LONG]; /* the long segments */
    _Atomic size_t long_count;
    _Atomic uint64_t error;
};

/* The maximum number of threads for n elements in all groups, each of which has its own scratch
 * memory. It depends only on n, so the workspace can be computed on any machine. */
size_t echi_parts(size_t n);

/* How many threads process the groups of g, and the length above which all of them process one
 * group. */
int echi_groups_threads(const ech_ctx *ctx, const struct echi_groups *g);
size_t echi_groups_longest(const struct echi_groups *g, int threads);

/* Fails if the offsets of segments decrease, overlap or exceed n; lists the long segments. */
ech_status echi_groups_check(ech_ctx *ctx, struct echi_groups *g);

/* The long groups, after echi_groups_check(): their number, and which is the i-th. */
size_t echi_groups_long(const struct echi_groups *g);
static inline size_t echi_groups_long_at(const struct echi_groups *g, size_t i)
{
    return g->offsets ? g->longs[i] : i;
}

/* Calls run(arg, first, last, thread) for parts [first, last) of all groups, unless all are long. */
void echi_groups_run(struct echi_groups *g, int threads,
                     void (*run)(void *arg, size_t first, size_t last, int thread), void *arg);

/* The first element of a segment, or of a row if rows are adjacent; the elements of a group. */
static inline size_t echi_group_begin(const struct echi_groups *g, size_t group)
{
    return g->offsets ? (size_t)echi_index_at(g->offsets, g->index, group) : group * g->cols;
}

static inline size_t echi_group_length(const struct echi_groups *g, size_t group)
{
    if (!g->offsets) return g->cols;
    const void *ends = g->ends ? g->ends : g->offsets;
    return (size_t)(echi_index_at(ends, g->index, group + !g->ends) -
                    echi_index_at(g->offsets, g->index, group));
}

/* The elements of a group that run() processes; 0 if the group is long. */
static inline size_t echi_group_short(const struct echi_groups *g, size_t group)
{
    const size_t n = echi_group_length(g, group);
    return n <= g->longest ? n : 0;
}

#endif
