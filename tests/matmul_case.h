/*
 * matmul_case.h - what the tests of products share: data of every float type, and what a product
 * and a matrix times a vector must be, to the bit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MATMUL_CASE_H
#define MATMUL_CASE_H

#include "test.h"

struct product {
    size_t m, n, k, count;
    int turn_a, turn_b, wide;
    size_t a_gap, b_gap, c_gap; /* elements between rows */
    bool shared_a, shared_b;    /* a step of 0 */
    double alpha, beta;
    ech_dtype dtype;
    const char *dist;
};

/* "plain": numbers of which every bit is in use; "special": with NaN, infinities, zeros of both
 * signs and subnormals among them; "nan": NaN alone. */
void matmul_fill(ech_dtype dtype, const char *dist, void *to, size_t n, uint64_t seed);

/* An element as a number, and a number that has been rounded to f32 or f64 as an element. */
double matmul_get(ech_dtype dtype, const void *from, size_t i);
void matmul_put(ech_dtype dtype, void *to, size_t i, double x);

size_t product_a_stride(const struct product *p);
size_t product_b_stride(const struct product *p);
size_t product_a_step(const struct product *p);
size_t product_b_step(const struct product *p);
size_t product_c_step(const struct product *p);
ech_dtype product_c_dtype(const struct product *p);

/* c, with what is between its rows, from what it was: added up in the order of k. */
void product_exact(const struct product *p, const void *a, const void *b, void *c);

/* The error that any order of sums may have at element i of c, whose exact value is *value. */
double product_bound(const struct product *p, const void *a, const void *b, const void *before,
                     size_t which, size_t i, size_t j, double *value);

/* y from what it was, as docs/matmul.md says. */
void matvec_exact(ech_dtype dtype, int turn, size_t rows, size_t cols, double alpha, const void *a,
                  size_t stride, const void *x, double beta, void *y);

#endif
