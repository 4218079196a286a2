/*
 * echelon/dist_linear.h - linear algebra on matrices and vectors whose rows are on several ranks.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_DIST_LINEAR_H
#define ECHELON_DIST_LINEAR_H

#include <echelon/dist.h>
#include <echelon/gf2.h>
#include <echelon/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The rules of echelon/dist.h hold.  A matrix is divided by rows: each rank has some consecutive
 * rows, in the order of ranks; any number of them, also 0.  A vector is divided in the same way.
 * Results, also numbers of iterations and residuals, have the bits of the function without the
 * prefix for the whole matrix on one device, for every number of ranks and every division.
 */

/* ---- Dense matrices -------------------------------------------------------------------------- */

/*
 * ech_dist_matvec() computes y = alpha a x + beta y, as ech_matvec() does.  Every rank gathers x.
 *
 *   rows   the number of rows of this rank
 *   cols   the number of columns, the same on all ranks
 *   a      [rows][cols] of dtype, row i at i * a_stride; not modified
 *   x      [n_x], the part of this rank; all ranks together have cols elements; not modified
 *   n_x    any number; the division of x is independent of that of the rows
 *   y      [rows]; must not overlap a or x
 *   dtype  ECH_F32 or ECH_F64
 *
 * The whole matrix may have any shape.  alpha and beta are the same on all ranks.
 */
ECH_API ech_status ech_dist_matvec(ech_ctx *ctx, ech_comm *comm, size_t rows, size_t cols,
                                   double alpha, const void *a, size_t a_stride, const void *x,
                                   size_t n_x, double beta, void *y, ech_dtype dtype);

/* ---- Sparse matrices ------------------------------------------------------------------------- */

/* The rows of a square sparse matrix that a rank has, and what ranks exchange in a product.  It
 * does not refer to the arrays from which it was made. */
typedef struct ech_dist_csr ech_dist_csr;

/*
 * ech_dist_csr_create() makes a distributed matrix from the rows of each rank.
 *
 *   rows  the rows of this rank: row_offsets begins with 0, and col_indices are columns of the
 *         whole matrix; not modified.  cols is the number of columns of the whole matrix, which is
 *         square: the numbers of rows of all ranks add up to it.  Otherwise the call fails with
 *         ECH_ERR_ARG.  cols, dtype and index_dtype are the same on all ranks
 *   a     [1] receives the matrix, which the caller must pass to ech_dist_csr_free(); NULL on
 *         failure
 *
 * The call copies the rows to memory of the device, with columns of 32 bits if they suffice on this
 * rank.  It computes once which elements of x the rank needs of others (the halo), and exchanges
 * these lists.  Up to half a granule of rows moves across each boundary between ranks (a granule is
 * 4 KiB of a vector, or up to 256 times as much if the matrix has more than 2^17 rows), so that no
 * chunk of a dot product is divided.  Vectors keep the division of the caller.
 *
 * ctx and comm must live until the matrix is freed.  Offsets that are not ascending, and columns
 * that are out of range, fail with ECH_ERR_ARG on every rank, and the message names the rank.
 */
ECH_API ech_status ech_dist_csr_create(ech_ctx *ctx, ech_comm *comm, const ech_csr *rows,
                                       ech_dist_csr **a);

/* ech_dist_csr_free() frees a matrix.  NULL is ignored.  Not collective. */
ECH_API void ech_dist_csr_free(ech_dist_csr *a);

/*
 * ech_dist_spmv() computes y = alpha a x + beta y, as ech_spmv() does.
 *
 *   a     its ctx and comm must be these.  One thread at a time may use it
 *   x, y  as many elements as this rank gave rows to ech_dist_csr_create(); x is not modified, and
 *         y is read only if beta is not 0
 *
 * alpha and beta are the same on all ranks.  Rows that need no halo are computed while the halo is
 * exchanged, if they have at least 2^18 entries on this rank; on the CPU, if the context may use
 * more than one thread.
 */
ECH_API ech_status ech_dist_spmv(ech_ctx *ctx, ech_comm *comm, double alpha, ech_dist_csr *a,
                                 const void *x, double beta, void *y);

/*
 * ech_dist_solve() solves A x = b by an iterative method, as ech_solve() does for one right-hand
 * side.
 *
 *   a        as for ech_dist_spmv()
 *   b        as many elements as this rank gave rows; not modified
 *   x        the same; read only with options->use_initial_guess
 *   options  method must be ECH_METHOD_CG, ECH_METHOD_MINRES, ECH_METHOD_BICGSTAB or
 *            ECH_METHOD_GMRES, and precond ECH_PRECOND_NONE, ECH_PRECOND_JACOBI or
 *            ECH_PRECOND_BLOCK_JACOBI, with a block of 1, 2, 4, 8, 16 or 32 rows, which begins at a
 *            multiple of its size in the whole matrix, on any number of ranks.  Others, and
 *            monitor, precondition and work, fail with ECH_ERR_UNSUPPORTED.  check_every is 1,
 *            because the host has the residual after every iteration
 *   report   [1] in host memory, the same on all ranks; the caller must set report->size
 *
 * The partial sums of dot products are those of ech_solve(), and every rank adds them in the same
 * order.  An iteration has one exchange of the halo per product, and one small message per group of
 * dot products.
 */
ECH_API ech_status ech_dist_solve(ech_ctx *ctx, ech_comm *comm, ech_dist_csr *a, const void *b,
                                  void *x, const ech_solve_options *options,
                                  ech_solve_report *report);

/* ---- Matrices over GF(2) --------------------------------------------------------------------- */

/*
 * A matrix over GF(2) is distributed by columns in cyclic order: columns j * block_cols ...
 * (j + 1) * block_cols - 1 of the whole matrix are on rank j % ranks, which has its blocks in
 * their order, and all rows.  A rank with the columns of a block finds its pivots by itself, and
 * one broadcast per block is enough; rows on several ranks would need one message per pivot.
 *
 * These calls have in common:
 *   cols        the number of columns of the whole matrix, the same on all ranks.  The matrix of a
 *               rank has ech_dist_gf2_cols() columns
 *   block_cols  a multiple of 64, at most 65536; 0: ECH_DIST_GF2_BLOCK.  The same on all ranks
 *   options     NULL for the defaults; work is not supported
 */
#define ECH_DIST_GF2_BLOCK 4096

/* ech_dist_gf2_cols() returns how many of cols columns rank `rank` of `ranks` ranks has.  It
 * returns 0 if rank is not less than ranks.  Not collective. */
ECH_API size_t ech_dist_gf2_cols(size_t cols, size_t block_cols, int rank, int ranks);

/*
 * ech_dist_gf2_mul() computes out = a b, as ech_gf2_mul() does.
 *
 *   a    the columns of this rank of an m x k matrix; not modified
 *   b    those of a k x n matrix; not modified
 *   out  those of an m x n matrix
 */
ECH_API ech_status ech_dist_gf2_mul(ech_ctx *ctx, ech_comm *comm, const ech_gf2 *a,
                                    const ech_gf2 *b, ech_gf2 *out, size_t k, size_t n,
                                    size_t block_cols, const ech_gf2_options *options);

/*
 * ech_dist_gf2_echelon() transforms a to echelon form in place, as ech_gf2_echelon() does, and
 * ech_dist_gf2_rank() computes the rank of a, which is not modified, as ech_gf2_rank() does.
 *
 *   a        the columns of this rank
 *   rank     [1] receives the number of pivots, on every rank
 *   pivots   NULL on all ranks, or [min(rows, cols)]: the columns of the pivots in the whole
 *            matrix, on every rank
 *   options  form, index_dtype and algorithm; others fail with ECH_ERR_UNSUPPORTED
 *
 * Both need memory for a copy of a.  The owner of a block of columns eliminates a copy of it, and
 * sends the pivots, the rows that move and the factor of the other columns; each rank multiplies
 * the factor by the pivot rows of its columns.  On a GPU the next block is factored meanwhile.
 */
ECH_API ech_status ech_dist_gf2_echelon(ech_ctx *ctx, ech_comm *comm, ech_gf2 *a, uint32_t *rank,
                                        void *pivots, size_t cols, size_t block_cols,
                                        const ech_gf2_echelon_options *options);
ECH_API ech_status ech_dist_gf2_rank(ech_ctx *ctx, ech_comm *comm, const ech_gf2 *a, uint32_t *rank,
                                     size_t cols, size_t block_cols,
                                     const ech_gf2_echelon_options *options);

/*
 * ech_dist_gf2_solve() solves a x = b for each column of b, as ech_gf2_solve() does.
 *
 *   a         the columns of this rank of an m x cols matrix; not modified
 *   b         those of an m x n_rhs matrix; not modified
 *   x         those of a cols x n_rhs matrix
 *   solvable  NULL on all ranks, or one u8 for each column of b on this rank: 1 if it has a
 *             solution, otherwise 0
 *   options   only algorithm; others fail with ECH_ERR_UNSUPPORTED or ECH_ERR_ARG
 */
ECH_API ech_status ech_dist_gf2_solve(ech_ctx *ctx, ech_comm *comm, const ech_gf2 *a,
                                      const ech_gf2 *b, ech_gf2 *x, uint8_t *solvable, size_t cols,
                                      size_t n_rhs, size_t block_cols,
                                      const ech_gf2_echelon_options *options);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_DIST_LINEAR_H */
