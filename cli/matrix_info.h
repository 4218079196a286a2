/*
 * matrix_info.h - shared by the files of "echelon matrix info".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_MATRIX_INFO_H
#define ECHELON_CLI_MATRIX_INFO_H

#include "matrix.h"

/* The matrix to be analysed: a sparse one as sorted CSR and its transpose, with duplicate entries
 * added; a dense one unchanged. */
struct matrix_view {
    size_t rows, cols;
    uint64_t entries;    /* stored entries; nonzeros of a dense matrix */
    const double *dense; /* [rows][cols], or NULL */
    ech_csr a, t;        /* I64, F64 */
};

struct matrix_facts {
    uint64_t zeros;             /* stored entries that are zero */
    uint64_t least, most;       /* minimum and maximum of entries per row */
    uint64_t empty;             /* rows without entries */
    uint64_t below, above;      /* lower and upper bandwidth */
    uint64_t diagonal;          /* nonzero diagonal elements */
    uint64_t positive;          /* positive diagonal elements */
    uint64_t strict, weak;      /* rows that are strictly, or at least weakly, dominant */
    uint64_t lonely;            /* nonzeros a_ij with a_ji zero or not stored */
    uint64_t nans;              /* NaN or infinite */
    uint64_t zero_row;          /* the first zero row, counted from 1; 0: none */
    uint64_t zero_column;       /* likewise */
    double asymmetry, skewness; /* maximum of |a_ij - a_ji| and of |a_ij + a_ji| */
    double row_sum, column_sum; /* maximum of absolute sums: infinity-norm and 1-norm */
    double square;              /* Frobenius norm */
    double low, high;           /* interval of the Gershgorin discs on the real axis */
};

/* ---- matrix_facts.c.  Each returns EXIT_DONE, or an exit code after a message ---- */

/* m still owns the numbers of a dense matrix. */
int matrix_view_make(ech_ctx *ctx, const struct io_matrix *m, struct matrix_view *view);
void matrix_view_free(struct matrix_view *view);
int matrix_find_facts(struct matrix_view *view, struct matrix_facts *facts);

/* ---- matrix_condition.c ---- */

struct matrix_condition {
    enum { CONDITION_UNKNOWN, CONDITION_ESTIMATE, CONDITION_AT_LEAST, CONDITION_INFINITE } kind;
    double value;  /* the estimate or lower bound */
    int norm;      /* 1 or 2 */
    char how[128]; /* the method, or why the value is unknown or infinite */
};
int matrix_find_condition(ech_ctx *ctx, const struct matrix_view *view,
                          const struct matrix_facts *facts, int threads,
                          struct cli_progress *progress, struct matrix_condition *condition);

#endif
