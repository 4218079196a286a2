/*
 * keys.c - the distributions of the keys of test_sort and other tests.
 *
 * A key is a bit pattern. pattern_of_rank() converts a position in IEEE 754 totalOrder, or in the
 * order of integers, to a pattern, so that "sorted" means sorted for every dtype.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <string.h>

struct keys {
    const struct sort_case *c;
    int width;
    uint64_t ones, top;
    bool is_signed, is_float;
    int fraction_bits;
    struct rng rng;
};

static uint64_t pattern_of_rank(const struct keys *k, uint64_t rank)
{
    if (k->is_float) return rank & k->top ? rank ^ k->top : ~rank & k->ones;
    return k->is_signed ? rank ^ k->top : rank;
}

static uint64_t random_key(struct keys *k, size_t i)
{
    (void)i;
    return rng_next(&k->rng) & k->ones;
}

static uint64_t sorted_key(struct keys *k, size_t i)
{
    uint64_t steps = k->c->n > 1 ? k->c->n - 1 : 1;
    uint64_t rank = k->ones / steps ? k->ones / steps * i : k->ones * i / steps;
    return pattern_of_rank(k, rank);
}

static uint64_t reversed_key(struct keys *k, size_t i)
{
    return sorted_key(k, k->c->n - 1 - i);
}

static uint64_t nearly_key(struct keys *k, size_t i)
{
    return rng_below(&k->rng, 64) ? sorted_key(k, i) : random_key(k, i);
}

/* Many ascending runs, as in concatenated sorted files. */
static uint64_t runs_key(struct keys *k, size_t i)
{
    return sorted_key(k, i % (k->c->n / 7 + 1) * 7 % (k->c->n + 1));
}

static uint64_t constant_key(struct keys *k, size_t i)
{
    (void)i;
    return 0x4142434445464748u & k->ones;
}

static uint64_t few_key(struct keys *k, size_t i)
{
    (void)i;
    struct rng value = { rng_below(&k->rng, 5) };
    return rng_next(&value) & k->ones;
}

/* Sixteen values that differ in their top bits only. */
static uint64_t top_key(struct keys *k, size_t i)
{
    (void)i;
    return rng_below(&k->rng, 16) << (k->width - 4);
}

/* The same, but the last key also has the lowest bit, which a sample seldom contains. */
static uint64_t top_last_key(struct keys *k, size_t i)
{
    return top_key(k, i) | (i + 1 == k->c->n);
}

/* Two values, or with "third" also a rare third one. */
static uint64_t two_key(struct keys *k, size_t i)
{
    (void)i;
    struct rng value = { 200 + rng_below(&k->rng, 2) };
    return rng_next(&value) & k->ones;
}

static uint64_t third_key(struct keys *k, size_t i)
{
    return rng_below(&k->rng, 500) ? two_key(k, i) : constant_key(k, i);
}

/* About as many distinct values as a shortcut for few values handles. */
static uint64_t some_key(struct keys *k, size_t i)
{
    (void)i;
    struct rng value = { 100 + rng_below(&k->rng, 33) };
    return rng_next(&value) & k->ones;
}

/* Twelve values; of floats, four of them are zeros of both signs and two NaN, which may be ties. */
static uint64_t dozen_key(struct keys *k, size_t i)
{
    const uint64_t r = rng_below(&k->rng, 12), infinity = (k->top - 1) << k->fraction_bits;
    struct rng value = { 300 + r };
    (void)i;
    if (!k->is_float || r < 8) return rng_next(&value) & k->ones;
    if (r < 10) return r == 8 ? 0 : k->top;
    return (infinity & (k->top - 1)) | (r - 9);
}

/* Few values, and rare others that a sample of the keys does not contain. */
static uint64_t rare_key(struct keys *k, size_t i)
{
    return rng_below(&k->rng, 5000) ? few_key(k, i) : random_key(k, i);
}

/* Nine of ten keys are equal. */
static uint64_t heavy_key(struct keys *k, size_t i)
{
    return rng_below(&k->rng, 10) ? constant_key(k, i) : random_key(k, i);
}

/* Few clusters of keys that differ only in low bits; many keys are equal. */
static uint64_t near_key(struct keys *k, size_t i)
{
    return (few_key(k, i) + rng_below(&k->rng, 100)) & k->ones;
}

/* Ascending; each key occurs a hundred times in a row. */
static uint64_t steps_key(struct keys *k, size_t i)
{
    return sorted_key(k, i / 100 * 100);
}

/* For n = 20,000: the keys that the GPU's sample sort samples look random. All other keys lie in a
 * range that no splitter divides. */
static uint64_t unlucky_key(struct keys *k, size_t i)
{
    enum { STRIDE = 31, SAMPLES = 632 };
    uint32_t t = (uint32_t)(i / STRIDE), hash = t * 2654435761u;
    bool sampled = t < SAMPLES && i % STRIDE == (uint64_t)hash * STRIDE >> 32;
    uint64_t random = random_key(k, i);
    return sampled ? random : k->top | (random & k->ones >> k->width / 2);
}

/* For n = 20,000: the sampled keys and half of the others are random. All remaining keys are
 * equal. */
static uint64_t unseen_key(struct keys *k, size_t i)
{
    enum { STRIDE = 9 };
    return i % STRIDE && i % 2 ? constant_key(k, i) : random_key(k, i);
}

/* For n = 20,000: the sampled keys have zero high bits; some others do not. */
static uint64_t wider_key(struct keys *k, size_t i)
{
    enum { STRIDE = 9 };
    const uint64_t random = random_key(k, i);
    return i % STRIDE == 4 ? random : random & k->ones >> k->width / 4;
}

/* The high half of the bits is zero. */
static uint64_t range_key(struct keys *k, size_t i)
{
    return random_key(k, i) & k->ones >> k->width / 2;
}

/* For n = 20,000: the same, except one key that is not sampled. */
static uint64_t outlier_key(struct keys *k, size_t i)
{
    return i == 10006 ? k->top | 3 : range_key(k, i);
}

/* In order, or in reverse order, except the last key; no sample contains it. */
static uint64_t late_key(struct keys *k, size_t i)
{
    return sorted_key(k, i + 1 < k->c->n ? i : 0);
}

static uint64_t back_key(struct keys *k, size_t i)
{
    return reversed_key(k, i + 1 < k->c->n ? i : 0);
}

/* Equal, except the last key, which is smaller, or larger for descending order. */
static uint64_t last_key(struct keys *k, size_t i)
{
    const uint64_t small = k->is_signed ? k->top : 0;
    return i + 1 < k->c->n ? constant_key(k, i) : k->c->descending ? k->top - 1 - small : small;
}

/* The last 4000 keys are equal: one counter of a radix sort receives the whole last tile. */
static uint64_t hot_key(struct keys *k, size_t i)
{
    return i + 4000 >= k->c->n ? constant_key(k, i) : random_key(k, i);
}

/* All bit lengths are equally frequent, as in Zipf's law. */
static uint64_t zipf_key(struct keys *k, size_t i)
{
    (void)i;
    uint64_t key = rng_next(&k->rng) & k->ones;
    return key >> rng_below(&k->rng, (uint64_t)k->width);
}

/* The same for each half of the bits. */
static uint64_t lengths_key(struct keys *k, size_t i)
{
    const int half = k->width / 2;
    uint64_t key = 0;
    (void)i;
    for (int part = 0; part < 2; part++)
        key = key << half |
              (rng_next(&k->rng) & k->ones >> half) >> rng_below(&k->rng, (uint64_t)half);
    return key;
}

static uint64_t and_key(struct keys *k, int words)
{
    uint64_t key = k->ones;
    while (words--) key &= rng_next(&k->rng);
    return key;
}

static uint64_t and2_key(struct keys *k, size_t i)
{
    (void)i;
    return and_key(k, 2);
}

static uint64_t and3_key(struct keys *k, size_t i)
{
    (void)i;
    return and_key(k, 3);
}

static uint64_t and4_key(struct keys *k, size_t i)
{
    (void)i;
    return and_key(k, 4);
}

static uint64_t and8_key(struct keys *k, size_t i)
{
    (void)i;
    return and_key(k, 8);
}

/* Zeros and ones of both signs, and the ends of the range; for floats also infinities, subnormals,
 * and quiet and signaling NaN of both signs with several payloads. A quarter are random keys. */
static uint64_t special_key(struct keys *k, size_t i)
{
    uint64_t choice = rng_below(&k->rng, 8), sign = rng_below(&k->rng, 2) ? k->top : 0;
    if (choice < 2) return random_key(k, i);
    if (!k->is_float) {
        const uint64_t ends[] = { 0, 1, k->ones, k->top, k->top - 1, k->top + 1 };
        return ends[choice - 2] & k->ones;
    }
    uint64_t fraction = ((uint64_t)1 << k->fraction_bits) - 1;
    uint64_t infinity = (k->top - 1) & ~fraction;
    switch (choice) {
    case 2:
        return sign | infinity;
    case 3:
        return sign | infinity | (1 + rng_below(&k->rng, 3)); /* signaling */
    case 4:
        return sign | infinity | (fraction / 2 + 1) | rng_below(&k->rng, 3); /* quiet */
    case 5:
        return sign | (1 + rng_below(&k->rng, 3)); /* subnormal */
    case 6:
        return sign | infinity | (rng_next(&k->rng) & fraction); /* any NaN */
    default:
        return sign; /* +-0 */
    }
}

/* Zeros of both signs and a few NaN: all keys are ties that differ only in their bits. */
static uint64_t ties_key(struct keys *k, size_t i)
{
    (void)i;
    uint64_t sign = rng_below(&k->rng, 2) ? k->top : 0;
    if (rng_below(&k->rng, 3)) return sign;
    return sign | (k->top - 1 - rng_below(&k->rng, 2));
}

/* x as f32 or f64; other dtypes get a random key. */
static uint64_t key_of(struct keys *k, double x)
{
    float single = (float)x;
    uint64_t key = 0;
    if (k->c->dtype == ECH_F32) memcpy(&key, &single, sizeof single);
    if (k->c->dtype == ECH_F64) memcpy(&key, &x, sizeof x);
    return k->c->dtype == ECH_F32 || k->c->dtype == ECH_F64 ? key : random_key(k, 0);
}

static double unit(struct keys *k)
{
    return (double)(rng_next(&k->rng) >> 11) * 0x1p-53;
}

static double normal(struct keys *k)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += unit(k);
    return sum;
}

/* Floats in [0, 1); half of them have the largest exponent. */
static uint64_t unit_key(struct keys *k, size_t i)
{
    (void)i;
    return key_of(k, unit(k));
}

static uint64_t negative_key(struct keys *k, size_t i)
{
    (void)i;
    return key_of(k, -100 * unit(k));
}

static uint64_t normal_key(struct keys *k, size_t i)
{
    (void)i;
    return key_of(k, normal(k));
}

/* Close to 1, on both sides of a power of two. */
static uint64_t narrow_key(struct keys *k, size_t i)
{
    (void)i;
    return key_of(k, 1 + normal(k) / 1000);
}

/* Floats in [0, 1), and one special key in eight. */
static uint64_t strewn_key(struct keys *k, size_t i)
{
    return rng_below(&k->rng, 8) ? unit_key(k, i) : special_key(k, i);
}

/* Half of the keys are 0, the others half of a normal distribution. */
static uint64_t halved_key(struct keys *k, size_t i)
{
    double x = normal(k);
    (void)i;
    return key_of(k, x > 0 ? x : 0);
}

/* Zeros of both signs, of which one is rare, and positive numbers. */
static uint64_t floor_key(struct keys *k, size_t i)
{
    (void)i;
    if (rng_below(&k->rng, 4)) return key_of(k, unit(k));
    return rng_below(&k->rng, 200) ? 0 : k->top;
}

/* The same with negative numbers; positive zeros are rare. */
static uint64_t ceiling_key(struct keys *k, size_t i)
{
    return (floor_key(k, i) ^ k->top) & k->ones;
}

/* A sample with a fixed stride looks uniform; all other keys lie in a narrow range. */
static uint64_t hidden_key(struct keys *k, size_t i)
{
    size_t step = (k->c->n + 4095) / 4096;
    return key_of(k, i % step ? 0.7 + 1e-6 * unit(k) : unit(k));
}

/* Uniform, but too small or too large for arithmetic with their range. */
static uint64_t tiny_key(struct keys *k, size_t i)
{
    (void)i;
    return key_of(k, unit(k) * (k->c->dtype == ECH_F32 ? 0x1p-130 : 0x1p-1030));
}

static uint64_t huge_key(struct keys *k, size_t i)
{
    double most = k->c->dtype == ECH_F32 ? 0x1p128 : 0x1p1023;
    (void)i;
    return key_of(k, (k->c->dtype == ECH_F32 ? 1 - 0x1p-24 : 1.999) * most * (2 * unit(k) - 1));
}

/* Means of four random keys; one of 200 keys is constant. */
static uint64_t bell_key(struct keys *k, size_t i)
{
    uint64_t sum = 0;
    for (int part = 0; part < 4; part++) sum += random_key(k, i) >> 2;
    return rng_below(&k->rng, 200) ? sum : constant_key(k, i);
}

static const struct {
    const char *name;
    uint64_t (*key)(struct keys *keys, size_t i);
} distributions[] = {
    { "random", random_key },     { "sorted", sorted_key },     { "reversed", reversed_key },
    { "nearly", nearly_key },     { "runs", runs_key },         { "constant", constant_key },
    { "few", few_key },           { "hot", hot_key },           { "zipf", zipf_key },
    { "and2", and2_key },         { "and4", and4_key },         { "and8", and8_key },
    { "some", some_key },         { "rare", rare_key },         { "special", special_key },
    { "ties", ties_key },         { "unlucky", unlucky_key },   { "unit", unit_key },
    { "negative", negative_key }, { "normal", normal_key },     { "narrow", narrow_key },
    { "strewn", strewn_key },     { "halved", halved_key },     { "hidden", hidden_key },
    { "tiny", tiny_key },         { "huge", huge_key },         { "unseen", unseen_key },
    { "wider", wider_key },       { "and3", and3_key },         { "heavy", heavy_key },
    { "near", near_key },         { "steps", steps_key },       { "range", range_key },
    { "outlier", outlier_key },   { "late", late_key },         { "back", back_key },
    { "last", last_key },         { "two", two_key },           { "third", third_key },
    { "dozen", dozen_key },       { "floor", floor_key },       { "ceiling", ceiling_key },
    { "top", top_key },           { "top_last", top_last_key }, { "lengths", lengths_key },
    { "bell", bell_key },
};

bool keys_fill(const struct sort_case *c, uint64_t seed, void *keys)
{
    size_t bytes = ech_dtype_bytes(c->dtype);
    struct keys k = { .c = c, .width = (int)(8 * bytes), .rng = { seed } };
    k.top = (uint64_t)1 << (k.width - 1);
    k.ones = k.top | (k.top - 1);
    k.is_signed = c->dtype <= ECH_I64;
    k.is_float = c->dtype >= ECH_F16;
    const int fractions[] = { 10, 7, 23, 52 };
    if (k.is_float) k.fraction_bits = fractions[c->dtype - ECH_F16];

    for (size_t d = 0; d < sizeof distributions / sizeof *distributions; d++) {
        if (strcmp(distributions[d].name, c->dist) != 0) continue;
        for (size_t i = 0; i < c->n; i++) {
            uint64_t key = distributions[d].key(&k, i);
            memcpy((char *)keys + i * bytes, &key, bytes); /* little-endian, as the library */
        }
        return true;
    }
    test_fail(__FILE__, __LINE__, "there is no distribution \"%s\"", c->dist);
    return false;
}
