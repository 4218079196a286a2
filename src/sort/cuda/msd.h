/*
 * sort/cuda/msd.h - sorts by most significant digits, as operation.c calls them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_H
#define ECHI_SORT_CUDA_MSD_H

#include "core/backend.h"
#include "sort/cuda/msd_pairs.h"

/* How much of everything a sort can need: of pairs, or with pairs NULL of keys alone; classes: with
 * a first level of them (msd_top.cuh). */
struct msd_plan echi_cuda_plan_msd(const struct echi_sort *s, const struct pairs_tuning *pairs,
                                   bool classes);

/* ... where keys are looked at first: none are few, and pairs that may be packed have as many
 * segments as digits. */
void echi_cuda_plan_adaptive(const struct echi_sort *s, struct msd_plan *plan);

/* Queues the kernels of a sort of keys alone; image is that of the key's width. */
ech_status echi_cuda_sort_msd(ech_ctx *ctx, const char *image, const struct msd_plan *msd,
                              struct sort_args *args);
ech_status echi_cuda_sort_classes(ech_ctx *ctx, const char *image, const struct msd_plan *msd,
                                  struct sort_args *args);

#endif
