/*
 * sort/cuda/count.h - definitions that host and device code of the counting sort share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_COUNT_H
#define ECHI_SORT_CUDA_COUNT_H

#include "sort/cuda/common.h"

enum {
    SORT_COUNT_THREADS = 1024, /* of sort_count */
    SORT_VALUES = 1 << 16,     /* number of values of 16-bit keys */
    SORT_COUNT_STEP = 1 << 15, /* keys of a block between two barriers */
    SORT_COUNT_GROUPS = 160,   /* blocks that count, at most */
    SORT_COUNT_COARSE = 256, /* values of a block of sort_count_plan, and number of these blocks */
    SORT_COUNT_PLANS = SORT_VALUES / SORT_COUNT_COARSE
};

/* Dynamic shared memory of sort_count: two bytes per value of its part. */
#define SORT_COUNT_SHARED_BYTES(parts) (SORT_VALUES * 2 / (parts))

struct sort_count_args {
    struct sort_common common;
    uint64_t *begins; /* [SORT_VALUES + 1]: counts that were moved to memory; then the start of each
                         value after that of its SORT_COUNT_COARSE values, and 0 */
    uint64_t *sums;   /* [SORT_COUNT_PLANS]: keys with these values */
    uint16_t *counts; /* [groups][SORT_VALUES]: those of each group; or NULL: in begins */
    uint32_t groups;  /* of a.parts blocks each */
    uint32_t parts;   /* the values are divided into this many parts; as many blocks read the same
                         keys */
    uint32_t spills;  /* a block may count so many keys that counters must be moved to memory */
};

#endif
