/*
 * solve_case.h - what the tests of iterative solvers share: systems whose spectrum is known, and
 * one call in every form of matrix, memory and type, judged by the residual in long double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SOLVE_CASE_H
#define SOLVE_CASE_H

#include "test.h"

/* ---- Systems: solve_system.c ---- */

/* Sparse rows; never NULL once made. */
struct solve_system {
    size_t n, entries;
    int64_t *offsets, *columns;
    double *values, *b;
};

/* "poisson" (2-D, side x side, the eigenvalues 4 - 2 cos - 2 cos), "poisson3" (3-D), "convection"
 * (poisson with a wind: unsymmetric), "line" (diagonal, from 1 to kappa evenly), "seven" (diagonal,
 * seven values), "signs" (diagonal, seven values of both signs), "cycle" (a cyclic shift), "random"
 * (unsymmetric, diagonally dominant), "neumann" (1-D, singular: rows add up to 0), "indefinite"
 * (poisson - 1.7), "blocks" (symmetric positive definite: squares of five ones and a little, which
 * are loosely coupled), "zigzag" (zeros on the diagonal of regular squares of two).  b is random,
 * from -1 to 1. */
struct solve_system system_make(const char *kind, size_t side, double kappa, uint64_t seed);
void system_free(struct solve_system *s);

/* |b - A x| of x in dtype, and |b|; A and b rounded to dtype.  size, if not NULL: the norm of the
 * sums of absolute values, of which rounding errors are a part. */
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

/* count right-hand sides: b, then its rotations.  on_host: arrays lie in host memory, else on the
 * device; guess: NULL, or [n] that every x begins with. */
struct solve_run solve_on(ech_ctx *ctx, const struct solve_system *s, enum solve_form form,
                          ech_dtype dtype, size_t count, bool on_host, const double *guess,
                          const ech_solve_options *options);
void run_free(struct solve_run *run);

/* Right-hand side i of those. */
void system_rotated(const struct solve_system *s, size_t i, double *b);

/* Fails the case unless both went the same way to the bit. */
bool runs_same(const struct solve_run *a, const struct solve_run *b, size_t count,
               const char *what);

#endif
