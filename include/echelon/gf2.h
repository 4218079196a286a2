/*
 * echelon/gf2.h - linear algebra over GF(2).
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_GF2_H
#define ECHELON_GF2_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Matrices over GF(2) --------------------------------------------------------------------- */

/*
 * A matrix over GF(2), or a view of a part of one: bit j of row i is bit j % 64 of
 * words[i * stride + j / 64].  M4RI has the same layout, and so has packbits(bitorder="little") of
 * NumPy on little-endian machines.  Bits of the last word of a row beyond cols, and further words
 * up to the next row, lie outside the matrix: they have no effect and are never changed.
 *
 * The caller owns the words, which may be in host memory or in GPU memory, as every array.  The
 * struct itself is in host memory, and is read during the call.  A call writes the words of an
 * argument of type ech_gf2 *, and never those of a const ech_gf2 *: there, words may point to
 * read-only memory (cast away its const).
 *
 * Rows and columns are at most 2^32 - 1.  Ranks and dimensions are u32.  Matrices that a call
 * writes must not overlap any other argument, unless its comment allows it.  Two views of one
 * matrix do not overlap if they share no word.
 */
typedef struct ech_gf2 {
    size_t size;     /* sizeof(ech_gf2) */
    uint64_t *words; /* aligned to 8 bytes; may be NULL if the matrix has no bits */
    size_t rows, cols;
    size_t stride; /* words from one row to the next; at least ech_gf2_stride(cols) */
} ech_gf2;

/* ech_gf2_stride() returns the number of words of a row of cols bits: cols / 64, rounded up. */
ECH_API size_t ech_gf2_stride(size_t cols);

/*
 * ech_gf2_view() describes the submatrix of rows x cols bits of a that begins at (row, col).  It
 * moves no data.
 *
 *   col   a multiple of 64 (ech_gf2_copy() has no such limit)
 *   view  [1] receives the submatrix, which shares the words of a; the caller must set view->size
 */
ECH_API ech_status ech_gf2_view(const ech_gf2 *a, size_t row, size_t col, size_t rows, size_t cols,
                                ech_gf2 *view);

/* Options of the products.  Zero is the default of every field except size. */
typedef struct ech_gf2_options {
    size_t size;           /* sizeof(ech_gf2_options) */
    const char *algorithm; /* NULL: chosen; or one that ech_gf2_explain() lists */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_gf2_workspace() returns */
} ech_gf2_options;

/* ---- Copies, special matrices and conversions ---- */

/*
 * ech_gf2_copy() copies rows x cols bits from (from_row, from_col) of from to (to_row, to_col) of
 * to.  All positions are allowed, so it can extract submatrices and concatenate matrices.
 *
 *   from  not modified
 *   to    the other bits of it keep their value
 */
ECH_API ech_status ech_gf2_copy(ech_ctx *ctx, const ech_gf2 *from, size_t from_row, size_t from_col,
                                ech_gf2 *to, size_t to_row, size_t to_col, size_t rows,
                                size_t cols);

/* ech_gf2_add() computes out = a + b, bit by bit modulo 2.  All three have the same shape.  out may
 * be a or b. */
ECH_API ech_status ech_gf2_add(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, ech_gf2 *out);

/* ech_gf2_transpose() computes out = a^T.  out is a->cols x a->rows. */
ECH_API ech_status ech_gf2_transpose(ech_ctx *ctx, const ech_gf2 *a, ech_gf2 *out);

/*
 * ech_gf2_gather_rows() copies rows by position: row i of out is row index[i] of a.
 * ech_gf2_gather_cols() does the same with columns: column j of out is column index[j] of a.
 *
 *   index  [out->rows], or [out->cols], of index_dtype (ECH_I32, ECH_U32, ECH_I64 or ECH_U64);
 *          positions may be in any order and may occur repeatedly.  A position outside a fails with
 *          ECH_ERR_ARG
 *   out    has as many columns (ech_gf2_gather_cols(): rows) as a
 */
ECH_API ech_status ech_gf2_gather_rows(ech_ctx *ctx, const ech_gf2 *a, const void *index,
                                       ech_gf2 *out, ech_dtype index_dtype);
ECH_API ech_status ech_gf2_gather_cols(ech_ctx *ctx, const ech_gf2 *a, const void *index,
                                       ech_gf2 *out, ech_dtype index_dtype);

/*
 * ech_gf2_zero() sets all bits to 0.  ech_gf2_identity() sets bits with i == j to 1, and all
 * others to 0.  ech_gf2_random() sets each bit to 1 with the given probability, otherwise to 0.
 *
 *   probability  from 0 to 1; rounded to a multiple of 2^-32
 *   seed         any value.  Bit (i, j) depends only on probability, seed, i and j
 */
ECH_API ech_status ech_gf2_zero(ech_ctx *ctx, ech_gf2 *out);
ECH_API ech_status ech_gf2_identity(ech_ctx *ctx, ech_gf2 *out);
ECH_API ech_status ech_gf2_random(ech_ctx *ctx, ech_gf2 *out, double probability, uint64_t seed);

/*
 * ech_gf2_pack() converts bytes to a matrix: bit 0 of each byte is one element.  ech_gf2_unpack()
 * converts a matrix to bytes, 0 or 1.
 *
 *   bytes  [rows][cols]
 */
ECH_API ech_status ech_gf2_pack(ech_ctx *ctx, const uint8_t *bytes, ech_gf2 *out);
ECH_API ech_status ech_gf2_unpack(ech_ctx *ctx, const ech_gf2 *a, uint8_t *bytes);

/*
 * ech_gf2_count() counts the ones of a.  ech_gf2_equal() compares two matrices of the same shape.
 *
 *   count  [1] receives the number of ones
 *   equal  [1] receives 1 if a and b are equal, otherwise 0
 */
ECH_API ech_status ech_gf2_count(ech_ctx *ctx, const ech_gf2 *a, uint64_t *count);
ECH_API ech_status ech_gf2_equal(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, uint8_t *equal);

/* ---- Products ---- */

/*
 * ech_gf2_mul() computes out = a b.  ech_gf2_addmul() computes out = out + a b.  ech_gf2_mul_vec()
 * computes a x for vectors x that are stored as rows: out = x a^T.
 *
 *   a        m x k; not modified
 *   b        k x n; not modified
 *   x        p x k, one vector per row; not modified
 *   out      m x n; p x m for ech_gf2_mul_vec()
 *   options  NULL for the defaults
 */
ECH_API ech_status ech_gf2_mul(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, ech_gf2 *out,
                               const ech_gf2_options *options);
ECH_API ech_status ech_gf2_addmul(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, ech_gf2 *out,
                                  const ech_gf2_options *options);
ECH_API ech_status ech_gf2_mul_vec(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *x, ech_gf2 *out,
                                   const ech_gf2_options *options);

/* ---- Elimination ---- */

/*
 * Elimination processes the columns in order.  In each column it selects, among the rows that are
 * not yet pivot rows, the first one with a one in this column.  It swaps this row with the first
 * row that is not yet a pivot row.  Then it adds it to all rows below that have a one in this
 * column and, for the reduced form, also to those above.
 *
 * All functions below return the results of this procedure, bit-identical for every algorithm,
 * device and number of threads.  (The reduced form, the rank and the pivots do not depend on which
 * row is selected; the other results do.)
 */
typedef enum ech_gf2_form {
    ECH_GF2_FORM_REDUCED = 0, /* a pivot is the only one in its column */
    ECH_GF2_FORM_ECHELON = 1  /* all bits below a pivot are zero */
} ech_gf2_form;

/* Options of calls that eliminate.  Zero is the default of every field except size.  Setting a
 * field that the call does not support fails with ECH_ERR_ARG. */
typedef struct ech_gf2_echelon_options {
    size_t size; /* sizeof(ech_gf2_echelon_options) */
    ech_gf2_form form;
    const void *column_order; /* NULL, or [pivot_cols]: the distinct columns in which pivots
                                     are sought, in this order; no column is moved */
    size_t pivot_cols;        /* seek pivots only in the first pivot_cols columns, or columns of
                              column_order; 0: in all */
    size_t max_rank;          /* stop at this number of pivots; 0: no limit */
    ech_gf2 *transform;       /* NULL, or rows x rows: receives T with T a = the result */
    void *rows_from;          /* NULL, or [rows]: row i of the result is row rows_from[i] of a, to
                              which other rows have been added */
    ech_dtype index_dtype;    /* the type of column_order, rows_from, pivots, p and q: ECH_I32,
                              ECH_U32, ECH_I64 or ECH_U64; 0: ECH_U32.  Arrays of 64 bits are
                              converted, in memory that the context allocates */
    const char *algorithm;    /* NULL: chosen; or one that ech_gf2_explain() lists */
    void *work;               /* as in ech_sort_options */
    size_t work_bytes;        /* at least what ech_gf2_workspace() returns */
} ech_gf2_echelon_options;

/*
 * ech_gf2_echelon() transforms a to echelon form in place.
 *
 *   a        receives the echelon form
 *   rank     [1] receives the number of pivots
 *   pivots   NULL, or [min(rows, cols)]: pivots[i] receives the column of the pivot of row i for i
 *            < *rank; the other elements are unspecified
 *   options  NULL for the defaults
 */
ECH_API ech_status ech_gf2_echelon(ech_ctx *ctx, ech_gf2 *a, uint32_t *rank, void *pivots,
                                   const ech_gf2_echelon_options *options);

/*
 * ech_gf2_rank() computes the rank of a and does not modify a.  It does not support transform and
 * rows_from.
 *
 *   rank  [1] receives the number of pivots
 */
ECH_API ech_status ech_gf2_rank(ech_ctx *ctx, const ech_gf2 *a, uint32_t *rank,
                                const ech_gf2_echelon_options *options);

/*
 * ech_gf2_pluq() factors a into L U with permuted rows and columns: a(p[i], q[j]) = (L U)(i, j).  L
 * is rows x rank, with ones on the diagonal and zeros above.  U is rank x cols, with ones on the
 * diagonal and zeros below.
 *
 *   a        receives L below the diagonal, and U on and above it; the remaining bits are 0
 *   rank     [1] receives the rank
 *   p        [rows] receives the permutation of the rows
 *   q        [cols] receives the permutation of the columns: first the rank pivot columns, then the
 *            others in their order
 *   options  NULL for the defaults; of form, column_order, pivot_cols, max_rank, transform and
 *            rows_from it supports only column_order
 */
ECH_API ech_status ech_gf2_pluq(ech_ctx *ctx, ech_gf2 *a, uint32_t *rank, void *p, void *q,
                                const ech_gf2_echelon_options *options);

/*
 * ech_gf2_solve() solves a x = b for each column of b.
 *
 *   a            m x n; not modified
 *   b            m x k; not modified
 *   x            n x k; a column of x receives the solution that is 0 outside the pivots, or 0 if
 *                there is no solution
 *   solvable     NULL, or [k] of u8: 1 if the column has a solution, otherwise 0
 *   certificate  NULL, or k x m: row j receives a certificate that column b_j has no solution: a y
 *                with y a = 0 and y b_j = 1.  It is zero if there is a solution
 *   options      NULL for the defaults; column_order and pivot_cols select the columns of a that
 *                may be pivots; form, max_rank, transform and rows_from are not supported
 *
 * A system without a solution is not an error.
 */
ECH_API ech_status ech_gf2_solve(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, ech_gf2 *x,
                                 uint8_t *solvable, ech_gf2 *certificate,
                                 const ech_gf2_echelon_options *options);

/*
 * ech_gf2_nullspace() computes a basis of the nullspace, all x with a x = 0.
 * ech_gf2_left_nullspace() computes a basis of the left nullspace, all y with y a = 0, which is the
 * nullspace of a^T.  A basis has one vector per row.  Row i belongs to the i-th column without a
 * pivot: it has a one in this column, and zeros in every other column without a pivot.
 *
 *   a        not modified
 *   basis    as many columns as a has (left: as a has rows).  It may have any number of rows that
 *            is at least the dimension; too few rows fail with ECH_ERR_ARG.  Rows beyond the
 *            dimension receive 0
 *   dim      [1] receives the dimension
 *   options  NULL for the defaults; form, column_order, pivot_cols, max_rank, transform and
 *            rows_from are not supported
 */
ECH_API ech_status ech_gf2_nullspace(ech_ctx *ctx, const ech_gf2 *a, ech_gf2 *basis, uint32_t *dim,
                                     const ech_gf2_echelon_options *options);
ECH_API ech_status ech_gf2_left_nullspace(ech_ctx *ctx, const ech_gf2 *a, ech_gf2 *basis,
                                          uint32_t *dim, const ech_gf2_echelon_options *options);

/*
 * ech_gf2_inverse() computes the inverse of a square matrix.
 *
 *   a        n x n; not modified
 *   inverse  n x n; unspecified if a is singular
 *   rank     [1] receives the rank; less than n if a is singular, which is not an error
 *   options  as for ech_gf2_nullspace()
 */
ECH_API ech_status ech_gf2_inverse(ech_ctx *ctx, const ech_gf2 *a, ech_gf2 *inverse, uint32_t *rank,
                                   const ech_gf2_echelon_options *options);

/* ---- Batches of small matrices ---- */

/* A batch of count matrices of one shape.  Matrix i begins at words + i * batch_stride.
 * batch_stride is at least the number of words of a matrix.  If the call only reads the batch, it
 * may be 0: all matrices are then the same. */
typedef struct ech_gf2_batch {
    size_t size; /* sizeof(ech_gf2_batch) */
    uint64_t *words;
    size_t count, rows, cols;
    size_t stride, batch_stride; /* in words */
} ech_gf2_batch;

/*
 * ech_gf2_echelon_batched() transforms each matrix of a batch as ech_gf2_echelon() does, in place.
 * ech_gf2_rank_batched() computes only the ranks, and does not modify the matrices.
 *
 *   rank     [count]
 *   pivots   NULL, or [count][min(rows, cols)]
 *   options  NULL for the defaults; column_order is [count][pivot_cols], one order per
 *            matrix; transform and
 *            rows_from are not supported
 */
ECH_API ech_status ech_gf2_echelon_batched(ech_ctx *ctx, ech_gf2_batch *a, uint32_t *rank,
                                           void *pivots, const ech_gf2_echelon_options *options);
ECH_API ech_status ech_gf2_rank_batched(ech_ctx *ctx, const ech_gf2_batch *a, uint32_t *rank,
                                        const ech_gf2_echelon_options *options);

/*
 * ech_gf2_solve_batched() solves a x = b for each matrix, with one right-hand side each, as
 * ech_gf2_solve() does.
 *
 *   a         not modified; fails with ECH_ERR_ARG if it has rows but no columns
 *   b         [count][ech_gf2_stride(rows)] words: a vector of rows bits per matrix
 *   x         [count][ech_gf2_stride(cols)] words: a solution per matrix, 0 if there is none; the
 *             unused bits of the last word receive 0
 *   solvable  [count] of u8: 1 if there is a solution, otherwise 0
 *   options   NULL for the defaults; column_order as in ech_gf2_echelon_batched(); form, max_rank,
 *             transform and rows_from are not supported
 */
ECH_API ech_status ech_gf2_solve_batched(ech_ctx *ctx, const ech_gf2_batch *a, const uint64_t *b,
                                         uint64_t *x, uint8_t *solvable,
                                         const ech_gf2_echelon_options *options);

/* ---- Workspace and explanation ---- */

typedef enum ech_gf2_call {
    ECH_GF2_CALL_MUL = 0,     /* ech_gf2_mul(), ech_gf2_addmul(); b is cols x other */
    ECH_GF2_CALL_MUL_VEC = 1, /* other: number of rows of x */
    ECH_GF2_CALL_ECHELON = 2, /* ech_gf2_echelon(), ech_gf2_rank() */
    ECH_GF2_CALL_PLUQ = 3,
    ECH_GF2_CALL_SOLVE = 4,     /* other: number of columns of b */
    ECH_GF2_CALL_NULLSPACE = 5, /* ech_gf2_nullspace(), ech_gf2_left_nullspace() */
    ECH_GF2_CALL_INVERSE = 6,
    ECH_GF2_CALL_BATCHED = 7 /* all functions ..._batched(); other: number of matrices */
} ech_gf2_call;

/*
 * ech_gf2_workspace() returns how many bytes of workspace a call needs.  ech_gf2_explain()
 * describes, as ech_sort_explain() does, how a call would be done.
 *
 *   device      as for ech_sort_workspace()
 *   rows, cols  the shape of a
 *   other       as the comment of ech_gf2_call states; otherwise ignored
 *   options     NULL for the defaults; only form, pivot_cols, algorithm, and whether
 *               column_order and transform are NULL have an effect.  For ECH_GF2_CALL_SOLVE,
 *               transform stands for the certificate
 *   bytes       [1] receives the size
 *   text        [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_gf2_workspace(const char *device, ech_gf2_call call, size_t rows,
                                     size_t cols, size_t other,
                                     const ech_gf2_echelon_options *options, size_t *bytes);
ECH_API ech_status ech_gf2_explain(const char *device, ech_gf2_call call, size_t rows, size_t cols,
                                   size_t other, const ech_gf2_echelon_options *options,
                                   ech_format format, char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_GF2_H */
