/*
 * topk/topk.h - a top-k selection whose arguments are checked, as the backends take it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_TOPK_H
#define ECHI_TOPK_TOPK_H

#include "core/index.h"
#include "core/rows.h"

/* The selected elements are the first ones in ascending order of the order-preserving form, which
 * includes the direction; of equal ones the first. */
struct echi_topk {
    const void *in;
    void *values, *indices; /* one of them may be NULL */
    const void *offsets;    /* of segments; NULL: rows */
    const void *ends;       /* NULL: a segment ends where the next one begins */
    const void *counts;     /* NULL: k of each group */
    size_t n;               /* of segments, the elements of the array; of rows, of all rows */
    size_t groups;          /* rows or segments */
    size_t cols;            /* of a row; 0: segments */
    size_t k;               /* of each group, at most */
    struct echi_strides in_strides, out_strides; /* segments: of `in` not used */
    struct echi_index offsets_index, counts_index;
    ech_dtype dtype;
    int key_bytes;
    int index_bytes; /* of an element of indices */
    struct echi_order order;
    bool sorted;
    const char *algorithm; /* NULL: the backend chooses */
};

/* cpu/operation.c: the first k of few elements, sorted; false if it does not write them. */
bool echi_cpu_topk_few(const void *in, void *values, void *indices, size_t n, size_t k,
                       ech_dtype dtype, size_t index_bytes);

/* The elements of the longest group, at most. */
static inline size_t echi_topk_longest(const struct echi_topk *t)
{
    return t->offsets ? t->n : t->cols;
}

/* The elements of a group that are selected, at most. */
static inline size_t echi_topk_most(const struct echi_topk *t)
{
    return t->k < echi_topk_longest(t) ? t->k : echi_topk_longest(t);
}

#endif
