/*
 * echelon/topk.h - the k smallest or largest elements of an array, of rows and of segments.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_TOPK_H
#define ECHELON_TOPK_H

#include <echelon/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a top-k selection.  Zero is the default of every field except size. */
typedef struct ech_topk_options {
    size_t size;            /* sizeof(ech_topk_options) */
    int smallest;           /* 0: the largest elements; 1: the smallest */
    int unsorted;           /* 0: the best first; 1: in the order of the input */
    ech_order order;        /* the order of floats, as in sorts */
    const void *counts;     /* NULL: k elements of each row or segment.  Otherwise [groups] of
                              counts_dtype, in host or GPU memory: counts[g] elements, at most k, of
                              row or segment g */
    ech_dtype counts_dtype; /* ECH_I32, ECH_U32, ECH_I64 or ECH_U64; with counts only */
    size_t row_stride, element_stride;         /* of the rows of in; otherwise 0 */
    size_t out_row_stride, out_element_stride; /* of the rows of values and indices, also for
                                                  segments; 0: k, and 1 */
    const char *algorithm; /* one that ech_topk_explain() lists; NULL: the library chooses */
    void *work;            /* NULL: the context allocates the workspace; otherwise work_bytes of
                              device memory, 256-byte aligned, which the caller owns and must not
                              use otherwise until the work is done */
    size_t work_bytes;     /* at least what ech_topk_workspace() returns */
} ech_topk_options;

/*
 * ech_topk() selects the first k elements of the stable sort of an array, in descending order, or
 * in ascending order with options->smallest.  The order is that of ech_argsort(): NaN is the
 * largest, -0 equals +0, and of equal elements the one with the lower position comes first.  The
 * result is therefore unique, also with options->unsorted: then the same elements are written in
 * the order of their positions.
 *
 *   in       [n] of dtype, not modified
 *   values   [k] of dtype, receives the elements; NULL: not needed
 *   indices  [k] of index_dtype, receives their positions in in; NULL: not needed
 *   k        0 to n
 *   index_dtype  ECH_I32, ECH_U32, ECH_I64 or ECH_U64, which must be able to represent n - 1;
 *            ignored if indices is NULL
 *   options  NULL for the defaults
 *
 * At least one of values and indices is required.  If k is 0, the call does nothing.  values and
 * indices must not overlap in or each other.  ECH_ERR_ARG and ECH_ERR_MEMORY are returned before
 * anything is written, except for invalid offsets and counts.
 */
ECH_API ech_status ech_topk(ech_ctx *ctx, const void *in, void *values, void *indices, size_t n,
                            size_t k, ech_dtype dtype, ech_dtype index_dtype,
                            const ech_topk_options *options);

/*
 * ech_topk_rows() does the same for each row.
 *
 *   in       [rows][cols] of dtype; the strides are those of ech_sort_rows()
 *   values, indices  [rows][k], as above.  Positions count within the row.  Element j of row i is
 *            at i * out_row_stride + j * out_element_stride
 *   k        0 to cols
 *
 * If options->counts is given, only the first counts[i] elements of row i of values and indices are
 * written.  A negative count, and one that is greater than k, fail with ECH_ERR_ARG.
 */
ECH_API ech_status ech_topk_rows(ech_ctx *ctx, const void *in, void *values, void *indices,
                                 size_t rows, size_t cols, size_t k, ech_dtype dtype,
                                 ech_dtype index_dtype, const ech_topk_options *options);

/*
 * ech_topk_segments() does the same for each segment.
 *
 *   in       [n] of dtype
 *   offsets, ends  [segments + 1] and NULL, or [segments] each, of offsets_dtype, as in
 *            ech_sort_segments()
 *   values, indices  [segments][k], as above.  Positions count within the segment
 *   k        any number.  A segment with fewer elements is selected completely, and the rest of its
 *            row of values and indices is not written
 */
ECH_API ech_status ech_topk_segments(ech_ctx *ctx, const void *in, const void *offsets,
                                     const void *ends, void *values, void *indices, size_t n,
                                     size_t segments, size_t k, ech_dtype dtype,
                                     ech_dtype index_dtype, ech_dtype offsets_dtype,
                                     const ech_topk_options *options);

typedef enum ech_topk_call {
    ECH_TOPK_CALL_ARRAY = 0, /* ech_topk() */
    ECH_TOPK_CALL_ROWS = 1,  /* ech_topk_rows() */
    ECH_TOPK_CALL_SEGMENTS = 2
} ech_topk_call;

/*
 * ech_topk_workspace() returns how many bytes of workspace a selection needs.  ech_topk_explain()
 * describes, as ech_sort_explain() does, how it would be done.
 *
 *   device  as for ech_sort_workspace()
 *   n       the number of elements; of rows rows * cols
 *   groups  the number of rows or segments; 1 for an array
 *   bytes   [1] receives the size
 *   text    [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_topk_workspace(const char *device, ech_topk_call call, size_t n,
                                      size_t groups, size_t k, ech_dtype dtype,
                                      const ech_topk_options *options, size_t *bytes);
ECH_API ech_status ech_topk_explain(const char *device, ech_topk_call call, size_t n, size_t groups,
                                    size_t k, ech_dtype dtype, const ech_topk_options *options,
                                    ech_format format, char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_TOPK_H */
