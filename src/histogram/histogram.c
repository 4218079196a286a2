/*
 * histogram/histogram.c - ech_histogram() and related functions: checks the arguments, computes the
 * map from elements to bins, and passes a struct echi_histogram to the backend.
 *
 *     check_options()    checks that all calls share: dtype, options, sizes
 *     echi_bins_*()      bins.c: the map
 *     run()              the arrays as a list, then core/call.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram/histogram.h"
#include "core/call.h"
#include "cpu/cpu.h"
#define INLINE static inline
#include "core/exact.h"

static ech_status check_weights(ech_ctx *ctx, const ech_histogram_options *options, size_t n)
{
    ech_dtype t = options->weights_dtype;
    bool known = t == ECH_I32 || t == ECH_U32 || t == ECH_I64 || t == ECH_U64 || t == ECH_F32 ||
                 t == ECH_F64;
    if (!known)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->weights_dtype is %s: it must be i32, u32, i64, u64, f32 or f64",
                         echi_dtype_name(t));
    if (echi_dtype_is_float(t) && (uint64_t)n > (uint64_t)1 << ECHI_EXACT_LOG2_N)
        return echi_fail(ctx, ECH_ERR_ARG, "n is %zu: at most 2^%d is supported with float weights",
                         n, ECHI_EXACT_LOG2_N);
    return echi_check_count(ctx, "n", n, echi_dtype_bytes(t));
}

/* The counters of values outside the bins: below, above and NaN have counters after the bins, or
 * share those of the first and the last bin, or have none. */
static void set_outside(struct echi_bins *b, ech_outside outside)
{
    b->below = b->above = b->nan = ECHI_NO_SLOT;
    if (outside == ECH_OUTSIDE_CLAMP) {
        b->below = 0;
        b->above = b->bins - 1;
    } else if (outside == ECH_OUTSIDE_COUNT) {
        b->below = b->bins;
        b->above = b->bins + 1;
        b->nan = b->bins + 2;
    }
}

static ech_status check_option_fields(ech_ctx *ctx, const ech_histogram_options *o)
{
    if (o->channels < 0)
        return echi_fail(ctx, ECH_ERR_ARG, "options->channels is %d: it must not be negative",
                         o->channels);
    if ((unsigned)o->outside > ECH_OUTSIDE_COUNT)
        return echi_fail(ctx, ECH_ERR_ARG, "options->outside is %d, not an ech_outside",
                         (int)o->outside);
    if (o->dimensions < 0 || o->dimensions > 2)
        return echi_fail(ctx, ECH_ERR_ARG, "options->dimensions is %d, not 0, 1 or 2",
                         o->dimensions);
    if (o->include_right != 0 && o->include_right != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->include_right is %d, not 0 or 1",
                         o->include_right);
    if (o->accumulate != 0 && o->accumulate != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->accumulate is %d, not 0 or 1", o->accumulate);
    return ECH_OK;
}

/* Derives fields of the request from n, dtype, the number of bins and the options. */
static ech_status check_shape(ech_ctx *ctx, struct echi_histogram *h, size_t bins,
                              const ech_histogram_options *o)
{
    size_t bytes;
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", h->dtype));
    TRY(check_option_fields(ctx, o));
    if (o->dimensions && (o->dimensions == 2) != h->pairs)
        FAIL(ctx, ECH_ERR_ARG, "options->dimensions is %d, but this histogram has %d dimension%s",
             o->dimensions, h->pairs ? 2 : 1, h->pairs ? "s" : "");
    h->key_bytes = (int)echi_dtype_bytes(h->dtype);
    TRY(echi_check_count(ctx, "n", h->n, (size_t)h->key_bytes));
    if (bins == 0) FAIL(ctx, ECH_ERR_ARG, "bins is 0");
    h->channels = o->channels ? (size_t)o->channels : 1;
    if (h->n % h->channels)
        FAIL(ctx, ECH_ERR_ARG, "n is %zu, not a multiple of options->channels, %zu", h->n,
             h->channels);
    if (h->pairs && (h->channels > 1 || o->outside == ECH_OUTSIDE_COUNT))
        FAIL(ctx, ECH_ERR_ARG, "options->%s is for one dimension only",
             h->channels > 1 ? "channels" : "outside");
    if (__builtin_add_overflow(bins, o->outside == ECH_OUTSIDE_COUNT ? 3 : 0, &h->stride) ||
        __builtin_mul_overflow(h->stride, h->channels, &h->counters) ||
        __builtin_mul_overflow(h->counters, sizeof(uint64_t), &bytes) || bytes > PTRDIFF_MAX)
        FAIL(ctx, ECH_ERR_ARG, "bins is %zu: the number of counters overflows size_t", bins);
    h->weighted = o->weights != NULL;
    h->weights = o->weights;
    h->weights_dtype = o->weights_dtype;
    if (h->weighted) TRY(check_weights(ctx, o, h->n));
    h->add = o->accumulate;
    h->algorithm = o->algorithm && *o->algorithm ? o->algorithm : NULL;
    h->x.bins = bins;
    set_outside(&h->x, o->outside);
done:
    return status;
}

static ech_status run(ech_ctx *ctx, struct echi_histogram *h, const char *name,
                      const ech_histogram_options *options)
{
    size_t bytes = h->n * (size_t)h->key_bytes, align = (size_t)h->key_bytes;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    struct echi_call call;
    echi_call_begin(&call, "a histogram", ctx->backend->operations[ECHI_OP_histogram], h,
                    options->work, options->work_bytes);
    echi_call_add(&call, name, &h->in, bytes, align, ECHI_IN);
    if (h->pairs) echi_call_add(&call, "y", &h->in_y, bytes, align, ECHI_IN);
    if (h->x.kind == ECHI_BINS_EDGES)
        echi_call_add(&call, "edges", &h->edges, (h->x.bins + 1) * align, align, ECHI_IN);
    if (h->weighted) {
        size_t weight_bytes = echi_dtype_bytes(h->weights_dtype);
        echi_call_add(&call, "options->weights", &h->weights, h->n * weight_bytes, weight_bytes,
                      ECHI_IN);
    }
    echi_call_add(&call, "counts", &h->counts, h->counters * sizeof(uint64_t), sizeof(uint64_t),
                  h->add ? ECHI_KEPT : ECHI_OUT);
    return echi_call_run(ctx, &call);
}

/* ---- Few elements, without options ---- */

/* The request of a call on few elements on the CPU with simple arrays, except the map; false if the
 * call is not one. */
INLINED bool begin_at_once(const ech_ctx *ctx, struct echi_histogram *h, const void *in,
                           void *counts, size_t n, ech_dtype dtype, size_t bins)
{
    enum { AT_ONCE = 1024, MOST_BINS = 1 << 16 };
    if (n - 1 >= AT_ONCE || bins - 1 >= MOST_BINS || !echi_dtype_known(dtype)) return false;
    const size_t bytes = echi_dtype_bytes(dtype);
    const struct echi_span from = { in, n * bytes, bytes };
    const struct echi_span to = { counts, bins * sizeof(uint64_t), sizeof(uint64_t) };
    if (!echi_call_is_simple(ctx, &from, 1, &to, 1)) return false;
    h->in = in;
    h->in_y = h->edges = h->weights = NULL; /* h->y is not used */
    h->counts = counts;
    h->n = n;
    h->dtype = h->weights_dtype = dtype;
    h->key_bytes = (int)bytes;
    h->pairs = h->weighted = h->add = false;
    h->x = (struct echi_bins){ .bins = bins };
    set_outside(&h->x, ECH_OUTSIDE_DROP);
    h->channels = 1;
    h->stride = h->counters = bins;
    h->algorithm = NULL;
    return true;
}

INLINED bool histogram_at_once(ech_ctx *ctx, const void *in, void *counts, size_t n,
                               ech_dtype dtype, size_t bins, double lower, double upper)
{
    struct echi_histogram h;
    return begin_at_once(ctx, &h, in, counts, n, dtype, bins) &&
           echi_bins_even(ctx, &h.x, dtype, lower, upper, "lower", "upper", false) == ECH_OK &&
           echi_cpu_histogram.quick(&h);
}

INLINED bool bincount_at_once(ech_ctx *ctx, const void *in, void *counts, size_t n, ech_dtype dtype,
                              size_t bins)
{
    struct echi_histogram h;
    return begin_at_once(ctx, &h, in, counts, n, dtype, bins) && !echi_dtype_is_float(dtype) &&
           echi_bins_count(ctx, &h.x, dtype) == ECH_OK && echi_cpu_histogram.quick(&h);
}

/* ---- The calls ---- */

NOINLINE static ech_status even_complete(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                         ech_dtype dtype, size_t bins, double lower, double upper,
                                         const ech_histogram_options *options)
{
    READ_OPTIONS(ctx, ech_histogram_options, options);
    struct echi_histogram h = { .in = in, .counts = counts, .n = n, .dtype = dtype };
    ech_status status;
    TRY(check_shape(ctx, &h, bins, options));
    TRY(echi_bins_even(ctx, &h.x, dtype, lower, upper, "lower", "upper", options->include_right));
    TRY(run(ctx, &h, "in", options));
done:
    return status;
}

NOINLINE ech_status echi_histogram_any(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                       ech_dtype dtype, size_t bins, double lower, double upper,
                                       const ech_histogram_options *options)
{
    if (!options && histogram_at_once(ctx, in, counts, n, dtype, bins, lower, upper)) return ECH_OK;
    return even_complete(ctx, in, counts, n, dtype, bins, lower, upper, options);
}

ech_status ech_histogram(ech_ctx *ctx, const void *in, void *counts, size_t n, ech_dtype dtype,
                         size_t bins, double lower, double upper,
                         const ech_histogram_options *options)
{
    if (!options && n <= ECHI_HISTOGRAM_FEW && echi_dtype_known(dtype)) {
        echi_even_function *const call = echi_histogram_calls[echi_cpu_level()]->histogram[dtype];
        if (call) return call(ctx, in, counts, n, dtype, bins, lower, upper, NULL);
    }
    return echi_histogram_any(ctx, in, counts, n, dtype, bins, lower, upper, options);
}

ech_status ech_histogram_edges(ech_ctx *ctx, const void *in, const void *edges, void *counts,
                               size_t n, ech_dtype dtype, size_t bins,
                               const ech_histogram_options *options)
{
    READ_OPTIONS(ctx, ech_histogram_options, options);
    struct echi_histogram h = {
        .in = in, .counts = counts, .edges = edges, .n = n, .dtype = dtype
    };
    ech_status status;
    TRY(check_shape(ctx, &h, bins, options));
    TRY(echi_check_count(ctx, "bins", bins + 1, (size_t)h.key_bytes));
    echi_bins_edges(&h.x, dtype, options->include_right);
    TRY(run(ctx, &h, "in", options));
done:
    return status;
}

NOINLINE static ech_status bincount_complete(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                             ech_dtype dtype, size_t bins,
                                             const ech_histogram_options *options)
{
    READ_OPTIONS(ctx, ech_histogram_options, options);
    struct echi_histogram h = { .in = in, .counts = counts, .n = n, .dtype = dtype };
    ech_status status;
    TRY(check_shape(ctx, &h, bins, options));
    if (echi_dtype_is_float(dtype))
        FAIL(ctx, ECH_ERR_ARG, "dtype is %s, but only integers count by value",
             echi_dtype_name(dtype));
    TRY(echi_bins_count(ctx, &h.x, dtype));
    TRY(run(ctx, &h, "in", options));
done:
    return status;
}

NOINLINE ech_status echi_bincount_any(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                      ech_dtype dtype, size_t bins,
                                      const ech_histogram_options *options)
{
    if (!options && bincount_at_once(ctx, in, counts, n, dtype, bins)) return ECH_OK;
    return bincount_complete(ctx, in, counts, n, dtype, bins, options);
}

ech_status ech_bincount(ech_ctx *ctx, const void *in, void *counts, size_t n, ech_dtype dtype,
                        size_t bins, const ech_histogram_options *options)
{
    if (!options && n <= ECHI_HISTOGRAM_FEW && echi_dtype_known(dtype)) {
        echi_bincount_function *const call =
            echi_histogram_calls[echi_cpu_level()]->bincount[dtype];
        if (call) return call(ctx, in, counts, n, dtype, bins, NULL);
    }
    return echi_bincount_any(ctx, in, counts, n, dtype, bins, options);
}

ech_status ech_histogram_2d(ech_ctx *ctx, const void *x, const void *y, void *counts, size_t n,
                            ech_dtype dtype, size_t x_bins, double x_lower, double x_upper,
                            size_t y_bins, double y_lower, double y_upper,
                            const ech_histogram_options *options)
{
    READ_OPTIONS(ctx, ech_histogram_options, options);
    struct echi_histogram h = {
        .in = x, .in_y = y, .counts = counts, .n = n, .dtype = dtype, .pairs = true
    };
    size_t bins = 0;
    ech_status status;
    if (x_bins == 0 || y_bins == 0) FAIL(ctx, ECH_ERR_ARG, "%s_bins is 0", x_bins ? "y" : "x");
    if (__builtin_mul_overflow(x_bins, y_bins, &bins))
        FAIL(ctx, ECH_ERR_ARG, "x_bins is %zu and y_bins is %zu: x_bins * y_bins overflows size_t",
             x_bins, y_bins);
    TRY(check_shape(ctx, &h, bins, options));
    h.x.bins = x_bins;
    h.y.bins = y_bins;
    set_outside(&h.x, options->outside);
    set_outside(&h.y, options->outside);
    TRY(echi_bins_even(ctx, &h.x, dtype, x_lower, x_upper, "x_lower", "x_upper",
                       options->include_right));
    TRY(echi_bins_even(ctx, &h.y, dtype, y_lower, y_upper, "y_lower", "y_upper",
                       options->include_right));
    TRY(run(ctx, &h, "x", options));
done:
    return status;
}

/* ---- Queries that need no device ---- */

static const struct echi_operation *histogram_of(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_histogram];
}

/* A request for `bins` counters in all channels: an upper bound of what a call needs. */
static ech_status question(struct echi_histogram *h, size_t bins,
                           const ech_histogram_options *options)
{
    ech_status status;
    size_t n = h->n, each;
    h->pairs = options->dimensions == 2;
    h->n = 0; /* so that it is a multiple of the channels */
    TRY(check_shape(NULL, h, bins, options));
    TRY(echi_check_count(NULL, "n", n, (size_t)h->key_bytes));
    h->n = n;
    if (h->weighted) TRY(check_weights(NULL, options, n));
    each = (bins + h->channels - 1) / h->channels;
    h->x.bins = each;
    h->stride = each + (h->stride - bins);
    h->counters = h->stride * h->channels;
    TRY(echi_bins_count(NULL, &h->x, ECH_U64));
done:
    return status;
}

ech_status ech_histogram_workspace(const char *device, size_t n, ech_dtype dtype, size_t bins,
                                   const ech_histogram_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_histogram_options, options);
    struct echi_histogram h = { .n = n, .dtype = dtype };
    ech_status status;
    if (!bytes) return echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    *bytes = 0;
    TRY(question(&h, bins, options));
    TRY(echi_call_workspace(device, histogram_of, &h, bytes));
done:
    return status;
}

ech_status ech_histogram_explain(const char *device, size_t n, ech_dtype dtype, size_t bins,
                                 const ech_histogram_options *options, ech_format format,
                                 char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_histogram_options, options);
    struct echi_histogram h = { .n = n, .dtype = dtype };
    const ech_status status = question(&h, bins, options);
    if (status != ECH_OK) return status;
    return echi_explain(device, "histogram", histogram_of, &h, format, text, capacity_bytes);
}
