/*
 * echelon/strings.h - sorts of strings of any lengths.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_STRINGS_H
#define ECHELON_STRINGS_H

#include <echelon/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of a sort of strings.  Zero is the default of every field except size. */
typedef struct ech_strings_options {
    size_t size;             /* sizeof(ech_strings_options) */
    int descending;          /* 0: ascending; 1: descending */
    int nulls_first;         /* 0: nulls are after all strings; 1: before.  This does not depend on
                                descending */
    const uint8_t *validity; /* NULL: no nulls.  Otherwise a bitmap as in Apache Arrow: string i is
                                null if bit (validity_offset + i) % 8 of byte (validity_offset + i)
                                / 8 is 0 */
    size_t validity_offset;
    const char *algorithm; /* one that ech_strings_explain() lists; NULL: the library chooses */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_strings_workspace() returns */
} ech_strings_options;

/*
 * ech_argsort_strings() writes the permutation that sorts strings, which are stored as in Apache
 * Arrow: string i consists of bytes[offsets[i]] ... bytes[offsets[i + 1] - 1].
 *
 * Bytes are compared as unsigned numbers, as memcmp() does.  A string that is a prefix of another
 * one precedes it.  Bytes of zero have no special meaning: "a" precedes "a\0".  UTF-8 strings are
 * therefore in the order of their code points.  The sort is stable, also if it is descending:
 * equal strings, and nulls, are in the order of their positions.  The result is therefore unique.
 *
 *   offsets  [n + 1] of offsets_dtype, in ascending order, at most total_bytes.  offsets[0] may be
 *            greater than 0
 *   bytes    [total_bytes]
 *   indices  [n] of index_dtype: indices[i] is the position of the i-th string of the sorted
 *            sequence.  It must not overlap an input
 *   offsets_dtype, index_dtype   ECH_I32, ECH_U32, ECH_I64 or ECH_U64; index_dtype must be able to
 *                                represent n - 1
 *   options  NULL for the defaults
 *
 * The inputs are not modified, and may each be in host memory or in memory of the context's GPU.
 * The offsets of nulls must be valid, but their bytes have no effect.
 *
 * If n is 0, the call does nothing, and all arrays may be NULL.  ECH_ERR_ARG and ECH_ERR_MEMORY are
 * returned before anything is written.  On the CPU this includes invalid offsets.  On a GPU,
 * invalid offsets are reported by ech_sync(), or by the call if an array is in host memory: as
 * ECH_ERR_ARG with the position of an invalid offset.  No memory outside the arrays is accessed,
 * offsets of more than total_bytes count as total_bytes, a string that ends before it begins counts
 * as empty, and indices is the permutation that sorts these strings.  After ECH_ERR_DEVICE the
 * contents of indices are undefined.
 */
ECH_API ech_status ech_argsort_strings(ech_ctx *ctx, const void *offsets, const void *bytes,
                                       void *indices, size_t n, size_t total_bytes,
                                       ech_dtype offsets_dtype, ech_dtype index_dtype,
                                       const ech_strings_options *options);

/*
 * ech_strings_workspace() returns how many bytes of workspace a sort of strings needs.
 * ech_strings_explain() describes, as ech_sort_explain() does, how it would be done.
 *
 *   device       as for ech_sort_workspace()
 *   total_bytes  as above.  The workspace does not depend on it
 *   options      validity may be any pointer that is not NULL if there is a bitmap
 *   bytes        [1] receives the size
 *   text         [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_strings_workspace(const char *device, size_t n, size_t total_bytes,
                                         ech_dtype offsets_dtype, ech_dtype index_dtype,
                                         const ech_strings_options *options, size_t *bytes);
ECH_API ech_status ech_strings_explain(const char *device, size_t n, size_t total_bytes,
                                       ech_dtype offsets_dtype, ech_dtype index_dtype,
                                       const ech_strings_options *options, ech_format format,
                                       char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_STRINGS_H */
