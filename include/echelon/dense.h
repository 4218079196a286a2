/*
 * echelon/dense.h - products of dense matrices, and direct solvers for dense systems.
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
 * Dense matrices are in row-major order: element (i, j) of a matrix with rows x cols is at
 * i * stride + j, where stride >= cols.  Strides count elements.  Elements between the rows are
 * never written.
 *
 * Options of a product.  Zero is the default of every field except size.
 */
typedef struct ech_matmul_options {
    size_t size;           /* sizeof(ech_matmul_options) */
    int transpose_a;       /* 1: a is given as [k][m] */
    int transpose_b;       /* 1: b is given as [n][k] */
    int accumulate_wide;   /* 1, only for f16 and bf16: c is f32 */
    size_t batch_count;    /* 0 or 1: one product; otherwise the number of products */
    size_t a_batch_stride; /* elements from one a to the next; 0: all products have the same a */
    size_t b_batch_stride; /* elements from one b to the next; 0: all products have the same b */
    size_t c_batch_stride; /* elements from one c to the next; at least m * c_stride */
    const char *algorithm; /* NULL: chosen; or one that ech_matmul_explain() lists */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_matmul_workspace() returns */
} ech_matmul_options;

/*
 * ech_matmul() computes c = alpha op(a) op(b) + beta c, where op() is the identity or the
 * transpose.
 *
 *   m, n, k   op(a) is m x k, op(b) is k x n, c is m x n; each may be 0
 *   a, b      of dtype, a_stride and b_stride elements from row to row; not modified; may overlap
 *   beta      0: c is not read, so NaN in c have no effect
 *   alpha     0: a and b are not read, and may be NULL
 *   c         of dtype (with accumulate_wide, of f32); must not overlap a or b
 *   dtype     ECH_F32 or ECH_F64; ECH_F16 or ECH_BF16, whose products are accumulated in f32
 *   options   NULL for the defaults
 *
 * The algorithm "blas" is a vendor's library, which is opened on first use: cuBLAS on a GPU;
 * OpenBLAS, MKL, BLIS or the library that the environment variable ECHELON_BLAS names on the CPU.
 * It is used if it is found and has kernels for this machine.  It has its own order of summation,
 * so its results differ between libraries.
 *
 * The algorithm "tiled" is used otherwise.  It accumulates each element of c in the order of k,
 * with fused multiply-adds, and is bit-identical on every device.  docs/matmul.md describes both.
 */
ECH_API ech_status ech_matmul(ech_ctx *ctx, size_t m, size_t n, size_t k, double alpha,
                              const void *a, size_t a_stride, const void *b, size_t b_stride,
                              double beta, void *c, size_t c_stride, ech_dtype dtype,
                              const ech_matmul_options *options);

/*
 * ech_matmul_pointers() computes batch_count products as ech_matmul() does, of matrices at any
 * addresses.
 *
 *   a, b, c  [batch_count] pointers each; product i is of a[i], b[i] and c[i].  All three arrays
 *            must be in the same memory.  Arrays in GPU memory must point to matrices in GPU
 *            memory, and are not validated.  Arrays in host memory may point to matrices in host
 *            or GPU memory
 *   options  NULL for the defaults; its batch_count and batch strides must be 0
 */
ECH_API ech_status ech_matmul_pointers(ech_ctx *ctx, size_t batch_count, size_t m, size_t n,
                                       size_t k, double alpha, const void *const *a,
                                       size_t a_stride, const void *const *b, size_t b_stride,
                                       double beta, void *const *c, size_t c_stride,
                                       ech_dtype dtype, const ech_matmul_options *options);

/*
 * ech_matmul_workspace() returns how many bytes of workspace a product needs.  ech_matmul_explain()
 * describes, as ech_sort_explain() does, how it would be done, and lists the algorithms.
 *
 *   device   as for ech_sort_workspace()
 *   options  NULL for the defaults; only the transposes, accumulate_wide, batch_count and algorithm
 *            have an effect.  For ech_matmul_pointers(), batch_count is the number of products
 *   bytes    [1] receives the size
 *   text     [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_matmul_workspace(const char *device, size_t m, size_t n, size_t k,
                                        ech_dtype dtype, const ech_matmul_options *options,
                                        size_t *bytes);
ECH_API ech_status ech_matmul_explain(const char *device, size_t m, size_t n, size_t k,
                                      ech_dtype dtype, const ech_matmul_options *options,
                                      ech_format format, char *text, size_t capacity_bytes);

/* Options of a matrix-vector product.  Zero is the default of every field except size. */
typedef struct ech_matvec_options {
    size_t size;       /* sizeof(ech_matvec_options) */
    int transpose;     /* 0: op(a) is a; 1: op(a) is the transpose of a */
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_matvec_workspace() returns */
} ech_matvec_options;

/*
 * ech_matvec() computes y = alpha op(a) x + beta y.  It is bit-identical on every device
 * (docs/matmul.md).
 *
 *   rows, cols  the shape of a, before it is transposed
 *   alpha       0: a and x are not read, and may be NULL
 *   x           [cols]; with transpose [rows]
 *   beta        0: y is not read, so NaN in y have no effect
 *   y           [rows]; with transpose [cols]; must not overlap a or x
 *   dtype       ECH_F32 or ECH_F64
 *   options     NULL for the defaults
 */
ECH_API ech_status ech_matvec(ech_ctx *ctx, size_t rows, size_t cols, double alpha, const void *a,
                              size_t a_stride, const void *x, double beta, void *y, ech_dtype dtype,
                              const ech_matvec_options *options);

/* ech_matvec_workspace() returns how many bytes of workspace ech_matvec() needs.
 * ech_matvec_explain() describes, as ech_sort_explain() does, how the product would be done. */
ECH_API ech_status ech_matvec_workspace(const char *device, size_t rows, size_t cols,
                                        ech_dtype dtype, const ech_matvec_options *options,
                                        size_t *bytes);
ECH_API ech_status ech_matvec_explain(const char *device, size_t rows, size_t cols, ech_dtype dtype,
                                      const ech_matvec_options *options, ech_format format,
                                      char *text, size_t capacity_bytes);

/* ---- Direct solvers -------------------------------------------------------------------------- */

typedef enum ech_factor {
    ECH_FACTOR_AUTO = 0,     /* m > n: QR.  m = n: Cholesky if A is symmetric with a positive
                                diagonal and all pivots are positive; otherwise LU */
    ECH_FACTOR_LU = 1,       /* with partial pivoting; m = n */
    ECH_FACTOR_CHOLESKY = 2, /* for symmetric positive definite A, m = n; elements above the
                                diagonal are not read */
    ECH_FACTOR_QR = 3        /* Householder reflectors, m >= n; minimises |b - A x| */
} ech_factor;

/* The outcome of a call.  Unless it is ECH_DIRECT_STATUS_SOLVED, the contents of the output are
 * undefined. */
typedef enum ech_direct_status {
    ECH_DIRECT_STATUS_SOLVED = 0,
    ECH_DIRECT_STATUS_SINGULAR = 1,   /* LU: the pivot of column failed_index is zero; QR: this
                                          column depends linearly on those before it, up to
                                          rounding */
    ECH_DIRECT_STATUS_INDEFINITE = 2, /* Cholesky: the pivot of row failed_index is not positive */
    ECH_DIRECT_STATUS_NOT_FINITE = 3, /* row failed_index of A contains NaN or infinity */
    ECH_DIRECT_STATUS_NOT_FINITE_B = 4, /* column failed_index of b contains NaN or infinity */
    ECH_DIRECT_STATUS_OVERFLOW = 5      /* norms or factors overflow in column failed_index */
} ech_direct_status;

/* Options of a direct solver.  Zero is the default of every field except size. */
typedef struct ech_direct_options {
    size_t size; /* sizeof(ech_direct_options) */
    ech_factor kind;
    int refine;            /* maximum number of refinement steps, at most 1000; -1: none; 0: 10 for
                              ech_solve_direct(), otherwise none */
    const char *algorithm; /* NULL: chosen; or one that ech_direct_explain() lists */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_direct_workspace() returns */
    size_t batch_count;    /* 0 or 1: one system; otherwise the number of systems */
    size_t a_batch_stride; /* elements from one A to the next; 0: all systems have the same A */
    size_t b_batch_stride; /* elements from one b to the next; 0: all systems have the same b */
    size_t x_batch_stride; /* elements from one x or inverse to the next; at least n * x_stride */
} ech_direct_options;

/* What a direct solver reports about one system. */
typedef struct ech_direct_report {
    size_t size; /* sizeof(ech_direct_report), set by the caller */
    ech_direct_status status;
    ech_factor kind;       /* the factorization that was used, also for ECH_FACTOR_AUTO */
    uint64_t failed_index; /* see ech_direct_status */
    int sign;              /* of the determinant, m = n; 0: it is zero or unknown */
    double log_abs;        /* log |determinant|, -infinity if it is zero; NaN: unknown */
    double rcond;          /* estimate of 1 / (|A| |A^-1|) in the 1-norm, for QR of R instead of A;
                              0: unknown */
    int refinements;       /* number of refinement steps that were taken */
    double backward_error; /* maximum over the columns of |b - A x| / (|A| |x| + |b|), in the
                              maximum norm; for m > n of |A^T r| / (|A^T| (|A| |x| + |b|)), where
                              r = b - A x */
} ech_direct_report;

/*
 * ech_solve_direct() solves A x = b by factoring A, for all right-hand sides at once.  If m > n, x
 * minimises |b - A x| (least squares).
 *
 *   m, n      rows and columns of A, m >= n
 *   a         [m][n], a_stride >= n elements from row to row; not modified
 *   nrhs      the number of right-hand sides; 0: A is only factored and reported on
 *   b         [m][nrhs], b_stride >= nrhs; not modified
 *   x         [n][nrhs], x_stride >= nrhs; must not overlap a or b
 *   dtype     ECH_F32 or ECH_F64
 *   options   NULL for the defaults
 *   report    [1] in host memory; of a batch [batch_count], where the size of the first is that of
 *             all
 *
 * With options->batch_count it solves many systems of the same shape, each as in a call of its own.
 * Matrices of up to 32 unknowns and right-hand sides are then solved in vector lanes on the CPU.
 *
 * The call returns when it is done.  It returns ECH_OK even if there is no solution; report->status
 * contains the outcome.
 *
 * Refinement computes b - A x in twice the precision.  It continues as long as each correction is
 * at most half of the correction before.  The error of x is then as small as that of a
 * well-conditioned system, unless the condition number exceeds what dtype can represent.
 *
 * A vendor's library factors A if it is found: "lapack" on the CPU if m, n or nrhs exceeds 32
 * (OpenBLAS, MKL, or the library that the environment variable ECHELON_LAPACK names; "none"
 * disables it), "cusolver" on a GPU (ECHELON_CUSOLVER).  If a version of cuSOLVER needs more memory
 * than the workspace has, the context allocates it.  The algorithm "blocked" is used otherwise.  It
 * is bit-identical on every device and with any number of threads.
 */
ECH_API ech_status ech_solve_direct(ech_ctx *ctx, size_t m, size_t n, const void *a,
                                    size_t a_stride, size_t nrhs, const void *b, size_t b_stride,
                                    void *x, size_t x_stride, ech_dtype dtype,
                                    const ech_direct_options *options, ech_direct_report *report);

/*
 * ech_inverse() computes the inverse of a, as ech_solve_direct() does with the identity matrix for
 * b.
 *
 *   a    [n][n], a_stride >= n; not modified
 *   out  [n][n], out_stride >= n
 */
ECH_API ech_status ech_inverse(ech_ctx *ctx, size_t n, const void *a, size_t a_stride, void *out,
                               size_t out_stride, ech_dtype dtype,
                               const ech_direct_options *options, ech_direct_report *report);

/*
 * ech_determinant() computes the determinant of a.  For n = 0 it is 1.
 *
 *   a        [n][n], a_stride >= n; not modified
 *   sign     [1], of a batch [batch_count], in host memory, receives the sign of the determinant,
 *            as in ech_direct_report
 *   log_abs  the same for log |determinant|
 */
ECH_API ech_status ech_determinant(ech_ctx *ctx, size_t n, const void *a, size_t a_stride,
                                   ech_dtype dtype, const ech_direct_options *options, int *sign,
                                   double *log_abs);

typedef enum ech_direct_call {
    ECH_DIRECT_CALL_SOLVE = 0,
    ECH_DIRECT_CALL_INVERSE = 1,    /* m = nrhs = n */
    ECH_DIRECT_CALL_DETERMINANT = 2 /* m = n, nrhs = 0 */
} ech_direct_call;

/*
 * ech_direct_workspace() returns how many bytes of workspace a call needs.  ech_direct_explain()
 * describes, as ech_sort_explain() does, how it would be done, and lists the algorithms.
 *
 *   device   as for ech_sort_workspace()
 *   options  NULL for the defaults; all fields except work and work_bytes have an effect
 *   bytes    [1] receives the size
 *   text     [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_direct_workspace(const char *device, ech_direct_call call, size_t m,
                                        size_t n, size_t nrhs, ech_dtype dtype,
                                        const ech_direct_options *options, size_t *bytes);
ECH_API ech_status ech_direct_explain(const char *device, ech_direct_call call, size_t m, size_t n,
                                      size_t nrhs, ech_dtype dtype,
                                      const ech_direct_options *options, ech_format format,
                                      char *text, size_t capacity_bytes);

/* ech_direct_status_text() returns a sentence about an outcome.  ech_factor_name() returns "auto",
 * "lu", "cholesky" or "qr".  Both return "?" for an unknown value. */
ECH_API const char *ech_direct_status_text(ech_direct_status status);
ECH_API const char *ech_factor_name(ech_factor kind);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_DENSE_H */
