/*
 * cuda/cublas.h - NVIDIA's cuBLAS, opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_CUBLAS_H
#define ECHI_CUDA_CUBLAS_H

#include "matmul/matmul.h"

/* The size of the workspace it is given, so that it allocates nothing: what it requests on
 * sm_90. */
enum { ECHI_CUBLAS_WORK_BYTES = 32 << 20 };

/* The library's name; NULL if it is not available, with the cause in *reason. The first call in the
 * process opens it. */
const char *echi_cublas_name(const char **reason);

/* Whether it supports 64-bit sizes; otherwise all must be less than 2^31. */
bool echi_cublas_is_64(void);

/* c = alpha op(a) op(b) + beta c, queued. */
ech_status echi_cublas_multiply(ech_ctx *ctx, const struct echi_matmul *p, void *work);

/* Destroys the context's handle; the CUDA context must be current. */
void echi_cublas_close(ech_ctx *ctx);

#endif
