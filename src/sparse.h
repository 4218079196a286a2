/*
 * sparse.h - the checked form of a call on sparse matrices, and what the results' bits follow from:
 * how a row is added up, for the CPU and for kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_H
#define ECHI_SPARSE_H

#include "internal.h"

/* Products that are added one after the other: docs/sparse.md. */
enum { ECHI_SPARSE_CHUNK = 32 };

enum echi_sparse_what {
    ECHI_SPARSE_MULTIPLY, /* y = alpha a x + beta y: n columns of x and y, at strides.  With one of
                             stride 1 it is a vector */
};

/* What a request does not use is 0. */
struct echi_sparse {
    enum echi_sparse_what what;
    ech_csr a;
    double alpha, beta; /* rounded to a.dtype */
    const void *x;
    void *y;
    size_t n, x_stride, y_stride;
};

/* Rows and entries of a matrix in one number: what work is shared out by. */
static inline uint64_t echi_sparse_items(const ech_csr *a)
{
    return (uint64_t)a->entries + a->rows;
}

#endif
