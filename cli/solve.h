/*
 * solve.h - what the parts of "echelon solve" agree on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SOLVE_H
#define ECHELON_CLI_SOLVE_H

#include "matrix.h"

/* A system while it is read, solved and written. */
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
    size_t m, n, count; /* of A, and columns of b */
    bool direct;
    ech_factor kind; /* direct */
    struct matrix_output to;
    struct cli_progress progress;
    double seconds;
};

/* A method, or a kind of direct one, by its name (NULL: auto), and a preconditioner that goes with
 * it; each EXIT_DONE, or EXIT_BAD after its message. */
int solve_parse_method(const char *name, bool *direct, ech_factor *kind, ech_method *method);
int solve_parse_precond(const char *name, ech_method method, ech_precond *precond);
bool solve_takes_triangles(ech_precond precond); /* of a sparse A alone */

/* The residuals of count right-hand sides, [count][capacity], of which each has some. */
struct solve_history {
    size_t count, capacity;
    const double *residuals;
    const ech_solve_report *reports;
};

/* Whether a file can be written there, so that nothing is computed in vain. */
int solve_can_write(const char *path);

/* A table of right-hand side, iteration, residual; a chart of them, by powers of ten. */
int solve_write_csv(const struct solve_history *history, const char *path);
int solve_write_svg(const struct solve_history *history, const char *title, const char *path);

/* All from the matrix, which was read, on: by elimination. */
int solve_direct(struct solve_job *job, bool json);

#endif
