/*
 * echelon/merge.h - the merge of two sorted arrays, and of several sorted runs of one array.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_MERGE_H
#define ECHELON_MERGE_H

#include <echelon/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a merge.  Zero is the default of every field except size. */
typedef struct ech_merge_options {
    size_t size;           /* sizeof(ech_merge_options) */
    int descending;        /* 0: the arrays are in ascending order; 1: in descending order */
    ech_order order;       /* the order of floats */
    const char *algorithm; /* one that ech_merge_explain() lists; NULL: the library chooses */
    void *work;            /* NULL: the context allocates the workspace; otherwise work_bytes of
                              device memory, 256-byte aligned, which the caller owns and must not
                              use otherwise until the work is done */
    size_t work_bytes;     /* at least what ech_merge_workspace() returns */
} ech_merge_options;

/*
 * ech_merge() merges two sorted arrays into one.  It is stable: equal keys keep the order of their
 * array, and those of a precede those of b.  -0 equals +0, and all NaN are equal.  The bits of keys
 * do not change.
 *
 *   a        [n_a] of dtype, sorted, not modified
 *   b        [n_b] of dtype, sorted, not modified; may be a
 *   out      [n_a + n_b] of dtype; must not overlap a or b
 *   options  NULL for the defaults
 *
 * Each of n_a and n_b may be 0.  The arrays are in the order of ech_sort_pairs() with the same
 * options; a result of ech_sort() is also in this order.  The merge does not check the order;
 * ech_is_sorted() does.  If a or b is not sorted, out contains elements of a and b, of which some
 * may be missing and others may occur twice; no memory outside the arrays is accessed.
 *
 * Invalid arguments fail with ECH_ERR_ARG, before anything is written.
 */
ECH_API ech_status ech_merge(ech_ctx *ctx, const void *a, const void *b, void *out, size_t n_a,
                             size_t n_b, ech_dtype dtype, const ech_merge_options *options);

/*
 * ech_merge_pairs() merges keys as ech_merge() does, and moves a value with each key.
 *
 *   a_keys, b_keys      [n_a] and [n_b] of dtype, as a and b of ech_merge()
 *   a_values, b_values  [n_a] and [n_b] of value_bytes (1 or more) each, opaque
 *   keys_out            [n_a + n_b] of dtype
 *   values_out          [n_a + n_b] of value_bytes each
 */
ECH_API ech_status ech_merge_pairs(ech_ctx *ctx, const void *a_keys, const void *a_values,
                                   const void *b_keys, const void *b_values, void *keys_out,
                                   void *values_out, size_t n_a, size_t n_b, ech_dtype dtype,
                                   size_t value_bytes, const ech_merge_options *options);

/*
 * ech_merge_workspace() returns how many bytes of workspace a merge needs.  ech_merge_explain()
 * describes how it would be done.
 *
 *   device       as for ech_sort_workspace()
 *   value_bytes  0 for ech_merge(), otherwise that of ech_merge_pairs()
 *   bytes        [1] receives the size
 *   text         [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_merge_workspace(const char *device, size_t n_a, size_t n_b, ech_dtype dtype,
                                       size_t value_bytes, const ech_merge_options *options,
                                       size_t *bytes);
ECH_API ech_status ech_merge_explain(const char *device, size_t n_a, size_t n_b, ech_dtype dtype,
                                     size_t value_bytes, const ech_merge_options *options,
                                     ech_format format, char *text, size_t capacity_bytes);

/*
 * ech_merge_many() merges the sorted runs of one array, as ech_merge() merges two arrays: equal
 * keys keep their order, in which those of earlier runs come first.  ech_merge_many_pairs() moves a
 * value with each key.
 *
 *   in, keys_in       [n] of dtype; run r is in[offsets[r]] ... in[offsets[r + 1] - 1], sorted
 *   values_in         [n] of value_bytes (1 or more) each, opaque
 *   offsets           [runs + 1] of offsets_dtype, ECH_I32, ECH_U32, ECH_I64 or ECH_U64
 *   out, keys_out     [n] of dtype
 *   values_out        [n] of value_bytes each
 *   runs              may be 0 if n is 0
 *   options           NULL for the defaults; algorithm: one that ech_merge_many_explain() lists
 *
 * The inputs are not modified, and no output may overlap another array.  Runs may be empty:
 * 0 = offsets[0] <= offsets[1] <= ... <= offsets[runs] = n.  Other offsets fail with ECH_ERR_ARG;
 * if they are in GPU memory, ech_sync() reports it, and the outputs have unspecified contents.
 * If a run is not sorted, the outputs contain elements of the inputs, of which some may be missing
 * and others may occur twice.
 */
ECH_API ech_status ech_merge_many(ech_ctx *ctx, const void *in, const void *offsets, void *out,
                                  size_t n, size_t runs, ech_dtype dtype, ech_dtype offsets_dtype,
                                  const ech_merge_options *options);
ECH_API ech_status ech_merge_many_pairs(ech_ctx *ctx, const void *keys_in, const void *values_in,
                                        const void *offsets, void *keys_out, void *values_out,
                                        size_t n, size_t runs, ech_dtype dtype, size_t value_bytes,
                                        ech_dtype offsets_dtype, const ech_merge_options *options);

/*
 * ech_merge_many_workspace() returns how many bytes of workspace such a merge needs, and
 * ech_merge_many_explain() describes how it would be done.  value_bytes is 0 for ech_merge_many();
 * the other parameters are those of ech_merge_workspace().
 */
ECH_API ech_status ech_merge_many_workspace(const char *device, size_t n, size_t runs,
                                            ech_dtype dtype, size_t value_bytes,
                                            const ech_merge_options *options, size_t *bytes);
ECH_API ech_status ech_merge_many_explain(const char *device, size_t n, size_t runs,
                                          ech_dtype dtype, size_t value_bytes,
                                          const ech_merge_options *options, ech_format format,
                                          char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_MERGE_H */
