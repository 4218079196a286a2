/*
 * sort/cuda/sample.h - the host half of the sample sort, for operation.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SAMPLE_H
#define ECHI_SORT_CUDA_SAMPLE_H

#include "core/backend.h"
#include "cuda/cuda.h"
#include "sort/cuda/common.h"

/* Can it do this sort, in which so many bytes go along with a key? */
bool echi_sort_sample_fits(const struct echi_sort *s, int moved_bytes);

/* How many tiles and buckets it makes. */
uint32_t echi_sort_sample_buckets(const struct echi_sort *s, int moved_bytes);

/* Queues the kernel; args->buckets is given. */
ech_status echi_cuda_sort_sample(ech_ctx *ctx, const char *image, unsigned key_bytes,
                                 unsigned moved_bytes, struct sort_args *args);

#endif
