/*
 * echelon/histogram.h - histograms.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_HISTOGRAM_H
#define ECHELON_HISTOGRAM_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Histogram ------------------------------------------------------------------------------- */

/* What becomes of values that are in no bin.  A NaN is in no bin, and on no side. */
typedef enum ech_outside {
    ECH_OUTSIDE_DROP = 0,  /* they are not counted */
    ECH_OUTSIDE_CLAMP = 1, /* those below count in the first bin, those above in the last */
    ECH_OUTSIDE_COUNT = 2  /* three more counters follow the bins: below, above, NaN */
} ech_outside;

typedef struct ech_histogram_options {
    size_t size;             /* sizeof(ech_histogram_options) */
    int channels;            /* 0 or 1: one; c: in[i] belongs to channel i % c, and each channel has
                                counters of its own, one channel's after the other's */
    ech_outside outside;     /* see there */
    int include_right;       /* 1: the last bin has its upper end too, as NumPy's */
    int accumulate;          /* 1: add to what counts holds; 0: start from 0 */
    const void *weights;     /* NULL, or [n] of weights_dtype: what each element counts for */
    ech_dtype weights_dtype; /* i32, u32, i64, u64, f32 or f64 */
    const char *algorithm;   /* NULL, or one that ech_histogram_explain() lists */
    void *work;              /* as in ech_sort_options */
    size_t work_bytes;       /* at least what ech_histogram_workspace() says */
} ech_histogram_options;

/*
 * ech_histogram() counts how many elements lie in each of bins ranges of one width.
 *
 *   in       [n] of dtype; n must be a multiple of the channels
 *   counts   [channels][bins] of u64, ECH_OUTSIDE_COUNT: [channels][bins + 3].  With weights: of
 *            i64 for signed, u64 for unsigned ones, both modulo 2^64, and f64 for floats: the
 *            exact sum, rounded once, of weights cut to multiples of 2^-147 of the power of two
 *            just above the largest
 *   bins     at least 1
 *   lower, upper  finite, lower < upper; what is below lower or from upper on is in no bin.
 *            Floats: bin b has the x with b <= (x - lower) * factor < b + 1, where factor = bins /
 *            (upper - lower), all of it in f64 (f16, bf16, f32: in f32, to which lower and upper
 *            are rounded) with one rounding a step; an x whose product is rounded up to bins is in
 *            the last bin.  Integers: whole numbers from -2^63 to 2^64, at most 2^64 apart; bin b
 *            has the x with b <= (x - lower) * bins / (upper - lower) < b + 1, exactly
 */
ECH_API ech_status ech_histogram(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                 ech_dtype dtype, size_t bins, double lower, double upper,
                                 const ech_histogram_options *options);

/*
 * ech_histogram_edges() is ech_histogram() whose bin b has the x with edges[b] <= x < edges[b + 1].
 *
 *   edges    [bins + 1] of dtype, each greater than the one before
 */
ECH_API ech_status ech_histogram_edges(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                       ech_dtype dtype, const void *edges, size_t bins,
                                       const ech_histogram_options *options);

/* ech_bincount() counts how often each of the integers 0 ... bins - 1 occurs: bytes, 16-bit values
 * (65536 bins), indices.  dtype must be of integers. */
ECH_API ech_status ech_bincount(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                ech_dtype dtype, size_t bins, const ech_histogram_options *options);

/* ech_histogram_2d() counts the pairs (x[i], y[i]) in [x_bins][y_bins] counters; a pair is outside
 * when x or y is: ECH_OUTSIDE_COUNT is for one dimension alone, and so are channels. */
ECH_API ech_status ech_histogram_2d(ech_ctx *ctx, const void *x, const void *y, void *counts,
                                    size_t n, ech_dtype dtype, size_t x_bins, double x_lower,
                                    double x_upper, size_t y_bins, double y_lower, double y_upper,
                                    const ech_histogram_options *options);

/* ech_histogram_workspace() tells how many bytes of workspace every histogram above takes of n
 * elements and, in all channels together, bins bins; of options, outside, weights (whether it is
 * NULL), weights_dtype, channels and algorithm matter. */
ECH_API ech_status ech_histogram_workspace(const char *device, size_t n, size_t bins,
                                           ech_dtype dtype, const ech_histogram_options *options,
                                           size_t *bytes);

/* Like ech_sort_explain(): the algorithm, the others that could be forced, the workspace. */
ECH_API ech_status ech_histogram_explain(const char *device, size_t n, size_t bins, ech_dtype dtype,
                                         const ech_histogram_options *options, char *text,
                                         size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_HISTOGRAM_H */
