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

/* ---- Linear systems -------------------------------------------------------------------------- */

/*
 * The matrix A of a system A x = b, n x n: exactly one of csr, dense and apply is set.  Its arrays
 * lie in host or device memory, as everywhere.
 */
typedef struct ech_operator {
    size_t size;        /* sizeof(ech_operator) */
    size_t n;           /* rows and columns */
    ech_dtype dtype;    /* ECH_F32 or ECH_F64: of A, b and x */
    const ech_csr *csr; /* n x n, of dtype */
    const void *dense;  /* [n][n], row i at i * stride */
    size_t stride;      /* n at least */
    /* Writes A x into y, [n] each, not one memory: device memory where ctx has a GPU, and queued on
     * its stream, as calls on ctx are.  Anything but ECH_OK ends the solver with it. */
    ech_status (*apply)(void *user, ech_ctx *ctx, const void *x, void *y);
    void *user;
    const void *diagonal; /* with apply: NULL, or [n], A's diagonal, for what divides by it */
} ech_operator;

typedef enum ech_method {
    ECH_METHOD_AUTO = 0,       /* CG, MINRES or GMRES, by what A turns out to be: docs/solve.md */
    ECH_METHOD_RICHARDSON = 1, /* x += omega M^-1 (b - A x) */
    ECH_METHOD_JACOBI = 2,     /* the same, with the diagonal for M */
    ECH_METHOD_CHEBYSHEV = 3,  /* A symmetric positive definite, as for CG */
    ECH_METHOD_CG = 4,
    ECH_METHOD_MINRES = 5, /* A symmetric */
    ECH_METHOD_BICGSTAB = 6,
    ECH_METHOD_GMRES = 7,
    ECH_METHOD_GAUSS_SEIDEL = 8, /* these two in the order of the rows, as by one thread */
    ECH_METHOD_SOR = 9
} ech_method;

/* M, with which systems M z = r are solved on the way. */
typedef enum ech_precond {
    ECH_PRECOND_NONE = 0,
    ECH_PRECOND_JACOBI = 1, /* the diagonal; of MINRES, its absolute values */
    ECH_PRECOND_SSOR = 2,   /* (D / omega + L) (D / omega)^-1 (D / omega + U); this and the next
                               two of a->csr alone */
    ECH_PRECOND_ILU0 = 3,   /* L U where A has entries */
    ECH_PRECOND_IC0 = 4,    /* the same of a symmetric A, whose pivots must be positive */
    ECH_PRECOND_BLOCK_JACOBI = 5 /* squares along the diagonal of a->csr or a->dense, inverted */
} ech_precond;

/* Why a solver ended: above 0 with a solution. */
typedef enum ech_solve_status {
    ECH_SOLVE_CONVERGED_RTOL = 1, /* |b - A x| <= rtol |b| */
    ECH_SOLVE_CONVERGED_ATOL = 2, /* |b - A x| <= atol */
    ECH_SOLVE_STOPPED_ITERATIONS = -1,
    ECH_SOLVE_STOPPED_DIVERGED = -2, /* the residual grew beyond dtol */
    ECH_SOLVE_STOPPED_BREAKDOWN =
        -3, /* the method divides by zero, and starting again does not help */
    ECH_SOLVE_STOPPED_STAGNATED = -4, /* the residual does not fall any more */
    ECH_SOLVE_STOPPED_INDEFINITE =
        -5,                     /* A or M is not positive definite, or not symmetric; IC(0): row
                                    `failed_index` */
    ECH_SOLVE_STOPPED_NAN = -6, /* A, b or x holds NaN or infinity, or numbers ran over */
    ECH_SOLVE_STOPPED_MONITOR = -7,
    ECH_SOLVE_STOPPED_SINGULAR = -8 /* a zero on the diagonal, or for a pivot: row `failed_index` */
} ech_solve_status;

typedef struct ech_solve_options {
    size_t size; /* sizeof(ech_solve_options) */
    ech_method method;
    ech_precond precond;     /* of ECH_METHOD_AUTO: not looked at */
    double rtol;             /* stop at |r| <= rtol |b|; 0: 1e-8 in f64, 1e-5 in f32 */
    double atol;             /* ... or at |r| <= atol */
    double dtol;             /* diverged at |r| > dtol max(|b|, first |r|); 0: 1e5 */
    uint64_t max_iterations; /* 0: 10 n, but 1000 at least and 100000 at most */
    int use_initial_guess;   /* 1: x holds a first use_initial_guess; 0: it begins as 0 */
    int restart;             /* GMRES: iterations between restarts, 1000 at most; 0: 30 */
    int block;               /* block Jacobi: rows of a square, 32 at most; 0: 8 */
    double omega;        /* Richardson's and Jacobi's step, or that of SOR and SSOR; 0: Richardson's
                             2 / (lower + upper), else 1 */
    double lower, upper; /* Richardson, Chebyshev: bounds of M^-1 A's eigenvalues; 0: estimated */
    unsigned check_every; /* iterations between looks at the residual, 256 at most; 0: chosen */
    double *history;      /* NULL, or [count][history_capacity] in host memory: the residual at
                                the start and after each iteration, as the method knows it */
    size_t history_capacity;
    /* NULL, or called after each iteration, at the next look: right-hand side, iteration, residual.
     * Other than 0 ends the solver. */
    int (*monitor)(void *user, size_t which, uint64_t iteration, double residual);
    void *monitor_user;
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_solve_workspace() says */
} ech_solve_options;

typedef struct ech_solve_report {
    size_t size; /* sizeof(ech_solve_report), set by the caller */
    ech_solve_status status;
    ech_method method; /* what was used, also of ECH_METHOD_AUTO */
    ech_precond precond;
    uint64_t iterations;
    uint64_t applications; /* products with A */
    uint64_t restarts;     /* because the true residual was larger than the method believed */
    double residual;       /* |b - A x|, computed anew from the x that is returned */
    double b_norm;         /* |b| */
    uint64_t failed_index; /* the row of ECH_SOLVE_STOPPED_SINGULAR and, of IC(0), _INDEFINITE */
    double lower, upper;   /* Richardson, Chebyshev: the bounds that were used */
    size_t history_count;  /* how many there were, also beyond history_capacity */
} ech_solve_report;

/*
 * ech_solve() solves A x = b for count right-hand sides, one after the other.
 *
 *   b        [count][n], b_step elements apart; not modified
 *   x        [count][n], x_step apart (both of n at least; of count 1 not looked at); unless
 *            options->use_initial_guess, only written
 *   reports  [count] in host memory, all of the same size
 *
 * Returns when it is done, ECH_OK also when it found no solution: reports[i].reason says how each
 * ended, and what x then holds is the last iterate.  Success is claimed of the true residual alone;
 * where it turns out larger than the method's own, the method starts again from there.  Norms are
 * Euclidean, computed in f64.  b of zeros gives x of zeros without an iteration.
 *
 * x, iterations and residuals are the same to the bit on every device, and for every check_every.
 */
ECH_API ech_status ech_solve(ech_ctx *ctx, const ech_operator *a, size_t count, const void *b,
                             size_t b_step, void *x, size_t x_step,
                             const ech_solve_options *options, ech_solve_report *reports);

/* ech_solve_workspace() tells how many bytes of workspace that takes; a's arrays do not matter.
 * ech_solve_explain() writes lines about how it would be done, as ech_sort_explain() does. */
ECH_API ech_status ech_solve_workspace(const char *device, const ech_operator *a,
                                       const ech_solve_options *options, size_t *bytes);
ECH_API ech_status ech_solve_explain(const char *device, const ech_operator *a,
                                     const ech_solve_options *options, char *text,
                                     size_t capacity_bytes);

/* A sentence about a reason. */
ECH_API const char *ech_solve_status_text(ech_solve_status reason);

/* "auto" ... "gmres", "none" ... ; "?" for an unknown value.  And the reverse: -1 when there is no
 * such name. */
ECH_API const char *ech_method_name(ech_method method);
ECH_API int ech_method_from_name(const char *name);
ECH_API const char *ech_precond_name(ech_precond precond);
ECH_API int ech_precond_from_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SOLVE_H */
