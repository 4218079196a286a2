/*
 * unique/unique.h - a request for distinct elements or for the mode, checked, as the backends take
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_UNIQUE_UNIQUE_H
#define ECHI_UNIQUE_UNIQUE_H

#include "core/backend.h"
#include "sort/sort.h"

struct echi_unique {
    const void *in;
    void *values;          /* of a mode: one element */
    void *first, *inverse; /* of index_bytes */
    uint64_t *counts, *count;
    size_t n;
    ech_dtype dtype;
    int key_bytes;
    int index_bytes;         /* 4 or 8 */
    struct echi_order order; /* -0 equals +0, and all NaN are equal */
    bool mode;
    bool appearance;
    /* The outputs that are needed, which determine the workspace. */
    bool has_values, has_first, has_inverse, has_counts;
};

/* cpu/operation.c: the values of few elements; false if it does not write them. */
bool echi_cpu_values_few(const void *in, void *values, uint64_t *count, size_t n, ech_dtype dtype);

/* Whether positions are sorted with the keys. */
static inline bool echi_unique_pairs(const struct echi_unique *u)
{
    return u->has_first || u->has_inverse || u->appearance;
}

/* Whether the values are to be taken from the first -0 or +0 and the first NaN of the input: keys
 * that are sorted without their positions do not show which of equal ones is the first. */
static inline bool echi_unique_repairs(const struct echi_unique *u)
{
    return !echi_unique_pairs(u) && u->has_values && echi_dtype_is_float(u->dtype);
}

/* The bytes of a position in the workspace. */
static inline int echi_unique_position_bytes(const struct echi_unique *u)
{
    return (uint64_t)u->n <= UINT32_MAX ? 4 : 8;
}

/* The sort that comes first, without pointers. */
struct echi_sort echi_unique_sort(const struct echi_unique *u);

#endif
