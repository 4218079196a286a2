/*
 * echelon/scan.h - prefix sums and related scans.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_SCAN_H
#define ECHELON_SCAN_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scan ------------------------------------------------------------------------------------ */

/* Options of a scan.  Zero is the default of every field except size. */
typedef struct ech_scan_options {
    size_t size;         /* sizeof(ech_scan_options) */
    int exclusive;       /* 1: out[i] excludes in[i] */
    int reverse;         /* 1: from the last element to the first */
    int accumulate_wide; /* 1: sums and products, and out, are i64 for signed integers, u64 for
                            unsigned integers and f64 for floats */
    ech_nan nan;         /* how NaN are treated */
    const void *init;    /* NULL, or [1] of the type of out, in host memory: a value that
                            precedes the first element (of each row, segment or run) */
    void *work;          /* as in ech_sort_options */
    size_t work_bytes;   /* at least what ech_scan_workspace() returns */
} ech_scan_options;

/*
 * ech_scan() combines each element with all elements before it: out[i] = in[0] op ... op in[i].
 * With options->reverse it combines each element with all elements after it.
 *
 *   op       ECH_OP_SUM ... ECH_OP_XOR; and, or and xor only of integers
 *   in       [n] of dtype, not modified unless it is also out
 *   out      [n] of dtype (with options->accumulate_wide, see there); may be in if elements of both
 *            have the same size, but must not overlap it otherwise
 *   options  NULL for the defaults
 *
 * Sums and products of integers are computed modulo 2^bits of the type of out.  Those of f16 and
 * bf16 are computed in f32, and rounded when they are written.  Without init, an exclusive scan
 * begins with the identity element of op, which is the result of ech_reduce() for empty input.
 *
 * Results of floats are bit-identical on every device: the order of operations depends only on n
 * and dtype (docs/scan.md).  NaN sums and products are canonicalised as in ech_reduce().  With
 * ECH_NAN_IGNORE, a NaN counts as the identity element, also in init.
 */
ECH_API ech_status ech_scan(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                            ech_dtype dtype, const ech_scan_options *options);

/* ech_scan_rows() scans each row of in [rows][cols] into out [rows][cols].  The result of a
 * row is bit-identical to that of ech_scan(). */
ECH_API ech_status ech_scan_rows(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t rows,
                                 size_t cols, ech_dtype dtype, const ech_scan_options *options);

/*
 * ech_scan_segments() scans each segment.
 *
 *   in, out  [n], as in ech_scan().  Elements of out that are in no segment are not written
 *   offsets  [segments + 1] of offsets_dtype, as in ech_reduce_segments()
 *
 * Sums and products of floats are computed in the order of a scan of the whole array, cut where
 * segments begin.  This order depends only on n, dtype and the offsets.  The rounding therefore
 * differs from that of ech_scan() of the segment.  Offsets that decrease or exceed n fail with
 * ECH_ERR_ARG.
 */
ECH_API ech_status ech_scan_segments(ech_ctx *ctx, ech_op op, const void *in, const void *offsets,
                                     void *out, size_t n, size_t segments, ech_dtype dtype,
                                     ech_dtype offsets_dtype, const ech_scan_options *options);

/*
 * ech_scan_by_key() scans each run of equal keys.  The result is that of ech_scan_segments() with
 * the runs as segments.
 *
 *   keys     [n] of key_dtype
 *   in, out  [n], as in ech_scan()
 */
ECH_API ech_status ech_scan_by_key(ech_ctx *ctx, ech_op op, const void *keys, const void *in,
                                   void *out, size_t n, ech_dtype key_dtype, ech_dtype dtype,
                                   const ech_scan_options *options);

/* The shape of a scan, for the workspace and the explanation. */
typedef enum ech_scan_call {
    ECH_SCAN_CALL_ROWS = 0, /* ech_scan(), with one row, and ech_scan_rows() */
    ECH_SCAN_CALL_SEGMENTS = 1,
    ECH_SCAN_CALL_BY_KEY = 2
} ech_scan_call;

/*
 * ech_scan_workspace() returns how many bytes of workspace a call needs.  ech_scan_explain()
 * describes, as ech_sort_explain() does, how it would be done.
 *
 *   device  as for ech_sort_workspace()
 *   n       the number of elements; of ECH_SCAN_CALL_ROWS in all rows together
 *   groups  the number of rows (0: one) or segments; otherwise ignored
 *   bytes   [1] receives the size
 *   text    [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_scan_workspace(const char *device, ech_scan_call call, ech_op op, size_t n,
                                      size_t groups, ech_dtype dtype,
                                      const ech_scan_options *options, size_t *bytes);
ECH_API ech_status ech_scan_explain(const char *device, ech_scan_call call, ech_op op, size_t n,
                                    size_t groups, ech_dtype dtype, const ech_scan_options *options,
                                    ech_format format, char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SCAN_H */
