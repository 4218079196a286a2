/*
 * sort/cuda/block.h - the host half of the sort in one block, for operation.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_BLOCK_H
#define ECHI_SORT_CUDA_BLOCK_H

#include "core/backend.h"
#include "sort/cuda/common.h"

struct block_plan {
    const char *kernel;
    unsigned threads, shared_bytes;
};

/* Can it do this sort, in which so many bytes go along with a key? */
bool echi_sort_block_fits(const struct echi_sort *s, int moved_bytes);

/* The smallest block that holds the array, or the largest there is. */
struct block_plan echi_cuda_plan_block(const struct echi_sort *s, int moved_bytes);

#endif
