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

typedef struct ech_scan_options {
    size_t size;         /* sizeof(ech_scan_options) */
    int exclusive;       /* 1: out[i] is of the elements before i alone */
    int reverse;         /* 1: from the last element to the first */
    int accumulate_wide; /* 1: sums and products are i64 of signed and u64 of unsigned integers, f64 of
                          floats, and so is out */
    ech_nan nan;         /* of floats */
    const void *init; /* NULL, or [1] of out's type in host memory, put before the first element (of
                          each row, segment or run) */
    void *work;       /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_scan_workspace() says */
} ech_scan_options;

/*
 * ech_scan() combines each element with all before it: out[i] = in[0] op ... op in[i].
 *
 *   op     ECH_OP_SUM ... ECH_OP_XOR
 *   in     [n] of dtype, not modified unless it is also out
 *   out    [n] of dtype (options->accumulate_wide: see there); may be in when the types have one size
 *
 * Sums and products of integers are taken modulo 2^bits of out's type.  Those of f16 and bf16 are
 * kept in f32, and rounded when they are written.  Without init, an exclusive scan begins with the
 * operator's neutral value: see ech_reduce() on nothing.  As there, results of floats depend on n
 * and dtype alone, by the order of docs/scan.md; of sums and products, every NaN is one.  A NaN
 * that is ignored counts as neutral, also as init.
 */
ECH_API ech_status ech_scan(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                            ech_dtype dtype, const ech_scan_options *options);

/* ech_scan() of each row of [rows][columns], to the bit. */
ECH_API ech_status ech_scan_rows(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t rows,
                                 size_t columns, ech_dtype dtype, const ech_scan_options *options);

/* ech_scan() of each segment; offsets as in ech_reduce_segments().  What lies in no segment is not
 * written.  Sums and products of floats are taken in the order of a scan of the whole array, cut
 * where segments begin: it depends on n and the offsets alone, and rounds otherwise than ech_scan()
 * of the segment. */
ECH_API ech_status ech_scan_segments(ech_ctx *ctx, ech_op op, const void *in, void *out,
                                     const uint64_t *offsets, size_t segments, size_t n,
                                     ech_dtype dtype, const ech_scan_options *options);

/* ech_scan() of each run of equal keys, [n] of key_dtype, as ech_scan_segments() of them. */
ECH_API ech_status ech_scan_by_key(ech_ctx *ctx, ech_op op, const void *keys, ech_dtype key_dtype,
                                   const void *in, void *out, size_t n, ech_dtype dtype,
                                   const ech_scan_options *options);

/* ech_scan_workspace() tells how many bytes of workspace every scan above takes of n elements. */
ECH_API ech_status ech_scan_workspace(const char *device, ech_op op, size_t n, ech_dtype dtype,
                                      const ech_scan_options *options, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SCAN_H */
