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

/* How elements that are in no bin are counted.  NaN is in no bin, and neither below nor above. */
typedef enum ech_outside {
    ECH_OUTSIDE_DROP = 0,  /* they are not counted */
    ECH_OUTSIDE_CLAMP = 1, /* elements below count in the first bin, elements above in the last; NaN
                              are not counted */
    ECH_OUTSIDE_COUNT = 2  /* three counters follow the bins: below, above, NaN */
} ech_outside;

/* Options of a histogram.  Zero is the default of every field except size. */
typedef struct ech_histogram_options {
    size_t size;             /* sizeof(ech_histogram_options) */
    int channels;            /* 0 or 1: one channel; c: in[i] belongs to channel i % c, and each
                                channel has separate counters, stored channel after channel */
    ech_outside outside;     /* how elements that are in no bin are counted */
    int include_right;       /* 1: the last bin includes its upper end, as in NumPy */
    int accumulate;          /* 1: add to the previous contents of counts; 0: start from 0 */
    const void *weights;     /* NULL, or [n] of weights_dtype: element i adds weights[i], not 1 */
    ech_dtype weights_dtype; /* i32, u32, i64, u64, f32 or f64 */
    int dimensions;          /* 2: for ech_histogram_2d(); 1: for the other functions; 0: of the
                                function that is called, and 1 in queries */
    const char *algorithm;   /* NULL: chosen; or one that ech_histogram_explain() lists for this
                                number of dimensions */
    void *work;              /* as in ech_sort_options */
    size_t work_bytes;       /* at least what ech_histogram_workspace() returns */
} ech_histogram_options;

/*
 * ech_histogram() counts the elements in each of several bins of equal width.
 *
 *   in            [n] of dtype, not modified; n must be a multiple of the number of channels
 *   counts        [channels][bins] of u64; [channels][bins + 3] with ECH_OUTSIDE_COUNT.  With
 *                 weights, of i64 for signed and of u64 for unsigned weights, both modulo 2^64, and
 *                 of f64 for float weights
 *   bins          at least 1
 *   lower, upper  finite, lower < upper.  x is in a bin if lower <= x < upper, or, with
 *                 options->include_right, if x = upper
 *   options       NULL for the defaults
 *
 * Bins of floats: bin b contains the x with b <= (x - lower) * factor < b + 1, where factor = bins
 * / (upper - lower).  All of this is computed in f64 (for f16, bf16 and f32 in f32, to which lower,
 * upper and bins are first rounded), and each operation is rounded once.  An x less than upper
 * whose product is rounded up to bins is in the last bin.
 *
 * Bins of integers: lower and upper are integers from -2^63 to 2^64, at most 2^64 apart.  Bin b
 * contains the x with b <= (x - lower) * bins / (upper - lower) < b + 1, exactly.
 *
 * Float weights: at most 2^44 elements.  Weights are truncated to multiples of 2^-147 times the
 * power of two just above the maximum magnitude.  Their exact sum is rounded once.  With
 * options->accumulate, the previous contents of counts are added last, with one more rounding.
 */
ECH_API ech_status ech_histogram(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                 ech_dtype dtype, size_t bins, double lower, double upper,
                                 const ech_histogram_options *options);

/*
 * ech_histogram_edges() is ech_histogram() with bins of any width: bin b contains the x with
 * edges[b] <= x < edges[b + 1].
 *
 *   edges    [bins + 1] of dtype, in strictly ascending order.  Otherwise the call fails with
 *            ECH_ERR_ARG
 */
ECH_API ech_status ech_histogram_edges(ech_ctx *ctx, const void *in, const void *edges,
                                       void *counts, size_t n, ech_dtype dtype, size_t bins,
                                       const ech_histogram_options *options);

/* ech_bincount() counts how many times each of the integers 0 ... bins - 1 occurs, for example
 * bytes (256 bins), 16-bit values (65536 bins) or indices.  dtype must be an integer type.  All
 * else is as in ech_histogram(). */
ECH_API ech_status ech_bincount(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                ech_dtype dtype, size_t bins, const ech_histogram_options *options);

/*
 * ech_histogram_2d() counts the pairs (x[i], y[i]) in a grid of bins, each dimension as in
 * ech_histogram().
 *
 *   x, y    [n] of dtype each, not modified
 *   counts  [x_bins][y_bins] of u64; with weights, as in ech_histogram()
 *
 * A pair is in no bin if x or y is in none.  ECH_OUTSIDE_COUNT and more than one channel fail with
 * ECH_ERR_ARG.
 */
ECH_API ech_status ech_histogram_2d(ech_ctx *ctx, const void *x, const void *y, void *counts,
                                    size_t n, ech_dtype dtype, size_t x_bins, double x_lower,
                                    double x_upper, size_t y_bins, double y_lower, double y_upper,
                                    const ech_histogram_options *options);

/*
 * ech_histogram_workspace() returns how many bytes of workspace the functions above need.  One size
 * is enough for all of them.
 *
 *   device   as for ech_sort_workspace()
 *   bins     the number of bins of all channels together; x_bins * y_bins for ech_histogram_2d()
 *   options  only outside, weights (whether it is NULL), weights_dtype, dimensions, channels and
 *            algorithm have an effect
 *   bytes    [1] receives the size
 */
ECH_API ech_status ech_histogram_workspace(const char *device, size_t n, ech_dtype dtype,
                                           size_t bins, const ech_histogram_options *options,
                                           size_t *bytes);

/* ech_histogram_explain() describes, as ech_sort_explain() does, how a histogram would be computed:
 * the algorithm, the other algorithms that options->algorithm can select, and the workspace.  bins
 * as in ech_histogram_workspace(). */
ECH_API ech_status ech_histogram_explain(const char *device, size_t n, ech_dtype dtype, size_t bins,
                                         const ech_histogram_options *options, ech_format format,
                                         char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_HISTOGRAM_H */
