/*
 * dist/sort.h - the steps of a distributed sort, which unique elements also use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIST_SORT_H
#define ECHI_DIST_SORT_H

#include "dist/dist.h"
#include "echelon/sort.h"

struct echi_dist_sort {
    ech_dtype dtype;
    size_t n, n_out;    /* of this rank */
    size_t value_bytes; /* 0: keys only */
    bool pairs;         /* value_bytes must not be 0 */
    bool positions;     /* values_in is ignored: the values are the positions of keys, of
                           index_dtype */
    ech_dtype index_dtype;
    int descending;
    ech_order order;
    const char *algorithm;
    const void *keys_in, *values_in;
    void *keys_out, *values_out; /* keys_out NULL: not needed */
    /* parts of the workspace */
    void *keys, *values, *numbers, *got_keys, *got_values, *merged, *inner;
    size_t inner_bytes;
};

/* Lays out the workspace; if layout->base is NULL, only its size. */
ech_status echi_dist_sort_plan(struct echi_dist_sort *s, const char *device, int ranks,
                               struct echi_layout *layout);

/* Sorts from parts at d->in_first to parts at d->out_first.  status: that of this rank so far.
 * Returns the status of this rank. */
ech_status echi_dist_sort_run(struct echi_dist *d, struct echi_dist_sort *s, ech_status status);

#endif
