/*
 * echelon/solve.h - iterative solvers of linear systems.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_SOLVE_H
#define ECHELON_SOLVE_H

#include <echelon/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Iterative solvers ----------------------------------------------------------------------- */

/* The matrix A of a system A x = b, n x n.  Set exactly one of csr, dense and apply.  The caller
 * owns the arrays, which may be in host memory or in GPU memory. */
typedef struct ech_operator {
    size_t size;        /* sizeof(ech_operator) */
    size_t n;           /* number of rows and columns */
    ech_dtype dtype;    /* of A, b and x: ECH_F32 or ECH_F64 */
    const ech_csr *csr; /* n x n, of dtype */
    const void *dense;  /* [n][n], row i at i * stride */
    size_t stride;      /* elements from row to row of dense, at least n */
    /* A function that writes A x to y, [n] each, which do not overlap.  On a GPU context both are
     * in device memory, and the function must queue the work on the stream of ctx, as calls on ctx
     * do.  If it returns anything but ECH_OK, the solver returns that status. */
    ech_status (*apply)(void *user, ech_ctx *ctx, const void *x, void *y);
    void *user;           /* is passed to apply */
    const void *diagonal; /* only with apply: NULL, or [n], the diagonal of A, for methods and
                             preconditioners that divide by it */
} ech_operator;

typedef enum ech_method {
    ECH_METHOD_AUTO = 0,       /* CG, MINRES or GMRES, from tests of A: docs/solve.md */
    ECH_METHOD_RICHARDSON = 1, /* x += omega M^-1 (b - A x) */
    ECH_METHOD_JACOBI = 2,     /* Richardson with the diagonal of A as M */
    ECH_METHOD_CHEBYSHEV = 3,  /* A is symmetric positive definite */
    ECH_METHOD_CG = 4,         /* A is symmetric positive definite */
    ECH_METHOD_MINRES = 5,     /* A is symmetric */
    ECH_METHOD_BICGSTAB = 6,
    ECH_METHOD_GMRES = 7,
    ECH_METHOD_GAUSS_SEIDEL = 8, /* these two process the rows in order; only for a->csr */
    ECH_METHOD_SOR = 9
} ech_method;

/* The preconditioner M.  Methods solve systems M z = r in each iteration. */
typedef enum ech_precond {
    ECH_PRECOND_NONE = 0,
    ECH_PRECOND_JACOBI = 1, /* the diagonal of A; for MINRES, its absolute values */
    ECH_PRECOND_SSOR = 2,   /* (D / omega + L) (D / omega)^-1 (D / omega + U); only for a->csr */
    ECH_PRECOND_ILU0 = 3,   /* L U with the sparsity pattern of A; only for a->csr */
    ECH_PRECOND_IC0 = 4,    /* the same for symmetric A, whose pivots must be positive */
    ECH_PRECOND_BLOCK_JACOBI = 5, /* inverted diagonal blocks; only for a->csr and a->dense */
    ECH_PRECOND_ILUT = 6          /* L U with the largest elements (Saad's ILUT); only for a->csr */
} ech_precond;

/* Why a solver ended.  Values above 0 mean that it found a solution. */
typedef enum ech_solve_status {
    ECH_SOLVE_STATUS_CONVERGED_RTOL = 1,      /* |b - A x| <= rtol |b| */
    ECH_SOLVE_STATUS_CONVERGED_ATOL = 2,      /* |b - A x| <= atol */
    ECH_SOLVE_STATUS_STOPPED_ITERATIONS = -1, /* max_iterations is reached */
    ECH_SOLVE_STATUS_STOPPED_DIVERGED = -2,   /* the residual exceeds the limit that dtol sets */
    ECH_SOLVE_STATUS_STOPPED_BREAKDOWN =
        -3, /* the method divides by zero, and a restart does not help */
    ECH_SOLVE_STATUS_STOPPED_STAGNATED = -4, /* the residual no longer decreases */
    ECH_SOLVE_STATUS_STOPPED_INDEFINITE =
        -5, /* A or M is not positive definite, or not symmetric; IC(0):
                                          in row failed_index */
    ECH_SOLVE_STATUS_STOPPED_NAN =
        -6, /* A, b or x contains NaN or infinity, or a value overflows */
    ECH_SOLVE_STATUS_STOPPED_MONITOR = -7, /* the monitor function ended the solver */
    ECH_SOLVE_STATUS_STOPPED_SINGULAR =
        -8 /* a zero on the diagonal or a zero pivot, row failed_index */
} ech_solve_status;

/* Options of a solver.  Zero is the default of every field except size. */
typedef struct ech_solve_options {
    size_t size; /* sizeof(ech_solve_options) */
    ech_method method;
    ech_precond precond;     /* ignored for ECH_METHOD_AUTO; must be ECH_PRECOND_NONE for Jacobi,
                                Gauss-Seidel and SOR */
    double rtol;             /* stop at |r| <= rtol |b|; 0: 1e-8 for f64, 1e-5 for f32 */
    double atol;             /* or stop at |r| <= atol */
    double dtol;             /* diverged if |r| > dtol max(|b|, first |r|); 0: 1e5 */
    uint64_t max_iterations; /* 0: 10 n, but at least 1000 and at most 100000 */
    int use_initial_guess;   /* 1: x contains an initial guess; 0: the initial guess is 0 */
    int restart;             /* GMRES restart length, at most 1000; 0: 30 */
    int block;               /* block Jacobi: rows per diagonal block, at most 32; 0: 8 */
    double omega;            /* the step of Richardson and Jacobi, or the relaxation factor of SOR
                                and SSOR, less than 2; 0: 2 / (lower + upper) for Richardson,
                                otherwise 1 */
    double lower, upper;     /* Richardson, Chebyshev: bounds of the eigenvalues of M^-1 A; 0: the
                                bounds are estimated */
    unsigned check_every;    /* iterations between checks of the residual on the host, at most 256;
                                0: chosen */
    double *history;         /* NULL, or [nrhs][history_capacity] in host memory: receives the
                                residual at the start and after each iteration, as the method
                                computes it */
    size_t history_capacity; /* maximum number of residuals per right-hand side */
    /* NULL, or a function that is called once per iteration, at the next check of the residual,
     * with the number of the right-hand side, the iteration and the residual.  A result other than
     * 0 ends the solver.  With check_every = 1, x in the memory of the device then contains the
     * iterate; GMRES updates x only at the end of a cycle. */
    int (*monitor)(void *user, size_t rhs, uint64_t iteration, double residual);
    void *monitor_user; /* is passed to monitor */
    void *work;         /* as in ech_sort_options */
    size_t work_bytes;  /* at least what ech_solve_workspace() returns */
    /* NULL, or a preconditioner of the caller: a function that writes M^-1 r to z, [n] each, under
     * the rules of ech_operator.apply.  precond must then be ECH_PRECOND_NONE, and method must not
     * be ECH_METHOD_AUTO or one with a preconditioner of its own. */
    ech_status (*precondition)(void *user, ech_ctx *ctx, const void *r, void *z);
    void *precondition_user; /* is passed to precondition */
    double drop_tolerance;   /* ILUT: elements of a row that are smaller than this multiple of the
                                Euclidean norm of the row of A are dropped; 0: 1e-4 */
    size_t fill;             /* ILUT: maximum number of elements that a row of L, and of U, has in
                                addition to those of A, at most 1000; 0: 10 */
} ech_solve_options;

/* What a solver reports about one right-hand side. */
typedef struct ech_solve_report {
    size_t size; /* sizeof(ech_solve_report), set by the caller */
    ech_solve_status status;
    ech_method method;     /* the method that was used, also for ECH_METHOD_AUTO */
    ech_precond precond;   /* the preconditioner that was used; ECH_PRECOND_NONE for a function */
    uint64_t iterations;   /* number of iterations */
    uint64_t applications; /* number of products with A; those that the right-hand sides share
                              are counted in the first report */
    uint64_t restarts;     /* number of restarts because the true residual exceeded that of the
                              method */
    double residual;       /* |b - A x|, computed from the returned x */
    double b_norm;         /* |b| */
    uint64_t failed_index; /* the row of ECH_SOLVE_STATUS_STOPPED_SINGULAR and, for IC(0), of
                              ECH_SOLVE_STATUS_STOPPED_INDEFINITE */
    double lower, upper;   /* Richardson, Chebyshev: the bounds that were used */
    size_t history_count;  /* number of residuals, including those beyond history_capacity */
} ech_solve_report;

/*
 * ech_solve() solves A x = b for nrhs right-hand sides, one after another.
 *
 *   a                               the matrix
 *   b                               [nrhs][n]; not modified
 *   x                               [nrhs][n]; read only with options->use_initial_guess
 *   b_batch_stride, x_batch_stride  elements from one right-hand side or solution to the next, at
 *                                   least n; ignored if nrhs is 1
 *   options                         NULL for the defaults
 *   reports                         [nrhs] in host memory; the caller must set size, to the same
 *                                   value in all
 *
 * The call returns when it is done.  It returns ECH_OK even if it finds no solution:
 * reports[i].status contains the outcome, and x then contains the last iterate.
 *
 * Convergence is reported only if the true residual meets the tolerance.  If it is larger than the
 * residual of the method, the method restarts from the current x.  Norms are Euclidean and computed
 * in f64.  If b is 0, x is 0 and there is no iteration.
 *
 * x, iterations and residuals are bit-identical on every device and for every check_every.  A
 * monitor function, which can end the solver only at a check of the residual, and an apply function
 * that is not deterministic are exceptions.
 */
ECH_API ech_status ech_solve(ech_ctx *ctx, const ech_operator *a, size_t nrhs, const void *b,
                             size_t b_batch_stride, void *x, size_t x_batch_stride,
                             const ech_solve_options *options, ech_solve_report *reports);

/*
 * ech_solve_workspace() returns how many bytes of workspace ech_solve() needs.  ech_solve_explain()
 * describes, as ech_sort_explain() does, how a system would be solved.
 *
 *   device  as for ech_sort_workspace()
 *   a       the matrix; the contents of its arrays are not read
 *   bytes   [1] receives the size
 *   text    [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_solve_workspace(const char *device, const ech_operator *a,
                                       const ech_solve_options *options, size_t *bytes);
ECH_API ech_status ech_solve_explain(const char *device, const ech_operator *a,
                                     const ech_solve_options *options, ech_format format,
                                     char *text, size_t capacity_bytes);

/* ech_solve_status_text() returns a sentence about an outcome, or "?" for an unknown value. */
ECH_API const char *ech_solve_status_text(ech_solve_status status);

/* ech_method_name() returns "auto", "richardson", "jacobi", "chebyshev", "cg", "minres",
 * "bicgstab", "gmres", "gauss-seidel" or "sor".  ech_precond_name() returns "none", "jacobi",
 * "ssor", "ilu0", "ic0", "block-jacobi" or "ilut".  Both return "?" for an unknown value.  The
 * functions ..._from_name() are their inverses.  They return -1 if there is no such name. */
ECH_API const char *ech_method_name(ech_method method);
ECH_API int ech_method_from_name(const char *name);
ECH_API const char *ech_precond_name(ech_precond precond);
ECH_API int ech_precond_from_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SOLVE_H */
