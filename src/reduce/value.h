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
enum { ECHI_LINE_BYTES = 512, ECHI_CHUNK_LINES = 8, ECHI_CHUNK_BYTES = 512 * 8 };

/* The conversion of a sum in f64 to a result. */
enum echi_finish { ECHI_FINISH_SUM, ECHI_FINISH_MEAN, ECHI_FINISH_NORM };

/* The parameters of an operation for a dtype; kernels get it by value. e is an element's
 * order-preserving form. */
struct echi_reduce_rule {
    struct echi_order order;                       /* max (min: flipped), both, arg, count */
    uint64_t special_first, special_last, special; /* max: the result for e of a NaN, or of an empty
                                                      input */
    uint64_t limit;                                /* both: the maximum e of a number */
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
    uint32_t quantified; /* count: 1: any; 2: all; 0: the number itself */
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

struct echi_moments {
    double n, mean, m2;
};

/* The moments of n elements, from the sum s1 of their distances from k, and the sum s2 of the
 * squared distances. */
ECHI_BOTH struct echi_moments moments_make(double n, double k, double s1, double s2)
{
    struct echi_moments m = { 0, 0, 0 };
    if (n == 0) return m;
    m.n = n;
    m.mean = k + s1 / n;
    m.m2 = s2 - s1 * s1 / n;
    if (m.m2 < 0) m.m2 = 0;
    return m;
}

/* The same if n is a power of two: multiplying by the inverse gives the same quotient faster. */
ECHI_BOTH struct echi_moments moments_make_by(double n, double inverse, double k, double s1,
                                              double s2)
{
    struct echi_moments m = { n, k + s1 * inverse, s2 - s1 * s1 * inverse };
    if (m.m2 < 0) m.m2 = 0;
    return m;
}

/* Chan, Golub, LeVeque 1979: updating formulae and a pairwise algorithm for computing sample
 * variances. */
ECHI_BOTH struct echi_moments moments_merge(struct echi_moments a, struct echi_moments b)
{
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    struct echi_moments m;
    double delta = b.mean - a.mean;
    m.n = a.n + b.n;
    if (a.n == b.n && a.n < 0x1p26) { /* the same without division: a.n * a.n is exact */
        m.mean = a.mean + delta * 0.5;
        m.m2 = (a.m2 + b.m2) + delta * delta * (a.n * 0.5);
        return m;
    }
    m.mean = a.mean + delta * (b.n / m.n);
    m.m2 = (a.m2 + b.m2) + delta * delta * (a.n * b.n / m.n);
    return m;
}

ECHI_BOTH uint64_t moments_result(const struct echi_reduce_rule *rule, struct echi_moments m)
{
    double divisor = m.n - (double)rule->ddof;
    double variance = divisor > 0 ? m.m2 / divisor : (double)NAN;
    return rule->in_f64 ? f64_result(variance) : f32_result((float)variance);
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

/* passed: how many of n elements pass the test. */
ECHI_BOTH uint64_t count_result(const struct echi_reduce_rule *rule, uint64_t passed, uint64_t n)
{
    return rule->quantified == 0 ? passed : rule->quantified == 1 ? passed != 0 : passed == n;
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
