/*
 * sort/sort.h - a sort whose arguments are checked, as the backends take it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_SORT_H
#define ECHI_SORT_SORT_H

#include "core/internal.h"

struct echi_sort {
    const void *keys_in;
    void *keys_out; /* keys_in if in place; NULL if only the index is requested (argsort) */
    const void *values_in;
    void *values_out;   /* values_in if in place; the index if index_bytes */
    size_t n;           /* at least 1 for a call that runs */
    size_t value_bytes; /* 0: keys without values.  With index_bytes: the same number */
    int index_bytes; /* 0, or 4 or 8: the values are the positions 0 .. n-1, not read from memory */
    bool keep_keys;  /* with index_bytes: keys_out receives the sorted keys */
    ech_dtype dtype;
    int key_bytes; /* 1, 2, 4 or 8 */
    struct echi_order order;
    int begin_bit, end_bit; /* 0 <= begin_bit <= end_bit <= 8 * key_bytes */
    bool stable;            /* false only for keys without values by all bits, where equal keys are
                               indistinguishable */
    const char *algorithm;  /* NULL: the backend chooses */
    size_t room_bytes;      /* the caller's workspace, which may be larger than needed; or 0 */
    bool least_work;        /* with algorithm "count" on a GPU: with the minimum workspace */
};

/* cpu/operation.c: sorts few keys by an order that is a bijection; out may be in.  false: they are
 * not few, or take less time in another way. */
bool echi_cpu_sort_few(const struct echi_order *order, const void *in, void *out, size_t n,
                       size_t key_bytes);

/* The same for keys with values; values: NULL for positions, not values_out.  keys_out: NULL, or
 * may be keys. */
bool echi_cpu_sort_pairs_few(const struct echi_order *order, const void *keys, const void *values,
                             size_t n, size_t key_bytes, size_t value_bytes, void *keys_out,
                             void *values_out);

/* An argsort, whose sorted keys are not needed. */
static inline bool echi_sort_discards_keys(const struct echi_sort *s)
{
    return s->index_bytes && !s->keep_keys;
}

/* Checks everything except pointers, and fills in the fields of s that depend on it. ctx may be
 * NULL. */
ech_status echi_sort_check(ech_ctx *ctx, const ech_sort_options *options, struct echi_sort *s);

#endif
