/*
 * direct_case.h - what the tests of direct solvers share: matrices, one call with gaps between rows
 * on either side, and elimination in long double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DIRECT_CASE_H
#define DIRECT_CASE_H

#include "test.h"

/* Numbers as the library gets them: rounded to dtype. */
struct direct_system {
    size_t m, n, count;
    ech_dtype dtype;
    double *a, *b; /* [m][n], [m][count] */
};

/* "random" (from -1 to 1), "spd", "kms" (0.5^|i - j|), "hilbert", "identity", "cycle" (row i has a
 * one in column i + 1), "signs" (symmetric, positive diagonal, indefinite from row 1 on), "zero"
 * (random, column n / 2 of zeros), "ones", "near" (random, the first column nearly the second),
 * "dependent" (random, the last column the sum of the first two).  b is random. */
struct direct_system direct_make(const char *kind, size_t m, size_t n, size_t count,
                                 ech_dtype dtype, uint64_t seed);
void direct_free(struct direct_system *s);

struct direct_answer {
    ech_status status;
    ech_direct_report report;
    double *x; /* [n][count] */
};

/* ech_solve_direct(), or ech_inverse() where b is NULL; arrays with gaps between rows, which must
 * stay; on_host: in host memory, else on the device. */
struct direct_answer direct_solve(ech_ctx *ctx, const struct direct_system *s, bool on_host,
                                  const ech_direct_options *options);
void answer_free(struct direct_answer *answer);

/* Fails the case unless both are the same to the bit. */
bool answers_same(const struct direct_system *s, const struct direct_answer *a,
                  const struct direct_answer *b, const char *what);

/* x [n][count] = a^-1 b by elimination with pivoting, a [n][n]; false: singular. */
bool oracle_solve(const long double *a, const long double *b, long double *x, size_t n,
                  size_t count);

double unit_of(ech_dtype dtype);

ech_direct_options direct_options(ech_factor kind, const char *algorithm, int refine);
bool direct_has(const ech_ctx *ctx, const char *algorithm);

/* The reported error, computed in long double. */
double oracle_error(const struct direct_system *s, const double *x);

/* ---- Cases: direct_accuracy.c ---- */

/* rcond against the inverse; x against the normal equations; x before and after refinement. */
void direct_condition(ech_ctx *ctx, const char *kind, size_t n, ech_factor factor);
void direct_least_squares(ech_ctx *ctx, size_t m, size_t n, ech_dtype dtype);
void direct_refinement(ech_ctx *ctx, const char *kind, size_t n, ech_dtype dtype, ech_factor factor,
                       const char *algorithm);

#endif
