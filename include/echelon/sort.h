/*
 * echelon/sort.h - sorting, and the check of an order.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_SORT_H
#define ECHELON_SORT_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sort ------------------------------------------------------------------------------------ */

/*
 * Order.  Integers by value.  Floats: -inf < ... < 0 < ... < +inf < NaN; every NaN is last whatever
 * its sign or payload, and -0 equals +0.  Descending is the exact reverse (NaN first).  No key's
 * bits are ever altered.
 *   - Sorts with values and argsorts are stable: equal keys (so also -0 and +0, and any two NaN)
 *     keep their input order, also descending.
 *   - A sort of keys alone orders equal keys by their bits (-0 before +0, positive NaN by rising
 *     payload, then negative NaN by falling payload), so that its result is one, whatever the
 *     input order was.
 *   - ECH_ORDER_TOTAL orders floats as IEEE 754 totalOrder: -NaN < -inf < ... < -0 < +0 < ... <
 *     +inf < +NaN.  It changes nothing for integers.
 */
typedef enum ech_order {
    ECH_ORDER_NAN_LAST = 0, /* as above */
    ECH_ORDER_TOTAL = 1     /* IEEE 754 totalOrder */
} ech_order;

/*
 * Options of a sort.  Zero every field but the first for the defaults:
 *
 *     ech_sort_options options = { .size = sizeof options, .descending = 1 };
 *
 * begin_bit, end_bit: sort by the bits [begin_bit, end_bit) of the key alone, where bit 0 is the
 * lowest bit of the key's order-preserving unsigned form: the value itself for unsigned integers,
 * the value with its sign bit inverted for signed ones, the rank of the bit pattern for floats
 * (with values or indices, -0 takes that of +0, and every NaN that of the first).  Keys that agree
 * in those bits keep their input order.  end_bit 0 stands for the width of the key; a range that is
 * empty (begin_bit == end_bit > 0) makes the sort a copy.
 */
typedef struct ech_sort_options {
    size_t size;           /* sizeof(ech_sort_options) */
    int descending;        /* 0: least first; 1: greatest first */
    ech_order order;       /* of floats */
    int begin_bit;         /* first bit to sort by */
    int end_bit;           /* one past the last bit to sort by; 0: all */
    const char *algorithm; /* NULL: what ECHELON_ALGORITHM named when the context was opened,
                              else chosen; or one that ech_sort_explain() lists */
    void *work;            /* NULL: the context allocates; else work_bytes of the device's memory,
                              256-byte aligned, unused by anything else until the work is done */
    size_t work_bytes;     /* at least what ech_sort_workspace() says */
} ech_sort_options;

/*
 * ech_sort() sorts keys.
 *
 *   in       [n] of dtype, aligned to the size of one; not modified unless it is also out
 *   out      [n] of dtype; may be in (in place), must not overlap it otherwise
 *   options  NULL for the defaults
 *
 * n = 0 does nothing and allows NULL pointers.  Fails with ECH_ERR_ARG before anything is written;
 * with ECH_ERR_MEMORY before anything is written; with ECH_ERR_DEVICE, after which out is
 * undefined.
 *
 * Host memory on a GPU context is copied to the GPU and back.  What does not fit there, or not
 * under ech_set_memory_limit(), is sorted in runs that fit, which are then merged range by range:
 * that takes as much host memory again as the arrays have (of an argsort, keys and index), which
 * the context keeps until ech_trim(), and four copies over the link instead of two.  Its results
 * are the same.  After ECH_ERR_DEVICE there, arrays that were to be sorted in place still hold
 * their elements, in some order.
 */
ECH_API ech_status ech_sort(ech_ctx *ctx, const void *in, void *out, size_t n, ech_dtype dtype,
                            const ech_sort_options *options);

/*
 * ech_sort_pairs() is ech_sort() that moves a value along with each key, stably.
 *
 *   keys_in, keys_out      [n] of dtype, as in ech_sort()
 *   values_in, values_out  [n] of value_bytes (1 or more) each, opaque; values_out may be
 *                          values_in, must not overlap it or the keys otherwise.  GPU memory:
 *                          aligned to the largest power of two that divides value_bytes, 16 at most
 */
ECH_API ech_status ech_sort_pairs(ech_ctx *ctx, const void *keys_in, void *keys_out,
                                  const void *values_in, void *values_out, size_t value_bytes,
                                  size_t n, ech_dtype dtype, const ech_sort_options *options);

/*
 * ech_argsort() writes the order instead of the keys: index[i] is the position in keys of the i-th
 * key of the sorted sequence.  Stable.
 *
 *   keys         [n] of dtype, not modified
 *   index        [n] of index_dtype, ECH_U32 (n at most 2^32) or ECH_U64; must not overlap keys
 */
ECH_API ech_status ech_argsort(ech_ctx *ctx, const void *keys, void *index, ech_dtype index_dtype,
                               size_t n, ech_dtype dtype, const ech_sort_options *options);

/*
 * ech_sort_workspace() tells how many bytes of workspace a sort needs: the same on every GPU and
 * for in-place and out-of-place calls, and without a device being there.
 *
 *   device       as for ech_open(); the workspace depends on "cpu" or "cuda" alone
 *   value_bytes  0 for ech_sort(), else that of ech_sort_pairs()
 *   bytes        [1] receives the size
 *
 * On a GPU, the algorithm "low_memory" takes about a quarter of what the others do, and more time; given
 * more workspace than it needs, less.
 *
 * A sort on a GPU context whose arrays are all in host memory allocates what it needs by itself.
 * If a workspace is given, or only some of the arrays are in host memory, these are copied as a
 * whole.
 */
ECH_API ech_status ech_sort_workspace(const char *device, size_t n, ech_dtype dtype,
                                      size_t value_bytes, const ech_sort_options *options,
                                      size_t *bytes);

/* Like ech_sort_workspace(), for ech_argsort(). */
ECH_API ech_status ech_argsort_workspace(const char *device, size_t n, ech_dtype dtype,
                                         ech_dtype index_dtype, const ech_sort_options *options,
                                         size_t *bytes);

/*
 * ech_sort_explain() writes what such a sort would do, in lines of text: the algorithm and the
 * others that could be forced, the passes or kernels with their sizes, the workspace.  Needs no
 * device.
 *
 *   text           [capacity_bytes] receives the text, cut to fit and always terminated
 */
ECH_API ech_status ech_sort_explain(const char *device, size_t n, ech_dtype dtype,
                                    size_t value_bytes, const ech_sort_options *options, char *text,
                                    size_t capacity_bytes);

/* Like ech_sort_explain(), for ech_argsort(). */
ECH_API ech_status ech_argsort_explain(const char *device, size_t n, ech_dtype dtype,
                                       ech_dtype index_dtype, const ech_sort_options *options,
                                       char *text, size_t capacity_bytes);

/* ---- Is it sorted? --------------------------------------------------------------------------- */

/* Zero every field but the first for the defaults. */
typedef struct ech_is_sorted_options {
    size_t size;       /* sizeof(ech_is_sorted_options) */
    int descending;    /* 0: ascending; 1: descending */
    ech_order order;   /* of floats */
    int strict;        /* 1: equal neighbours are out of order, too */
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_is_sorted_workspace() reports */
} ech_is_sorted_options;

/*
 * ech_is_sorted() finds the first element that is out of order.
 *
 *   in        [n] of dtype, aligned to the size of one; not modified
 *   position  [1] receives the minimum i > 0 for which in[i] must come before in[i - 1], or n if
 *             in is sorted.  strict: for which in[i] must come before in[i - 1] or equals it
 *   options   NULL for the defaults
 *
 * n = 0 and n = 1 are sorted; n = 0 allows in to be NULL.
 *
 * The order is that of sorts with values: -0 equals +0, and every NaN equals every NaN; only
 * ECH_ORDER_TOTAL distinguishes them.  Whatever ech_sort(), ech_sort_pairs() and ech_argsort()
 * produce by all bits of the key is therefore sorted by the same direction and order.
 *
 * in and position may each be in host memory or in memory of the context's GPU.  If both are on the
 * GPU, the call is queued, and can be captured in a CUDA graph if its workspace is given.  It fails
 * as ech_sort() does; after a failure position is undefined.
 */
ECH_API ech_status ech_is_sorted(ech_ctx *ctx, const void *in, uint64_t *position, size_t n,
                                 ech_dtype dtype, const ech_is_sorted_options *options);

/* ech_is_sorted_workspace() reports how many bytes of workspace such a call needs.  device as for
 * ech_sort_workspace(). */
ECH_API ech_status ech_is_sorted_workspace(const char *device, size_t n, ech_dtype dtype,
                                           const ech_is_sorted_options *options, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SORT_H */
