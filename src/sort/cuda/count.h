/*
 * sort/cuda/count.h - what both halves of a sort by counting agree on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_COUNT_H
#define ECHI_SORT_CUDA_COUNT_H

#include "sort/cuda/common.h"

enum {
    SORT_COUNT_THREADS = 1024, /* of sort_count */
    SORT_VALUES = 1 << 16      /* of a key of 16 bits */
};

/* Dynamic shared memory of sort_count: two bytes for each value of its part. */
#define SORT_COUNT_SHARED_BYTES(parts) (SORT_VALUES * 2 / (parts))

struct sort_count_args {
    struct sort_common common;
    uint64_t *begins; /* [SORT_VALUES + 1]: how often each value occurs, then where it begins */
    uint32_t parts;   /* of the values: so many blocks read the same keys */
};

#endif
