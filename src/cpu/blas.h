/*
 * cpu/blas.h - a library with the C interface of the BLAS, opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_BLAS_H
#define ECHI_CPU_BLAS_H

#include "matmul/matmul.h"
#include "cpu/vendor.h"

struct echi_blas {
    struct echi_vendor vendor;
    void (*sgemm)(int layout, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                  const float *a, int a_stride, const float *b, int b_stride, float beta, float *c,
                  int c_stride);
    void (*dgemm)(int layout, int transpose_a, int transpose_b, int m, int n, int k, double alpha,
                  const double *a, int a_stride, const double *b, int b_stride, double beta,
                  double *c, int c_stride);
};

/* The library, which the first call in the process opens; NULL: none was found. */
const struct echi_blas *echi_blas(void);

/* c = alpha op(a) op(b) + beta c for one product after another; every size is less than 2^31. */
void echi_blas_multiply(const struct echi_blas *blas, const struct echi_matmul *p, int threads);

#endif
