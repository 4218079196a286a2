/*
 * histogram/bins.c - converts ranges, counts and edges to the parameters of bins.h.
 *
 * Integers need care: x - lower has up to 65 bits, and its product with bins up to 128. So lower
 * and the limits of the dtype are compared in 128 bits once, here. Each element then needs only a
 * difference that fits its own width, and a division by a constant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram/histogram.h"

#include <math.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static bool is_power(uwide v)
{
    return v && (v & (v - 1)) == 0;
}

static uint32_t log2_of(uwide v)
{
    uint32_t log2 = 0;
    while (v >>= 1) log2++;
    return log2;
}

/* The largest number less than x, which is finite and not the minimum. */
static float before_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = !(x < 0 || x > 0) ? 0x80000001u : x > 0 ? bits - 1 : bits + 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double before_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = !(x < 0 || x > 0) ? 0x8000000000000001u : x > 0 ? bits - 1 : bits + 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void none(struct echi_bins *b, uint64_t slot)
{
    b->kind = ECHI_BINS_NONE;
    b->below = slot;
}

/* Integers from lower to upper; upper is in a bin if closed. */
static ech_status whole(ech_ctx *ctx, struct echi_bins *b, ech_dtype dtype, wide lower, wide upper,
                        bool closed)
{
    int width = 8 * (int)echi_dtype_bytes(dtype);
    wide least = echi_dtype_is_signed(dtype) ? -((wide)1 << (width - 1)) : 0;
    wide most = least + (((wide)1 << width) - 1);
    wide last = closed ? upper : upper - 1;
    b->order = echi_order_ascending(dtype, true);
    if (lower > most) return none(b, b->below), ECH_OK;
    if (last < least) return none(b, b->above), ECH_OK;
    wide first = lower > least ? lower : least;
    if (last > most) last = most;
    uwide range = (uwide)(upper - lower), reach = (uwide)(last - lower);
    if (reach > UINT64_MAX)
        return echi_fail(
            ctx, ECH_ERR_ARG,
            "the range is 2^64 long: it must be shorter if the last bin includes its right edge");
    b->first = (uint64_t)(first - least);
    b->span = (uint64_t)(last - first);
    b->offset = (uint64_t)(first - lower);
    b->each = (uint64_t)(b->bins / range);
    b->rest = (uint64_t)(b->bins % range);
    b->range = (uint64_t)range; /* 2^64 becomes 0 */
    bool narrow = width <= 32 && range >> 32 == 0 && b->bins >> 32 == 0;
    bool shifts = range % b->bins == 0 && is_power(range / b->bins);
    if (shifts && (width == 64 || reach >> 32 == 0)) {
        b->kind = ECHI_BINS_SHIFT;
        b->shift = log2_of(range / b->bins);
    } else {
        b->kind = narrow ? ECHI_BINS_SCALE : ECHI_BINS_WIDE;
        b->scale = (uint64_t)(((uwide)b->rest << (narrow ? 32 : 64)) / range);
    }
    return ECH_OK;
}

static ech_status even_integers(ech_ctx *ctx, struct echi_bins *b, ech_dtype dtype, double lower,
                                double upper, const char *lower_name, const char *upper_name,
                                bool closed)
{
    const struct {
        const char *name;
        double value;
    } ends[] = { { lower_name, lower }, { upper_name, upper } };
    for (int i = 0; i < 2; i++) {
        double value = ends[i].value;
        if (value < -0x1p63 || value > 0x1p64)
            return echi_fail(ctx, ECH_ERR_ARG, "%s is %g: it must be between -2^63 and 2^64",
                             ends[i].name, value);
        if ((double)(wide)value < value || (double)(wide)value > value)
            return echi_fail(ctx, ECH_ERR_ARG, "%s is %g: it must be an integer for elements of %s",
                             ends[i].name, value, echi_dtype_name(dtype));
    }
    if ((wide)upper - (wide)lower > (wide)1 << 64)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "%s is %g and %s is %g: their difference must not exceed 2^64", lower_name,
                         lower, upper_name, upper);
    return whole(ctx, b, dtype, (wide)lower, (wide)upper, closed);
}

static ech_status even_floats(ech_ctx *ctx, struct echi_bins *b, ech_dtype dtype, double lower,
                              double upper, const char *lower_name, const char *upper_name,
                              bool closed)
{
    bool single = dtype != ECH_F64;
    b->kind = dtype == ECH_F16    ? ECHI_BINS_F16
              : dtype == ECH_BF16 ? ECHI_BINS_BF16
                                  : ECHI_BINS_FLOAT;
    if (single) {
        float from = (float)lower, to = (float)upper, factor = (float)b->bins / (to - from);
        b->lower = from;
        b->last = closed ? to : before_f32(to);
        b->factor = factor;
        upper = to;
    } else {
        b->lower = lower;
        b->last = closed ? upper : before_f64(upper);
        b->factor = (double)b->bins / (upper - lower);
    }
    if (!(b->lower < upper))
        return echi_fail(ctx, ECH_ERR_ARG, "%s and %s, %g, are equal in f32", lower_name,
                         upper_name, lower);
    double length = single ? (double)((float)upper - (float)b->lower) : upper - b->lower;
    if (!isfinite(upper) || !isfinite(b->lower) || !isfinite(length) || !isfinite(b->factor))
        return echi_fail(
            ctx, ECH_ERR_ARG, "%s is %g and %s is %g: bins / (%s - %s) cannot be computed in %s",
            lower_name, lower, upper_name, upper, upper_name, lower_name, single ? "f32" : "f64");
    return ECH_OK;
}

ech_status echi_bins_even(ech_ctx *ctx, struct echi_bins *b, ech_dtype dtype, double lower,
                          double upper, const char *lower_name, const char *upper_name, bool closed)
{
    if (!isfinite(lower) || !isfinite(upper))
        return echi_fail(ctx, ECH_ERR_ARG, "%s is not finite",
                         isfinite(lower) ? upper_name : lower_name);
    if (!(lower < upper))
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %g: it must be less than %s, which is %g",
                         lower_name, lower, upper_name, upper);
    return (echi_dtype_is_float(dtype) ? even_floats : even_integers)(
        ctx, b, dtype, lower, upper, lower_name, upper_name, closed);
}

ech_status echi_bins_count(ech_ctx *ctx, struct echi_bins *b, ech_dtype dtype)
{
    if (b->bins >> 32) return whole(ctx, b, dtype, 0, (wide)b->bins, false);
    /* The same without divisions: a bin per integer. */
    const uint64_t top = (uint64_t)1 << (8 * echi_dtype_bytes(dtype) - 1);
    const bool is_signed = echi_dtype_is_signed(dtype);
    const uint64_t most = is_signed ? top - 1 : top | (top - 1), last = b->bins - 1;
    b->order = echi_order_ascending(dtype, true);
    b->kind = ECHI_BINS_SHIFT;
    b->first = is_signed ? top : 0;
    b->span = last < most ? last : most;
    b->offset = b->rest = 0;
    b->each = 1;
    b->range = b->bins;
    b->shift = 0;
    return ECH_OK;
}

void echi_bins_edges(struct echi_bins *b, ech_dtype dtype, bool closed)
{
    b->kind = ECHI_BINS_EDGES;
    b->order = echi_order_ascending(dtype, true);
    b->closed = closed;
    b->top = log2_of((uwide)b->bins + 1);
}
