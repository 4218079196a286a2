/*
 * echelon/select.h - selection, partition, unique elements and run-length encoding.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_SELECT_H
#define ECHELON_SELECT_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Select ---------------------------------------------------------------------------------- */

/*
 * Options of the functions below.  Zero is the default of every field except size.
 *
 * Every function keeps elements in their input order.  count, [1] of u64, receives the number of
 * elements kept.  Outputs have room for [n].  Output elements after those that a function writes
 * are unspecified, unless its comment states otherwise.
 */
typedef struct ech_select_options {
    size_t size;         /* sizeof(ech_select_options) */
    int invert;          /* 1: keep the elements that would be dropped, and drop the others.  Fails
                          with ECH_ERR_ARG in functions that drop nothing: ech_partition_3way(),
                          ech_rle_encode() and ech_rle_decode() */
    ech_dtype positions; /* 0: write the kept elements; ECH_I32, ECH_U32, ECH_I64 or ECH_U64: write
                            their positions, in this type; only for ech_select_flags() and
                            ech_select_if() */
    int packed;        /* 1: flags are bits, flag i is bit i % 8 of byte i / 8; 0: flags are bytes,
                          and a byte other than 0 is set */
    void *work;        /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_select_workspace() returns */
} ech_select_options;

/*
 * ech_select_flags() keeps the elements whose flag is set.
 *
 *   in     [n] of element_bytes (1 or more) each, opaque; not modified; may be NULL with
 *          options->positions
 *   flags  [n] bytes; (n + 7) / 8 bytes with options->packed
 *   out    [n], or [n] of options->positions; the first *count elements are written
 *   count  [1] receives the number of elements kept
 */
ECH_API ech_status ech_select_flags(ech_ctx *ctx, const void *in, const uint8_t *flags, void *out,
                                    uint64_t *count, size_t n, size_t element_bytes,
                                    const ech_select_options *options);

/*
 * ech_select_if() keeps the elements that pass a test.
 *
 *   in       [n] of dtype, not modified
 *   out      [n], as in ech_select_flags()
 *   count    [1] receives the number of elements kept
 *   compare  the test
 *   value    [1] of dtype in host memory: the value v of the test; NULL if the test ignores it
 */
ECH_API ech_status ech_select_if(ech_ctx *ctx, ech_compare compare, const void *in, void *out,
                                 uint64_t *count, size_t n, ech_dtype dtype, const void *value,
                                 const ech_select_options *options);

/*
 * ech_partition_flags() and ech_partition_if() write first the *count elements that
 * ech_select_flags() and ech_select_if() keep, then all others, also in their input order.
 *
 *   out      [n], all written
 *   count    [1] receives the number of elements in the first part
 */
ECH_API ech_status ech_partition_flags(ech_ctx *ctx, const void *in, const uint8_t *flags,
                                       void *out, uint64_t *count, size_t n, size_t element_bytes,
                                       const ech_select_options *options);
ECH_API ech_status ech_partition_if(ech_ctx *ctx, ech_compare compare, const void *in, void *out,
                                    uint64_t *count, size_t n, ech_dtype dtype, const void *value,
                                    const ech_select_options *options);

/*
 * ech_partition_3way() writes first the elements less than low, then those from low to high (both
 * inclusive), then those greater than high and NaN, each in their input order.
 *
 *   in, out    [n] of dtype; all of out is written
 *   counts     [2] receives the number of elements in the first part, then in the second part
 *   low, high  [1] of dtype in host memory, low <= high; NaN fails with ECH_ERR_ARG
 */
ECH_API ech_status ech_partition_3way(ech_ctx *ctx, const void *in, void *out, uint64_t *counts,
                                      size_t n, ech_dtype dtype, const void *low, const void *high,
                                      const ech_select_options *options);

/*
 * ech_unique() keeps the first element of each run of equal elements.  If the input is sorted, it
 * keeps one element of each value.  With options->invert, it keeps all other elements.
 *
 *   in     [n] of dtype, not modified
 *   out    [n] of dtype; the first *count elements are written
 *   count  [1] receives the number of elements kept
 */
ECH_API ech_status ech_unique(ech_ctx *ctx, const void *in, void *out, uint64_t *count, size_t n,
                              ech_dtype dtype, const ech_select_options *options);

/*
 * ech_unique_by_key() keeps the first key of each run of equal keys, and its value.
 *
 *   keys, values          [n] of dtype, and [n] of value_bytes (1 or more) each, opaque; not
 *                         modified
 *   keys_out, values_out  [n] each; the first *count elements are written
 *   count                 [1] receives the number of keys kept
 */
ECH_API ech_status ech_unique_by_key(ech_ctx *ctx, const void *keys, const void *values,
                                     void *keys_out, void *values_out, uint64_t *count, size_t n,
                                     ech_dtype dtype, size_t value_bytes,
                                     const ech_select_options *options);

/*
 * ech_rle_encode() does what ech_unique() does, and also returns the length of each run.
 *
 *   out      [n] of dtype; receives the first element of each run in its first *count elements
 *   lengths  [n]; receives the lengths of the runs in its first *count elements
 *   count    [1] receives the number of runs
 */
ECH_API ech_status ech_rle_encode(ech_ctx *ctx, const void *in, void *out, uint64_t *lengths,
                                  uint64_t *count, size_t n, ech_dtype dtype,
                                  const ech_select_options *options);

/*
 * ech_rle_decode() writes each element as many times as its length specifies.
 *
 *   in       [runs] of element_bytes (1 or more) each, opaque; not modified
 *   lengths  [runs]; 0 is allowed
 *   out      [n]; elements beyond the sum of the lengths are not written
 *
 * Fails with ECH_ERR_ARG, and writes nothing, if the sum of the lengths exceeds n.
 */
ECH_API ech_status ech_rle_decode(ech_ctx *ctx, const void *in, const uint64_t *lengths, void *out,
                                  size_t runs, size_t n, size_t element_bytes,
                                  const ech_select_options *options);

typedef enum ech_select_call {
    ECH_SELECT_CALL_FLAGS = 0, /* ech_select_flags() */
    ECH_SELECT_CALL_IF = 1,    /* ech_select_if() */
    ECH_SELECT_CALL_PARTITION_FLAGS = 2,
    ECH_SELECT_CALL_PARTITION_IF = 3,
    ECH_SELECT_CALL_PARTITION_3WAY = 4,
    ECH_SELECT_CALL_UNIQUE = 5,
    ECH_SELECT_CALL_UNIQUE_BY_KEY = 6,
    ECH_SELECT_CALL_RLE_ENCODE = 7,
    ECH_SELECT_CALL_RLE_DECODE = 8
} ech_select_call;

/*
 * ech_select_workspace() returns how many bytes of workspace a call needs.  ech_select_explain()
 * describes, as ech_sort_explain() does, how it would be done.
 *
 *   device         as for ech_sort_workspace()
 *   n              the number of elements; of runs for ech_rle_decode()
 *   element_bytes  the size of an element; of a key for ech_unique_by_key()
 *   value_bytes    the size of a value for ech_unique_by_key(), otherwise ignored
 *   bytes          [1] receives the size
 *   text           [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_select_workspace(const char *device, ech_select_call call, size_t n,
                                        size_t element_bytes, size_t value_bytes,
                                        const ech_select_options *options, size_t *bytes);
ECH_API ech_status ech_select_explain(const char *device, ech_select_call call, size_t n,
                                      size_t element_bytes, size_t value_bytes,
                                      const ech_select_options *options, ech_format format,
                                      char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SELECT_H */
