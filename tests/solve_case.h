/*
 * solve_case.h - shared code of the tests of iterative solvers: systems with a known spectrum, and
 * one call for every form of matrix, memory and dtype, checked by the residual in long double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SOLVE_CASE_H
#define SOLVE_CASE_H

#include "test.h"

/* ---- Systems: solve_system.c ---- */

/* Sparse rows; the pointers are not NULL after system_make(). */
struct solve_system {
    size_t n, entries;
    int64_t *offsets, *columns;
    double *values, *b;
};

/* kind: "poisson" (2-D, side x side, eigenvalues 4 - 2 cos - 2 cos), "poisson3" (3-D), "convection"
 * (poisson with a convection term: unsymmetric), "line" (diagonal, uniform from 1 to kappa),
 * "seven" (diagonal, seven values), "signs" (diagonal, seven values of both signs), "cycle" (a
 * cyclic shift), "random" (unsymmetric, diagonally dominant), "neumann" (1-D, singular: row sums
 * are 0), "indefinite" (poisson - 1.7), "blocks" (symmetric positive definite: weakly coupled 5 x 5
 * diagonal blocks), "zigzag" (regular 2 x 2 diagonal blocks with zeros on the diagonal). b is
 * random, from -1 to 1. */
struct solve_system system_make(const char *kind, size_t side, double kappa, uint64_t seed);
void system_free(struct solve_system *s);

/* |b - A x| for x in dtype, with A and b rounded to dtype. size, if not NULL, receives the norm of
 * the sums of absolute values, which bounds the rounding errors. */
long double system_residual(const struct solve_system *s, ech_dtype dtype, const double *b,
                            const void *x, long double *size);
long double system_norm(const struct solve_system *s, ech_dtype dtype, const double *b);

/* ---- A call: solve_system.c ---- */

enum solve_form { FORM_I32, FORM_I64, FORM_DENSE, FORM_APPLY, FORMS };

struct solve_run {
    ech_status status;
    ech_solve_report *reports; /* [count] */
    double *history;           /* [count][HISTORY] */
    void *x;                   /* [count][n] of dtype */
    size_t x_bytes;
};

enum { HISTORY = 5000 };

/* Solves count right-hand sides: b and its rotations. on_host: arrays in host memory, otherwise
 * device memory. guess: NULL, or [n], the initial value of every x. */
struct solve_run solve_on(ech_ctx *ctx, const struct solve_system *s, enum solve_form form,
                          ech_dtype dtype, size_t count, bool on_host, const double *guess,
                          const ech_solve_options *options);
void run_free(struct solve_run *run);

/* Right-hand side i of solve_on(). */
void system_rotated(const struct solve_system *s, size_t i, double *b);

/* Fails the case unless both runs are bit-identical. */
bool runs_same(const struct solve_run *a, const struct solve_run *b, size_t count,
               const char *what);

#endif
