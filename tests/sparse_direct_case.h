/*
 * sparse_direct_case.h - shared code of the tests of sparse direct solvers: synthetic systems with
 * a known solution, and residuals in long double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SPARSE_DIRECT_CASE_H
#define SPARSE_DIRECT_CASE_H

#include "test.h"

/* Entries in any order; b = A x in long double, rounded. */
struct direct_csr {
    size_t n, nnz;
    int64_t *offsets, *columns;
    double *values, *x, *b;
};

/* kind: "line" (diagonal, from 1 to n), "band" (tridiagonal, unsymmetric), "arrow" (dense first row
 * and column), "cycle" (a permutation), "mesh" (2-D five-point stencil; n is rounded to a square),
 * "plant" (synthetic, of the kind of the matrices of chemical plants: 4 of 5 diagonal elements are
 * 0, values from 1e-4 to 1e4, blocks that depend on the block before), "twice" (band, with entries
 * that occur twice and columns in descending order). */
struct direct_csr direct_csr_make(const char *kind, size_t n, uint64_t seed);
void direct_csr_free(struct direct_csr *s);

/* A square matrix in Matrix Market format ("coordinate real general"); n = 0 if there is no such
 * file. */
struct direct_csr direct_csr_read(const char *folder, const char *name);

/* A synthetic enlargement of a matrix, as in bench/sparse_direct_scipy.py: copies of it are blocks
 * on the diagonal, and three random elements couple each block with the block before. */
struct direct_csr direct_csr_enlarge(const struct direct_csr *block, size_t copies, uint64_t seed);
void direct_csr_entry(struct direct_csr *s, int64_t column, double value); /* in the last row */

/* The maximum norm of b - A x, or b - A^T x, over (|A| |x| + |b|); A, b and x rounded to dtype. */
double direct_csr_error(const struct direct_csr *s, bool transpose, ech_dtype dtype,
                        const double *b, const void *x);

/* The matrix with indices and values of these types, in host memory; to be freed by csr_free(). */
ech_csr csr_of(const struct direct_csr *s, ech_dtype index_dtype, ech_dtype dtype);
void csr_free(ech_csr *a);

/* The same numbers in dtype; malloc(). */
void *numbers_of(const double *from, size_t n, ech_dtype dtype);

#endif
