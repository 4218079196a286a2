/*
 * quantile/quantile.h - a request for elements of given ranks, for a partition or for quantiles,
 * checked, as the backends take it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_QUANTILE_H
#define ECHI_QUANTILE_QUANTILE_H

#include "core/backend.h"
#include "sort/sort.h"

enum {
    ECHI_RANKS = 127 /* of a partition; its parts and the elements between have 8-bit numbers */
};

struct echi_quantile {
    const void *in;
    void *out;   /* a partition, an element or quantiles */
    void *index; /* of index_bytes: a partition, or a position */
    size_t n;
    ech_quantile_call call;
    size_t count;               /* ranks or quantiles */
    uint64_t ranks[ECHI_RANKS]; /* ascending, distinct; not of quantiles */
    const double *q;            /* quantiles */
    ech_quantile_method method;
    bool ignore_nan;
    ech_dtype dtype, out_dtype;
    int key_bytes, index_bytes;
    struct echi_order order; /* -0 equals +0, and all NaN are equal */
    const char *algorithm;   /* NULL: the backend chooses */
    bool has_out, has_index; /* the outputs that are needed, which determine the workspace */
};

/* The bytes of a position in the workspace. */
static inline int echi_quantile_position_bytes(const struct echi_quantile *s)
{
    return (uint64_t)s->n <= UINT32_MAX ? 4 : 8;
}

/* cpu/operation.c: writes the element of a rank of few elements; false if it does not. */
bool echi_cpu_element_few(const void *in, void *value, size_t n, size_t rank, ech_dtype dtype);

/* The sort of the algorithm "sort", without pointers: of keys, for quantiles, or of positions. */
struct echi_sort echi_quantile_sort(const struct echi_quantile *s);

#endif
