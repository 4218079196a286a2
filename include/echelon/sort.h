/*
 * echelon/sort.h - sorts of an array, of rows and of segments, and the check whether an array is
 * sorted.
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
 * The order of keys.  Integers are ordered by value.  Floats are ordered -inf < ... < 0 < ... <
 * +inf < NaN: -0 equals +0, and all NaN are equal and last, whatever their sign and payload.
 * Descending order is the exact reverse, with NaN first.  A sort never changes the bits of a key.
 *   - Sorts with values and argsorts are stable, also in descending order: equal keys keep their
 *     input order.  This includes -0 and +0, and any two NaN.
 *   - A sort of keys only orders equal keys by their bits, so the result is unique: -0 before +0,
 *     then positive NaN by ascending payload, then negative NaN by descending payload.
 *   - ECH_ORDER_TOTAL orders floats as IEEE 754 totalOrder does: -NaN < -inf < ... < -0 < +0 < ...
 *     < +inf < +NaN.  It has no effect on integers.
 */
typedef enum ech_order {
    ECH_ORDER_NAN_LAST = 0, /* NaN last, as described above */
    ECH_ORDER_TOTAL = 1     /* IEEE 754 totalOrder */
} ech_order;

/*
 * Options of a sort.  Zero is the default of every field except size:
 *
 *     ech_sort_options options = { .size = sizeof options, .descending = 1 };
 *
 * A sort compares only the bits [begin_bit, end_bit) of the order-preserving unsigned form of a
 * key; bit 0 is the lowest.  This form is
 *   - of an unsigned integer, its value;
 *   - of a signed integer, its value with the sign bit inverted;
 *   - of a float, the rank of its bit pattern in the order of keys.  In sorts with values or
 *     indices, -0 has the rank of +0, and every NaN has the rank of the first NaN.
 * Keys that agree in these bits keep their input order.  end_bit 0 stands for the width of the key.
 * If the range is empty (begin_bit == end_bit > 0), the sort is a copy.
 */
typedef struct ech_sort_options {
    size_t size;           /* sizeof(ech_sort_options) */
    int descending;        /* 0: ascending; 1: descending */
    ech_order order;       /* the order of floats */
    int begin_bit;         /* the first bit to sort by */
    int end_bit;           /* one past the last bit to sort by; 0: the width of the key */
    const char *algorithm; /* one that ech_sort_explain() lists; NULL: the one that the environment
                              variable ECHELON_ALGORITHM named when the context was opened,
                              otherwise the library chooses */
    void *work;            /* NULL: the context allocates the workspace; otherwise work_bytes of
                              device memory, 256-byte aligned, which the caller owns and must not
                              use otherwise until the work is done */
    size_t work_bytes;     /* at least what ech_sort_workspace() returns */
    size_t row_stride, element_stride; /* of ech_sort_rows() and related functions; otherwise
                                                  0 */
    size_t out_row_stride, out_element_stride; /* the same for the outputs */
} ech_sort_options;

/*
 * ech_sort() sorts keys.
 *
 *   in       [n] of dtype, aligned to the size of an element; not modified unless it is also out
 *   out      [n] of dtype; may be in (in place), but must not overlap it otherwise
 *   options  NULL for the defaults
 *
 * If n is 0, the call does nothing and pointers may be NULL.  ECH_ERR_ARG and ECH_ERR_MEMORY are
 * returned before anything is written.  After ECH_ERR_DEVICE the contents of out are undefined.
 *
 * On a GPU context, arrays in host memory are copied to the GPU and back.  If they do not fit in
 * GPU memory, or under ech_set_memory_limit(), they are sorted out of core: in runs that fit, which
 * are then merged range by range.  An out-of-core sort has the same result.  It makes four copies
 * over the link instead of two.  It needs as much additional host memory as the arrays have (for an
 * argsort, as the keys and the index have), which the context keeps until ech_trim().  If an
 * out-of-core sort in place fails with ECH_ERR_DEVICE, the arrays still contain all their elements,
 * in some order.
 */
ECH_API ech_status ech_sort(ech_ctx *ctx, const void *in, void *out, size_t n, ech_dtype dtype,
                            const ech_sort_options *options);

/*
 * ech_sort_pairs() sorts keys as ech_sort() does, and moves a value with each key.  It is stable.
 *
 *   keys_in, keys_out      [n] of dtype, as in and out of ech_sort()
 *   values_in, values_out  [n] of value_bytes (1 or more) each, opaque.  values_out may be
 *                          values_in, but must not overlap it or the keys otherwise.  In GPU memory
 *                          both are aligned to the largest power of two that divides value_bytes,
 *                          at most 16
 */
ECH_API ech_status ech_sort_pairs(ech_ctx *ctx, const void *keys_in, const void *values_in,
                                  void *keys_out, void *values_out, size_t n, ech_dtype dtype,
                                  size_t value_bytes, const ech_sort_options *options);

/*
 * ech_argsort() writes the permutation that sorts the keys: index[i] is the position in keys of the
 * i-th key of the sorted sequence.  It is stable.
 *
 *   keys   [n] of dtype, not modified
 *   index  [n] of index_dtype, ECH_I32 (n at most 2^31), ECH_U32 (n at most 2^32), ECH_I64 or
 *          ECH_U64; must not overlap keys
 */
ECH_API ech_status ech_argsort(ech_ctx *ctx, const void *keys, void *index, size_t n,
                               ech_dtype dtype, ech_dtype index_dtype,
                               const ech_sort_options *options);

/*
 * ech_sort_workspace() returns how many bytes of workspace a sort needs.  It needs no device.  The
 * size is the same on every GPU, and in place and out of place.
 *
 *   device       as for ech_open(); the size depends only on whether it is the CPU or a GPU
 *   value_bytes  0 for ech_sort(), otherwise that of ech_sort_pairs()
 *   bytes        [1] receives the size
 *
 * On a GPU, the algorithm "low_memory" needs a sixteenth of the bytes of keys and values, but at
 * least 1.5 to 4 MiB, and for an argsort a copy of the keys.  For small arrays, for keys of 8 or 16
 * bits, and for values that are not of 4, 8 or 16 bytes, it needs at most about a quarter of the
 * workspace of the others.  It may take less time if it is given more than this minimum.
 *
 * A sort on a GPU context whose arrays are all in host memory allocates what it needs.  If a
 * workspace is given, or if only some of the arrays are in host memory, these arrays are copied as
 * a whole: the sort is then never out of core.
 */
ECH_API ech_status ech_sort_workspace(const char *device, size_t n, ech_dtype dtype,
                                      size_t value_bytes, const ech_sort_options *options,
                                      size_t *bytes);

/* ech_argsort_workspace() is ech_sort_workspace() for ech_argsort(). */
ECH_API ech_status ech_argsort_workspace(const char *device, size_t n, ech_dtype dtype,
                                         ech_dtype index_dtype, const ech_sort_options *options,
                                         size_t *bytes);

/*
 * ech_sort_explain() describes how a sort would be done: the algorithm, the other algorithms that
 * options->algorithm can select, the passes or kernels with their sizes, and the workspace.  It
 * needs no device.
 *
 *   format          as text or as JSON
 *   text            [capacity_bytes] receives the text, always terminated by 0
 *   capacity_bytes  at least 1
 *
 * The JSON object has the members operation, device, algorithm and alternatives (objects with name
 * and description), steps (the kernels, on a GPU) and workspace_bytes, as far as they apply, and
 * others that depend on the operation.  All functions ech_..._explain() have this form.  If there
 * is nothing to compute, the algorithm of some operations is "empty", which no option can select.
 */
ECH_API ech_status ech_sort_explain(const char *device, size_t n, ech_dtype dtype,
                                    size_t value_bytes, const ech_sort_options *options,
                                    ech_format format, char *text, size_t capacity_bytes);

/* ech_argsort_explain() is ech_sort_explain() for ech_argsort(). */
ECH_API ech_status ech_argsort_explain(const char *device, size_t n, ech_dtype dtype,
                                       ech_dtype index_dtype, const ech_sort_options *options,
                                       ech_format format, char *text, size_t capacity_bytes);

/* ---- Sorts of rows and of segments ----------------------------------------------------------- */

/*
 * ech_sort_rows() sorts each row as ech_sort() sorts an array.
 *
 *   in       [rows][cols] of dtype; not modified unless it is also out
 *   out      [rows][cols] of dtype; may be in, with the same strides, but must not overlap it
 *            otherwise
 *   options  NULL for the defaults
 *
 * By default rows are contiguous.  Otherwise, element j of row i is at
 * in[i * row_stride + j * element_stride] and at out[i * out_row_stride + j * out_element_stride].
 * Strides count elements.  element_stride 0 stands for 1, row_stride 0 for cols * element_stride,
 * and an output stride of 0 for the stride of the input.  Elements between the rows are not read or
 * written.  Two elements must not be at the same place: the larger stride must be at least the
 * smaller one times the number of its elements.  For example, the columns of a matrix [m][n] are
 * sorted by rows = n, cols = m, row_stride = 1, element_stride = n.
 *
 * If rows or cols is 0, the call does nothing.  It fails as ech_sort() does.  Arrays in host memory
 * are copied to the GPU as a whole.
 */
ECH_API ech_status ech_sort_rows(ech_ctx *ctx, const void *in, void *out, size_t rows, size_t cols,
                                 ech_dtype dtype, const ech_sort_options *options);

/* ech_sort_pairs_rows() does the same as ech_sort_pairs() for each row: keys and values are
 * [rows][cols] with the same strides. */
ECH_API ech_status ech_sort_pairs_rows(ech_ctx *ctx, const void *keys_in, const void *values_in,
                                       void *keys_out, void *values_out, size_t rows, size_t cols,
                                       ech_dtype dtype, size_t value_bytes,
                                       const ech_sort_options *options);

/* ech_argsort_rows() does the same as ech_argsort() for each row: index [rows][cols], with the
 * output strides.  Positions count within the row. */
ECH_API ech_status ech_argsort_rows(ech_ctx *ctx, const void *keys, void *index, size_t rows,
                                    size_t cols, ech_dtype dtype, ech_dtype index_dtype,
                                    const ech_sort_options *options);

/*
 * ech_sort_segments() sorts each segment as ech_sort() sorts an array.
 *
 *   in       [n] of dtype; not modified unless it is also out
 *   offsets  [segments + 1], or [segments] if ends is not NULL, of offsets_dtype: segment s begins
 *            at in[offsets[s]]
 *   ends     NULL: segment s ends before in[offsets[s + 1]].  Otherwise [segments] of
 *            offsets_dtype: it ends before in[ends[s]], so that there may be gaps
 *   out      [n] of dtype; may be in.  Elements that are in no segment are not written
 *
 * Segments may be empty.  They are in ascending order and do not overlap: offsets[s] <= ends[s] <=
 * offsets[s + 1] and ends[s] <= n.  Other offsets fail with ECH_ERR_ARG.  On a GPU, a segment of
 * more than 2^31 elements fails with ECH_ERR_ARG, too, and 2^32 - 1 or more segments fail with
 * ECH_ERR_UNSUPPORTED.
 */
ECH_API ech_status ech_sort_segments(ech_ctx *ctx, const void *in, const void *offsets,
                                     const void *ends, void *out, size_t n, size_t segments,
                                     ech_dtype dtype, ech_dtype offsets_dtype,
                                     const ech_sort_options *options);

/* ech_sort_pairs_segments() does the same as ech_sort_pairs() for each segment. */
ECH_API ech_status ech_sort_pairs_segments(ech_ctx *ctx, const void *keys_in, const void *values_in,
                                           const void *offsets, const void *ends, void *keys_out,
                                           void *values_out, size_t n, size_t segments,
                                           ech_dtype dtype, size_t value_bytes,
                                           ech_dtype offsets_dtype,
                                           const ech_sort_options *options);

/* ech_argsort_segments() does the same as ech_argsort() for each segment.  Positions count within
 * the segment. */
ECH_API ech_status ech_argsort_segments(ech_ctx *ctx, const void *keys, const void *offsets,
                                        const void *ends, void *index, size_t n, size_t segments,
                                        ech_dtype dtype, ech_dtype index_dtype,
                                        ech_dtype offsets_dtype, const ech_sort_options *options);

/* The shape of such a sort, for the workspace and the explanation. */
typedef enum ech_sort_call {
    ECH_SORT_CALL_ROWS = 0,         /* ech_sort_rows(), ech_sort_pairs_rows() */
    ECH_SORT_CALL_SEGMENTS = 1,     /* ech_sort_segments(), ech_sort_pairs_segments() */
    ECH_SORT_CALL_ARGSORT_ROWS = 2, /* ech_argsort_rows() */
    ECH_SORT_CALL_ARGSORT_SEGMENTS = 3
} ech_sort_call;

/*
 * ech_sort_segments_workspace() returns how many bytes of workspace a sort of rows or segments
 * needs.  ech_sort_segments_explain() describes, as ech_sort_explain() does, how it would be done.
 *
 *   device       as for ech_sort_workspace()
 *   n            the number of elements; of rows rows * cols
 *   groups       the number of rows or segments
 *   value_bytes  0 without values; of an argsort, the size of an index
 *   bytes        [1] receives the size
 *   text         [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_sort_segments_workspace(const char *device, ech_sort_call call, size_t n,
                                               size_t groups, ech_dtype dtype, size_t value_bytes,
                                               const ech_sort_options *options, size_t *bytes);
ECH_API ech_status ech_sort_segments_explain(const char *device, ech_sort_call call, size_t n,
                                             size_t groups, ech_dtype dtype, size_t value_bytes,
                                             const ech_sort_options *options, ech_format format,
                                             char *text, size_t capacity_bytes);

/* ---- Is it sorted? --------------------------------------------------------------------------- */

/* Options of a check.  Zero is the default of every field except size. */
typedef struct ech_is_sorted_options {
    size_t size;       /* sizeof(ech_is_sorted_options) */
    int descending;    /* 0: ascending; 1: descending */
    ech_order order;   /* the order of floats */
    int strict;        /* 1: equal neighbours are out of order */
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_is_sorted_workspace() returns */
} ech_is_sorted_options;

/*
 * ech_is_sorted() finds the first element that is out of order.
 *
 *   in        [n] of dtype, aligned to the size of an element; not modified
 *   position  [1] receives the minimum i > 0 for which in[i] must come before in[i - 1], or n if in
 *             is sorted.  With options->strict, it receives the minimum i > 0 for which in[i] must
 *             come before in[i - 1] or equals it
 *   options   NULL for the defaults
 *
 * Arrays with n = 0 and n = 1 are sorted.  If n is 0, in may be NULL.
 *
 * The order is that of sorts with values: -0 equals +0, and all NaN are equal; only ECH_ORDER_TOTAL
 * distinguishes them.  Therefore, every result of ech_sort() and ech_sort_pairs() by all bits of
 * the key, and every sequence of keys in the order of ech_argsort(), is sorted in the same
 * direction and order.
 *
 * in and position may each be in host memory or in memory of the context's GPU.  If both are in GPU
 * memory, the call is queued, and can be captured in a CUDA graph if its workspace is given.  The
 * call fails as ech_sort() does.  After a failure position is undefined.
 */
ECH_API ech_status ech_is_sorted(ech_ctx *ctx, const void *in, uint64_t *position, size_t n,
                                 ech_dtype dtype, const ech_is_sorted_options *options);

/* ech_is_sorted_workspace() returns how many bytes of workspace ech_is_sorted() needs.  device as
 * for ech_sort_workspace(). */
ECH_API ech_status ech_is_sorted_workspace(const char *device, size_t n, ech_dtype dtype,
                                           const ech_is_sorted_options *options, size_t *bytes);

/* ech_is_sorted_explain() describes, as ech_sort_explain() does, how a check would be done. */
ECH_API ech_status ech_is_sorted_explain(const char *device, size_t n, ech_dtype dtype,
                                         const ech_is_sorted_options *options, ech_format format,
                                         char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SORT_H */
