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
 * A matrix of bits, or a view of a part of one: bit j of row i is bit j % 64 of
 * words[i * stride + j / 64].  This is the layout of M4RI and, on little-endian machines, that of
 * packbits(bitorder="little") of NumPy.  Bits of a row's last word beyond cols, and words beyond
 * that, belong to somebody else: they are not looked at and never changed.  The words lie in host
 * memory or in the GPU's, like every array; the struct itself is read when the call is made.
 *
 * Rows and columns are at most 2^32 - 1; positions of either are u32.  Matrices that a call writes
 * overlap nothing else unless it is said; two views of one matrix do not overlap when they share no
 * word.
 */
typedef struct ech_gf2 {
    size_t size;     /* sizeof(ech_gf2) */
    uint64_t *words; /* aligned to 8 bytes; NULL is allowed when there are no bits */
    size_t rows, cols;
    size_t stride; /* words from a row to the next; at least ech_gf2_stride(cols) */
} ech_gf2;

/* The words that a row of so many bits takes: cols / 64, rounded up. */
ECH_API size_t ech_gf2_stride(size_t cols);

/* ech_gf2_view() makes *view the rows x cols part of *a whose first bit is (row, col); col is a
 * multiple of 64 (ech_gf2_copy() copies from anywhere).  No data is moved. */
ECH_API ech_status ech_gf2_view(const ech_gf2 *a, size_t row, size_t col, size_t rows, size_t cols,
                                ech_gf2 *view);

/* Options of every call on such matrices but those that eliminate. */
typedef struct ech_gf2_options {
    size_t size;           /* sizeof(ech_gf2_options) */
    const char *algorithm; /* NULL, or one that ech_gf2_explain() lists */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_gf2_workspace() says */
} ech_gf2_options;

/* ---- ... moved and made ---- */

/* ech_gf2_copy() copies rows x cols bits from (from_row, from_col) of *from to (to_row, to_col) of
 * *to, at any positions: what cuts a matrix out of another, and sets two side by side or one on top
 * of the other. */
ECH_API ech_status ech_gf2_copy(ech_ctx *ctx, const ech_gf2 *from, size_t from_row, size_t from_col,
                                const ech_gf2 *to, size_t to_row, size_t to_col, size_t rows,
                                size_t cols);

/* out = a + b, bit by bit modulo 2; out may be a or b. */
ECH_API ech_status ech_gf2_add(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b,
                               const ech_gf2 *out);

/* out = a^T: out is a->cols x a->rows. */
ECH_API ech_status ech_gf2_transpose(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *out);

/* Row i of out is row order[i] of a, column j of out is column order[j] of a; order has as many
 * positions as out has rows or columns, in any order, also repeated. */
ECH_API ech_status ech_gf2_gather_rows(ech_ctx *ctx, const ech_gf2 *a, const uint32_t *order,
                                       const ech_gf2 *out);
ECH_API ech_status ech_gf2_gather_columns(ech_ctx *ctx, const ech_gf2 *a, const uint32_t *order,
                                          const ech_gf2 *out);

/* Every bit 0; 1 where i == j and else 0; 0 or 1 by a generator that depends on seed, i and j
 * alone, 1 with the given probability (rounded to a multiple of 2^-32). */
ECH_API ech_status ech_gf2_zero(ech_ctx *ctx, const ech_gf2 *out);
ECH_API ech_status ech_gf2_identity(ech_ctx *ctx, const ech_gf2 *out);
ECH_API ech_status ech_gf2_random(ech_ctx *ctx, const ech_gf2 *out, double probability,
                                  uint64_t seed);

/* A byte for each bit, row after row: [rows * cols].  Packing takes bit 0 of each byte. */
ECH_API ech_status ech_gf2_pack(ech_ctx *ctx, const uint8_t *bytes, const ech_gf2 *out);
ECH_API ech_status ech_gf2_unpack(ech_ctx *ctx, const ech_gf2 *a, uint8_t *bytes);

/* *count, [1] of u64: the ones of a.  *equal, [1] of u8: whether a and b, of one shape, are the
 * same. */
ECH_API ech_status ech_gf2_count(ech_ctx *ctx, const ech_gf2 *a, uint64_t *count);
ECH_API ech_status ech_gf2_equal(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, uint8_t *equal);

/* ---- ... multiplied ---- */

/*
 * ech_gf2_mul() is out = a b, ech_gf2_addmul() out += a b: a is m x k, b is k x n, out is m x n.
 * ech_gf2_mul_vec() multiplies vectors that lie as rows: each row x of the p x k matrix becomes the
 * row a x of the p x m matrix out, for a of m x k; a single vector is p = 1.
 */
ECH_API ech_status ech_gf2_mul(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, const ech_gf2 *out,
                               const ech_gf2_options *options);
ECH_API ech_status ech_gf2_addmul(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b,
                                  const ech_gf2 *out, const ech_gf2_options *options);
ECH_API ech_status ech_gf2_mul_vec(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *x,
                                   const ech_gf2 *out, const ech_gf2_options *options);

/* ---- ... eliminated ---- */

/*
 * Elimination goes through columns in order.  In each it takes the first row, among those that are
 * not pivot rows yet, that has a one there, swaps it with the first of them, and adds it to those
 * below that have a one there (and, for the reduced form, to those above).  Whatever the algorithm,
 * the device and the number of threads, everything below is what this gives, to the bit.  (The
 * reduced form, the rank and the pivots do not depend on which row is taken; the rest does.)
 */
typedef enum ech_gf2_form {
    ECH_GF2_REDUCED = 0, /* a pivot is the only one of its column */
    ECH_GF2_ECHELON = 1  /* below a pivot are zeros alone */
} ech_gf2_form;

typedef struct ech_gf2_echelon_options {
    size_t size; /* sizeof(ech_gf2_echelon_options) */
    ech_gf2_form form;
    const uint32_t *order; /* NULL, or [columns]: pivots are sought in these different columns, in
                                 this order; no column is moved */
    size_t columns;        /* seek pivots in the first so many columns (of order) alone; 0: all */
    size_t max_rank;       /* stop once there are so many pivots; 0: do not */
    const ech_gf2 *transform; /* NULL, or rows x rows: receives T with T a = the result */
    uint32_t *rows_from;      /* NULL, or [rows]: row i of the result was row rows_from[i] of a,
                                 before rows were added to it */
    const char *algorithm;    /* NULL, or one that ech_gf2_explain() lists */
    void *work;               /* as in ech_sort_options */
    size_t work_bytes;        /* at least what ech_gf2_workspace() says */
} ech_gf2_echelon_options;

/*
 * ech_gf2_echelon() brings a to echelon form in place.
 *
 *   rank     [1] receives the number of pivots
 *   pivots   NULL, or [min(rows, cols)]: pivots[i] is the column of the pivot of row i, for
 *            i < *rank; the rest is unspecified
 */
ECH_API ech_status ech_gf2_echelon(ech_ctx *ctx, const ech_gf2 *a, uint32_t *rank, uint32_t *pivots,
                                   const ech_gf2_echelon_options *options);

/* ech_gf2_rank() tells the rank and leaves a as it is; of options, transform is not for it. */
ECH_API ech_status ech_gf2_rank(ech_ctx *ctx, const ech_gf2 *a, uint32_t *rank,
                                const ech_gf2_echelon_options *options);

/*
 * ech_gf2_pluq() writes a as L U with its rows and columns permuted: a(p[i], q[j]) = (L U)(i, j).
 * L, rows x rank with ones on its diagonal and zeros above, and U, rank x cols with ones on its
 * diagonal and zeros below, take a's place: L below the diagonal, U on and above it, zeros after
 * both.  The first rank columns of q are the pivots', the others follow in their order.
 *
 *   rank  [1]      p  [rows]      q  [cols]
 */
ECH_API ech_status ech_gf2_pluq(ech_ctx *ctx, const ech_gf2 *a, uint32_t *rank, uint32_t *p,
                                uint32_t *q, const ech_gf2_echelon_options *options);

/*
 * ech_gf2_solve() finds x with a x = b, column by column of b.
 *
 *   a           m x n; not changed
 *   b           m x k; not changed
 *   x           n x k: a column that has solutions receives the one whose bits are 0 but at pivots;
 *               one that has none receives 0
 *   solvable    NULL, or [k] of u8: 1 where there is a solution, else 0
 *   certificate NULL, or k x m: row j shows why column j has none: a combination y of rows with
 *               y a = 0 and y b_j = 1; zero where there is a solution
 *   options     order and columns: the columns of a that may be pivots; max_rank and transform are
 *               not for it
 */
ECH_API ech_status ech_gf2_solve(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, const ech_gf2 *x,
                                 uint8_t *solvable, const ech_gf2 *certificate,
                                 const ech_gf2_echelon_options *options);

/*
 * ech_gf2_nullspace() writes a basis of the x with a x = 0, ech_gf2_left_nullspace() one of the y with
 * y a = 0, a vector a row.  Row i of a kernel belongs to the i-th column that has no pivot: it has
 * a one there, and zeros in every other such column.  The left kernel is that of a^T.
 *
 *   basis    as many columns as a has (left: as a has rows); and as many rows, or as few as it is
 *            known to need: too few fail with ECH_ERR_ARG.  Rows beyond the dimension become 0
 *   dim      [1] receives the dimension
 */
ECH_API ech_status ech_gf2_nullspace(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *basis,
                                     uint32_t *dim, const ech_gf2_echelon_options *options);
ECH_API ech_status ech_gf2_left_nullspace(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *basis,
                                          uint32_t *dim, const ech_gf2_echelon_options *options);

/* ech_gf2_inverse() writes the inverse of a square matrix; *rank, [1], is less than its rows when
 * there is none, and inverse then unspecified. */
ECH_API ech_status ech_gf2_inverse(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *inverse,
                                   uint32_t *rank, const ech_gf2_echelon_options *options);

/* ---- ... many small ones ---- */

/*
 * count matrices of one shape, matrix i at words + i * step; step 0 of an input makes all the same.
 */
typedef struct ech_gf2_batch {
    size_t size; /* sizeof(ech_gf2_batch) */
    uint64_t *words;
    size_t count, rows, cols;
    size_t stride, batch_stride; /* in words */
} ech_gf2_batch;

/*
 * ech_gf2_echelon_batched() is ech_gf2_echelon() for each matrix of a batch, in place.
 *
 *   rank     [count]
 *   pivots   NULL, or [count][min(rows, cols)]
 *   options  order is [count][columns], an order for each matrix; transform and rows_from are not
 *            for it
 *
 * ech_gf2_rank_batched() leaves the matrices as they are.
 */
ECH_API ech_status ech_gf2_echelon_batched(ech_ctx *ctx, const ech_gf2_batch *a, uint32_t *rank,
                                           uint32_t *pivots,
                                           const ech_gf2_echelon_options *options);
ECH_API ech_status ech_gf2_rank_batched(ech_ctx *ctx, const ech_gf2_batch *a, uint32_t *rank,
                                        const ech_gf2_echelon_options *options);

/*
 * ech_gf2_solve_batched() is ech_gf2_solve() of one right-hand side for each matrix.
 *
 *   b         [count][ech_gf2_stride(rows)] words: a vector of rows bits for each
 *   x         [count][ech_gf2_stride(cols)] words: the solutions, zero where there is none; spare
 *             bits are written as 0
 *   solvable  [count] of u8
 */
ECH_API ech_status ech_gf2_solve_batched(ech_ctx *ctx, const ech_gf2_batch *a, const uint64_t *b,
                                         uint64_t *x, uint8_t *solvable,
                                         const ech_gf2_echelon_options *options);

/* ---- ... and planned ---- */

typedef enum ech_gf2_call {
    ECH_GF2_CALL_MUL = 0,     /* mul, addmul: a is rows x cols, b is cols x other */
    ECH_GF2_CALL_MUL_VEC = 1, /* other: rows of x */
    ECH_GF2_CALL_ECHELON = 2, /* echelon, rank */
    ECH_GF2_CALL_PLUQ = 3,
    ECH_GF2_CALL_SOLVE = 4,     /* other: columns of b */
    ECH_GF2_CALL_NULLSPACE = 5, /* kernel, left_kernel */
    ECH_GF2_CALL_INVERSE = 6,
    ECH_GF2_CALL_BATCHED = 7 /* all that end in _batched; other: the number of matrices */
} ech_gf2_call;

/*
 * ech_gf2_workspace() tells how many bytes of workspace such calls take for an a of rows x cols;
 * of options, NULL allowed, form, algorithm, and whether order and transform are NULL matter; a
 * certificate of ECH_GF2_CALL_SOLVE counts as a transform.  ech_gf2_explain() is like
 * ech_sort_explain().
 */
ECH_API ech_status ech_gf2_workspace(const char *device, ech_gf2_call call, size_t rows,
                                     size_t cols, size_t other,
                                     const ech_gf2_echelon_options *options, size_t *bytes);
ECH_API ech_status ech_gf2_explain(const char *device, ech_gf2_call call, size_t rows, size_t cols,
                                   size_t other, const ech_gf2_echelon_options *options, char *text,
                                   size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_GF2_H */
