/*
 * sort/runs.h - sorted runs in host memory, and the ranges of the output in them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_RUNS_H
#define ECHI_SORT_RUNS_H

#include "core/internal.h"

/* An array of keys whose pieces, run i from starts[i] up to starts[i + 1], are sorted by the bits
 * [begin_bit, end_bit) of their encoded form. */
struct echi_runs {
    const char *keys;
    const size_t *starts; /* [runs + 1], the first is 0 */
    size_t runs;
    int key_bytes, begin_bit, end_bit;
    struct echi_order order;
};

/* at[i] becomes the number of keys of run i among the first `rank` keys of all runs, merged stably
 * in the order of the runs.  On entry at contains the result for a rank that is not greater (zeros
 * for rank 0). scratch has space for 2 numbers per run. */
void echi_runs_split(const struct echi_runs *r, size_t rank, size_t *at, size_t *scratch);

#endif
