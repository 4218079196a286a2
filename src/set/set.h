/*
 * set/set.h - a set operation whose arguments are checked, as the backends take it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SET_SET_H
#define ECHI_SET_SET_H

#include "core/internal.h"
#include "set/kept.h"

/* The two inputs are numbered 0 and 1. */
struct echi_set {
    const void *keys[2];
    const void *values[2];
    void *keys_out, *values_out;
    uint64_t *count;
    size_t n[2];
    ech_set operation;
    unsigned kept; /* ECHI_SET_A, ... */
    ech_dtype dtype;
    size_t key_bytes;
    size_t value_bytes;      /* 0: none */
    struct echi_order order; /* merged: equal keys have one encoded key */
};

/* The largest possible number of elements of the result of parts of n_a and n_b elements. */
static inline size_t echi_set_capacity(const struct echi_set *s, size_t n_a, size_t n_b)
{
    if (s->operation == ECH_SET_INTERSECTION) return n_a < n_b ? n_a : n_b;
    return s->operation == ECH_SET_DIFFERENCE ? n_a : n_a + n_b;
}

#endif
