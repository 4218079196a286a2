/*
 * direct_case.h - shared code of the tests of direct solvers: matrices, a call with row strides on
 * host or device, and elimination in long double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DIRECT_CASE_H
#define DIRECT_CASE_H

#include "test.h"

/* A system; its numbers are rounded to dtype. */
struct direct_system {
    size_t m, n, count;
    ech_dtype dtype;
    double *a, *b; /* [m][n], [m][count] */
};

/* kind: "random" (from -1 to 1), "spd", "kms" (0.5^|i - j|), "hilbert", "identity", "cycle" (row i
 * has a one in column i + 1), "signs" (symmetric, positive diagonal, indefinite from row 1 on),
 * "zero" (random, column n / 2 is zero), "ones", "near" (random, the first two columns nearly
 * equal), "dependent" (random, the last column is the sum of the first two). b is random. */
struct direct_system direct_make(const char *kind, size_t m, size_t n, size_t count,
                                 ech_dtype dtype, uint64_t seed);
void direct_free(struct direct_system *s);

struct direct_answer {
    ech_status status;
    ech_direct_report report;
    double *x; /* [n][count] */
};

/* Calls ech_solve_direct(), or ech_inverse() if b is NULL. The padding between rows must stay
 * unchanged. on_host: arrays in host memory, otherwise device memory. */
struct direct_answer direct_solve(ech_ctx *ctx, const struct direct_system *s, bool on_host,
                                  const ech_direct_options *options);
void answer_free(struct direct_answer *answer);

/* Fails the case unless both answers are bit-identical. */
bool answers_same(const struct direct_system *s, const struct direct_answer *a,
                  const struct direct_answer *b, const char *what);

/* Solves a x = b by elimination with pivoting in long double; a is [n][n], b and x are [n][count].
 * Returns false if a is singular. */
bool oracle_solve(const long double *a, const long double *b, long double *x, size_t n,
                  size_t count);

double unit_of(ech_dtype dtype);

ech_direct_options direct_options(ech_factor kind, const char *algorithm, int refine);
bool direct_has(const ech_ctx *ctx, const char *algorithm);

/* The error that the report contains, computed in long double. */
double oracle_error(const struct direct_system *s, const double *x);

/* ---- Cases: direct_batch.c ---- */

/* Compares a batch with calls of each system. */
void direct_batch(ech_ctx *ctx, size_t n, ech_dtype dtype);

/* ---- Cases: direct_accuracy.c ---- */

/* Compare rcond with the inverse, x with the normal equations, and x before and after
 * refinement. */
void direct_condition(ech_ctx *ctx, const char *kind, size_t n, ech_factor factor);
void direct_least_squares(ech_ctx *ctx, size_t m, size_t n, ech_dtype dtype);
void direct_refinement(ech_ctx *ctx, const char *kind, size_t n, ech_dtype dtype, ech_factor factor,
                       const char *algorithm);

#endif
