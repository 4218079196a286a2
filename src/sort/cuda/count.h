/*
 * sort/cuda/count.h - the host half of the counting sort, for operation.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_COUNT_H
#define ECHI_SORT_CUDA_COUNT_H

#include "cuda/cuda.h"
#include "sort/cuda/common.h"

/* Queues it: of keys of 16 bits with args->begins, else of 8 bits. */
ech_status echi_cuda_sort_count(ech_ctx *ctx, const char *image, struct sort_args *args);

#endif
