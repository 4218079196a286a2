/*
 * echelon/reduce.h - reductions of an array, its rows, segments or runs of equal keys.
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

/* Options of a reduction.  Zero is the default of every field except size. */
typedef struct ech_reduce_options {
    size_t size; /* sizeof(ech_reduce_options) */
    ech_nan nan; /* ECH_NAN_IGNORE: as if the array had no NaN, except that positions count them */
    int accumulate_wide; /* 1: sums and products of f16, bf16 and f32 are computed in f64, and
                            they, means, variances, standard deviations and norms are f64 */
    ech_compare compare; /* the test of ECH_OP_ANY, ECH_OP_ALL and ECH_OP_COUNT */
    const void *value;   /* [1] of dtype in host memory: the value v of the test */
    int ddof;   /* of ECH_OP_VARIANCE and ECH_OP_STDDEV: 0 or 1, for a divisor of n or n - 1 */
    void *work; /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_reduce_workspace() returns */
} ech_reduce_options;

/*
 * ech_reduce_dtype() returns the type of the result of a reduction.
 *
 *   sum, product           i64 for signed integers and u64 for unsigned ones, both modulo 2^64; f32
 *                          for f16, bf16 and f32 (with accumulate_wide: f64); f64 for f64
 *   min, max, minmax       dtype
 *   and, or, xor           dtype
 *   argmin, argmax, count  u64
 *   any, all               u8
 *   mean, variance,        f32 for f16, bf16 and f32 (with accumulate_wide: f64); f64 for all
 *   stddev, norm           others
 *
 *   accumulate_wide  that of the options
 *
 * Results are computed in this type.  Mean, variance, stddev and norm are always computed in f64,
 * and rounded once.  Returns -1 if there is no such reduction: bitwise operators on floats, and an
 * unknown op or dtype.
 */
ECH_API int ech_reduce_dtype(ech_op op, ech_dtype dtype, int accumulate_wide);

/*
 * ech_reduce() reduces n elements to one.
 *
 *   op       any ech_op; and, or and xor only of integers
 *   in       [n] of dtype, not modified
 *   out      [1] of ech_reduce_dtype(); [2] for ECH_OP_MINMAX
 *   options  NULL for the defaults
 *
 * Empty input (n = 0, or only NaN that are ignored) yields 0 for sum, norm, count, or, xor and any;
 * 1 for product and all; all bits set for and; the maximum value of dtype for min and the minimum
 * value for max (floats: +inf and -inf); UINT64_MAX for argmin and argmax; NaN for mean,
 * variance and stddev.
 *
 * NaN results are canonicalised to the positive quiet NaN without a payload.  A sum that is zero is
 * +0.  The variance and the standard deviation of ddof elements or fewer are NaN.
 *
 * Variances and standard deviations of f64 do not overflow or underflow on the way to a result that
 * f64 can represent.  Those of i64 and u64 are computed from exact differences.  A norm is the
 * square root of a sum in f64, which is infinite if the norm exceeds 1e154.
 *
 * Floats are added in an order that depends only on n and dtype: in chunks, then pairwise
 * (docs/reduce.md).  Sums are therefore bit-identical on every device, with any number of threads
 * and in every run.  Their error grows with the logarithm of n.
 */
ECH_API ech_status ech_reduce(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                              ech_dtype dtype, const ech_reduce_options *options);

/*
 * ech_reduce_rows() reduces each row as ech_reduce() does.
 *
 *   in     [rows][cols] of dtype
 *   out    [rows] of ech_reduce_dtype(); [rows][2] for ECH_OP_MINMAX.  Positions count within the
 *          row
 */
ECH_API ech_status ech_reduce_rows(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t rows,
                                   size_t cols, ech_dtype dtype, const ech_reduce_options *options);

/*
 * ech_reduce_segments() reduces each segment as ech_reduce() does.
 *
 *   in       [n] of dtype
 *   offsets  [segments + 1] of offsets_dtype: segment s has the elements from in[offsets[s]] to
 *            in[offsets[s + 1] - 1].  The offsets must not decrease and must not exceed n.  The
 *            first need not be 0, and the last need not be n
 *   out      [segments], or [segments][2], as in ech_reduce_rows().  Positions count within the
 *            segment
 *
 * Offsets that decrease or exceed n fail with ECH_ERR_ARG.
 */
ECH_API ech_status ech_reduce_segments(ech_ctx *ctx, ech_op op, const void *in, const void *offsets,
                                       void *out, size_t n, size_t segments, ech_dtype dtype,
                                       ech_dtype offsets_dtype, const ech_reduce_options *options);

/*
 * ech_reduce_by_key() reduces each run of equal keys as ech_reduce() does.
 *
 *   keys      [n] of key_dtype
 *   in        [n] of dtype
 *   keys_out  [n] of key_dtype; receives the first key of each run in its first *count elements
 *   out       [n], or [n][2], as in ech_reduce_rows(); receives the results in its first *count
 *             elements.  Positions count within the run
 *   count     [1] receives the number of runs
 */
ECH_API ech_status ech_reduce_by_key(ech_ctx *ctx, ech_op op, const void *keys, const void *in,
                                     void *keys_out, void *out, uint64_t *count, size_t n,
                                     ech_dtype key_dtype, ech_dtype dtype,
                                     const ech_reduce_options *options);

/*
 * ech_dot() computes the dot product: the sum of a[i] b[i], in the type and the order of
 * ech_reduce() with ECH_OP_SUM.  ECH_NAN_IGNORE skips pairs of which either element is NaN.
 *
 *   a, b   [n] of dtype; may be the same array
 *   out    [1] of ech_reduce_dtype(ECH_OP_SUM, ...)
 */
ECH_API ech_status ech_dot(ech_ctx *ctx, const void *a, const void *b, void *out, size_t n,
                           ech_dtype dtype, const ech_reduce_options *options);

/* The shape of a reduction, for the workspace and the explanation. */
typedef enum ech_reduce_call {
    ECH_REDUCE_CALL_ROWS = 0, /* ech_reduce(), with one row, and ech_reduce_rows() */
    ECH_REDUCE_CALL_SEGMENTS = 1,
    ECH_REDUCE_CALL_BY_KEY = 2,
    ECH_REDUCE_CALL_DOT = 3
} ech_reduce_call;

/*
 * ech_reduce_workspace() returns how many bytes of workspace a call needs.  ech_reduce_explain()
 * describes, as ech_sort_explain() does, how it would be done.
 *
 *   device  as for ech_sort_workspace()
 *   op      ECH_OP_SUM for ECH_REDUCE_CALL_DOT
 *   n       the number of elements; of ECH_REDUCE_CALL_ROWS in all rows together.  The workspace of
 *           fewer elements is not larger
 *   groups  the number of rows (0: one) or segments; otherwise ignored
 *   bytes   [1] receives the size
 *   text    [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_reduce_workspace(const char *device, ech_reduce_call call, ech_op op,
                                        size_t n, size_t groups, ech_dtype dtype,
                                        const ech_reduce_options *options, size_t *bytes);
ECH_API ech_status ech_reduce_explain(const char *device, ech_reduce_call call, ech_op op, size_t n,
                                      size_t groups, ech_dtype dtype,
                                      const ech_reduce_options *options, ech_format format,
                                      char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_REDUCE_H */
