/*
 * oracle.c - computes the expected result of a sort with a simple algorithm.
 *
 * A bottom-up merge sort of positions. Whole keys in the default order are compared as numbers:
 * integers as integers, and every float as an equal double. Sorts by some bits and totalOrder
 * compare ranks: the number of patterns that precede the key.
 *
 * The header leaves two points open; they are understood as follows:
 *   - a sort of only keys orders NaN by their bits: first the positive ones with ascending payload,
 *     then the negative ones with descending payload, because ranks wrap when negative NaN move to
 *     the end;
 *   - a sort by some bits that moves values treats equal keys as equal: -0 has the rank of +0, and
 *     every NaN has the rank of the first NaN.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

union number {
    int64_t i;
    uint64_t u;
    double f;
};

struct oracle {
    int (*compare)(const struct oracle *o, uint32_t a, uint32_t b);
    union number *value; /* of each key: the number or its rank */
    uint64_t *pattern;
    int direction; /* 1: ascending, -1: descending */
};

static int compare_signed(const struct oracle *o, uint32_t a, uint32_t b)
{
    return (o->value[a].i > o->value[b].i) - (o->value[a].i < o->value[b].i);
}

static int compare_unsigned(const struct oracle *o, uint32_t a, uint32_t b)
{
    return (o->value[a].u > o->value[b].u) - (o->value[a].u < o->value[b].u);
}

static int compare_floats(const struct oracle *o, uint32_t a, uint32_t b)
{
    double x = o->value[a].f, y = o->value[b].f;
    if (isnan(x) || isnan(y)) return !!isnan(x) - !!isnan(y);
    return (x > y) - (x < y);
}

/* A sort of only keys orders equal floats by their bits. */
static int compare_floats_and_bits(const struct oracle *o, uint32_t a, uint32_t b)
{
    int order = compare_floats(o, a, b);
    if (order) return order;
    uint64_t x = o->pattern[a], y = o->pattern[b];
    bool x_negative = signbit(o->value[a].f), y_negative = signbit(o->value[b].f);
    if (isnan(o->value[a].f)) {
        if (x_negative != y_negative) return x_negative - y_negative;
        return x_negative ? (x < y) - (x > y) : (x > y) - (x < y);
    }
    return y_negative - x_negative;
}

static double number_of_half(uint64_t pattern)
{
    int exponent = (int)(pattern >> 10 & 31);
    double fraction = (double)(pattern & 1023);
    double magnitude = exponent == 31  ? (fraction > 0 ? (double)NAN : HUGE_VAL)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(1024 + fraction, exponent - 25);
    return pattern >> 15 ? copysign(magnitude, -1) : copysign(magnitude, 1);
}

static double number_of_float(ech_dtype dtype, uint64_t pattern)
{
    if (dtype == ECH_F16) return number_of_half(pattern);
    if (dtype == ECH_F64) {
        double d;
        memcpy(&d, &pattern, sizeof d);
        return d;
    }
    uint32_t word = (uint32_t)(dtype == ECH_BF16 ? pattern << 16 : pattern);
    float f;
    memcpy(&f, &word, sizeof f);
    return (double)f;
}

/* The number of patterns that precede this one. merged: equal floats have the rank of the first. */
static uint64_t rank(const struct sort_case *c, uint64_t pattern, bool merged)
{
    static const int fractions[] = { 10, 7, 23, 52 };
    int width = (int)(8 * ech_dtype_bytes(c->dtype));
    uint64_t top = (uint64_t)1 << (width - 1), magnitude = pattern & (top - 1);
    bool negative = pattern & top;
    if (c->dtype >= ECH_U8 && c->dtype <= ECH_U64) return pattern;
    if (c->dtype <= ECH_I64) return negative ? magnitude : top + magnitude;
    if (c->total) return negative ? top - 1 - magnitude : top + magnitude;

    uint64_t infinity = top - ((uint64_t)1 << fractions[c->dtype - ECH_F16]);
    uint64_t first_nan = 2 * infinity + 2; /* after -inf .. -0 and +0 .. +inf */
    if (magnitude > infinity) {
        uint64_t nan = magnitude - infinity - 1, nans = top - 1 - infinity;
        if (merged) return first_nan;
        return first_nan + (negative ? 2 * nans - 1 - nan : nan);
    }
    if (merged && magnitude == 0) negative = false;
    return negative ? infinity - magnitude : infinity + 1 + magnitude;
}

static void prepare(const struct sort_case *c, const void *keys, struct oracle *o)
{
    size_t bytes = ech_dtype_bytes(c->dtype);
    int width = (int)(8 * bytes), end = c->end_bit ? c->end_bit : width;
    bool values = c->value_bytes || c->index_bytes, whole = c->begin_bit == 0 && end == width;
    bool is_float = c->dtype >= ECH_F16, is_signed = c->dtype <= ECH_I64;
    uint64_t mask = end == c->begin_bit ? 0 : ~(uint64_t)0 >> (64 - (end - c->begin_bit));

    o->direction = c->descending ? -1 : 1;
    o->compare = !whole || (is_float && c->total) ? compare_unsigned
                 : is_float  ? (values ? compare_floats : compare_floats_and_bits)
                 : is_signed ? compare_signed
                             : compare_unsigned;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t pattern = 0;
        memcpy(&pattern, (const char *)keys + i * bytes, bytes);
        o->pattern[i] = pattern;
        if (!whole || (is_float && c->total)) /* an empty range would shift by 64 */
            o->value[i].u = mask ? rank(c, pattern, values) >> c->begin_bit & mask : 0;
        else if (is_float)
            o->value[i].f = number_of_float(c->dtype, pattern);
        else if (is_signed)
            o->value[i].i = (int64_t)(pattern << (64 - width)) >> (64 - width);
        else
            o->value[i].u = pattern;
    }
}

static void merge(const struct oracle *o, const uint32_t *from, uint32_t *to, size_t low,
                  size_t middle, size_t high)
{
    size_t a = low, b = middle;
    for (size_t i = low; i < high; i++) {
        bool left =
            a < middle && (b == high || o->direction * o->compare(o, from[a], from[b]) <= 0);
        to[i] = left ? from[a++] : from[b++];
    }
}

bool oracle_order(const struct sort_case *c, const void *keys, uint32_t *order)
{
    size_t n = c->n;
    struct oracle o = { .value = malloc((n + 1) * sizeof *o.value),
                        .pattern = malloc((n + 1) * sizeof *o.pattern) };
    uint32_t *room = malloc((n + 1) * sizeof *room);
    bool done = o.value && o.pattern && room;
    if (done) {
        prepare(c, keys, &o);
        uint32_t *from = order, *to = room;
        for (size_t i = 0; i < n; i++) from[i] = (uint32_t)i;
        for (size_t run = 1; run < n; run *= 2) {
            for (size_t low = 0; low < n; low += 2 * run)
                merge(&o, from, to, low, low + run < n ? low + run : n,
                      low + 2 * run < n ? low + 2 * run : n);
            uint32_t *swap = from;
            from = to;
            to = swap;
        }
        if (from != order) memcpy(order, from, n * sizeof *order);
    }
    free(o.value);
    free(o.pattern);
    free(room);
    return done;
}
