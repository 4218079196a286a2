/*
 * echelon/dense.h - products of dense matrices, and direct solvers.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_DENSE_H
#define ECHELON_DENSE_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Matrix product -------------------------------------------------------------------------- */

/*
 * A matrix of numbers lies row by row: element (i, j) of one with rows x cols is at i * stride + j,
 * where stride >= cols counts elements.  What lies between rows is not touched.
 */
typedef struct ech_matmul_options {
    size_t size;           /* sizeof(ech_matmul_options) */
    int transpose_a;       /* 1: a is given as [k][m] */
    int transpose_b;       /* 1: b is given as [n][k] */
    int accumulate_wide;   /* 1, of f16 and bf16: c is f32 */
    size_t batch_count;    /* 0 or 1: one product; else so many, whose matrices lie ... */
    size_t a_batch_stride; /* ... so many elements apart; 0 for a and b: all have the same, and */
    size_t b_batch_stride;
    size_t c_batch_stride; /* of c at least m * c_stride */
    const char *algorithm; /* NULL, or one that ech_matmul_explain() lists */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_matmul_workspace() says */
} ech_matmul_options;

/*
 * ech_matmul() is c = alpha op(a) op(b) + beta c.
 *
 *   m, n, k   op(a) is m x k, op(b) is k x n, c is m x n; any may be 0
 *   a, b      of dtype; not modified, may be the same
 *   c         of dtype (accumulate_wide: f32).  With beta 0 what it holds is not read, so that NaN there do no
 *             harm; with alpha 0 a and b are not read
 *   dtype     ECH_F32 or ECH_F64; ECH_F16 or ECH_BF16, whose products are added in f32
 *
 * Done by the vendor's library where there is one, opened when it is first needed: cuBLAS on a GPU;
 * on the CPU OpenBLAS, MKL, BLIS or what ECHELON_BLAS names, unless it has no kernels for this
 * machine.  The order of its sums is its own.  The algorithm "tiled" adds up every element of c in
 * the order of k, by fused operations of one rounding, and gives the same bits on every device;
 * docs/matmul.md has both.  c must not overlap a or b.
 */
ECH_API ech_status ech_matmul(ech_ctx *ctx, size_t m, size_t n, size_t k, double alpha,
                              const void *a, size_t a_stride, const void *b, size_t b_stride,
                              double beta, void *c, size_t c_stride, ech_dtype dtype,
                              const ech_matmul_options *options);

/* ech_matmul_pointers() is ech_matmul() of count triples that lie anywhere: a[i], b[i], c[i] of the
 * arrays [count].  Lists in a GPU's memory are of matrices there, and are not looked at; lists in
 * host memory may be of matrices anywhere.  options->count and the steps must be 0. */
ECH_API ech_status ech_matmul_pointers(ech_ctx *ctx, size_t count, size_t m, size_t n, size_t k,
                                       double alpha, const void *const *a, size_t a_stride,
                                       const void *const *b, size_t b_stride, double beta,
                                       void *const *c, size_t c_stride, ech_dtype dtype,
                                       const ech_matmul_options *options);

/* ech_matmul_workspace() tells how many bytes of workspace a product takes; of options, the
 * transposes, accumulate_wide, batch_count (of pointers too) and algorithm matter.  ech_matmul_explain() writes lines
 * about how it would be done, and the algorithms there are, into text, as ech_sort_explain()
 * does. */
ECH_API ech_status ech_matmul_workspace(const char *device, size_t m, size_t n, size_t k,
                                        ech_dtype dtype, const ech_matmul_options *options,
                                        size_t *bytes);
ECH_API ech_status ech_matmul_explain(const char *device, size_t m, size_t n, size_t k,
                                      ech_dtype dtype, const ech_matmul_options *options,
                                      char *text, size_t capacity_bytes);

/*
 * ech_matvec() is y = alpha op(a) x + beta y, to the bit the same everywhere (docs/matmul.md).
 *
 *   rows, cols  of a as it is given; transpose: op(a) is its transpose
 *   x           [cols], transpose: [rows]
 *   y           [rows], transpose: [cols]; not read with beta 0
 *   dtype       ECH_F32 or ECH_F64
 */
ECH_API ech_status ech_matvec(ech_ctx *ctx, int transpose, size_t rows, size_t cols, double alpha,
                              const void *a, size_t a_stride, const void *x, double beta, void *y,
                              ech_dtype dtype);

/* ---- Dense systems, directly ----------------------------------------------------------------- */

typedef enum ech_factor {
    ECH_FACTOR_AUTO = 0, /* m > n: QR; symmetric with a positive diagonal: Cholesky, and LU where
                            that meets a pivot that is not positive; else LU */
    ECH_FACTOR_LU = 1,   /* with partial pivoting; m = n */
    ECH_FACTOR_CHOLESKY =
        2,            /* symmetric positive definite: what lies above the diagonal is not read */
    ECH_FACTOR_QR = 3 /* Householder's: |b - A x| is the least, m >= n */
} ech_factor;

/* How it ended.  Other than ECH_DIRECT_STATUS_SOLVED, what the answer holds is undefined. */
typedef enum ech_direct_status {
    ECH_DIRECT_STATUS_SOLVED = 0,
    ECH_DIRECT_STATUS_SINGULAR =
        1, /* LU: the pivot of column `failed_index` is zero; QR: that column depends on those
                           before it, as far as rounding lets one see */
    ECH_DIRECT_STATUS_INDEFINITE =
        2, /* Cholesky: the pivot of row `failed_index` is not positive */
    ECH_DIRECT_STATUS_NOT_FINITE =
        3, /* row `failed_index` of A has NaN or infinity; column: sums run over */
    ECH_DIRECT_STATUS_NOT_FINITE_B = 4 /* column `failed_index` of b has */
} ech_direct_status;

typedef struct ech_direct_options {
    size_t size; /* sizeof(ech_direct_options) */
    ech_factor kind;
    int refine;            /* steps of refinement, most; 0: 10, of an inverse none; -1: none */
    const char *algorithm; /* NULL, or one that ech_direct_explain() lists */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_direct_workspace() says */
} ech_direct_options;

typedef struct ech_direct_report {
    size_t size; /* sizeof(ech_direct_report), set by the caller */
    ech_direct_status status;
    ech_factor kind; /* what was used, also of ECH_FACTOR_AUTO */
    uint64_t failed_index;
    int sign;              /* of the determinant, m = n; 0: it is zero, or not known */
    double log_abs;        /* log |determinant|, -infinity if it is zero; NaN: not known */
    double rcond;          /* estimate of 1 / (|A| |A^-1|) in the 1-norm, of QR R's; 0: not known */
    int refinements;       /* steps that were taken */
    double backward_error; /* largest |b - A x| / (|A| |x| + |b|) of a column, in the maximum norm;
                              m > n: |A^T r| / (|A^T| (|A| |x| + |b|)) */
} ech_direct_report;

/*
 * ech_solve_direct() solves A x = b for all right-hand sides at once.
 *
 *   m, n      rows and columns of A, m >= n
 *   a         [m][n] row by row, a_stride >= n elements apart; not modified
 *   count     right-hand sides; 0: A is looked at, as the report says
 *   b         [m][count], b_stride >= count; not modified
 *   x         [n][count], x_stride >= count; none of the arrays overlap
 *   dtype     ECH_F32 or ECH_F64
 *   report    [1] in host memory
 *
 * Returns when it is done, ECH_OK also where there is no solution: report->end says so.  Refinement
 * computes b - A x in twice the precision, and goes on while each correction is at most half the
 * one before: the error of x then is as small as if A had been well conditioned, if its condition
 * is not beyond what the dtype can hold.
 *
 * A is factored by the vendor's library where one is found: on the CPU "lapack" (OpenBLAS, MKL, or
 * what ECHELON_LAPACK names; "none": none), on a GPU "cusolver" (ECHELON_CUSOLVER; a version that
 * wants more memory than the workspace has gets it from the context); and else by the algorithm
 * "blocked", whose bits are the same on every device and with any number of threads.
 */
ECH_API ech_status ech_solve_direct(ech_ctx *ctx, size_t m, size_t n, const void *a,
                                    size_t a_stride, size_t count, const void *b, size_t b_stride,
                                    void *x, size_t x_stride, ech_dtype dtype,
                                    const ech_direct_options *options, ech_direct_report *report);

/* ech_inverse() is the same with the identity for b: out [n][n], out_stride >= n. */
ECH_API ech_status ech_inverse(ech_ctx *ctx, size_t n, const void *a, size_t a_stride, void *out,
                               size_t out_stride, ech_dtype dtype,
                               const ech_direct_options *options, ech_direct_report *report);

/* ech_determinant() fills in the sign and the logarithm of the size of a's determinant, [1] each in
 * host memory, which are those of ech_direct_report; of no rows it is 1. */
ECH_API ech_status ech_determinant(ech_ctx *ctx, size_t n, const void *a, size_t a_stride,
                                   ech_dtype dtype, const ech_direct_options *options, int *sign,
                                   double *log_abs);

typedef enum ech_direct_call {
    ECH_DIRECT_SOLVE = 0,
    ECH_DIRECT_INVERSE = 1,    /* m = count = n */
    ECH_DIRECT_DETERMINANT = 2 /* m = n, count = 0 */
} ech_direct_call;

/* ech_direct_workspace() tells how many bytes of workspace a call takes; of options, all but the
 * workspace matter.  ech_direct_explain() writes lines about how it would be done, and the
 * algorithms there are, into text, as ech_sort_explain() does. */
ECH_API ech_status ech_direct_workspace(const char *device, ech_direct_call call, size_t m,
                                        size_t n, size_t count, ech_dtype dtype,
                                        const ech_direct_options *options, size_t *bytes);
ECH_API ech_status ech_direct_explain(const char *device, ech_direct_call call, size_t m, size_t n,
                                      size_t count, ech_dtype dtype,
                                      const ech_direct_options *options, char *text,
                                      size_t capacity_bytes);

/* A sentence about an end; "auto", "lu", "cholesky" or "qr" and "?" for an unknown value. */
ECH_API const char *ech_direct_status_text(ech_direct_status end);
ECH_API const char *ech_factor_name(ech_factor kind);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_DENSE_H */
