/*
 * quantile/method.h - the methods of quantiles: between which elements a quantile is, and its
 * value, for the CPU and for kernels.
 *
 * The formulas, and the order of their operations, are those of NumPy, so that the same weights
 * result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_METHOD_H
#define ECHI_QUANTILE_METHOD_H

#include "core/half.h"
#include "core/order.h"

#include <math.h>

/* The values of ech_quantile_call and ech_quantile_method: kernels do not include the public
 * header. */
enum { QUANTILE_CALL_NTH, QUANTILE_CALL_PARTITION, QUANTILE_CALL_QUANTILES };

enum {
    QUANTILE_LINEAR,
    QUANTILE_INVERTED_CDF,
    QUANTILE_AVERAGED_INVERTED_CDF,
    QUANTILE_CLOSEST_OBSERVATION,
    QUANTILE_INTERPOLATED_INVERTED_CDF,
    QUANTILE_HAZEN,
    QUANTILE_WEIBULL,
    QUANTILE_MEDIAN_UNBIASED,
    QUANTILE_NORMAL_UNBIASED,
    QUANTILE_LOWER,
    QUANTILE_HIGHER,
    QUANTILE_MIDPOINT,
    QUANTILE_NEAREST
};

/* The kinds of elements; the width is known otherwise. */
enum { QUANTILE_UNSIGNED, QUANTILE_SIGNED, QUANTILE_FLOAT, QUANTILE_BF16 };

struct quantile_place {
    uint64_t rank, next; /* of two elements, which may be the same */
    double weight;       /* of the second one */
};

/* The index in an array of which a fraction q is before it, if it has alpha - 1 elements more
 * before it, and beta - 1 after it. */
ECHI_BOTH double quantile_index(double n, double q, double alpha, double beta)
{
    return n * q + (alpha + q * (1 - alpha - beta)) - 1;
}

/* The index as a number that is not an integer; 0 < n. */
ECHI_BOTH double quantile_virtual(int method, double n, double q)
{
    switch (method) {
    case QUANTILE_INVERTED_CDF:
    case QUANTILE_AVERAGED_INVERTED_CDF:
        return n * q - 1;
    case QUANTILE_CLOSEST_OBSERVATION:
        return n * q - 1 - 0.5;
    case QUANTILE_INTERPOLATED_INVERTED_CDF:
        return quantile_index(n, q, 0, 1);
    case QUANTILE_HAZEN:
        return quantile_index(n, q, 0.5, 0.5);
    case QUANTILE_WEIBULL:
        return quantile_index(n, q, 0, 0);
    case QUANTILE_MEDIAN_UNBIASED:
        return quantile_index(n, q, 1 / 3.0, 1 / 3.0);
    case QUANTILE_NORMAL_UNBIASED:
        return quantile_index(n, q, 3 / 8.0, 3 / 8.0);
    default:
        return (n - 1) * q;
    }
}

/* An index as an integer from 0 to n - 1. */
ECHI_BOTH uint64_t quantile_clamp(double index, uint64_t n)
{
    if (!(index > 0)) return 0;
    return index >= (double)(n - 1) ? n - 1 : (uint64_t)index;
}

/* Where the quantile q of n > 0 elements is. */
ECHI_BOTH struct quantile_place quantile_place_of(int method, double q, uint64_t n)
{
    const double at = quantile_virtual(method, (double)n, q), below = floor(at);
    const double gamma = at - below;
    struct quantile_place p = { 0, 0, 0 };
    double index = below; /* of methods whose result is an element */
    switch (method) {
    case QUANTILE_INVERTED_CDF:
        index = gamma == 0 ? below : below + 1;
        break;
    case QUANTILE_CLOSEST_OBSERVATION: /* exactly between two: the one with the odd index */
        index = gamma == 0 && below != 2 * floor(below / 2) ? below : below + 1;
        break;
    case QUANTILE_LOWER:
        break;
    case QUANTILE_HIGHER:
        index = ceil(at);
        break;
    case QUANTILE_NEAREST:
        index = rint(at);
        break;
    default:
        p.weight = gamma;
        if (method == QUANTILE_AVERAGED_INVERTED_CDF) p.weight = gamma == 0 ? 0.5 : 1;
        if (method == QUANTILE_MIDPOINT) p.weight = gamma == 0 ? 0 : 0.5;
        p.rank = quantile_clamp(below, n);
        p.next = at < 0 ? 0 : quantile_clamp(below + 1, n);
        if (p.next <= p.rank) p.weight = 0;
        return p;
    }
    p.rank = p.next = quantile_clamp(index, n);
    return p;
}

/* The number between a <= b.  The formula for a difference that is infinite is not NumPy's, whose
 * result would be NaN. */
ECHI_BOTH double quantile_between(double a, double b, double weight)
{
    if (weight == 0 || a == b) return a;
    if (weight == 1) return b;
    if (isinf(b - a)) return a * (1 - weight) + b * weight;
    return weight < 0.5 ? a + (b - a) * weight : b - (b - a) * (1 - weight);
}

ECHI_BOTH double quantile_f64_of_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

ECHI_BOTH uint64_t quantile_bits_of_f64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* The bits of the element of a merged key; +0 for zeros, and the canonical NaN. */
ECHI_BOTH uint64_t quantile_bits_of_key(const struct echi_order *o, int bytes, uint64_t nan,
                                        uint64_t key)
{
    const uint64_t ones = ~(uint64_t)0 >> (64 - 8 * bytes);
    const uint64_t u = (key + o->shift) & ones;
    const uint64_t negative = u >> (8 * bytes - 1) ? 0 : o->float_mask; /* flipped off */
    if (o->float_mask && key == (o->last & ones)) return nan;
    return (u ^ (negative | o->sign)) & ones;
}

/* The number that an element's bits represent. */
ECHI_BOTH double quantile_number(int kind, int bytes, uint64_t u)
{
    const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    switch (kind) {
    case QUANTILE_UNSIGNED:
        return (double)u;
    case QUANTILE_SIGNED:
        return (double)(int64_t)((u ^ sign) - sign);
    case QUANTILE_BF16:
        return (double)echi_f32_of_bf16((uint32_t)u);
    default:
        break;
    }
    if (bytes == 2) return (double)echi_f32_of_f16((uint32_t)u);
    return bytes == 4 ? (double)echi_f32_of_bits((uint32_t)u) : quantile_f64_of_bits(u);
}

#endif
