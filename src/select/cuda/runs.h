/*
 * select/cuda/runs.h - the runs of equal keys in an array, for other operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_RUNS_H
#define ECHI_SELECT_CUDA_RUNS_H

#include "core/backend.h"

/* The runs of equal keys (in the order that sorts use: -0 equals +0, all NaN are equal): starts[r]
 * is the first position of run r, and starts[*count] is n; it has room for [n + 1]. keys_out [n],
 * which may be NULL, receives the first key of each run. All arrays are on the device; n is at
 * least 1; work has echi_cuda_runs_workspace() bytes. */
ech_status echi_cuda_runs(ech_ctx *ctx, const void *keys, ech_dtype key_dtype, size_t n,
                          void *keys_out, uint64_t *starts, uint64_t *count, void *work);
size_t echi_cuda_runs_workspace(size_t n);

#endif
