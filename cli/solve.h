/*
 * solve.h - what the parts of "echelon solve" agree on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SOLVE_H
#define ECHELON_CLI_SOLVE_H

#include "matrix.h"

/* The residuals of count right-hand sides, [count][capacity], of which each has some. */
struct solve_history {
    size_t count, capacity;
    const double *residuals;
    const ech_solve_report *reports;
};

/* A table of right-hand side, iteration, residual; a chart of them, by powers of ten. */
int solve_write_csv(const struct solve_history *history, const char *path);
int solve_write_svg(const struct solve_history *history, const char *title, const char *path);

#endif
