/*
 * echelon/sparse.h - sparse matrices.
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
 * Compressed sparse rows, as SciPy and cuSPARSE have them: row i has the entries offsets[i] ...
 * offsets[i + 1] - 1, and entry e lies in column columns[e].  Where a function says "in order", the
 * columns of each row rise, so that none is there twice.
 *
 * Functions that only read a matrix do not look whether it is one, but neither read nor write
 * outside of its arrays.
 */
typedef struct ech_csr {
    size_t size; /* sizeof(ech_csr) */
    size_t rows, cols;
    size_t nnz;        /* offsets[rows]; where a matrix is made: the room in columns and values */
    void *row_offsets; /* [rows + 1] of index_dtype, the first 0 */
    void *col_indices; /* [entries] of index */
    void *values;      /* [entries] of dtype */
    ech_dtype index_dtype; /* ECH_I32 or ECH_I64 */
    ech_dtype dtype;       /* ECH_F32 or ECH_F64 */
} ech_csr;

typedef struct ech_csr_options {
    size_t size;       /* sizeof(ech_csr_options) */
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_csr_workspace() says */
} ech_csr_options;

/*
 * ech_csr_from_coo() makes a matrix, in order, of entries in any order.
 *
 *   n        how many are given
 *   rows, columns  [n] of out->index, not modified: the first that is out of range is reported
 *   values   [n] of out->dtype, not modified; those of one place are added up in the order they
 *            come
 *   out      its rows, cols, index and dtype say what is made; entries is the room, n at least
 *   entries  [1] of u64, receives how many there are, which is the caller's to put into
 *            out->entries
 *
 * Fails with ECH_ERR_UNSUPPORTED where a row's number and one of n, or of a column if those are
 * fewer, together take more than 64 bits.
 */
ECH_API ech_status ech_csr_from_coo(ech_ctx *ctx, size_t n, const void *rows, const void *columns,
                                    const void *values, const ech_csr *out, uint64_t *entries,
                                    const ech_csr_options *options);

/* ech_csr_transpose() makes out = a^T, in order where a has no entry twice; rows, cols, entries and
 * types must fit.  Fails with ECH_ERR_UNSUPPORTED where a row's and a column's number together take
 * more than 64 bits: of offsets alone these are 64 GiB. */
ECH_API ech_status ech_csr_transpose(ech_ctx *ctx, const ech_csr *a, const ech_csr *out,
                                     const ech_csr_options *options);

/* ech_csr_diagonal() copies what lies on the diagonal into diagonal [min(a->rows, a->cols)] of
 * a->dtype: of several entries the first, and 0 where there is none. */
ECH_API ech_status ech_csr_diagonal(ech_ctx *ctx, const ech_csr *a, void *diagonal);

/* ech_csr_check() fails where offsets do not begin with 0, decrease, or do not end with a->entries;
 * else where columns are out of range or, with in_order 1, do not rise.  The first row that is
 * wrong is named, by ech_sync() if the matrix lies on a GPU. */
ECH_API ech_status ech_csr_check(ech_ctx *ctx, const ech_csr *a, int in_order);

/*
 * ech_spmv() is y = alpha a x + beta y.
 *
 *   x          [a->cols] of a->dtype
 *   y          [a->rows] of a->dtype, not in x; with beta 0 what it holds is not read, so that NaN
 *              there do no harm
 *   alpha      with 0 neither the entries of a nor x are looked at
 *
 * Each row is added up in an order that follows from its length alone (docs/sparse.md), and gives
 * the same bits on every device.  Rows may be of any lengths: one may have all entries.
 */
ECH_API ech_status ech_spmv(ech_ctx *ctx, double alpha, const ech_csr *a, const void *x,
                            double beta, void *y, const ech_csr_options *options);

/* ech_spmm() is c = alpha a b + beta c: b [a->cols][n] and c [a->rows][n], whose rows lie so many
 * elements apart; c's bits are those of ech_spmv() with each column. */
ECH_API ech_status ech_spmm(ech_ctx *ctx, double alpha, const ech_csr *a, size_t n, const void *b,
                            size_t b_stride, double beta, void *c, size_t c_stride,
                            const ech_csr_options *options);

typedef enum ech_csr_call {
    ECH_CSR_FROM_COO = 0, /* of n = a->entries entries */
    ECH_CSR_TRANSPOSE = 1,
    ECH_CSR_SPMV = 2,
    ECH_CSR_SPMM = 3
} ech_csr_call;

/* ech_csr_workspace() tells how many bytes of workspace a call takes; a's pointers do not
 * matter. */
ECH_API ech_status ech_csr_workspace(const char *device, ech_csr_call call, const ech_csr *a,
                                     size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SPARSE_H */
