/*
 * cuda/sort_lean.h - sorts by any algorithm: by those of sort.c, or by "lean", which calls them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SORT_LEAN_H
#define ECHI_CUDA_SORT_LEAN_H

#include "cuda.h"

/* What backend.h asks for. */
ech_status echi_cuda_any_sort_workspace(const struct echi_sort *sort, size_t *bytes);
ech_status echi_cuda_any_sort_explain(const struct echi_sort *sort, struct echi_text *text);
ech_status echi_cuda_any_sort(ech_ctx *ctx, const struct echi_sort *sort);

#endif
