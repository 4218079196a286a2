/*
 * echelon/set.h - unions, intersections and differences of two sorted arrays.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_SET_H
#define ECHELON_SET_H

#include <echelon/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* If an element occurs m times in a and n times in b, it occurs this often in the result: */
typedef enum ech_set {
    ECH_SET_UNION = 0,        /* max(m, n): all of a, then the last n - m of b */
    ECH_SET_INTERSECTION = 1, /* min(m, n): the first ones of a */
    ECH_SET_DIFFERENCE = 2,   /* max(m - n, 0): the last ones of a */
    ECH_SET_SYMMETRIC = 3     /* |m - n|: the last ones of the array that has more */
} ech_set;

/* Options of a set operation.  Zero is the default of every field except size. */
typedef struct ech_set_options {
    size_t size;           /* sizeof(ech_set_options) */
    int descending;        /* 0: the arrays are in ascending order; 1: in descending order */
    ech_order order;       /* the order of floats */
    const char *algorithm; /* one that ech_set_operation_explain() lists; NULL: the library
                              chooses */
    void *work;            /* as in ech_merge_options */
    size_t work_bytes;     /* at least what ech_set_operation_workspace() returns */
} ech_set_options;

/*
 * ech_set_operation() computes the union, the intersection, the difference or the symmetric
 * difference of two sorted arrays.  The arrays may contain equal elements; the multiplicities are
 * those of std::set_union() and the related functions of C++.  -0 equals +0, and all NaN are equal.
 * The bits of elements do not change.
 *
 *   a        [n_a] of dtype, sorted, not modified
 *   b        [n_b] of dtype, sorted, not modified; may be a
 *   out      the first *count elements receive the result, in the order of the inputs.  Its size is
 *            [n_a + n_b] of dtype for a union or a symmetric difference, [min(n_a, n_b)] for an
 *            intersection, and [n_a] for a difference.  It must not overlap a, b or count
 *   count    [1] receives the number of elements of the result
 *   options  NULL for the defaults
 *
 * Each of n_a and n_b may be 0.  The arrays are in the order of ech_sort_pairs() with the same
 * options; a result of ech_sort() is also in this order.  The order is not checked; ech_is_sorted()
 * checks it.  If a or b is not sorted, the result is unspecified; no memory outside the arrays is
 * accessed.  Elements of out from position *count on are unspecified.
 *
 * Invalid arguments fail with ECH_ERR_ARG, before anything is written.
 */
ECH_API ech_status ech_set_operation(ech_ctx *ctx, const void *a, const void *b, void *out,
                                     uint64_t *count, size_t n_a, size_t n_b, ech_set operation,
                                     ech_dtype dtype, const ech_set_options *options);

/*
 * ech_set_operation_pairs() does the same with keys, and moves the value of each key.
 *
 *   a_keys, b_keys      [n_a] and [n_b] of dtype, as a and b of ech_set_operation()
 *   a_values, b_values  [n_a] and [n_b] of value_bytes (1 or more) each, opaque.  An intersection
 *                       and a difference take no values of b: b_values may be NULL
 *   keys_out            as out
 *   values_out          of value_bytes each, as many as keys_out has elements
 */
ECH_API ech_status ech_set_operation_pairs(ech_ctx *ctx, const void *a_keys, const void *a_values,
                                           const void *b_keys, const void *b_values, void *keys_out,
                                           void *values_out, uint64_t *count, size_t n_a,
                                           size_t n_b, ech_set operation, ech_dtype dtype,
                                           size_t value_bytes, const ech_set_options *options);

/*
 * ech_set_operation_workspace() returns how many bytes of workspace a set operation needs.
 * ech_set_operation_explain() describes how it would be done.
 *
 *   device       as for ech_sort_workspace()
 *   value_bytes  0 for ech_set_operation(), otherwise that of ech_set_operation_pairs()
 *   bytes        [1] receives the size
 *   text         [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_set_operation_workspace(const char *device, size_t n_a, size_t n_b,
                                               ech_set operation, ech_dtype dtype,
                                               size_t value_bytes, const ech_set_options *options,
                                               size_t *bytes);
ECH_API ech_status ech_set_operation_explain(const char *device, size_t n_a, size_t n_b,
                                             ech_set operation, ech_dtype dtype, size_t value_bytes,
                                             const ech_set_options *options, ech_format format,
                                             char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SET_H */
