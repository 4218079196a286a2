/*
 * echelon/unique.h - the distinct elements of an unsorted array, and its most frequent element.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_UNIQUE_H
#define ECHELON_UNIQUE_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of the functions below.  Zero is the default of every field except size. */
typedef struct ech_unique_options {
    size_t size;    /* sizeof(ech_unique_options) */
    int appearance; /* 0: the distinct elements in ascending order; 1: in the order of their first
                         occurrences in the input.  ech_mode() ignores it */
    void *work;     /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_unique_workspace() returns */
} ech_unique_options;

/*
 * ech_unique_all() finds the distinct elements of an array.  In contrast to ech_unique(), equal
 * elements need not be adjacent.  The order is that of ech_sort_pairs(): -0 equals +0, and all NaN
 * are equal and come last.  Among equal elements, the first one in the input is written, with its
 * bits.
 *
 *   in       [n] of dtype, not modified
 *   values   [n] of dtype; the first *count elements receive the distinct elements
 *   first    [n] of index_dtype; the first *count elements receive the position in `in` of the
 *            first occurrence of each distinct element
 *   inverse  [n] of index_dtype, all written; receives the position in values of each element of
 *            in, so that values[inverse[i]] equals in[i]
 *   counts   [n]; the first *count elements receive the number of occurrences of each distinct
 *            element
 *   count    [1] receives the number of distinct elements
 *   index_dtype  ECH_I32, ECH_U32, ECH_I64 or ECH_U64, which must be able to represent n - 1;
 *            ignored if first and inverse are NULL
 *   options  NULL for the defaults
 *
 * Each of values, first, inverse and counts may be NULL: not needed.  Without first, inverse and
 * options->appearance, only keys are sorted, which is faster.  Elements of values, first and counts
 * from position *count on are unspecified.  No two arrays may overlap.  ECH_ERR_ARG and
 * ECH_ERR_MEMORY are returned before anything is written.
 */
ECH_API ech_status ech_unique_all(ech_ctx *ctx, const void *in, void *values, void *first,
                                  void *inverse, uint64_t *counts, uint64_t *count, size_t n,
                                  ech_dtype dtype, ech_dtype index_dtype,
                                  const ech_unique_options *options);

/*
 * ech_mode() finds the most frequent element, with the equality of ech_unique_all().  If several
 * elements are equally frequent, the result is the smallest of them.
 *
 *   in     [n] of dtype, not modified
 *   value  [1] of dtype, receives the element: the first of its occurrences; NULL: not needed
 *   count  [1] receives the number of its occurrences
 *
 * If n is 0, *count becomes 0, and value is not written.
 */
ECH_API ech_status ech_mode(ech_ctx *ctx, const void *in, void *value, uint64_t *count, size_t n,
                            ech_dtype dtype, const ech_unique_options *options);

typedef enum ech_unique_call {
    ECH_UNIQUE_CALL_ALL = 0,    /* ech_unique_all() with all outputs */
    ECH_UNIQUE_CALL_VALUES = 1, /* ech_unique_all() with first and inverse NULL */
    ECH_UNIQUE_CALL_MODE = 2
} ech_unique_call;

/*
 * ech_unique_workspace() returns how many bytes of workspace a call needs.  ech_unique_explain()
 * describes, as ech_sort_explain() does, how it would be done.
 *
 *   device  as for ech_sort_workspace()
 *   bytes   [1] receives the size, which is sufficient for every selection of the call's outputs
 *   text    [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_unique_workspace(const char *device, ech_unique_call call, size_t n,
                                        ech_dtype dtype, const ech_unique_options *options,
                                        size_t *bytes);
ECH_API ech_status ech_unique_explain(const char *device, ech_unique_call call, size_t n,
                                      ech_dtype dtype, const ech_unique_options *options,
                                      ech_format format, char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_UNIQUE_H */
