/*
 * sparse_direct/sparse_direct.h - declarations that the files of the sparse direct solvers share: a
 * matrix in host memory, and the interface of a library that factors it.
 *
 *     sparse_direct.c   the public calls: checks, reports
 *     matrix.c          A in host memory by columns, its scaling, residuals in twice the precision
 *     refine.c          one right-hand side: solve, refine, measure; the condition number
 *     choose.c          which library factors A
 *     library.c         opens a library
 *     structure.c       names the column of a structurally singular matrix
 *     dense.c, cpu/{klu,mumps,superlu}.c, cuda/cudss.c   one algorithm each
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_DIRECT_H
#define ECHI_SPARSE_DIRECT_H

#include "core/call.h"

enum {
    ECHI_SPARSE_DENSE = 4096, /* maximum n of the algorithm "dense" */
    ECHI_SPARSE_NAMES = 4     /* maximum number of file names that are tried for a library */
};

/* A matrix by columns (CSC), in host memory: rows of a column are ascending and unique. */
struct echi_csc {
    size_t n, nnz;
    int64_t *offsets;  /* [n + 1] */
    int64_t *rows;     /* [nnz] */
    double *values;    /* [nnz] */
    double *row_scale; /* [n] powers of 2: the scaled element (i, j) is ... */
    double *col_scale; /* [n] ... value * row_scale[i] * col_scale[j], less than 1 */
    double row_norm;   /* maximum over the rows of the sum of |a_ij| */
    double col_norm;   /* ... over the columns */
};

/* What a library reports about a factorization. */
struct echi_sparse_outcome {
    ech_direct_status status;
    uint64_t failed_index;
    uint64_t factor_nnz;
    bool refused; /* the library is unsuitable for this matrix, and there is another one */
};

/* A library. */
struct echi_sparse_library {
    const char *name;         /* of the algorithm */
    const char *title;        /* "KLU" */
    const char *packages;     /* "libklu1 (Debian)": what to install */
    const char *const *files; /* [ECHI_SPARSE_NAMES] tried in this order; NULL ends them */
    bool (*take)(void *handle, const char **why); /* finds the functions; *why: why it cannot */
    /* Factors the matrix with these values, scaled; *state is NULL unless A was factored.
     * other: the name of the library that factors A if this one refuses it; NULL: none. */
    ech_status (*factor)(ech_ctx *ctx, const struct echi_csc *a, const double *values,
                         const char *other, void **state, struct echi_sparse_outcome *outcome);
    /* x [n], in host memory, becomes A^-1 x, or A^-T x. */
    ech_status (*solve)(ech_ctx *ctx, void *state, bool transpose, double *x);
    void (*release)(ech_ctx *ctx, void *state);
};

extern const struct echi_sparse_library echi_sparse_klu, echi_sparse_superlu, echi_sparse_mumps,
    echi_sparse_dense, echi_sparse_cudss;

struct ech_sparse_factor {
    ech_ctx *ctx;
    ech_dtype dtype;
    struct echi_csc a;
    const struct echi_sparse_library *library;
    void *state;  /* of the library */
    double *work; /* [2][n]: a residual and its lower half */
    uint64_t factor_nnz;
};

/* ---- matrix.c ---- */

/* Copies A; *bad: n, or the first row with NaN or infinity. Without `scaled`, all scales are 1. */
ech_status echi_csc_make(ech_ctx *ctx, const ech_csr *from, bool scaled, struct echi_csc *to,
                         size_t *bad);
void echi_csc_free(struct echi_csc *a);

/* The values of the scaled matrix, [nnz], to be freed by the caller; NULL: out of memory. */
double *echi_csc_scaled(const struct echi_csc *a);

/* high + low = b - A x, or b - A^T x, [n] each; high is rounded to f64. */
void echi_csc_residual(const struct echi_csc *a, bool transpose, const double *b, const double *x,
                       double *high, double *low);

/* ---- structure.c ---- */

/* A column that cannot be matched with a row of its own; UINT64_MAX: unknown, or there is none. */
uint64_t echi_csc_unmatched(const struct echi_csc *a);

/* ---- refine.c ---- */

struct echi_sparse_result {
    int refinements;
    double backward_error;
    bool overflow;
};

/* Solves for one right-hand side. rounds: x is rounded to f32 before its error is measured. */
ech_status echi_sparse_solve(struct ech_sparse_factor *f, bool transpose, int refine,
                             const double *b, double *x, struct echi_sparse_result *result);

/* An estimate of 1 / (|A| |A^-1|) in the 1-norm. */
ech_status echi_sparse_condition(struct ech_sparse_factor *f, double *rcond);

/* ---- choose.c ---- */

/* Factors f->a by the named algorithm, or by the best that is available. */
ech_status echi_sparse_factor(struct ech_sparse_factor *f, const char *algorithm,
                              struct echi_sparse_outcome *outcome);
ech_status echi_sparse_check_name(ech_ctx *ctx, const char *algorithm);
void echi_sparse_explain(const struct echi_backend *backend, size_t n, const char *algorithm,
                         struct echi_explain *e);

/* ---- library.c ---- */

/* Opens the library once; NULL, or the reason why it is not available. */
const char *echi_sparse_open(const struct echi_sparse_library *library);

/* What ECHELON_SPARSE_DIRECT names: a known algorithm, "none", or the library whose functions the
 * file has. */
struct echi_sparse_setting {
    const char *text; /* NULL: not set */
    bool none;
    const struct echi_sparse_library *only; /* NULL: all, or none could be opened */
    char reason[160];                       /* not empty: the file cannot be used */
};
const struct echi_sparse_setting *echi_sparse_setting(void);

extern const struct echi_sparse_library *const echi_sparse_libraries[]; /* NULL ends them */

#endif
