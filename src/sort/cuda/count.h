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
    SORT_VALUES = 1 << 16      /* number of values of 16-bit keys */
};

/* Dynamic shared memory of sort_count: two bytes per value of its part. */
#define SORT_COUNT_SHARED_BYTES(parts) (SORT_VALUES * 2 / (parts))

struct sort_count_args {
    struct sort_common common;
    uint64_t *begins; /* [SORT_VALUES + 1]: the count of each value, then its start */
    uint32_t parts;   /* the values are divided into this many parts; as many blocks read the same
                         keys */
};

#endif
