/*
 * cuda/sort_lsd.h - least significant digits in few launches, as sort.c calls them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SORT_LSD_H
#define ECHI_CUDA_SORT_LSD_H

#include "sort_onesweep.h"

/* Queues a sort that the device does if args->msd says that keys crowd; else it ends at once. */
ech_status echi_cuda_sort_lsd(ech_ctx *ctx, int key_bytes, int moved_bytes,
                              const struct onesweep_plan *plan, struct sort_args *args);

#endif
