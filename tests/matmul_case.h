/*
 * matmul_case.h - shared code of the tests of products: data of every float type, and the exact
 * bits of a matrix product and of a matrix-vector product.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MATMUL_CASE_H
#define MATMUL_CASE_H

#include "test.h"

struct product {
    size_t m, n, k, count;
    int turn_a, turn_b, wide;
    size_t a_gap, b_gap, c_gap; /* padding of rows, in elements */
    bool shared_a, shared_b;    /* batch stride 0 */
    double alpha, beta;
    ech_dtype dtype;
    const char *dist;
};

/* dist: "plain" (all bits are significant), "special" (with NaN, infinities, zeros of both signs
 * and subnormals), "nan" (only NaN). */
void matmul_fill(ech_dtype dtype, const char *dist, void *to, size_t n, uint64_t seed);

/* Convert an element to a number, and a number that is already rounded to f32 or f64 to an
 * element. */
double matmul_get(ech_dtype dtype, const void *from, size_t i);
void matmul_put(ech_dtype dtype, void *to, size_t i, double x);

size_t product_a_stride(const struct product *p);
size_t product_b_stride(const struct product *p);
size_t product_a_step(const struct product *p);
size_t product_b_step(const struct product *p);
size_t product_c_step(const struct product *p);
ech_dtype product_c_dtype(const struct product *p);

/* Computes c, including the padding of rows, from its previous contents. The terms are added in
 * ascending order of k. */
void product_exact(const struct product *p, const void *a, const void *b, void *c);

/* The largest error of any order of summation in element (i, j) of c, whose exact value is
 * *value. */
double product_bound(const struct product *p, const void *a, const void *b, const void *before,
                     size_t which, size_t i, size_t j, double *value);

/* Computes y from its previous contents in the order that docs/matmul.md defines. */
void matvec_exact(ech_dtype dtype, int turn, size_t rows, size_t cols, double alpha, const void *a,
                  size_t stride, const void *x, double beta, void *y);

#endif
