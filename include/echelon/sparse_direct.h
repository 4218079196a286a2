/*
 * echelon/sparse_direct.h - direct solvers of sparse systems, by a library opened at run time.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_SPARSE_DIRECT_H
#define ECHELON_SPARSE_DIRECT_H

#include <echelon/dense.h>
#include <echelon/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Direct solvers of sparse systems -------------------------------------------------------- */

/*
 * A sparse LU factorization is computed by a library that is installed separately and opened on
 * first use; Echelon checks and scales the matrix, refines the solution and reports its error.
 * Zero is the default of every field except size.
 *
 * Algorithms:
 *   "cudss"    NVIDIA cuDSS, version 1, only on a GPU context
 *   "klu"      KLU of SuiteSparse, on the CPU: for matrices with little fill, such as those of
 *              circuits and of chemical plants
 *   "mumps"    MUMPS 5.5, sequential, on the CPU: for matrices with much fill, such as those of
 *              meshes
 *   "superlu"  SuperLU 5, on the CPU; it ends the process if memory for its arrays is missing
 *   "dense"    the inverse of A as a dense matrix, by ech_inverse(); n is at most 4096
 *
 * By default, the first of these libraries that is found is used.  If MUMPS is found, too, KLU is
 * used only if it expects little fill.  Without any library, "dense" is used if n is at most 4096.
 * The environment variable ECHELON_SPARSE_DIRECT is the name of the only algorithm that the default
 * considers, or the path of the library to use, or "none" for no library.  docs/sparse_direct.md
 * lists the packages that contain the libraries.
 */
typedef struct ech_sparse_direct_options {
    size_t size;            /* sizeof(ech_sparse_direct_options) */
    const char *algorithm;  /* NULL: chosen; or the name of one of the algorithms above */
    int refine;             /* maximum number of refinement steps per right-hand side, at most 1000;
                               -1: none; 0: 10 */
    int transpose;          /* 1: solve A^T x = b; ignored by ech_sparse_factor_create() */
    int estimate_condition; /* 1: estimate the condition number, which takes the time of 4 to 12
                               solutions */
    int no_scaling;         /* 1: do not scale A; ignored by ech_sparse_factor_solve() */
} ech_sparse_direct_options;

/* What a call reports. */
typedef struct ech_sparse_direct_report {
    size_t size;              /* sizeof(ech_sparse_direct_report), set by the caller */
    ech_direct_status status; /* SINGULAR: of A, column failed_index has no pivot.  NOT_FINITE: row
                                 failed_index of A contains NaN or infinity.  NOT_FINITE_B:
                                 right-hand side failed_index does.  OVERFLOW: the solution of
                                 right-hand side failed_index overflows */
    uint64_t failed_index;    /* UINT64_MAX: the library does not report the column */
    const char *algorithm;    /* the name of the algorithm that was used, a static string; "none": A
                                 was not factored */
    uint64_t factor_nnz;      /* number of entries of L and U; 0: unknown */
    double rcond;             /* estimate of 1 / (|A| |A^-1|) in the 1-norm; 0: unknown or zero */
    int refinements;          /* maximum number of refinement steps of a right-hand side */
    double backward_error; /* maximum over the right-hand sides of |b - A x| / (|A| |x| + |b|), in
                                 the maximum norm */
} ech_sparse_direct_report;

/* The factors of a matrix.  They do not refer to the arrays of the matrix. */
typedef struct ech_sparse_factor ech_sparse_factor;

/*
 * ech_solve_sparse() solves A x = b by factoring A.
 *
 *   a                               n x n, of ECH_F32 or ECH_F64; the columns of a row may have any
 *                                   order, and values of equal columns are added; not modified
 *   nrhs                            the number of right-hand sides; 0: A is only factored
 *   b                               [nrhs][n] of a->dtype; not modified
 *   x                               [nrhs][n] of a->dtype; may be b if both strides are equal
 *   b_batch_stride, x_batch_stride  elements from one right-hand side or solution to the next, at
 *                                   least n; ignored if nrhs is 1
 *   options                         NULL for the defaults
 *   report                          [1] in host memory
 *
 * The call returns when it is done.  It returns ECH_OK even if there is no solution; report->status
 * contains the outcome, and x is then undefined.  It fails with ECH_ERR_ARG if A is not square, or
 * if an index is out of range (the message names the row), with ECH_ERR_UNSUPPORTED if no library
 * is found that can factor A (the message names the packages to install), and with ECH_ERR_MEMORY
 * if the factors do not fit in memory.
 *
 * A is factored in f64, also if its type is f32, after its rows and columns were scaled by powers
 * of 2.  Refinement computes b - A x in twice the precision of f64, and continues as long as each
 * correction is at most half of the correction before.  The results of different libraries differ
 * by rounding.
 *
 * A is processed in host memory: on a GPU context, A, b and x are copied from and to GPU memory.
 * The library allocates the factors, on the CPU by malloc(), which an allocator hook
 * (ech_set_allocator()) does not count.
 */
ECH_API ech_status ech_solve_sparse(ech_ctx *ctx, const ech_csr *a, size_t nrhs, const void *b,
                                    size_t b_batch_stride, void *x, size_t x_batch_stride,
                                    const ech_sparse_direct_options *options,
                                    ech_sparse_direct_report *report);

/*
 * ech_sparse_factor_create() factors A, for several calls of ech_sparse_factor_solve().
 *
 *   a        as for ech_solve_sparse()
 *   options  NULL for the defaults
 *   factor   [1] receives the factors, which the caller must free; NULL if report->status is not
 *            ECH_DIRECT_STATUS_SOLVED or the call fails
 *   report   [1] in host memory; its backward_error and refinements are 0
 */
ECH_API ech_status ech_sparse_factor_create(ech_ctx *ctx, const ech_csr *a,
                                            const ech_sparse_direct_options *options,
                                            ech_sparse_factor **factor,
                                            ech_sparse_direct_report *report);

/*
 * ech_sparse_factor_solve() solves A x = b, or A^T x = b, with the factors of A.
 *
 *   ctx     the context that created the factors
 *   factor  one thread at a time may use it
 *
 * All other arguments are those of ech_solve_sparse(); options->algorithm is ignored.
 */
ECH_API ech_status ech_sparse_factor_solve(ech_ctx *ctx, ech_sparse_factor *factor, size_t nrhs,
                                           const void *b, size_t b_batch_stride, void *x,
                                           size_t x_batch_stride,
                                           const ech_sparse_direct_options *options,
                                           ech_sparse_direct_report *report);

/* ech_sparse_factor_free() frees the factors, before their context is closed.  NULL is ignored. */
ECH_API void ech_sparse_factor_free(ech_sparse_factor *factor);

/*
 * ech_solve_sparse_explain() describes, as ech_sort_explain() does, how a matrix would be factored,
 * and lists the algorithms, with the reason if one is not available.  It opens the libraries.
 *
 *   device  as for ech_sort_workspace()
 *   a       the matrix; the contents of its arrays are not read
 */
ECH_API ech_status ech_solve_sparse_explain(const char *device, const ech_csr *a,
                                            const ech_sparse_direct_options *options,
                                            ech_format format, char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SPARSE_DIRECT_H */
