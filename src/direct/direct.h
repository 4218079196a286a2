/*
 * direct/direct.h - declarations that the files of the direct solvers share.
 *
 *     direct.c         checks, chooses, lays out the workspace
 *     determinant.h    mantissa and exponent of a determinant
 *     factor.c  LU, Cholesky and QR: panels, triangles and products
 *     solve.c   solves with the factors, refines, estimates the condition
 *     direct/{cpu,cuda}  runs a step (step.h), or a vendor's factorization
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_DIRECT_H
#define ECHI_DIRECT_DIRECT_H

#include "core/call.h"
#include "direct/step.h"

enum { ECHI_DIRECT_LONG = 1024 /* rows whose products are added in one chain */ };

/* Systems that the CPU solves in vector lanes have at most this many unknowns and right-hand
 * sides. */
enum { ECHI_DIRECT_SMALL = ECHI_DIRECT_LEAF };

/* A checked call.  m >= n >= 1; count is n of an inverse, 0 of a determinant. */
struct echi_direct {
    const struct echi_backend *backend;
    ech_direct_call call;
    size_t m, n, count;
    const void *a, *b;
    void *x;
    size_t a_stride, b_stride, x_stride;
    size_t batch, a_step, b_step, x_step; /* systems, and the elements from one to the next */
    ech_dtype dtype;
    ech_factor kind;
    int refine;                /* maximum number of steps */
    bool vendor;               /* the vendor's library computes the factorization */
    bool small;                /* backend->direct_small runs the call */
    ech_direct_report *report; /* of a single system */

    void *reports; /* [batch] of report_bytes each, as the caller defines them; or NULL */
    size_t report_bytes;
    int *signs; /* [batch] of a determinant, otherwise NULL */
    double *log_abs;
};

/* Writes the report of system i for the caller. */
void echi_direct_put(const struct echi_direct *call, size_t i, const ech_direct_report *report);

/* A vendor's factorization, as backend->direct_vendor takes it: row-major, c is m x n. */
struct echi_vendor_factor {
    ech_factor kind;
    size_t m, n, stride;
    ech_dtype dtype;
    void *c, *tau;
    uint64_t *pivots;
    struct echi_direct_scalars *scalars;
    const char **name; /* NULL, or set by workspace() */
    bool *fast;        /* NULL, or whether it should be chosen */
};

/* Parts of the workspace. chain: [n][32], a triangle T for each panel; room: for the partial sums
 * of long products. */
struct echi_direct_parts {
    void *factor, *reflectors, *gram, *chain, *between[2], *room, *tau; /* of dtype */
    void *residual, *image, *vector, *signs;                            /* of dtype */
    double *row_sums, *column_sums, *peaks;
    uint64_t *pivots;
    struct echi_direct_scalars *scalars;
    void *product, *steps;
};

/* A call in progress; ctx NULL: a dry run that computes the workspace of its products. */
struct echi_direct_run {
    ech_ctx *ctx;
    const struct echi_direct *call;
    struct echi_direct_parts parts;
    size_t m, n, stride, bytes; /* of the factor; of an element */
    ech_factor kind;
    bool lower;           /* the upper triangle of a must not be read */
    size_t chained;       /* columns of reflectors whose T has been computed */
    size_t product_bytes; /* maximum so far */
};

/* ---- factor.c ---- */

struct echi_direct_step echi_direct_step(const struct echi_direct_run *run, unsigned what);
ech_status echi_direct_do(struct echi_direct_run *run, const struct echi_direct_step *step);
char *echi_direct_at(const struct echi_direct_run *run, void *matrix, size_t stride, size_t i,
                     size_t j);

/* c = alpha op(a) op(b) + beta c. */
struct echi_direct_product {
    size_t m, n, k;
    const void *a, *b;
    void *c;
    size_t a_stride, b_stride, c_stride;
    bool a_turned, b_turned;
    double alpha, beta;
    size_t count, a_step, b_step, c_step; /* a batch, as in ech_matmul_options; count 0: one
                                             product */
};
ech_status echi_direct_multiply(struct echi_direct_run *run, const struct echi_direct_product *p);

/* Replaces parts.factor by its factors of run->kind. */
ech_status echi_direct_factor(struct echi_direct_run *run);

/* x [rows][cols] = op(t)^-1 x, for a triangle t of the factor. */
enum {
    ECHI_TRIANGLE_UPPER = 1,
    ECHI_TRIANGLE_UNIT = 2,
    ECHI_TRIANGLE_TURNED = 4,
    ECHI_TRIANGLE_BESIDE = 8 /* x is given as [cols][rows] */
};
ech_status echi_direct_triangle(struct echi_direct_run *run, unsigned kind, const void *t,
                                size_t rows, void *x, size_t x_stride, size_t cols);

/* x [m][cols] = Q^T x. */
ech_status echi_direct_apply(struct echi_direct_run *run, void *x, size_t x_stride, size_t cols);
ech_status echi_direct_swap(struct echi_direct_run *run, void *c, size_t stride, size_t cols,
                            size_t first, size_t count, bool turned);

/* ---- solve.c ---- */

/* The entire call, with all arrays on the device. */
ech_status echi_direct_run(ech_ctx *ctx, const struct echi_direct *call,
                           const struct echi_direct_parts *parts);

/* Bytes of workspace that its products need. */
ech_status echi_direct_walk(const struct echi_direct *call, size_t *bytes);

size_t echi_direct_stride(const struct echi_direct *call);

#endif
