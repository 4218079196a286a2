/*
 * sort/cuda/lsd.h - least significant digits in few launches, as operation.c calls them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_LSD_H
#define ECHI_SORT_CUDA_LSD_H

#include "sort/cuda/onesweep.h"

/* Queues a sort that the device does if args->msd says that keys crowd; else it ends at once. */
ech_status echi_cuda_sort_lsd(ech_ctx *ctx, int key_bytes, int moved_bytes,
                              const struct onesweep_plan *plan, struct sort_args *args);

#endif
