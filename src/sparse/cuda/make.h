/*
 * sparse/cuda/make.h - declarations that the two host files of sparse matrices share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_CUDA_MAKE_H
#define ECHI_SPARSE_CUDA_MAKE_H

#include "core/backend.h"

struct echi_sparse;

enum { SPARSE_IMAGE_BYTES = 32 };
void echi_cuda_sparse_image(const ech_csr *m, char image[SPARSE_IMAGE_BYTES]);

/* make.c: conversions, transposes and checks, that is, all operations except products. */
ech_status echi_cuda_sparse_make_workspace(const struct echi_sparse *s, size_t *bytes);
ech_status echi_cuda_sparse_make(ech_ctx *ctx, const struct echi_sparse *s, void *work);

#endif
