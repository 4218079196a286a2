/*
 * matrix_info.h - what the parts of "echelon matrix info" agree on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_MATRIX_INFO_H
#define ECHELON_CLI_MATRIX_INFO_H

#include "matrix.h"

/* A matrix to be looked at, entries of one place added up: a sparse one as rows and as those of its
 * transpose, in order; a dense one as it is. */
struct matrix_view {
    size_t rows, cols;
    uint64_t entries;    /* of a dense one: those that are not zero */
    const double *dense; /* [rows][cols], or NULL */
    ech_csr a, t;        /* I64, F64 */
};

struct matrix_facts {
    uint64_t zeros;             /* among the entries */
    uint64_t least, most;       /* entries of a row */
    uint64_t empty;             /* rows */
    uint64_t below, above;      /* furthest from the diagonal */
    uint64_t diagonal;          /* rows with a diagonal that is not zero */
    uint64_t positive;          /* and greater */
    uint64_t strict, weak;      /* rows whose diagonal outweighs the others, or balances them */
    uint64_t lonely;            /* entries without a partner beyond the diagonal */
    uint64_t nans;              /* NaN or infinite */
    uint64_t zero_row;          /* the first that has zeros alone, from 1; 0: none */
    uint64_t zero_column;       /* likewise */
    double asymmetry, skewness; /* most of |a_ij - a_ji| and |a_ij + a_ji| */
    double row_sum, column_sum; /* most, of absolute values: norms infinity and 1 */
    double square;              /* norm of all */
    double low, high;           /* where Gershgorin's circles reach, of the real axis */
};

/* ---- matrix_facts.c.  Each EXIT_DONE, or an exit code after its message ---- */

/* m stays the owner of a dense matrix's numbers. */
int matrix_view_make(ech_ctx *ctx, const struct io_matrix *m, struct matrix_view *view);
void matrix_view_free(struct matrix_view *view);
int matrix_find_facts(struct matrix_view *view, struct matrix_facts *facts);

/* ---- matrix_condition.c ---- */

struct matrix_condition {
    enum { CONDITION_UNKNOWN, CONDITION_ESTIMATE, CONDITION_AT_LEAST, CONDITION_INFINITE } kind;
    double value;  /* of an estimate and a bound */
    int norm;      /* in which: 1 or 2 */
    char how[128]; /* it was found; or why it is not known, or infinite */
};
int matrix_find_condition(ech_ctx *ctx, const struct matrix_view *view,
                          const struct matrix_facts *facts, int threads,
                          struct cli_progress *progress, struct matrix_condition *condition);

#endif
