/*
 * histogram_oracle.c - creates the data of test_histogram and computes the expected counts:
 * decodes each element to a number and applies the definition of bins in echelon/histogram.h.
 *
 * Float weights are 128-bit integers times a power of two. Their sums are exact and rounded once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram_case.h"
#include "sort_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

/* ---- Elements as numbers ---- */

static bool is_float(ech_dtype dtype)
{
    return dtype >= ECH_F16;
}

static bool is_signed(ech_dtype dtype)
{
    return dtype <= ECH_I64;
}

static wide integer_at(const char *in, ech_dtype dtype, size_t i)
{
    size_t bytes = ech_dtype_bytes(dtype);
    uint64_t u = 0;
    memcpy(&u, in + i * bytes, bytes);
    bool negative = is_signed(dtype) && u >> (8 * bytes - 1);
    return negative ? (wide)u - ((wide)1 << 8 * bytes) : (wide)u;
}

static double half(unsigned u)
{
    unsigned exponent = u >> 10 & 31, fraction = u & 1023;
    double x = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                              : ldexp(fraction, -24);
    return u >> 15 ? -x : x;
}

static double float_at(const char *in, ech_dtype dtype, size_t i)
{
    uint16_t u;
    uint32_t bits;
    float f;
    double x;
    switch (dtype) {
    case ECH_F16:
        memcpy(&u, in + 2 * i, 2);
        return half(u);
    case ECH_BF16:
        memcpy(&u, in + 2 * i, 2);
        bits = (uint32_t)u << 16;
        memcpy(&f, &bits, 4);
        return (double)f;
    case ECH_F32:
        memcpy(&f, in + 4 * i, 4);
        return (double)f;
    default:
        memcpy(&x, in + 8 * i, 8);
        return x;
    }
}

/* Stores a number near x. */
static void put(char *in, ech_dtype dtype, size_t i, double x)
{
    size_t bytes = ech_dtype_bytes(dtype);
    uint64_t bits = 0;
    float f = (float)x;
    uint32_t single;
    memcpy(&single, &f, 4);
    if (dtype == ECH_F64) {
        memcpy(&bits, &x, 8);
    } else if (dtype == ECH_F32) {
        bits = single;
    } else if (dtype == ECH_BF16) {
        bits = single >> 16;
    } else if (dtype == ECH_F16) { /* the largest magnitude <= |x| */
        unsigned u = 0;
        for (unsigned bit = 1u << 14; bit; bit >>= 1)
            if (half(u | bit) <= fabs(x)) u |= bit;
        bits = u | (x < 0 ? 0x8000u : 0);
    } else {
        double least = is_signed(dtype) ? -ldexp(1, (int)(8 * bytes) - 1) : 0;
        double past = ldexp(1, (int)(8 * bytes) - is_signed(dtype));
        x = floor(x);
        if (x < least) x = least;
        wide v = x >= past ? (wide)past - 1 : (wide)x;
        bits = (uint64_t)v;
    }
    memcpy(in + i * bytes, &bits, bytes);
}

/* ---- Bins ---- */

enum { BELOW = -1, ABOVE = -2, NOWHERE = -3 };

static long long bin_of_integer(const struct histogram_case *c, wide x, size_t bins)
{
    wide lower = c->kind == COUNT ? 0 : (wide)c->lower;
    wide upper = c->kind == COUNT ? (wide)bins : (wide)c->upper;
    if (x < lower) return BELOW;
    if (x == upper && c->closed && c->kind != COUNT) return (long long)bins - 1;
    if (x >= upper) return ABOVE;
    return (long long)((x - lower) * (wide)bins / (upper - lower));
}

static long long bin_of_float(const struct histogram_case *c, double x, size_t bins)
{
    if (isnan(x)) return NOWHERE;
    double t;
    if (c->dtype == ECH_F64) {
        if (x < c->lower) return BELOW;
        if (c->closed ? x > c->upper : x >= c->upper) return ABOVE;
        double scale = (double)bins / (c->upper - c->lower);
        double distance = x - c->lower;
        t = distance * scale;
    } else {
        float lower = (float)c->lower, upper = (float)c->upper, f = (float)x;
        if (f < lower) return BELOW;
        if (c->closed ? f > upper : f >= upper) return ABOVE;
        float scale = (float)bins / (upper - lower), distance = f - lower, product;
        product = distance * scale;
        t = (double)product;
    }
    long long bin = (long long)floor(t);
    return bin >= (long long)bins ? (long long)bins - 1 : bin;
}

static int compare(const char *a, const char *b, ech_dtype dtype, size_t i, size_t j)
{
    if (is_float(dtype)) {
        double x = float_at(a, dtype, i), y = float_at(b, dtype, j);
        return (x > y) - (x < y);
    }
    wide x = integer_at(a, dtype, i), y = integer_at(b, dtype, j);
    return (x > y) - (x < y);
}

static long long bin_by_edges(const struct histogram_data *d, size_t i)
{
    const struct histogram_case *c = d->c;
    if (is_float(c->dtype) && isnan(float_at(d->in, c->dtype, i))) return NOWHERE;
    if (compare(d->in, d->edges, c->dtype, i, 0) < 0) return BELOW;
    int last = compare(d->in, d->edges, c->dtype, i, c->bins);
    if (last > 0 || (last == 0 && !c->closed)) return ABOVE;
    if (last == 0) return (long long)c->bins - 1;
    size_t low = 0, high = c->bins; /* edges[low] <= x < edges[high] */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (compare(d->in, d->edges, c->dtype, i, middle) < 0)
            high = middle;
        else
            low = middle;
    }
    return (long long)low;
}

static long long bin_of(const struct histogram_data *d, const char *in, size_t i, size_t bins)
{
    const struct histogram_case *c = d->c;
    if (c->kind == EDGES) return bin_by_edges(d, i);
    if (is_float(c->dtype)) return bin_of_float(c, float_at(in, c->dtype, i), bins);
    return bin_of_integer(c, integer_at(in, c->dtype, i), bins);
}

/* The position among the channel's counters; -1: not counted. */
static long long place_of(const struct histogram_case *c, long long bin, size_t bins)
{
    if (bin >= 0) return bin;
    if (c->outside == ECH_OUTSIDE_DROP) return -1;
    if (c->outside == ECH_OUTSIDE_COUNT)
        return (long long)bins + (bin == BELOW ? 0 : bin == ABOVE ? 1 : 2);
    return bin == BELOW ? 0 : bin == ABOVE ? (long long)bins - 1 : -1;
}

static long long counter_of(const struct histogram_data *d, size_t i)
{
    const struct histogram_case *c = d->c;
    long long place = place_of(c, bin_of(d, d->in, i, c->bins), c->bins);
    if (place < 0) return -1;
    if (c->kind == PAIRS) {
        long long y = place_of(c, bin_of(d, d->in_y, i, c->y_bins), c->y_bins);
        return y < 0 ? -1 : place * (long long)c->y_bins + y;
    }
    size_t channels = c->channels ? (size_t)c->channels : 1;
    return (long long)(i % channels * d->stride) + place;
}

/* ---- Data ---- */

static bool fill(const struct histogram_case *c, uint64_t seed, char *in)
{
    struct sort_case keys = { .dtype = c->dtype, .n = c->n, .dist = c->dist };
    struct rng rng = { seed };
    bool ends = strcmp(c->dist, "ends") == 0;
    if (!ends && strcmp(c->dist, "inside") != 0) return keys_fill(&keys, seed, in);
    double lower = c->kind == COUNT ? 0 : c->lower,
           upper = c->kind == COUNT ? (double)c->bins : c->upper;
    for (size_t i = 0; i < c->n; i++) {
        double u = (double)(rng_next(&rng) >> 11) * 0x1p-53, x;
        if (ends) { /* near the boundaries of bins */
            double b = (double)rng_below(&rng, c->bins + 1) / (double)c->bins;
            x = lower + b * (upper - lower);
            x += ((double)rng_below(&rng, 3) - 1) * (is_float(c->dtype) ? fabs(x) * 0x1p-23 : 1);
        } else {
            x = lower + (u * 1.2 - 0.1) * (upper - lower);
        }
        put(in, c->dtype, i, x);
    }
    return true;
}

/* Ascending edges: distinct values of the elements' type. */
static bool fill_edges(const struct histogram_case *c, char *edges)
{
    for (size_t b = 0; b <= c->bins; b++) {
        double x = c->lower + (c->upper - c->lower) * (double)b / (double)c->bins;
        if (b == c->bins && is_float(c->dtype) && c->bins % 2) x = (double)INFINITY;
        put(edges, c->dtype, b, x);
    }
    for (size_t b = 0; b < c->bins; b++)
        if (compare(edges, edges, c->dtype, b, b + 1) >= 0) {
            test_fail(__FILE__, __LINE__,
                      "edge %zu of the case is not greater than the edge before it", b + 1);
            return false;
        }
    return true;
}

/* Weight i as an integer; a float weight is this integer times 2^scale. */
static wide weight_at(const struct histogram_case *c, uint64_t seed, size_t i, int *scale)
{
    struct rng rng = { seed ^ (i * 0x9E3779B97F4A7C15u) };
    uint64_t bits = rng_next(&rng);
    int kind = (int)(seed % 3);
    switch (c->weights) {
    case ECH_I32:
        return (int32_t)bits;
    case ECH_U32:
        return (uint32_t)bits;
    case ECH_I64:
        return (int64_t)bits;
    case ECH_U64:
        return (wide)bits;
    default: {
        int digits = c->weights == ECH_F32 ? 24 : 53;
        wide w = (wide)(bits >> (64 - digits)) << rng_below(&rng, c->weights == ECH_F32 ? 60 : 40);
        /* by seed: near 1 or subnormal with both signs, or large and positive */
        *scale = kind == 0 ? -70 : kind == 1 ? (c->weights == ECH_F32 ? -149 : -1074) : 30;
        return kind != 2 && rng_below(&rng, 2) ? -w : w;
    }
    }
}

static void put_weight(const struct histogram_case *c, char *weights, size_t i, wide w, int scale)
{
    size_t bytes = ech_dtype_bytes(c->weights);
    double x = ldexp((double)w, scale);
    float f = (float)x;
    if (c->weights == ECH_F32)
        memcpy(weights + i * bytes, &f, 4);
    else if (c->weights == ECH_F64)
        memcpy(weights + i * bytes, &x, 8);
    else
        memcpy(weights + i * bytes, &w, bytes);
}

static void count_all(struct histogram_data *d, uint64_t seed, wide *sums)
{
    const struct histogram_case *c = d->c;
    int scale = 0;
    bool floats = c->weighted && is_float(c->weights);
    for (size_t i = 0; i < c->n; i++) {
        wide w = c->weighted ? weight_at(c, seed, i, &scale) : 1;
        if (c->weighted) put_weight(c, d->weights, i, w, scale);
        long long counter = counter_of(d, i);
        if (counter >= 0) sums[counter] += w;
    }
    for (size_t k = 0; k < d->counters; k++) {
        d->before[k] = 7 * k;
        d->after[k] = (uint64_t)sums[k] + (c->add ? d->before[k] : 0);
        if (!floats) continue;
        double before = (double)k / 3, sum = ldexp((double)sums[k], scale);
        double after = c->add ? before + sum : sum;
        memcpy(&d->before[k], &before, 8);
        memcpy(&d->after[k], &after, 8);
    }
}

bool histogram_make(const struct histogram_case *c, uint64_t seed, struct histogram_data *d)
{
    *d = (struct histogram_data){ .c = c, .bytes = ech_dtype_bytes(c->dtype) };
    size_t bins = c->kind == PAIRS ? c->bins * c->y_bins : c->bins;
    size_t channels = c->channels ? (size_t)c->channels : 1;
    d->stride = bins + (c->outside == ECH_OUTSIDE_COUNT ? 3 : 0);
    d->counters = d->stride * channels;
    d->weight_bytes = c->weighted ? ech_dtype_bytes(c->weights) : 0;
    d->in = malloc(c->n * d->bytes + 1);
    d->in_y = malloc(c->n * d->bytes + 1);
    d->edges = malloc((c->bins + 1) * d->bytes);
    d->weights = malloc(c->n * d->weight_bytes + 1);
    d->before = malloc(d->counters * 8);
    d->after = malloc(d->counters * 8);
    wide *sums = calloc(d->counters, sizeof *sums);
    bool made = d->in && d->in_y && d->edges && d->weights && d->before && d->after && sums &&
                fill(c, seed, d->in) && (c->kind != PAIRS || fill(c, seed + 1, d->in_y)) &&
                (c->kind != EDGES || fill_edges(c, d->edges));
    if (made) count_all(d, seed, sums);
    free(sums);
    return made;
}

void histogram_free(struct histogram_data *d)
{
    free(d->in);
    free(d->in_y);
    free(d->edges);
    free(d->weights);
    free(d->before);
    free(d->after);
}
