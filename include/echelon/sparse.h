/*
 * echelon/sparse.h - sparse matrices: products, construction, transposes and checks.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_SPARSE_H
#define ECHELON_SPARSE_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sparse matrices ------------------------------------------------------------------------- */

/*
 * A sparse matrix in CSR form (compressed sparse rows), the layout of SciPy and cuSPARSE: row i has
 * the entries row_offsets[i] ... row_offsets[i + 1] - 1, and entry e is in column col_indices[e].
 * A matrix is "in order" if the columns of each row are strictly ascending, so that no entry
 * occurs twice.
 *
 * The caller owns the arrays.  Functions that only read a matrix do not validate it, but never
 * access memory outside its arrays.  A call writes the arrays of an argument of type ech_csr *, and
 * never those of a const ech_csr *: there they may be read-only memory (cast away its const).
 */
typedef struct ech_csr {
    size_t size; /* sizeof(ech_csr) */
    size_t rows, cols;
    size_t nnz;            /* number of entries, row_offsets[rows]; in an output: the capacity of
                              col_indices and values */
    void *row_offsets;     /* [rows + 1] of index_dtype; the first is 0 */
    void *col_indices;     /* [nnz] of index_dtype */
    void *values;          /* [nnz] of dtype */
    ech_dtype index_dtype; /* ECH_I32, ECH_U32, ECH_I64 or ECH_U64; with the first two, rows, cols
                              and nnz are at most 2^31 - 1 */
    ech_dtype dtype;       /* ECH_F32 or ECH_F64 */
} ech_csr;

/* Options of the functions below.  Zero is the default of every field except size. */
typedef struct ech_csr_options {
    size_t size;       /* sizeof(ech_csr_options) */
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_csr_workspace() returns */
} ech_csr_options;

/*
 * ech_csr_from_coo() builds a matrix, in order, from n entries in any order (COO format).
 *
 *   rows, cols  [n] of out->index_dtype; not modified.  An index out of range fails with
 *               ECH_ERR_ARG, and the message names the first such entry
 *   values      [n] of out->dtype; not modified.  Values with equal row and column are added in
 *               the order of the input
 *   out         rows, cols, index_dtype and dtype are set by the caller; nnz is the capacity, at
 *               least n.  The arrays are written
 *   nnz         [1] of u64, receives the number of entries, which the caller must then store in
 *               out->nnz
 *   n           the number of entries of the input
 *   options     NULL for the defaults
 *
 * Fails with ECH_ERR_UNSUPPORTED if a row number and a number less than min(n, out->cols) need more
 * than 64 bits together.
 */
ECH_API ech_status ech_csr_from_coo(ech_ctx *ctx, const void *rows, const void *cols,
                                    const void *values, ech_csr *out, uint64_t *nnz, size_t n,
                                    const ech_csr_options *options);

/*
 * ech_csr_transpose() computes out = a^T.  out is in order if no entry of a occurs twice.
 *
 *   a    not modified
 *   out  rows, cols, nnz, index_dtype and dtype are set by the caller, and must be those of a^T
 *
 * Fails with ECH_ERR_UNSUPPORTED if a row number and a column number need more than 64 bits
 * together.  Such a matrix has at least 2^32 rows or columns.
 */
ECH_API ech_status ech_csr_transpose(ech_ctx *ctx, const ech_csr *a, ech_csr *out,
                                     const ech_csr_options *options);

/*
 * ech_csr_diagonal() copies the diagonal of a.
 *
 *   diagonal  [min(a->rows, a->cols)] of a->dtype; receives the first entry at each position, and 0
 *             if there is none
 */
ECH_API ech_status ech_csr_diagonal(ech_ctx *ctx, const ech_csr *a, void *diagonal);

/*
 * ech_csr_check() validates a matrix.  It fails with ECH_ERR_ARG if the row offsets do not begin
 * with 0, decrease, or do not end with a->nnz; otherwise if a column is out of range or, with
 * in_order, if columns are not strictly ascending.  The message names the first invalid row.  If
 * the matrix is in GPU memory, ech_sync() returns the error.
 *
 *   in_order  1: the matrix must be in order; 0: its columns may have any order
 */
ECH_API ech_status ech_csr_check(ech_ctx *ctx, const ech_csr *a, int in_order);

/*
 * ech_spmv() computes y = alpha a x + beta y.
 *
 *   alpha    0: x and the arrays of a are not read, and may be NULL
 *   x        [a->cols] of a->dtype; not modified
 *   beta     0: y is not read, so NaN in y have no effect
 *   y        [a->rows] of a->dtype; must not overlap x
 *   options  NULL for the defaults
 *
 * Each row is summed in an order that depends only on its length (docs/sparse.md).  The result is
 * bit-identical on every device.  Rows may have any lengths; one row may have all entries.
 */
ECH_API ech_status ech_spmv(ech_ctx *ctx, double alpha, const ech_csr *a, const void *x,
                            double beta, void *y, const ech_csr_options *options);

/*
 * ech_spmm() computes c = alpha a b + beta c for dense b and c in row-major order.  Each column of
 * c is bit-identical to the result of ech_spmv() with that column of b.
 *
 *   n                   the number of columns of b and c
 *   b                   [a->cols][n] of a->dtype; not modified
 *   c                   [a->rows][n] of a->dtype; must not overlap b
 *   b_stride, c_stride  elements from row to row, at least n
 *   options             NULL for the defaults
 */
ECH_API ech_status ech_spmm(ech_ctx *ctx, double alpha, const ech_csr *a, size_t n, const void *b,
                            size_t b_stride, double beta, void *c, size_t c_stride,
                            const ech_csr_options *options);

typedef enum ech_csr_call {
    ECH_CSR_CALL_FROM_COO = 0,  /* n: the number of entries of the input */
    ECH_CSR_CALL_TRANSPOSE = 1, /* n is ignored */
    ECH_CSR_CALL_SPMV = 2,      /* n is ignored */
    ECH_CSR_CALL_SPMM = 3       /* n: the number of columns of b */
} ech_csr_call;

/*
 * ech_csr_workspace() returns how many bytes of workspace a call needs.  ech_csr_explain()
 * describes, as ech_sort_explain() does, how it would be done.
 *
 *   device   as for ech_sort_workspace()
 *   a        the matrix; for ECH_CSR_CALL_FROM_COO, out.  Its pointers are ignored
 *   n        as the comment of ech_csr_call states
 *   options  NULL for the defaults
 *   bytes    [1] receives the size
 *   text     [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_csr_workspace(const char *device, ech_csr_call call, const ech_csr *a,
                                     size_t n, const ech_csr_options *options, size_t *bytes);
ECH_API ech_status ech_csr_explain(const char *device, ech_csr_call call, const ech_csr *a,
                                   size_t n, const ech_csr_options *options, ech_format format,
                                   char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SPARSE_H */
