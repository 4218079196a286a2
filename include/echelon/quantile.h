/*
 * echelon/quantile.h - elements of given ranks, partitions around them, and quantiles.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_QUANTILE_H
#define ECHELON_QUANTILE_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of the functions below.  Zero is the default of every field except size. */
typedef struct ech_quantile_options {
    size_t size;           /* sizeof(ech_quantile_options) */
    ech_nan nan;           /* of ech_quantiles(), otherwise ignored.  ECH_NAN_PROPAGATE: if a NaN is
                              in the input, every result is NaN.  ECH_NAN_IGNORE: the quantiles of
                              the other elements; NaN if there are none */
    const char *algorithm; /* one that ech_quantile_explain() lists; NULL: the library chooses */
    void *work;            /* as in ech_sort_options */
    size_t work_bytes;     /* at least what ech_quantile_workspace() returns */
} ech_quantile_options;

/*
 * The order of ech_nth_element() and ech_partition_at() is that of ech_argsort(): -0 equals +0, all
 * NaN are equal and last, and equal elements keep the order of the input.  The rank of an element
 * is its position, counted from 0, in the input sorted like this.  Results are therefore unique.
 *
 * ech_nth_element() finds the element of one rank.
 *
 *   in      [n] of dtype, not modified
 *   value   [1] of dtype, receives the element, with its bits; NULL: not needed
 *   index   [1] of index_dtype, receives its position in in; NULL: not needed.  Without it, only
 *           zeros and NaN need the search for a position
 *   rank    less than n
 *   index_dtype  ECH_I32, ECH_U32, ECH_I64 or ECH_U64, which must be able to represent n - 1;
 *           ignored if index is NULL
 *   options NULL for the defaults
 *
 * At least one of value and index is required; they must not overlap in or each other.  Fails with
 * ECH_ERR_ARG if n is 0.  ECH_ERR_ARG and ECH_ERR_MEMORY are returned before anything is written.
 */
ECH_API ech_status ech_nth_element(ech_ctx *ctx, const void *in, void *value, void *index, size_t n,
                                   size_t rank, ech_dtype dtype, ech_dtype index_dtype,
                                   const ech_quantile_options *options);

/*
 * ech_partition_at() partitions an array around the elements of given ranks, as partition() and
 * argpartition() of NumPy do: out[r] is the element of rank r, for each r in ranks.  Elements
 * before it in the order come before position r, the others after it.  Between two such positions,
 * before the first one and after the last one, the elements keep the order of the input.
 *
 *   in         [n] of dtype, not modified
 *   out        [n] of dtype, receives the elements; NULL: not needed
 *   index_out  [n] of index_dtype, receives their positions in in; NULL: not needed
 *   ranks      [n_ranks] in host memory, read before the call returns; each less than n, in any
 *              order, and repetitions are allowed
 *   n_ranks    0 to 127; 0: the input is copied
 *   index_dtype  as for ech_nth_element()
 *   options    NULL for the defaults
 *
 * At least one of out and index_out is required.  No two arrays may overlap.  ECH_ERR_ARG and
 * ECH_ERR_MEMORY are returned before anything is written.
 */
ECH_API ech_status ech_partition_at(ech_ctx *ctx, const void *in, void *out, void *index_out,
                                    size_t n, const uint64_t *ranks, size_t n_ranks,
                                    ech_dtype dtype, ech_dtype index_dtype,
                                    const ech_quantile_options *options);

/* How ech_quantiles() computes the quantile q from the elements x[0] <= ... <= x[n-1].  These are
 * the methods of NumPy's quantile(): the first nine are those of Hyndman and Fan (1996). */
typedef enum ech_quantile_method {
    ECH_QUANTILE_LINEAR = 0,                    /* between x[i] and x[i+1], i <= (n-1) q < i+1 */
    ECH_QUANTILE_INVERTED_CDF = 1,              /* an element */
    ECH_QUANTILE_AVERAGED_INVERTED_CDF = 2,     /* an element, or the mean of two */
    ECH_QUANTILE_CLOSEST_OBSERVATION = 3,       /* an element */
    ECH_QUANTILE_INTERPOLATED_INVERTED_CDF = 4, /* between two elements at n q - 1 */
    ECH_QUANTILE_HAZEN = 5,                     /* at n q - 1/2 */
    ECH_QUANTILE_WEIBULL = 6,                   /* at (n+1) q - 1 */
    ECH_QUANTILE_MEDIAN_UNBIASED = 7,           /* at (n + 1/3) q - 2/3 */
    ECH_QUANTILE_NORMAL_UNBIASED = 8,           /* at (n + 1/4) q - 5/8 */
    ECH_QUANTILE_LOWER = 9,                     /* the element at (n-1) q, rounded down */
    ECH_QUANTILE_HIGHER = 10,                   /* ... up */
    ECH_QUANTILE_MIDPOINT = 11,                 /* the mean of lower and higher */
    ECH_QUANTILE_NEAREST = 12                   /* the nearest element, halves to the even one */
} ech_quantile_method;

/* ech_quantile_dtype() returns the type of the results of ech_quantiles(): dtype for methods whose
 * result is an element (inverted_cdf, closest_observation, lower, higher, nearest), otherwise
 * ECH_F64.  It returns -1 for an unknown method or dtype. */
ECH_API int ech_quantile_dtype(ech_quantile_method method, ech_dtype dtype);

/*
 * ech_quantiles() computes quantiles.
 *
 *   in      [n] of dtype, not modified
 *   out     [n_q] of ech_quantile_dtype(), receives the quantiles, in the order of q
 *   q       [n_q] in host memory, read before the call returns; each from 0 to 1, in any order
 *   method  ECH_QUANTILE_LINEAR is NumPy's default
 *   options NULL for the defaults
 *
 * Results of type ECH_F64 are computed in f64 from elements that are converted to f64, as NumPy
 * does for an array of f64: integers of more than 53 bits are rounded.  In contrast to NumPy, a
 * result is NaN without a NaN in the input only between two infinities: an interpolation weight of
 * 0 or 1 selects one element, and differences may overflow.  Results are bit-identical on all
 * devices.
 * A result of zero is +0 if it is an element, and NaN is the canonical NaN.
 *
 * If n is 0, the results are NaN; if their type is an integer type, the call fails with
 * ECH_ERR_ARG.  A q that is NaN or outside [0, 1] fails with ECH_ERR_ARG.  out must not overlap in.
 * ECH_ERR_ARG and ECH_ERR_MEMORY are returned before anything is written.
 */
ECH_API ech_status ech_quantiles(ech_ctx *ctx, const void *in, void *out, const double *q, size_t n,
                                 size_t n_q, ech_dtype dtype, ech_quantile_method method,
                                 const ech_quantile_options *options);

typedef enum ech_quantile_call {
    ECH_QUANTILE_CALL_NTH = 0,       /* ech_nth_element() */
    ECH_QUANTILE_CALL_PARTITION = 1, /* ech_partition_at() */
    ECH_QUANTILE_CALL_QUANTILES = 2  /* ech_quantiles() */
} ech_quantile_call;

/*
 * ech_quantile_workspace() returns how many bytes of workspace a call needs.
 * ech_quantile_explain() describes, as ech_sort_explain() does, how it would be done.
 *
 *   device  as for ech_sort_workspace()
 *   count   the number of ranks or of quantiles; 1 for ech_nth_element()
 *   bytes   [1] receives the size, which is sufficient for every selection of the call's outputs
 *   text    [capacity_bytes] receives the text, as in ech_sort_explain()
 */
ECH_API ech_status ech_quantile_workspace(const char *device, ech_quantile_call call, size_t n,
                                          size_t count, ech_dtype dtype,
                                          const ech_quantile_options *options, size_t *bytes);
ECH_API ech_status ech_quantile_explain(const char *device, ech_quantile_call call, size_t n,
                                        size_t count, ech_dtype dtype,
                                        const ech_quantile_options *options, ech_format format,
                                        char *text, size_t capacity_bytes);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_QUANTILE_H */
