/*
 * select/cuda/quick.h - the test of a selection with fewer operations, if it has such a form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_QUICK_H
#define ECHI_SELECT_CUDA_QUICK_H

#include "select/cuda/common.h"

/* A simpler form of a test that merges equal keys and uses all bits, without the merging: if a
 * limit of the interval is a key with several encodings, the interval is extended to include or
 * exclude all of them. */
static inline struct select_test quick_of(const struct echi_predicate *p, size_t bytes)
{
    const struct echi_order *o = &p->order;
    const uint64_t ones = ~(uint64_t)0 >> (64 - 8 * bytes);
    uint64_t low = p->low, high = p->low + p->span;
    struct select_test q = { .simple = p->mask == ones && !o->flip && low <= high && high <= ones,
                             .invert = p->invert };
    if (o->merge && low == o->zero + 1) low = o->zero;
    if (o->merge && high == o->zero) {
        if (low == high) q.simple = 0;
        high--;
    }
    if (high >= o->last) high = ones;
    q.negative = o->float_mask & (ones >> 1);
    q.offset = (o->sign - o->shift - low) & ones;
    q.span = high - low;
    return q;
}

#endif
