/*
 * sparse_case.h - shared code of the tests of sparse matrices: matrices on the host in the widest
 * types, the sums that docs/sparse.md documents, and typed copies on a device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SPARSE_CASE_H
#define SPARSE_CASE_H

#include "test.h"

/* ---- On the host: sparse_oracle.c ---- */

struct sparse {
    size_t rows, cols, entries;
    uint64_t *offsets, *columns; /* not NULL after sparse_make() */
    double *values;              /* f32: numbers that f32 represents */
    ech_dtype index, dtype;
};

/* lens, the lengths of rows: "empty", "one" (one row has all entries), "last" (the last row has
 * them, after rows of 3), "mixed" (near multiples of chunks and groups), "five", "gaps" (most rows
 * are empty), "power" (few long rows), or a number. dist: "small", "special" (with NaN, infinities,
 * zeros of both signs, subnormals). */
bool sparse_make(struct sparse *m, size_t rows, size_t cols, ech_dtype index, ech_dtype dtype,
                 const char *lens, const char *dist, uint64_t seed);
void sparse_free(struct sparse *m);

/* A random number of dist in dtype; a number rounded to dtype. */
double sparse_number(struct rng *rng, const char *dist, ech_dtype dtype);
double sparse_round(ech_dtype dtype, double x);

/* Row `row` of alpha m x + beta y; x has a stride. */
double sparse_row(const struct sparse *m, size_t row, double alpha, const double *x, size_t stride,
                  double beta, double y);

/* ---- On a device: sparse_run.c ---- */

/* Bit `bit` of where selects host memory (NULL) or ctx. */
ech_ctx *sparse_place(ech_ctx *ctx, unsigned where, int bit);

struct sparse_copy {
    struct buffer offsets, columns, values;
    ech_csr csr;
};

/* shift: misalignment in elements. */
bool sparse_copy_make(struct sparse_copy *copy, ech_ctx *ctx, const struct sparse *m, size_t shift,
                      unsigned where);
bool sparse_copy_is(const struct sparse_copy *copy, const struct sparse *m, const char *name);
void sparse_copy_free(struct sparse_copy *copy);

/* Arrays of numbers or integers, converted to a dtype. */
bool numbers_make(struct buffer *buffer, ech_ctx *ctx, const double *from, size_t n,
                  ech_dtype dtype, size_t shift);
bool integers_make(struct buffer *buffer, ech_ctx *ctx, const uint64_t *from, size_t n,
                   ech_dtype index, size_t shift);
/* Fails the case unless n elements from `at` on are bit-identical to wanted. */
bool numbers_are(const struct buffer *buffer, const double *wanted, size_t n, ech_dtype dtype,
                 const char *name);
bool integers_are(const struct buffer *buffer, const uint64_t *wanted, size_t n, ech_dtype index,
                  const char *name);

#endif
