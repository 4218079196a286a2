/*
 * cuda/cublas.h - NVIDIA's cuBLAS, opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_CUBLAS_H
#define ECHI_CUDA_CUBLAS_H

#include "matmul/matmul.h"

/* Of the workspace that it gets, so that it allocates nothing: what it asks for on sm_90. */
enum { ECHI_CUBLAS_WORK_BYTES = 32 << 20 };

/* The library's name, or NULL where there is none, and then why, in *reason.  Opened at the first
 * call in the process. */
const char *echi_cublas_name(const char **reason);

/* Whether it takes sizes of 64 bits; else all must be less than 2^31. */
bool echi_cublas_is_64(void);

/* c = alpha op(a) op(b) + beta c, queued. */
ech_status echi_cublas_multiply(ech_ctx *ctx, const struct echi_matmul *p, void *work);

/* Ends what the context has of it; its CUDA context is current. */
void echi_cublas_close(ech_ctx *ctx);

#endif
