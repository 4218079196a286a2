/*
 * echelon/search.h - the positions of elements in a sorted array.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_SEARCH_H
#define ECHELON_SEARCH_H

#include <echelon/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a search.  Zero is the default of every field except size. */
typedef struct ech_search_options {
    size_t size;           /* sizeof(ech_search_options) */
    int descending;        /* 0: the array is in ascending order; 1: in descending order */
    ech_order order;       /* the order of floats */
    int needles_sorted;    /* 1: the needles are probably in the order of the array, or nearly so.
                              The result does not depend on it, but the choice of the algorithm */
    const char *algorithm; /* one that ech_search_explain() lists; NULL: the library chooses */
    void *work;            /* as in ech_merge_options */
    size_t work_bytes;     /* at least what ech_search_workspace() returns */
} ech_search_options;

/*
 * ech_lower_bound() finds, for each needle, the first position in a sorted array at which the
 * needle can be inserted so that the array remains sorted: the number of elements that precede the
 * needle.  ech_upper_bound() finds the last such position: the number of elements that precede the
 * needle or equal it.  They correspond to std::lower_bound and std::upper_bound, and to
 * numpy.searchsorted with the sides left and right.
 *
 *   sorted       [n] of dtype, sorted, not modified
 *   needles      [m] of dtype, in any order, not modified; may be `sorted`
 *   positions    [m] of index_dtype, receives positions from 0 to n; must not overlap the others
 *   index_dtype  ECH_I32, ECH_U32, ECH_I64 or ECH_U64, which must be able to represent n
 *   options      NULL for the defaults
 *
 * Each of n and m may be 0.  `sorted` is in the order of ech_sort_pairs() with the same options: -0
 * equals +0, and all NaN are equal and last, or first if options->descending is 1; in
 * ECH_ORDER_TOTAL, different bits differ.  A result of ech_sort() is also in this order.  The
 * search does not check the order; ech_is_sorted() does.  If `sorted` is not sorted, each position
 * is an unspecified number from 0 to n.
 *
 * Invalid arguments fail with ECH_ERR_ARG, before anything is written.
 */
ECH_API ech_status ech_lower_bound(ech_ctx *ctx, const void *sorted, const void *needles,
                                   void *positions, size_t n, size_t m, ech_dtype dtype,
                                   ech_dtype index_dtype, const ech_search_options *options);
ECH_API ech_status ech_upper_bound(ech_ctx *ctx, const void *sorted, const void *needles,
                                   void *positions, size_t n, size_t m, ech_dtype dtype,
                                   ech_dtype index_dtype, const ech_search_options *options);

typedef enum ech_search_call {
    ECH_SEARCH_CALL_LOWER = 0, /* ech_lower_bound() */
    ECH_SEARCH_CALL_UPPER = 1  /* ech_upper_bound() */
} ech_search_call;

/*
 * ech_search_workspace() returns how many bytes of workspace a search needs.  ech_search_explain()
 * describes how it would be done.
 *
 *   device  as for ech_sort_workspace()
 *   bytes   [1] receives the size
 *   text    [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_search_workspace(const char *device, ech_search_call call, size_t n,
                                        size_t m, ech_dtype dtype,
                                        const ech_search_options *options, size_t *bytes);
ECH_API ech_status ech_search_explain(const char *device, ech_search_call call, size_t n, size_t m,
                                      ech_dtype dtype, const ech_search_options *options,
                                      ech_format format, char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SEARCH_H */
