/*
 * quantile_oracle.c - the expected results of test_quantile.
 *
 * Positions are sorted by oracle.c.  A quantile's place is computed from the definitions of the
 * methods, with a case for each; elements are converted to f64 through long double, from their
 * sign, exponent and fraction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t key_at(const void *keys, size_t bytes, size_t i)
{
    uint64_t u = 0;
    memcpy(&u, (const char *)keys + i * bytes, bytes);
    return u;
}

/* ---- Numbers ---- */

/* The bits of a fraction; 0: not a float. */
static int fraction_bits(ech_dtype dtype)
{
    return dtype == ECH_F16    ? 10
           : dtype == ECH_BF16 ? 7
           : dtype == ECH_F32  ? 23
           : dtype == ECH_F64  ? 52
                               : 0;
}

static double number(ech_dtype dtype, uint64_t u)
{
    const int bits = 8 * (int)ech_dtype_bytes(dtype), fraction = fraction_bits(dtype);
    const uint64_t top = (uint64_t)1 << (bits - 1);
    if (!fraction) {
        const bool is_signed = dtype <= ECH_I64;
        if (!is_signed || !(u & top)) return (double)u;
        return -(double)((~u & (top - 1)) + (uint64_t)1);
    }
    const uint64_t ones = ((uint64_t)1 << (bits - 1 - fraction)) - 1, e = u >> fraction & ones;
    const uint64_t f = u & (((uint64_t)1 << fraction) - 1);
    const int bias = (int)(ones / 2);
    const double sign = u & top ? -1 : 1;
    if (e == ones) return f ? (double)NAN : sign * (double)INFINITY;
    if (e == 0) return sign * ldexp((double)f, 1 - bias - fraction);
    return sign * ldexp((double)(f + ((uint64_t)1 << fraction)), (int)e - bias - fraction);
}

static bool is_nan(ech_dtype dtype, uint64_t u)
{
    return fraction_bits(dtype) && isnan(number(dtype, u));
}

/* The canonical NaN. */
static uint64_t nan_of(ech_dtype dtype)
{
    const int fraction = fraction_bits(dtype), bits = 8 * (int)ech_dtype_bytes(dtype);
    const uint64_t magnitude = ((uint64_t)1 << (bits - 1)) - 1;
    return magnitude & ~(((uint64_t)1 << (fraction - 1)) - 1);
}

/* ---- Quantiles ---- */

/* The sorted elements between which a quantile is, and the weight of the second one. */
static void place(ech_quantile_method method, double q, double n, double *first, double *second,
                  double *weight)
{
    double at = 0;
    switch (method) {
    case ECH_QUANTILE_LINEAR:
    case ECH_QUANTILE_LOWER:
    case ECH_QUANTILE_HIGHER:
    case ECH_QUANTILE_MIDPOINT:
    case ECH_QUANTILE_NEAREST:
        at = (n - 1) * q;
        break;
    case ECH_QUANTILE_INVERTED_CDF:
    case ECH_QUANTILE_AVERAGED_INVERTED_CDF:
        at = n * q - 1;
        break;
    case ECH_QUANTILE_CLOSEST_OBSERVATION:
        at = n * q - 1 - 0.5;
        break;
    case ECH_QUANTILE_INTERPOLATED_INVERTED_CDF:
        at = n * q + 0.0 - 1;
        break;
    case ECH_QUANTILE_HAZEN:
        at = n * q + 0.5 - 1;
        break;
    case ECH_QUANTILE_WEIBULL:
        at = n * q + q - 1;
        break;
    case ECH_QUANTILE_MEDIAN_UNBIASED:
        at = n * q + (1 / 3.0 + q * (1 - 1 / 3.0 - 1 / 3.0)) - 1;
        break;
    case ECH_QUANTILE_NORMAL_UNBIASED:
        at = n * q + (0.375 + q * 0.25) - 1;
        break;
    }
    *first = floor(at);
    *second = *first + 1;
    *weight = at - *first;
    const bool whole = *weight == 0;
    if (method == ECH_QUANTILE_INVERTED_CDF) *weight = whole ? 0 : 1;
    if (method == ECH_QUANTILE_AVERAGED_INVERTED_CDF) *weight = whole ? 0.5 : 1;
    if (method == ECH_QUANTILE_CLOSEST_OBSERVATION)
        *weight = whole && fabs(fmod(*first, 2)) == 1 ? 0 : 1;
    if (method == ECH_QUANTILE_LOWER) *weight = 0;
    if (method == ECH_QUANTILE_HIGHER) *weight = whole ? 0 : 1;
    if (method == ECH_QUANTILE_MIDPOINT) *weight = whole ? 0 : 0.5;
    if (method == ECH_QUANTILE_NEAREST)
        *weight = *weight > 0.5 || (*weight == 0.5 && fmod(*first, 2) == 1);
    if (at < 0) *first = *second = 0;
    *first = fmin(fmax(*first, 0), n - 1);
    *second = fmin(fmax(*second, 0), n - 1);
}

static double between(double a, double b, double weight)
{
    if (weight == 0 || a == b) return a;
    if (weight == 1) return b;
    if (isinf(b - a)) return (1 - weight) * a + weight * b;
    if (weight < 0.5) return a + (b - a) * weight;
    return b - (b - a) * (1 - weight);
}

/* The bits of a result that is an element: zeros are +0. */
static uint64_t element(ech_dtype dtype, uint64_t u)
{
    if (fraction_bits(dtype) && number(dtype, u) == 0) return 0;
    return u;
}

static void expect_quantiles(const struct quantile_case *c, const uint32_t *order,
                             struct expected *e)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    const ech_dtype out = (ech_dtype)ech_quantile_dtype(c->method, c->dtype);
    size_t n = c->n;
    while (n && is_nan(c->dtype, key_at(e->keys, bytes, order[n - 1]))) n--;
    const bool nan = n == 0 || (n < c->n && !c->ignore_nan);
    for (size_t i = 0; i < c->count; i++) {
        double first = 0, second = 0, weight = 0;
        uint64_t result = nan ? nan_of(out) : 0;
        if (!nan) {
            place(c->method, e->q[i], (double)n, &first, &second, &weight);
            const uint64_t a = element(c->dtype, key_at(e->keys, bytes, order[(size_t)first]));
            const uint64_t b = element(c->dtype, key_at(e->keys, bytes, order[(size_t)second]));
            const double x = between(number(c->dtype, a), number(c->dtype, b), weight);
            memcpy(&result, &x, sizeof x);
            if (out != ECH_F64 || c->dtype == ECH_F64) {
                const bool discrete = weight == 0 || weight == 1;
                if (discrete) result = weight == 0 ? a : b;
            }
        }
        memcpy(e->out + i * e->out_bytes, &result, e->out_bytes);
    }
}

/* ---- Partitions ---- */

/* Writes the elements of sorted positions. */
static void expect_positions(const struct quantile_case *c, const uint64_t *positions,
                             struct expected *e)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    for (size_t i = 0; i < e->outputs; i++)
        memcpy(e->out + i * bytes, e->keys + positions[i] * bytes, bytes);
    free(e->index);
    e->index = e->outputs ? index_array(positions, e->outputs, c->index_dtype) : NULL;
}

/* The parts are numbered: 2 j before rank j of the distinct ones, 2 j + 1 for that element.  The
 * elements of a part keep the order of the input. */
static bool expect_partition(const struct quantile_case *c, const uint32_t *order,
                             struct expected *e)
{
    uint64_t *positions = malloc((c->n + 1) * sizeof *positions);
    uint64_t *next = calloc(2 * c->count + 1, sizeof *next);
    char *fixed = calloc(c->n + 1, 1);
    uint8_t *parts = malloc(c->n + 1);
    const bool made = positions && next && fixed && parts;
    for (size_t i = 0; made && i < c->count; i++) {
        e->distinct += !fixed[e->ranks[i]];
        fixed[e->ranks[i]] = 1;
    }
    size_t part = 0;
    for (size_t r = 0; made && r < c->n; r++) {
        if (fixed[r]) next[++part] = r;
        parts[order[r]] = (uint8_t)part;
        if (fixed[r]) next[++part] = r + 1;
    }
    for (size_t i = 0; made && i < c->n; i++) positions[next[parts[i]]++] = i;
    if (made) expect_positions(c, positions, e);
    free(positions);
    free(next);
    free(fixed);
    free(parts);
    return made;
}

/* ---- All ---- */

/* Ranks: the ends and adjacent ones more often than random ones.  Quantiles, too; and multiples of
 * 1 / n. */
static void draw(const struct quantile_case *c, uint64_t seed, struct expected *e)
{
    struct rng rng = { seed };
    for (size_t i = 0; i < c->count; i++) {
        const uint64_t way = rng_below(&rng, 8), other = rng_below(&rng, c->n);
        uint64_t rank = way == 0 ? 0 : way == 1 ? c->n - 1 : other;
        if (way == 2 && i) rank = e->ranks[i - 1] + 1 < c->n ? e->ranks[i - 1] + 1 : 0;
        if (way == 3 && i) rank = e->ranks[i - 1];
        e->ranks[i] = rank;
        e->q[i] = way < 2   ? (double)way
                  : way < 5 ? (double)other / (double)c->n
                            : (double)rng_below(&rng, 1 << 20) / ((1 << 20) - 1);
    }
}

bool data_make(const struct quantile_case *c, uint64_t seed, struct quantile_data *d)
{
    const struct sort_case s = {
        .dtype = c->dtype, .n = c->n, .index_bytes = 4, .value_bytes = 4, .dist = c->dist
    };
    d->keys = malloc(c->n * ech_dtype_bytes(c->dtype) + 1);
    d->order = malloc((c->n + 1) * sizeof *d->order);
    return d->keys && d->order && keys_fill(&s, seed, d->keys) &&
           oracle_order(&s, d->keys, d->order);
}

void data_free(struct quantile_data *d)
{
    free(d->keys);
    free(d->order);
    *d = (struct quantile_data){ .keys = NULL };
}

bool expect(const struct quantile_case *c, const struct quantile_data *d, uint64_t seed,
            struct expected *e)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    *e = (struct expected){ .keys = d->keys,
                            .out = malloc((c->n + c->count + 1) * 8),
                            .index = malloc(8),
                            .ranks = calloc(c->count + 1, sizeof *e->ranks),
                            .q = calloc(c->count + 1, sizeof *e->q),
                            .outputs = c->count,
                            .out_bytes = bytes,
                            .distinct = c->call == ECH_QUANTILE_CALL_NTH };
    if (!e->out || !e->index || !e->ranks || !e->q) return false;
    draw(c, seed, e);
    if (c->call == ECH_QUANTILE_CALL_NTH) {
        const uint64_t position = d->order[e->ranks[0]];
        expect_positions(c, &position, e);
    } else if (c->call == ECH_QUANTILE_CALL_PARTITION) {
        e->outputs = c->n;
        return expect_partition(c, d->order, e);
    } else {
        e->out_bytes = ech_dtype_bytes((ech_dtype)ech_quantile_dtype(c->method, c->dtype));
        expect_quantiles(c, d->order, e);
    }
    return true;
}

void free_expected(struct expected *e)
{
    free(e->out);
    free(e->index);
    free(e->ranks);
    free(e->q);
}
