/*
 * solve.h - shared by the files of "echelon solve".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SOLVE_H
#define ECHELON_CLI_SOLVE_H

#include "matrix.h"

/* The state of a run. */
struct solve_job {
    const char *name[2];
    ech_ctx *ctx;
    ech_dtype dtype;
    ech_solve_options options;
    struct io_matrix a, b;
    ech_csr csr;
    void *dense, *rhs, *x; /* [count][n] */
    double *history;
    ech_solve_report *reports;
    size_t m, n, count; /* rows and columns of A, columns of b */
    bool direct;
    bool sparse;     /* only if direct: A is factored as a sparse matrix, csr */
    ech_factor kind; /* only if direct */
    struct matrix_output to;
    struct cli_progress progress;
    double seconds;
    FILE *json; /* receives the report as JSON; NULL: the report is text */
};

/* Find an iterative or direct method (NULL: auto) and a preconditioner by name.  Both return
 * EXIT_DONE, or EXIT_BAD after a message. */
int solve_parse_method(const char *name, bool *direct, ech_factor *kind, ech_method *method);
int solve_parse_precond(const char *name, ech_method method, ech_precond *precond);
/* Name i of these methods and preconditioners; NULL after the last one. */
const char *solve_method_word(int i);
const char *solve_precond_word(int i);
bool solve_is_sparse(const char *method);        /* factors a sparse A as such; NULL: auto */
bool solve_takes_triangles(ech_precond precond); /* needs triangles of A, so A must be sparse */

/* The residuals of count right-hand sides: [count][capacity]. */
struct solve_history {
    size_t count, capacity;
    const double *residuals;
    const ech_solve_report *reports;
};

/* Write a table of right-hand side, iteration and residual, and a chart with a logarithmic axis. */
int solve_write_csv(const struct solve_history *history, const char *path);
int solve_write_svg(const struct solve_history *history, const char *title, const char *path);

/* Runs a direct method on a dense matrix, from reading b to writing x. */
int solve_direct(struct solve_job *job);

/* Solves a sparse system by a direct method, and writes the report; EXIT_NO: there is no
 * solution. */
int solve_sparse(struct solve_job *job);

#endif
