/*
 * solve/solve.h - declarations that the files of the iterative solvers share: the checked call, the
 * state of one right-hand side, and the functions of a method.
 *
 *     solve.c          checks, chooses
 *     plan.c     the workspace, and the explanation
 *     run.c      one right-hand side: starts, checks, verifies, restarts
 *     solve_METHOD.c   the steps of a method (step.h), the same for all devices
 *     precond.c  the choice of M, and z = M^-1 r
 *     solve/{cpu,cuda}  runs a step
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SOLVE_SOLVE_H
#define ECHI_SOLVE_SOLVE_H

#include "core/call.h"
#include "solve/step.h"

enum { ECHI_METHODS = ECH_METHOD_SOR + 1, ECHI_PRECONDS = ECH_PRECOND_ILUT + 1 };

/* A checked call of ech_solve(); defaults have replaced zeros in options. */
struct echi_solve {
    const struct echi_backend *backend;
    ech_operator a;
    ech_csr csr; /* the target of a.csr: its arrays may have been staged */
    size_t count, b_step, x_step;
    size_t beyond; /* elements after each vector, which belong to other ranks; 0 without ranks */
    const void *b;
    void *x;
    ech_solve_options options;
    ech_solve_report *reports;
    size_t report_bytes; /* of each, as in the caller's header */
};

/* Parts of the workspace. */
struct echi_solve_parts {
    double *scalars, *partials;
    void *diagonal, *blocks, *vectors, *product, *factor;
    uint64_t *factor_offsets, *factor_columns; /* of ILUT; the other factors have those of A */
    size_t factor_entries;                     /* capacity of factor, and of factor_columns */
    uint64_t *lower, *upper;
    size_t vector_bytes, product_bytes;
};

/* Rows of a triangle by level. */
struct echi_triangle {
    uint64_t *order;  /* [count + 1] start of each */
    uint64_t *levels; /* [count + 1] start of each level */
    uint64_t count;
};

struct echi_run;

/* A run whose vectors are divided among ranks (dist/linear): its functions replace those of run.c.
 * call->a.n is then the number of rows of this rank. */
struct echi_spread {
    size_t total; /* rows of all ranks */
    ech_status (*apply)(struct echi_run *run, const void *x, void *y);
    ech_status (*step)(const struct echi_run *run, const struct echi_solve_step *step);
    ech_status (*fetch)(struct echi_run *run);
    ech_status (*put)(struct echi_run *run);
};

struct echi_run {
    ech_ctx *ctx;
    struct echi_spread *spread; /* NULL: the vectors are on one device */
    const struct echi_solve *call;
    const struct echi_method *method;
    struct echi_solve_parts parts;
    ech_solve_report *report;
    size_t which; /* right-hand side */
    const void *b;
    void *x;
    struct echi_triangle lower, upper;
    const struct echi_preconditioner *m; /* NULL: none */
    void *diagonal;                      /* of M^-1, if M is diagonal */
    double head[ECHI_S_MORE];            /* the scalars when they were last fetched */
    unsigned every, since;               /* iterations between checks, and since the last check */
    uint64_t seen;                       /* number of iterations reported to the monitor and the
                                            history */
    uint64_t begun;                      /* the iteration at which the method's current cycle
                                            began */
    unsigned column, turn;               /* of GMRES's cycle; rotation of vectors */
    bool ended;                          /* stopped by the device or the monitor */
    bool monitored;                      /* ... by the monitor */
    bool forced;                         /* steps run even if stopped */
    double step;                         /* Richardson's omega, or the state of Chebyshev's
                                            recurrence */
};

/* All functions queue steps.  On entry to begin(), the residual is in vector ECHI_R and its norm in
 * head[ECHI_S_RESIDUAL].  After finish(), x contains the result of all iterations so far. */
struct echi_method {
    const char *name;
    size_t (*vectors)(const struct echi_solve *call);
    ech_status (*begin)(struct echi_run *run);
    ech_status (*iterate)(struct echi_run *run);
    ech_status (*finish)(struct echi_run *run); /* NULL: x is always up to date */
};

extern const struct echi_method echi_solve_richardson, echi_solve_chebyshev, echi_solve_cg,
    echi_solve_minres, echi_solve_bicgstab, echi_solve_gmres;

/* Vectors of every method: the products with A, and the residual. */
enum { ECHI_Q, ECHI_R, ECHI_VECTORS };

/* ---- names.c ---- */

const struct echi_method *echi_method_of(ech_method method);

/* ---- check.c ---- */

/* Fills in the call, whose backend is set, after checks; zeros of options become defaults. */
ech_status echi_solve_check(ech_ctx *ctx, const ech_operator *a, const ech_solve_options *options,
                            struct echi_solve *call);

/* ---- plan.c ---- */

/* Whether M may be triangular; "auto" uses it only if the host can compute it in seconds. */
bool echi_solve_may_factor(const struct echi_solve *call);
bool echi_solve_has_blocks(const ech_solve_options *options);
/* Whether a method that is named, other than Jacobi, Gauss-Seidel and SOR, has an M. */
bool echi_solve_has_m(const ech_solve_options *options);

ech_status echi_solve_lay_out(const struct echi_solve *call, void *base,
                              struct echi_solve_parts *parts, size_t *bytes);

/* ---- run.c ---- */

void *echi_vector(const struct echi_run *run, size_t i);

/* A guarded step on vectors of n elements, still empty; and functions that add its operations. */
struct echi_solve_step echi_step(const struct echi_run *run);
void echi_term(struct echi_solve_sum *sum, const void *v, int scalar, double factor);
void echi_dot(struct echi_solve_step *step, enum echi_solve_operand left,
              enum echi_solve_operand right);
ech_status echi_do(const struct echi_run *run, const struct echi_solve_step *step);

/* to = from, and a step on scalars only. */
ech_status echi_copy_vector(const struct echi_run *run, void *to, const void *from);
ech_status echi_do_scalars(const struct echi_run *run, enum echi_solve_recur what, int column,
                           int restart, bool guarded);

/* y = A x. */
ech_status echi_apply(struct echi_run *run, const void *x, void *y);

/* Fetches the scalars and waits; stores them. */
ech_status echi_fetch(struct echi_run *run);
ech_status echi_put(struct echi_run *run);

/* The same, with history and monitor. */
ech_status echi_look(struct echi_run *run);

/* r = b - A x, its norm in head. */
ech_status echi_residual(struct echi_run *run, double *norm);

/* Does not iterate if the report already has a status. */
ech_status echi_solve_one(struct echi_run *run);

/* ---- precond.c ---- */

/* Makes the M that the report's method and precond specify, if any.  A failure sets the report's
 * status, and failed_index if a row of A is the cause. */
ech_status echi_precond_make(struct echi_run *run);
/* Drops M, and the status that it caused. */
void echi_precond_drop(struct echi_run *run);

/* z = M^-1 r; does nothing without M. */
ech_status echi_precondition(struct echi_run *run, const void *r, void *z);

/* The same in two parts: if M is a diagonal, the step that computes r as its b applies it too;
 * otherwise the second function does. */
void echi_precondition_by(const struct echi_run *run, struct echi_solve_step *step, void *z);
ech_status echi_precondition_after(struct echi_run *run, const void *r, void *z);

/* ---- diagonal.c, factor.c ---- */

/* A kind of M. make() may set the report's status; apply() is z = M^-1 r. */
struct echi_preconditioner {
    bool (*is)(ech_method method, ech_precond precond);
    ech_status (*make)(struct echi_run *run);
    ech_status (*apply)(struct echi_run *run, const void *r, void *z);
};
extern const struct echi_preconditioner echi_precond_diagonal, echi_precond_blocks,
    echi_precond_triangles;

/* Computes run->parts.diagonal; *bad: the element in row report->failed_index does not satisfy
 * `how`. */
ech_status echi_diagonal_invert(struct echi_run *run, enum echi_invert how, double scale,
                                bool *bad);

/* A matrix on the host, in f64. */
struct echi_host_csr {
    uint64_t n, entries;
    uint64_t *offsets, *columns; /* within range, columns too */
    double *values;
    uint64_t *diagonal; /* index of row i's diagonal entry; UINT64_MAX: there is none */
};

/* Whether M is triangular. */
bool echi_factor_wanted(ech_method method, ech_precond precond);
void echi_triangles_free(struct echi_run *run);

/* ---- ilut.c ---- */

/* The factors L and U in one matrix, by ascending columns, without the unit diagonal of L; *where:
 * UINT64_MAX, or the row without a pivot. The caller frees the arrays of *out. */
ech_status echi_ilut(ech_ctx *ctx, const struct echi_host_csr *a, double drop, uint64_t fill,
                     struct echi_host_csr *out, uint64_t *where);
/* The maximum number of its entries; UINT64_MAX: it overflows. */
uint64_t echi_ilut_entries(uint64_t n, uint64_t entries, uint64_t fill);

/* ---- bounds.c ---- */

/* Stores bounds of M^-1 A's eigenvalues in the report; *found is false if A is not positive
 * definite.  Uses the first four vectors. */
ech_status echi_solve_bounds(struct echi_run *run, bool *found);

#endif
