/*
 * echelon/arrange.h - moving elements: gather, scatter, transpose, shuffle, fill.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_ARRANGE_H
#define ECHELON_ARRANGE_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Arrange --------------------------------------------------------------------------------- */

/*
 * Elements are opaque, of element_bytes (1 or more) each.  None of these takes a workspace, and out
 * overlaps nothing unless it is said.
 */

/* ech_gather() fetches by position: out[i] = in[index[i]], for i < n.  index is [n] of index_dtype,
 * u32 or u64, each less than n_in. */
ECH_API ech_status ech_gather(ech_ctx *ctx, const void *in, const void *index,
                              ech_dtype index_dtype, void *out, size_t n, size_t n_in,
                              size_t element_bytes);

/* ech_scatter() puts to positions: out[index[i]] = in[i], for i < n.  Each index is less than
 * n_out; what comes to lie where two indices agree is unspecified, of large elements also parts of
 * both; the rest of out is kept. */
ECH_API ech_status ech_scatter(ech_ctx *ctx, const void *in, const void *index,
                               ech_dtype index_dtype, void *out, size_t n, size_t n_out,
                               size_t element_bytes);

/* ech_reverse(): out[i] = in[n - 1 - i].  out may be in. */
ECH_API ech_status ech_reverse(ech_ctx *ctx, const void *in, void *out, size_t n,
                               size_t element_bytes);

/* ech_rotate(): out[i] = in[(i + by) % n], by of any size. */
ECH_API ech_status ech_rotate(ech_ctx *ctx, const void *in, void *out, size_t n, size_t by,
                              size_t element_bytes);

/* ech_transpose(): in is [rows][columns], out is [columns][rows]. */
ECH_API ech_status ech_transpose(ech_ctx *ctx, const void *in, void *out, size_t rows,
                                 size_t columns, size_t element_bytes);

/* ech_fill(): out[i] = *value, which lies in host memory. */
ECH_API ech_status ech_fill(ech_ctx *ctx, void *out, const void *value, size_t n,
                            size_t element_bytes);

/* ech_iota(): out[i] = start + i * step, in dtype; start and step are [1] of dtype in host memory,
 * NULL for 0 and 1.  Integers modulo 2^bits.  Floats with one rounding of i * step and one of the
 * sum; those of f16 and bf16 are f32's, rounded when they are written.  What is NaN is the positive
 * quiet one without a payload. */
ECH_API ech_status ech_iota(ech_ctx *ctx, void *out, size_t n, ech_dtype dtype, const void *start,
                            const void *step);

/* ech_permutation() writes a random order of 0 ... n - 1, of dtype u32 or u64: the same for the
 * same n and seed on every device. */
ECH_API ech_status ech_permutation(ech_ctx *ctx, void *out, size_t n, ech_dtype dtype,
                                   uint64_t seed);

/* ech_shuffle() puts the elements in the order of ech_permutation(): out[i] = in[p[i]]. */
ECH_API ech_status ech_shuffle(ech_ctx *ctx, const void *in, void *out, size_t n,
                               size_t element_bytes, uint64_t seed);

/* ech_sample() draws k of the n elements without putting any back: the first k of ech_shuffle(). */
ECH_API ech_status ech_sample(ech_ctx *ctx, const void *in, void *out, size_t n, size_t k,
                              size_t element_bytes, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_ARRANGE_H */
