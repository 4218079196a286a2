/*
 * arrange_oracle.c - computes the expected results of test_arrange, element by element.
 *
 * The order of a shuffle follows docs/arrange.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Permutations ---- */

static uint64_t mixed(uint64_t z)
{
    z ^= z >> 30;
    z *= 0xBF58476D1CE4E5B9;
    z ^= z >> 27;
    z *= 0x94D049BB133111EB;
    z ^= z >> 31;
    return z;
}

uint64_t oracle_permutation(uint64_t n, uint64_t seed, uint64_t i)
{
    const uint64_t golden = 0x9E3779B97F4A7C15, wrap = (uint64_t)1 << 32;
    static uint64_t a, of_n = UINT64_MAX; /* cached: the search is slow */
    uint64_t table[2];
    if (of_n != n)
        for (a = 8, of_n = n; a * a < n;) a += 2;
    const uint64_t b = (n + a - 1) / a < 8 ? 8 : (n + a - 1) / a;
    const uint64_t extent[2] = { a, b };
    const uint64_t state = mixed(mixed(seed + golden) ^ n);
    do {
        table[0] = i % a; /* the column */
        table[1] = i / a; /* the row */
        for (uint64_t round = 0; round < 8; round++) {
            uint64_t key = mixed(state + (round + 1) * golden) / wrap;
            uint64_t h = (table[1 - round % 2] ^ key) * 0x7FEB352D % wrap;
            h = (h ^ h / 32768) * 0x846CA68B % wrap;
            uint64_t *to = &table[round % 2], m = extent[round % 2];
            *to = (*to + h * m / wrap) % m;
        }
        i = table[1] * a + table[0];
    } while (i >= n);
    return i;
}

/* ---- Numbers ---- */

/* The value of a float with the given number of fraction bits. `least` is the exponent of its
 * smallest normal number. */
static double value_of(uint64_t bits, int fraction_bits, int least, int width)
{
    const uint64_t fraction = bits & (((uint64_t)1 << fraction_bits) - 1);
    const int exponent_bits = width - 1 - fraction_bits, top = (1 << exponent_bits) - 1;
    const int exponent = (int)(bits >> fraction_bits) & top;
    const double sign = bits >> (width - 1) ? -1 : 1;
    if (exponent == top) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp((double)fraction, least - fraction_bits);
    return sign * ldexp((double)(fraction | (uint64_t)1 << fraction_bits),
                        least - fraction_bits + exponent - 1);
}

/* Rounds x to nearest, ties to even. The intermediate result is exact in a double. */
static uint64_t bits_of(double x, int fraction_bits, int least, int width)
{
    const uint64_t sign = signbit(x) ? (uint64_t)1 << (width - 1) : 0;
    const uint64_t infinity = (((uint64_t)1 << (width - 1 - fraction_bits)) - 1) << fraction_bits;
    int exponent;
    if (isnan(x)) return infinity | (uint64_t)1 << (fraction_bits - 1);
    if (isinf(x) || x == 0) return sign | (x == 0 ? 0 : infinity);
    frexp(x, &exponent);
    exponent = exponent - 1 < least ? least : exponent - 1;
    const uint64_t units = (uint64_t)nearbyint(ldexp(fabs(x), fraction_bits - exponent));
    /* a carry out of the fraction increments the exponent */
    const uint64_t bits = units + ((uint64_t)(exponent - least) << fraction_bits);
    return sign | (bits > infinity ? infinity : bits);
}

static const struct format {
    int fraction_bits, least, width;
} formats[ECH_F64 + 1] = { [ECH_F16] = { 10, -14, 16 }, [ECH_BF16] = { 7, -126, 16 } };

/* ---- Iota ---- */

/* Columns of the tables: integers; floats as bits of f16, bf16, f32, f64. */
void arrange_iota_of(const struct arrange_case *c, uint64_t values[2], const void **start,
                     const void **step)
{
    static const int64_t integers[8][2] = { { 0, 1 },   { 5, -3 },    { 100, 0 },
                                            { -7, 11 }, { 1, 40503 }, { -1, 2654435769 },
                                            { 0, 1 },   { 42, 1 } };
    static const double floats[8][2] = { { 0, 1 },    { 0.1, 0.37 },  { -100, 0.001 },
                                         { 1e-6, 3 }, { 60000, -17 }, { 3, -0.0 },
                                         { 0, 1 },    { 7, 1 } };
    const struct format *f = &formats[c->dtype];
    const int v = c->variant;
    for (int i = 0; i < 2; i++) {
        const double x = v == 6 && c->n % 2 ? (i ? (double)INFINITY : 1) : floats[v][i];
        const float narrow = (float)x;
        if (c->dtype < ECH_F16) {
            memcpy(&values[i], &integers[v][i], sizeof values[i]);
        } else if (c->dtype == ECH_F64) {
            memcpy(&values[i], &x, sizeof x);
        } else if (c->dtype == ECH_F32) {
            values[i] = 0;
            memcpy(&values[i], &narrow, sizeof narrow);
        } else {
            values[i] = bits_of(x, f->fraction_bits, f->least, f->width);
        }
    }
    *start = v == 0 ? NULL : &values[0];
    *step = v == 0 || v == 7 ? NULL : &values[1];
}

static uint64_t iota_at(const struct arrange_case *c, const uint64_t values[2], uint64_t i)
{
    if (c->dtype < ECH_F16) return values[0] + i * values[1];
    if (c->dtype == ECH_F64) {
        double x[2];
        uint64_t bits;
        memcpy(x, values, sizeof x);
        volatile double product = (double)i * x[1];
        const double sum = x[0] + product;
        memcpy(&bits, &sum, sizeof bits);
        return isnan(sum) ? (uint64_t)0x7FF8 << 48 : bits;
    }
    float x[2];
    uint32_t bits;
    for (int k = 0; k < 2; k++) {
        const struct format *f = &formats[c->dtype];
        if (c->dtype == ECH_F32)
            memcpy(&x[k], &values[k], sizeof x[k]);
        else
            x[k] = (float)value_of(values[k], f->fraction_bits, f->least, f->width);
    }
    volatile float product = (float)((double)i * (double)x[1]); /* exact as a double: i < 2^29 */
    const float sum = x[0] + product;
    if (c->dtype != ECH_F32) {
        const struct format *f = &formats[c->dtype];
        return bits_of((double)sum, f->fraction_bits, f->least, f->width);
    }
    memcpy(&bits, &sum, sizeof bits);
    return isnan(sum) ? 0x7FC00000 : bits;
}

/* ---- Data ---- */

static void fill_random(unsigned char *to, size_t bytes, struct rng *rng)
{
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t word = rng_next(rng);
        memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static void put_number(unsigned char *to, size_t i, uint64_t value, size_t bytes)
{
    memcpy(to + i * bytes, &value, bytes); /* little-endian, as on all supported machines */
}

/* Variants: random, in order, all equal, backwards. The indices of a scatter are distinct. */
static void make_index(const struct arrange_case *c, struct arrange_data *d, struct rng *rng)
{
    const size_t width = ech_dtype_bytes(c->dtype);
    for (size_t i = 0; i < c->n; i++) {
        uint64_t value = rng_below(rng, c->other);
        if (c->variant == 1) value = i % c->other;
        if (c->variant == 2) value = c->other - 1;
        if (c->variant == 3) value = c->other - 1 - i % c->other;
        if (c->what == SCATTER) value = oracle_permutation(c->other, 77, i);
        put_number(d->index, i, value, width);
    }
}

static uint64_t index_at(const struct arrange_case *c, const struct arrange_data *d, size_t i)
{
    uint64_t value = 0;
    const size_t width = ech_dtype_bytes(c->dtype);
    memcpy(&value, d->index + i * width, width);
    return value;
}

/* The input position of element i of out. */
static size_t source_of(const struct arrange_case *c, const struct arrange_data *d, size_t i)
{
    switch (c->what) {
    case GATHER:
        return (size_t)index_at(c, d, i);
    case REVERSE:
        return c->n - 1 - i;
    case ROTATE:
        return (i + c->other) % c->n;
    case TRANSPOSE:
        return i % c->n * c->other + i / c->n;
    case SHUFFLE:
    case SAMPLE:
        return (size_t)oracle_permutation(c->n, c->seed, i);
    default:
        return 0;
    }
}

static void make_after(const struct arrange_case *c, struct arrange_data *d)
{
    const size_t bytes = c->element_bytes, count = d->out_bytes / bytes;
    uint64_t values[2];
    const void *start, *step;
    if (c->what == SCATTER) {
        for (size_t i = 0; i < c->n; i++)
            memcpy(d->after + index_at(c, d, i) * bytes, d->in + i * bytes, bytes);
        return;
    }
    if (c->what == IOTA) arrange_iota_of(c, values, &start, &step);
    if (c->what == IOTA && !start) values[0] = 0;
    for (size_t i = 0; i < count; i++)
        if (c->what == IOTA)
            put_number(d->after, i, iota_at(c, values, i), bytes);
        else if (c->what == PERMUTATION)
            put_number(d->after, i, oracle_permutation(c->n, c->seed, i), bytes);
        else
            memcpy(d->after + i * bytes, d->in + source_of(c, d, i) * bytes, bytes);
}

bool arrange_data_make(const struct arrange_case *c, uint64_t seed, struct arrange_data *d)
{
    struct rng rng = { seed };
    const size_t bytes = c->element_bytes;
    size_t in = c->n, out = c->n;
    if (c->what == GATHER) in = c->n ? c->other : 0;
    if (c->what == SCATTER) out = c->n ? c->other : 0;
    if (c->what == TRANSPOSE) in = out = c->n * c->other;
    if (c->what == FILL) in = 1;
    if (c->what == SAMPLE) out = c->other;
    if (c->what == IOTA || c->what == PERMUTATION) in = 0;
    *d = (struct arrange_data){ .in_bytes = in * bytes, .out_bytes = out * bytes };
    if (c->what == GATHER || c->what == SCATTER) d->index_bytes = c->n * ech_dtype_bytes(c->dtype);
    d->in = malloc(d->in_bytes + 1);
    d->index = malloc(d->index_bytes + 1);
    d->before = malloc(d->out_bytes + 1);
    d->after = malloc(d->out_bytes + 1);
    if (!d->in || !d->index || !d->before || !d->after) return false;
    fill_random(d->in, d->in_bytes, &rng);
    fill_random(d->before, d->out_bytes, &rng);
    memcpy(d->after, d->before, d->out_bytes);
    if (d->index_bytes) make_index(c, d, &rng);
    make_after(c, d);
    return true;
}

void arrange_data_free(struct arrange_data *d)
{
    free(d->in);
    free(d->index);
    free(d->before);
    free(d->after);
}
