/*
 * reduce/value.h - the last two steps of a reduction: merges values and computes results.  Shared
 * by the CPU and by kernels, so that both round identically.
 *
 *     elements -> lanes -> the value of a chunk -> values merged pairwise -> the bits of a result
 *
 * This file contains the parts of the last two steps that are not plain operations of C;
 * docs/reduce.md documents the order in which values are merged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_VALUE_H
#define ECHI_REDUCE_VALUE_H

#include "core/both.h"
#include "core/order.h"

#include <math.h>
#include <string.h>

/* A chunk: ECHI_CHUNK_LINES lines of ECHI_LINE_BYTES. Part of the definition of the results:
 * docs/reduce.md. */
enum { ECHI_RAW_WORDS = 5 };
enum { ECHI_LINE_BYTES = 512, ECHI_CHUNK_LINES = 8, ECHI_CHUNK_BYTES = 512 * 8 };

/* The conversion of a sum in f64 or of moments to a result. */
enum echi_finish { ECHI_FINISH_SUM, ECHI_FINISH_MEAN, ECHI_FINISH_NORM, ECHI_FINISH_STDDEV };

/* The parameters of an operation for a dtype; kernels get it by value. e is an element's
 * order-preserving form. */
struct echi_reduce_rule {
    struct echi_order order;                       /* max (min: flipped), both, arg, count */
    uint64_t special_first, special_last, special; /* max: the result for e of a NaN, or of an empty
                                                      input */
    uint64_t limit;                                /* both, count: the maximum e of a number */
    uint64_t flip, add;       /* arg: an element's rank is (e ^ flip) + add; of a NaN, special */
    uint64_t sign;            /* of integers: the sign bit of signed types, otherwise 0 */
    uint64_t mask, low, span; /* count: passes if (e & mask) - low <= span, inverted by invert */
    uint64_t first;           /* bits: XORed with elements before, and with the result after */
    uint32_t invert;
    uint32_t exclusive; /* bits: 1: XOR; 0: OR */
    uint32_t ignore;    /* NaN are skipped */
    uint32_t finish;    /* enum echi_finish */
    uint32_t in_f64;    /* sums in f64 are not rounded to f32 at the end */
    uint32_t ddof;
    uint32_t raw; /* sums in f64, variances: the result is the value before this conversion, as
                     ECHI_RAW_WORDS words: src/dist */
    uint32_t quantified; /* count: 1: any; 2: all, which counts the elements that fail; 0: the
                            number itself */
    uint32_t bytes;      /* of an element */
    uint32_t out_bytes;  /* of a result; for minmax of both together */
};

/* ---- Bits of floats: every NaN becomes the canonical one ---- */

ECHI_BOTH uint64_t f32_result(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return x == x ? bits : 0x7fc00000u;
}

ECHI_BOTH uint64_t f64_result(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return x == x ? bits : (uint64_t)0x7ff8 << 48;
}

/* ---- Sums in f64 ---- */

/* n: number of elements that were added.  Lanes begin with -0; a zero result is +0. */
ECHI_BOTH uint64_t sum_result(const struct echi_reduce_rule *rule, double sum, uint64_t n)
{
    sum += 0.0;
    if (rule->finish == ECHI_FINISH_MEAN) sum = n ? sum / (double)n : (double)NAN;
    if (rule->finish == ECHI_FINISH_NORM) sum = sqrt(sum);
    return rule->in_f64 ? f64_result(sum) : f32_result((float)sum);
}

/* ---- Variance: count, mean, and sum of the squares of the distances from it ---- */

/* The type of the elements determines how distances are computed. */
enum echi_spread {
    ECHI_SPREAD_PLAIN,   /* all others: f64 holds the mean without loss, so that the center is 0 */
    ECHI_SPREAD_INTEGER, /* 64-bit integers: by integers, then rounded to f64 */
    ECHI_SPREAD_F64      /* scaled if their squares would exceed the range of f64 */
};

/* The factor of distances, and twice of their squares: a power of two, so that products are
 * exact. */
enum echi_scale { ECHI_SCALE_NONE, ECHI_SCALE_DOWN, ECHI_SCALE_UP };
#define ECHI_UP   4.149515568880993e+180  /* 2^600 */
#define ECHI_DOWN 2.409919865102884e-181  /* 2^-600 */
#define ECHI_TINY 1.1830521861667747e-271 /* 2^-900: lower sums of squares get ECHI_SCALE_UP */
#define ECHI_MOST 1.7976931348623157e308  /* the maximum f64: higher ones get ECHI_SCALE_DOWN */

struct echi_moments {
    double n, offset, m2; /* offset: of the mean from the center; scaled, as m2 */
    uint64_t center;      /* an element: bits of an f64, or center_of_integer() */
    uint32_t scale;       /* enum echi_scale */
};

ECHI_BOTH double f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

ECHI_BOTH uint64_t bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A 64-bit integer in the order of unsigned ones. */
ECHI_BOTH uint64_t center_of_integer(const struct echi_reduce_rule *rule, uint64_t u)
{
    return u ^ rule->sign;
}

ECHI_BOTH double integer_distance(uint64_t x, uint64_t from)
{
    const double distance = (double)(x < from ? from - x : x - from);
    return x < from ? -distance : distance;
}

/* A number that becomes subnormal by ECHI_DOWN is much smaller than others that need it. */
ECHI_BOTH double scaled_distance(double x, double from, uint32_t scale)
{
    if (scale == ECHI_SCALE_DOWN) return x * ECHI_DOWN - from * ECHI_DOWN;
    return scale == ECHI_SCALE_UP ? (x - from) * ECHI_UP : x - from;
}

/* The scale of a chunk of f64 whose squares have the sum s2 without a scale.  some: not all
 * distances are 0. */
ECHI_BOTH uint32_t scale_of_squares(double s2, bool some)
{
    if (s2 > ECHI_MOST) return ECHI_SCALE_DOWN;
    return s2 < ECHI_TINY && some ? ECHI_SCALE_UP : ECHI_SCALE_NONE;
}

/* The moments of n elements, from the sum s1 of their distances from k, and the sum s2 of the
 * squared distances. */
ECHI_BOTH struct echi_moments moments_make(int spread, double n, uint64_t k, double s1, double s2,
                                           uint32_t scale)
{
    const bool plain = spread == ECHI_SPREAD_PLAIN;
    struct echi_moments m = { n, 0, 0, plain ? 0 : k, scale };
    if (n == 0) return m;
    m.offset = plain ? f64_of_bits(k) + s1 / n : s1 / n;
    m.m2 = s2 - s1 * s1 / n;
    if (m.m2 < 0) m.m2 = 0;
    return m;
}

/* The same if n is a power of two: multiplying by the inverse gives the same quotient faster. */
ECHI_BOTH struct echi_moments moments_make_by(int spread, double n, double inverse, uint64_t k,
                                              double s1, double s2)
{
    const bool plain = spread == ECHI_SPREAD_PLAIN;
    struct echi_moments m = { n, s1 * inverse, s2 - s1 * s1 * inverse, plain ? 0 : k,
                              ECHI_SCALE_NONE };
    if (plain) m.offset = f64_of_bits(k) + m.offset;
    if (m.m2 < 0) m.m2 = 0;
    return m;
}

/* scale: none, or the final one. */
ECHI_BOTH struct echi_moments moments_scaled(struct echi_moments m, uint32_t scale)
{
    if (m.scale != ECHI_SCALE_NONE && m.scale != scale) {
        const double factor = m.scale == ECHI_SCALE_UP ? ECHI_DOWN : ECHI_UP;
        m.offset *= factor;
        m.m2 = m.m2 * factor * factor;
        m.scale = ECHI_SCALE_NONE;
    }
    if (m.scale != scale) {
        const double factor = scale == ECHI_SCALE_UP ? ECHI_UP : ECHI_DOWN;
        m.offset *= factor;
        m.m2 = m.m2 * factor * factor;
        m.scale = scale;
    }
    return m;
}

/* Chan, Golub, LeVeque 1979: updating formulae and a pairwise algorithm for computing sample
 * variances.  a and b have the same scale. */
ECHI_BOTH struct echi_moments moments_add(int spread, struct echi_moments a, struct echi_moments b)
{
    struct echi_moments m = { a.n + b.n, 0, 0, a.center, a.scale };
    double delta = b.offset - a.offset;
    if (spread == ECHI_SPREAD_INTEGER) delta += integer_distance(b.center, a.center);
    if (spread == ECHI_SPREAD_F64)
        delta += scaled_distance(f64_of_bits(b.center), f64_of_bits(a.center), a.scale);
    if (a.n == b.n && a.n < 0x1p26) { /* the same without division: a.n * a.n is exact */
        m.offset = a.offset + delta * 0.5;
        m.m2 = (a.m2 + b.m2) + delta * delta * (a.n * 0.5);
        return m;
    }
    m.offset = a.offset + delta * (b.n / m.n);
    m.m2 = (a.m2 + b.m2) + delta * delta * (a.n * b.n / m.n);
    return m;
}

/* a precedes b.  spread: enum echi_spread */
ECHI_BOTH struct echi_moments moments_merge(int spread, struct echi_moments a,
                                            struct echi_moments b)
{
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    if (spread != ECHI_SPREAD_F64) return moments_add(spread, a, b);
    const struct echi_moments m =
        moments_add(spread, moments_scaled(a, ECHI_SCALE_NONE), moments_scaled(b, ECHI_SCALE_NONE));
    if (m.m2 >= ECHI_TINY && m.m2 <= ECHI_MOST) return m;
    const uint32_t scale = m.m2 < ECHI_TINY ? ECHI_SCALE_UP : ECHI_SCALE_DOWN;
    return moments_add(spread, moments_scaled(a, scale), moments_scaled(b, scale));
}

ECHI_BOTH uint64_t moments_result(const struct echi_reduce_rule *rule, struct echi_moments m)
{
    const double divisor = m.n - (double)rule->ddof;
    const double factor = m.scale == ECHI_SCALE_UP     ? ECHI_DOWN
                          : m.scale == ECHI_SCALE_DOWN ? ECHI_UP
                                                       : 1;
    double x = divisor > 0 ? m.m2 / divisor : (double)NAN;
    x = (rule->finish == ECHI_FINISH_STDDEV ? sqrt(x) : x * factor) * factor;
    return rule->in_f64 ? f64_result(x) : f32_result((float)x);
}

/* ---- Results that depend on the order of elements ---- */

ECHI_BOTH uint64_t order_bits(const struct echi_order *o, int bytes, uint64_t e)
{
    uint64_t ones = ~(uint64_t)0 >> (64 - 8 * bytes), top = (uint64_t)1 << (8 * bytes - 1);
    uint64_t u = ((e ^ o->flip) + o->shift) & ones;
    return (u ^ o->sign ^ (u & top ? 0 : o->float_mask & ~o->sign)) & ones;
}

/* most: the maximum e; 0 for an empty input. */
ECHI_BOTH uint64_t max_result(const struct echi_reduce_rule *rule, uint64_t most)
{
    if (most >= rule->special_first && most <= rule->special_last) return rule->special;
    return order_bits(&rule->order, (int)rule->bytes, most);
}

/* smallest: the minimum e; all ones for an empty input. */
ECHI_BOTH void minmax_result(const struct echi_reduce_rule *rule, uint64_t smallest, uint64_t most,
                             uint64_t out[2])
{
    bool nan = !rule->ignore && most > rule->limit;
    if (smallest > rule->limit) smallest = rule->limit;
    out[0] = nan ? rule->special : order_bits(&rule->order, (int)rule->bytes, smallest);
    out[1] = nan ? rule->special : order_bits(&rule->order, (int)rule->bytes, most);
}

/* within: how many of n elements are within the range; if the rule is inverted and NaN are ignored,
 * how many numbers are not. */
ECHI_BOTH uint64_t count_result(const struct echi_reduce_rule *rule, uint64_t within, uint64_t n)
{
    const uint64_t counted = rule->invert && !rule->ignore ? n - within : within;
    return rule->quantified == 0 ? counted : rule->quantified == 1 ? counted != 0 : counted == 0;
}

/* ---- Results in memory ---- */

ECHI_BOTH void result_store(void *out, uint64_t index, uint32_t bytes, uint64_t bits)
{
    if (bytes == 1)
        ((uint8_t *)out)[index] = (uint8_t)bits;
    else if (bytes == 2)
        ((uint16_t *)out)[index] = (uint16_t)bits;
    else if (bytes == 4)
        ((uint32_t *)out)[index] = (uint32_t)bits;
    else
        ((uint64_t *)out)[index] = bits;
}

#endif
