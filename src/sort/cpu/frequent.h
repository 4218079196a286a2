/*
 * sort/cpu/frequent.h - the division of elements by the key of most of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CPU_FREQUENT_H
#define ECHI_SORT_CPU_FREQUENT_H

#include "sort/cpu/common.h"

struct echi_frequent {
    const struct echi_sort_job *job;
    struct echi_sort_arrays from, to, equal_to; /* equal_to: of elements with the key */
    size_t offset, n;                           /* elements [offset, offset + n) of each array */
    bool index;                                 /* the values are the positions */
    size_t *counts; /* [parts][ECHI_BUCKETS], with at most as many parts as threads */
    /* Results: the key, whether it was moved too, and the start of each kind in the outputs. */
    uint64_t x;
    bool move_keys;
    size_t start[4];
    size_t part_n;
};

/* Divides the elements; false if no key is that of most elements, or if there is no such kernel. */
bool echi_sort_frequent(struct echi_frequent *f, int threads);

#endif
