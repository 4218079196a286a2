/*
 * quantile/cuda/choice.h - the algorithms for elements of given ranks on the GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_CHOICE_H
#define ECHI_QUANTILE_CUDA_CHOICE_H

#include "core/call.h"
#include "quantile/quantile.h"

struct quantile_algorithm {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool select;      /* otherwise the elements of the ranks are found by a sort */
    bool ids;         /* a partition by a sort of part numbers, otherwise in one pass */
    bool few;         /* a block searches one element */
};

/* The row that finds the elements and partitions as the caller demands, as far as this is
 * possible. */
const struct quantile_algorithm *echi_quantile_choose(const struct echi_quantile *s);
const struct quantile_algorithm *echi_quantile_named(const char *name); /* NULL: unknown */
void echi_quantile_explain_choice(const struct echi_quantile *s, struct echi_explain *e);

/* Whether a partition has several bounds. */
bool echi_quantile_has_parts(const struct echi_quantile *s);

/* Whether "sort" sorts keys to find the element of a rank: integers that compare equal are the same
 * element, unless its position is needed. */
bool echi_quantile_sorts_keys(const struct echi_quantile *s);

/* Whether a sample narrows the search.  Keys of 8 bits are counted once without it; one of 16 bits
 * is found in two passes over the input, unless the array is large. */
bool echi_quantile_has_sample(const struct echi_quantile *s);

#endif
