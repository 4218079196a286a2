/*
 * sort/cuda/lean.h - sorts by any algorithm: by those of operation.c, or by "lean", which calls
 * them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_LEAN_H
#define ECHI_SORT_CUDA_LEAN_H

#include "cuda/cuda.h"

/* What core/backend.h asks for. */
ech_status echi_cuda_any_sort_workspace(const struct echi_sort *sort, size_t *bytes);
ech_status echi_cuda_any_sort_explain(const struct echi_sort *sort, struct echi_text *text);
ech_status echi_cuda_any_sort(ech_ctx *ctx, const struct echi_sort *sort);

#endif
