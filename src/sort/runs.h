/*
 * sort/runs.h - sorted runs in host memory, and where the output's ranges lie in them.
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
    const size_t *starts; /* [runs + 1], the first 0 */
    size_t runs;
    int key_bytes, begin_bit, end_bit;
    struct echi_order order;
};

/* at[i] becomes how many keys of run i are among the first `rank` of all, merged so that equal
 * keys stay in the order of their runs.  at must hold the answer for a rank not greater, zeros of
 * rank 0.  scratch has room for 2 numbers a run. */
void echi_runs_split(const struct echi_runs *r, size_t rank, size_t *at, size_t *scratch);

#endif
