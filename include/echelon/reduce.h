/*
 * echelon/reduce.h - reductions: one value of an array, of each row, segment or run of keys.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_REDUCE_H
#define ECHELON_REDUCE_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reduce ---------------------------------------------------------------------------------- */

/*
 * Options of a reduction; zero every field but the first for the defaults.
 */
typedef struct ech_reduce_options {
    size_t size;         /* sizeof(ech_reduce_options) */
    ech_nan nan;         /* of floats */
    int accumulate_wide; /* 1: f16, bf16 and f32 are added and multiplied in f64 */
    ech_compare compare; /* ECH_OP_ANY, ECH_OP_ALL, ECH_OP_COUNT: the test */
    const void *value;   /* [1] of dtype in host memory: what it compares with */
    int ddof;            /* ECH_OP_VARIANCE: 0 or 1 */
    void *work;          /* as in ech_sort_options */
    size_t work_bytes;   /* at least what ech_reduce_workspace() says */
} ech_reduce_options;

/*
 * ech_reduce_dtype() is the type of a result, in which it is also computed; mean, variance and norm
 * are computed in f64, and rounded once:
 *   sum, product           i64 of signed, u64 of unsigned integers, both modulo 2^64; f32 of f16,
 *                          bf16 and f32 (accumulate_wide: f64); f64 of f64
 *   min, max, min and max  dtype
 *   and, or, xor           dtype
 *   argmin, argmax, count  u64
 *   any, all               u8
 *   mean, variance, norm   f32 of f16, bf16 and f32 (accumulate_wide: f64), else f64
 * -1 when there is no such reduction: bits of floats, an unknown op or dtype.
 */
ECH_API int ech_reduce_dtype(ech_op op, ech_dtype dtype, int wide);

/*
 * ech_reduce() makes one value of n.
 *
 *   in       [n] of dtype, not modified
 *   out      [1] of ech_reduce_dtype(); [2] for ECH_OP_MINMAX
 *   options  NULL for the defaults
 *
 * Nothing (n = 0, or nothing but NaN that are ignored) gives: sum, norm, count, or, xor, any 0;
 * product, all 1; and all ones; min the greatest value of dtype and max the least (floats: +inf and
 * -inf); argmin and argmax UINT64_MAX; mean and variance NaN.
 *
 * A NaN that comes out is the positive quiet one without a payload, a sum that is zero +0.  The
 * variance of no more than ddof elements is NaN.  ech_dot() ignores a pair of which either is NaN.
 *
 * Sums of floats are added in an order that depends on n and dtype alone: that of docs/reduce.md,
 * in chunks, then pairwise.  They are the same on every device, with any number of threads, in
 * every run, and their error grows with the logarithm of n.
 */
ECH_API ech_status ech_reduce(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                              ech_dtype dtype, const ech_reduce_options *options);

/*
 * ech_reduce_rows() is ech_reduce() of each row.
 *
 *   in     [rows][columns] of dtype
 *   out    [rows] of ech_reduce_dtype(), [rows][2] for ECH_OP_MINMAX; positions count within the row
 */
ECH_API ech_status ech_reduce_rows(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t rows,
                                   size_t columns, ech_dtype dtype,
                                   const ech_reduce_options *options);

/*
 * ech_reduce_segments() is ech_reduce() of each segment.
 *
 *   in       [n] of dtype
 *   offsets  [segments + 1]: segment s is in[offsets[s]] ... in[offsets[s + 1] - 1].  They must not
 *            decrease or pass n; the first need not be 0, nor the last n
 *   out      [segments], as in ech_reduce_rows()
 */
ECH_API ech_status ech_reduce_segments(ech_ctx *ctx, ech_op op, const void *in, void *out,
                                       const uint64_t *offsets, size_t segments, size_t n,
                                       ech_dtype dtype, const ech_reduce_options *options);

/*
 * ech_reduce_by_key() is ech_reduce() of each run of equal keys.
 *
 *   keys      [n] of key_dtype
 *   in        [n] of dtype
 *   keys_out  [n], of which the first *count are written: the first key of each run
 *   out       [n], of which the first *count are written, as in ech_reduce_rows()
 *   count     [1] receives the number of runs
 */
ECH_API ech_status ech_reduce_by_key(ech_ctx *ctx, ech_op op, const void *keys, ech_dtype key_dtype,
                                     const void *in, void *keys_out, void *out, uint64_t *count,
                                     size_t n, ech_dtype dtype, const ech_reduce_options *options);

/*
 * ech_dot() is the sum of a[i] b[i], in the type and by the order of ech_reduce() with ECH_OP_SUM.
 *
 *   a, b   [n] of dtype, which may be the same
 *   out    [1] of ech_reduce_dtype(ECH_OP_SUM, ...)
 */
ECH_API ech_status ech_dot(ech_ctx *ctx, const void *a, const void *b, void *out, size_t n,
                           ech_dtype dtype, const ech_reduce_options *options);

/* ech_reduce_workspace() tells how many bytes of workspace every reduction above takes of at most n
 * elements, rows * columns for rows; by_key: 1 for ech_reduce_by_key(), else 0.  device as for
 * ech_sort_workspace(). */
ECH_API ech_status ech_reduce_workspace(const char *device, ech_op op, size_t n, ech_dtype dtype,
                                        int by_key, const ech_reduce_options *options,
                                        size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_REDUCE_H */
