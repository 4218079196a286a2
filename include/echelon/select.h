/*
 * echelon/select.h - selection, partition, unique elements and runs.
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
 * Options of what follows, down to ech_select_workspace().  Every call keeps elements in their
 * input order and says in count, [1] of u64, how many it wrote; what lies in out beyond them is
 * unspecified.  out has room for [n].
 */
typedef struct ech_select_options {
    size_t size; /* sizeof(ech_select_options) */
    int invert;  /* 1: keep what would be dropped, and drop what would be kept; not where nothing is
                    dropped: ech_partition_3way(), ech_rle_encode(), ech_rle_decode() */
    int index;   /* 1: ech_select_*: write the positions, u64, instead of the elements */
    int packed;  /* 1: flags are bits, flag i is bit i % 8 of byte i / 8; 0: bytes, not 0 is set */
    void *work;  /* as in ech_sort_options */
    size_t work_bytes; /* at least what ech_select_workspace() says */
} ech_select_options;

/*
 * ech_select_flags() keeps the elements whose flag is set.
 *
 *   in     [n] of element_bytes (1 or more) each, opaque; may be NULL with options->index
 *   flags  [n] bytes, or (n + 7) / 8 when packed
 *   out    [n], of which the first *count are written; overlaps nothing
 *   count  [1]
 */
ECH_API ech_status ech_select_flags(ech_ctx *ctx, const void *in, const uint8_t *flags, void *out,
                                    uint64_t *count, size_t n, size_t element_bytes,
                                    const ech_select_options *options);

/* ech_select_if() keeps the elements that pass a test; value is [1] of dtype in host memory. */
ECH_API ech_status ech_select_if(ech_ctx *ctx, const void *in, void *out, uint64_t *count, size_t n,
                                 ech_dtype dtype, ech_compare compare, const void *value,
                                 const ech_select_options *options);

/* ech_partition_flags() and ech_partition_if() write first the *count elements that
 * ech_select_flags() and ech_select_if() would, then all others, also in their input order. */
ECH_API ech_status ech_partition_flags(ech_ctx *ctx, const void *in, const uint8_t *flags,
                                       void *out, uint64_t *count, size_t n, size_t element_bytes,
                                       const ech_select_options *options);
ECH_API ech_status ech_partition_if(ech_ctx *ctx, const void *in, void *out, uint64_t *count,
                                    size_t n, ech_dtype dtype, ech_compare compare,
                                    const void *value, const ech_select_options *options);

/*
 * ech_partition_3way() writes first the elements less than low, then those from low to high, both
 * included, then those greater than high and NaN; each in their input order.
 *
 *   low, high  [1] of dtype in host memory, low <= high
 *   counts     [2] receives how many came first and how many second
 */
ECH_API ech_status ech_partition_3way(ech_ctx *ctx, const void *in, void *out, uint64_t *counts,
                                      size_t n, ech_dtype dtype, const void *low, const void *high,
                                      const ech_select_options *options);

/* ech_unique() keeps the first of each run of equal elements: of sorted input, one of each value.
 */
ECH_API ech_status ech_unique(ech_ctx *ctx, const void *in, void *out, uint64_t *count, size_t n,
                              ech_dtype dtype, const ech_select_options *options);

/* ech_unique_by_key() keeps the first of each run of equal keys, and its value of value_bytes. */
ECH_API ech_status ech_unique_by_key(ech_ctx *ctx, const void *keys, const void *values,
                                     void *keys_out, void *values_out, uint64_t *count,
                                     size_t value_bytes, size_t n, ech_dtype dtype,
                                     const ech_select_options *options);

/* ech_rle_encode() is ech_unique() that also says how long each run is: lengths has room for [n]
 * and receives *count. */
ECH_API ech_status ech_rle_encode(ech_ctx *ctx, const void *in, void *out, uint64_t *lengths,
                                  uint64_t *count, size_t n, ech_dtype dtype,
                                  const ech_select_options *options);

/*
 * ech_rle_decode() writes each element as often as its length says.
 *
 *   in       [runs] of element_bytes each
 *   lengths  [runs]
 *   out      [n]; the lengths must not add up to more than n, and what lies beyond is not written
 */
ECH_API ech_status ech_rle_decode(ech_ctx *ctx, const void *in, const uint64_t *lengths, void *out,
                                  size_t runs, size_t n, size_t element_bytes,
                                  const ech_select_options *options);

/* ech_select_workspace() tells how many bytes of workspace every call above takes of n elements
 * (ech_rle_decode(): of runs). */
ECH_API ech_status ech_select_workspace(const char *device, size_t n, size_t element_bytes,
                                        const ech_select_options *options, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_SELECT_H */
