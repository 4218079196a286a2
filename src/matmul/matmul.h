/*
 * matmul/matmul.h - products of matrices and of a matrix and a vector whose arguments are checked,
 * as the backends take them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_MATMUL_H
#define ECHI_MATMUL_MATMUL_H

#include "core/internal.h"

/* c = alpha op(a) op(b) + beta c; m, n, and count are at least 1.  If k or alpha is 0, a and b are
 * absent, and k is 0. */
struct echi_matmul {
    const struct echi_backend *backend;
    size_t m, n, k, count;
    bool a_turned, b_turned; /* a is [k][m], b is [n][k] */
    bool wide;               /* c is f32, a and b are not */
    bool list;               /* a, b, c: arrays [count] of pointers; the batch strides are 0 */
    const void *a, *b;
    void *c;
    size_t a_stride, b_stride, c_stride;
    size_t a_step, b_step, c_step;
    double alpha, beta;
    ech_dtype dtype;
    const char *algorithm; /* NULL: the backend chooses */
};

static inline ech_dtype echi_matmul_c_dtype(const struct echi_matmul *p)
{
    return p->wide ? ECH_F32 : p->dtype;
}

/* Matrix i of an array of them, or the i-th pointer. */
static inline const void *echi_matmul_at(const struct echi_matmul *p, const void *array,
                                         size_t step, ech_dtype dtype, size_t i)
{
    if (p->list) return ((const void *const *)array)[i];
    return array ? (const char *)array + i * step * ech_dtype_bytes(dtype) : NULL;
}

/* y = alpha op(a) x + beta y; rows and cols are those of a, and op(a) has at least one row.  If
 * op(a) has no columns or alpha is 0, a and x are absent. */
struct echi_matvec {
    size_t rows, cols;
    bool turned;
    bool empty; /* a and x are absent */
    const void *a, *x;
    void *y;
    size_t a_stride;
    double alpha, beta;
    ech_dtype dtype; /* ECH_F32 or ECH_F64 */
};

/* The order of sums, the same everywhere: docs/matmul.md. */
enum {
    ECHI_MATVEC_LANES = 64,   /* of a chunk of a row */
    ECHI_MATVEC_CHUNK = 4096, /* elements of a row */
    ECHI_MATVEC_ROWS = 64     /* of a transposed matrix: elements of a column */
};

#endif
