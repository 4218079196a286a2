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

/* These functions move or generate elements of element_bytes (1 or more) each without interpreting
 * them; ech_iota() and ech_permutation() generate numbers.  They need no workspace, and have no
 * options. */
/*
 * ech_gather() reads elements by position: out[i] = in[index[i]].
 *
 *   in     [n_in], not modified
 *   index  [n] of index_dtype (ECH_I32, ECH_U32, ECH_I64 or ECH_U64), each less than n_in.
 *          Otherwise the call fails with ECH_ERR_ARG
 *   out    [n]
 */
ECH_API ech_status ech_gather(ech_ctx *ctx, const void *in, const void *index, void *out, size_t n,
                              size_t n_in, ech_dtype index_dtype, size_t element_bytes);

/*
 * ech_scatter() writes elements by position: out[index[i]] = in[i].
 *
 *   in     [n], not modified
 *   index  [n] of index_dtype (ECH_I32, ECH_U32, ECH_I64 or ECH_U64), each less than n_out.
 *          Otherwise the call fails with ECH_ERR_ARG
 *   out    [n_out]; elements whose position is not in index keep their value
 *
 * With duplicate indices the winner is unspecified.  Elements larger than 8 bytes, and unaligned
 * ones on the CPU, may tear: each word may come from another element.
 */
ECH_API ech_status ech_scatter(ech_ctx *ctx, const void *in, const void *index, void *out, size_t n,
                               size_t n_out, ech_dtype index_dtype, size_t element_bytes);

/*
 * ech_reverse() reverses the order of elements: out[i] = in[n - 1 - i].
 *
 *   in, out  [n]; out may be in, but must not overlap it otherwise
 */
ECH_API ech_status ech_reverse(ech_ctx *ctx, const void *in, void *out, size_t n,
                               size_t element_bytes);

/*
 * ech_rotate() rotates elements: out[i] = in[(i + by) % n].
 *
 *   in, out  [n]
 *   by       any value
 */
ECH_API ech_status ech_rotate(ech_ctx *ctx, const void *in, void *out, size_t n,
                              size_t element_bytes, size_t by);

/*
 * ech_transpose() transposes a matrix: out[j][i] = in[i][j].
 *
 *   in   [rows][cols]
 *   out  [cols][rows]
 */
ECH_API ech_status ech_transpose(ech_ctx *ctx, const void *in, void *out, size_t rows, size_t cols,
                                 size_t element_bytes);

/*
 * ech_fill() writes one value to all elements: out[i] = *value.
 *
 *   out    [n]
 *   value  [1] in host memory
 */
ECH_API ech_status ech_fill(ech_ctx *ctx, void *out, size_t n, size_t element_bytes,
                            const void *value);

/*
 * ech_iota() writes an arithmetic sequence: out[i] = start + i * step.
 *
 *   out    [n] of dtype
 *   start  [1] of dtype in host memory; NULL: 0
 *   step   [1] of dtype in host memory; NULL: 1
 *
 * Integers are computed modulo 2^bits.  For floats, the exact product i * step is rounded once, and
 * the sum is rounded once.  f16 and bf16 are computed in f32 and rounded when they are written.
 * NaN results are canonicalised to the positive quiet NaN without a payload.
 */
ECH_API ech_status ech_iota(ech_ctx *ctx, void *out, size_t n, ech_dtype dtype, const void *start,
                            const void *step);

/*
 * ech_permutation() writes a random permutation of 0 ... n - 1.  It depends only on n and seed.
 *
 *   out    [n] of dtype, ECH_I32 (n at most 2^31), ECH_U32 (n at most 2^32), ECH_I64 or
 *          ECH_U64 (n at most 2^62)
 *   seed   any value
 */
ECH_API ech_status ech_permutation(ech_ctx *ctx, void *out, size_t n, ech_dtype dtype,
                                   uint64_t seed);

/*
 * ech_shuffle() writes elements in the order of ech_permutation(): out[i] = in[p[i]], where p is
 * the permutation for the same n and seed.
 *
 *   in, out  [n]
 */
ECH_API ech_status ech_shuffle(ech_ctx *ctx, const void *in, void *out, size_t n,
                               size_t element_bytes, uint64_t seed);

/*
 * ech_sample() draws k of n elements without replacement.  They are the first k elements of
 * ech_shuffle() for the same n and seed.
 *
 *   in   [n], not modified
 *   out  [k]; k must not exceed n
 */
ECH_API ech_status ech_sample(ech_ctx *ctx, const void *in, void *out, size_t n, size_t k,
                              size_t element_bytes, uint64_t seed);

typedef enum ech_arrange_call {
    ECH_ARRANGE_CALL_GATHER = 0,
    ECH_ARRANGE_CALL_SCATTER = 1,
    ECH_ARRANGE_CALL_REVERSE = 2,
    ECH_ARRANGE_CALL_ROTATE = 3,
    ECH_ARRANGE_CALL_TRANSPOSE = 4,
    ECH_ARRANGE_CALL_FILL = 5,
    ECH_ARRANGE_CALL_IOTA = 6,        /* element_bytes is the size of dtype */
    ECH_ARRANGE_CALL_PERMUTATION = 7, /* element_bytes is the size of dtype */
    ECH_ARRANGE_CALL_SHUFFLE = 8      /* ech_shuffle(); ech_sample(), with n = k */
} ech_arrange_call;

/*
 * ech_arrange_explain() describes, as ech_sort_explain() does, how a call would be done.
 *
 *   device  as for ech_sort_workspace()
 *   n       the number of elements that are written; of ECH_ARRANGE_CALL_TRANSPOSE, those of the
 *           largest square matrix with at most n elements
 *   text    [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_arrange_explain(const char *device, ech_arrange_call call, size_t n,
                                       size_t element_bytes, ech_format format, char *text,
                                       size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_ARRANGE_H */
