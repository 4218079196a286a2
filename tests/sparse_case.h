/*
 * sparse_case.h - what the tests of sparse matrices share: matrices on the host with numbers as
 * wide as there are, the sums that docs/sparse.md documents, and typed copies on a device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SPARSE_CASE_H
#define SPARSE_CASE_H

#include "test.h"

/* ---- On the host: sparse_oracle.c ---- */

struct sparse {
    size_t rows, cols, entries;
    uint64_t *offsets, *columns; /* never NULL once made */
    double *values;              /* of an f32 matrix: numbers that f32 has */
    ech_dtype index, dtype;
};

/* lens says how long rows are: "empty", "one" (a row has all that others would have), "last" (the
 * same at the end, after rows of 3), "mixed" (around multiples of chunks and groups), "five",
 * "gaps" (most are empty), "power" (few long ones), or a number.  dist: "small", "special" (NaN,
 * infinities, zeros of both signs, subnormals among them). */
bool sparse_make(struct sparse *m, size_t rows, size_t cols, ech_dtype index, ech_dtype dtype,
                 const char *lens, const char *dist, uint64_t seed);
void sparse_free(struct sparse *m);

/* A number of dist as the dtype has it, and one rounded to it. */
double sparse_number(struct rng *rng, const char *dist, ech_dtype dtype);
double sparse_round(ech_dtype dtype, double x);

/* Row `row` of alpha m x + beta y, where x lies at a stride. */
double sparse_row(const struct sparse *m, size_t row, double alpha, const double *x, size_t stride,
                  double beta, double y);

/* ---- On a device: sparse_run.c ---- */

/* A context, or NULL for host memory, by the bits of where. */
ech_ctx *sparse_place(ech_ctx *ctx, unsigned where, int bit);

struct sparse_copy {
    struct buffer offsets, columns, values;
    ech_csr csr;
};

/* shift: how many elements the arrays lie past an aligned address. */
bool sparse_copy_make(struct sparse_copy *copy, ech_ctx *ctx, const struct sparse *m, size_t shift,
                      unsigned where);
bool sparse_copy_is(const struct sparse_copy *copy, const struct sparse *m, const char *name);
void sparse_copy_free(struct sparse_copy *copy);

/* Numbers as a dtype or index has them in a buffer, and back. */
bool numbers_make(struct buffer *buffer, ech_ctx *ctx, const double *from, size_t n,
                  ech_dtype dtype, size_t shift);
bool integers_make(struct buffer *buffer, ech_ctx *ctx, const uint64_t *from, size_t n,
                   ech_dtype index, size_t shift);
/* NULL, what is there, or no answer: fails the case unless n elements from `at` on are those
 * wanted, to the bit. */
bool numbers_are(const struct buffer *buffer, const double *wanted, size_t n, ech_dtype dtype,
                 const char *name);
bool integers_are(const struct buffer *buffer, const uint64_t *wanted, size_t n, ech_dtype index,
                  const char *name);

#endif
