/*
 * distributions.c - test keys.
 *
 * Every key is computed from a hash of seed and position, so that a file can be written in blocks
 * of any size.  The computation uses only integer arithmetic and correctly rounded sums and
 * quotients, so the keys are the same on every machine.  It does not use functions such as log()
 * and cos(), which differ between C libraries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "distributions.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* Independent streams of random numbers per seed. */
enum { STREAM_KEYS, STREAM_CHOICE, STREAM_VALUES };

/* The output function of splitmix64 (Steele, Lea, Flood 2014), which allows random access. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t random_at(const struct keys *k, uint64_t stream, uint64_t i)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    return mix(mix(k->seed + (stream + 1) * golden) + (i + 1) * golden);
}

/* Maps x from 64 bits to 0 .. count-1 monotonically; count 0 means 2^64. */
static uint64_t scale(uint64_t x, uint64_t count)
{
    return count ? (uint64_t)((wide)x * count >> 64) : x;
}

/* ---- Keys from numbers ---- */

static uint64_t ones(const struct keys *k)
{
    return ~(uint64_t)0 >> (64 - k->bits);
}

/* The key at the fraction x / 2^64 of the range of finite values of the type. */
static uint64_t spread(const struct keys *k, uint64_t x)
{
    uint64_t first = io_is_float(k->dtype) ? (uint64_t)1 << io_fraction_bits(k->dtype) : 0;
    /* The same number of ranks is excluded at both ends. */
    uint64_t count = ones(k) - 2 * first + 1;
    return io_unrank(k->dtype, first + scale(x, count));
}

static uint64_t from_double(const struct keys *k, double x)
{
    uint64_t bits = 0;
    float single = (float)x;
    if (k->bits == 16) return io_half_from_double(k->dtype, x);
    if (k->bits == 32)
        memcpy(&bits, &single, sizeof single);
    else
        memcpy(&bits, &x, sizeof x);
    return bits;
}

/* ---- The distributions ---- */

static uint64_t uniform(const struct keys *k, uint64_t i)
{
    uint64_t x = random_at(k, STREAM_KEYS, i);
    if (!io_is_float(k->dtype)) return x >> (64 - k->bits);
    int keep = io_fraction_bits(k->dtype) + 1;
    return from_double(k, (double)(x >> (64 - keep)) / (double)((uint64_t)1 << keep));
}

static uint64_t sorted(const struct keys *k, uint64_t i)
{
    return spread(k, (uint64_t)(((wide)i << 64) / k->n));
}

static uint64_t reversed(const struct keys *k, uint64_t i)
{
    return sorted(k, k->n - 1 - i);
}

static uint64_t almost(const struct keys *k, uint64_t i)
{
    bool moved = random_at(k, STREAM_CHOICE, i) % 100 == 0;
    return moved ? spread(k, random_at(k, STREAM_KEYS, i)) : sorted(k, i);
}

static uint64_t few(const struct keys *k, uint64_t i)
{
    uint64_t which = scale(random_at(k, STREAM_KEYS, i), k->values);
    return spread(k, random_at(k, STREAM_VALUES, which));
}

static uint64_t constant(const struct keys *k, uint64_t i)
{
    (void)i;
    return spread(k, random_at(k, STREAM_VALUES, 0));
}

static uint64_t hot(const struct keys *k, uint64_t i)
{
    enum { TAIL = 4096 };
    return k->n - i <= TAIL ? constant(k, i) : spread(k, random_at(k, STREAM_KEYS, i));
}

/* Value v with a probability proportional to 1/v. */
static uint64_t zipf(const struct keys *k, uint64_t i)
{
    uint64_t low = 0, high = k->zipf_values - 1;
    double sum = k->zipf[high];
    double x = (double)(random_at(k, STREAM_KEYS, i) >> 11) / (double)((uint64_t)1 << 53) * sum;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (k->zipf[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return io_is_float(k->dtype) ? from_double(k, (double)(low + 1)) : low + 1;
}

/* The sum of twelve uniform numbers minus its mean: standard deviation 1, range [-6, 6]. */
static uint64_t normal(const struct keys *k, uint64_t i)
{
    const int64_t one = (int64_t)1 << 32;
    int64_t sum = -6 * one;
    for (uint64_t j = 0; j < 6; j++) {
        uint64_t x = random_at(k, STREAM_KEYS, 6 * i + j);
        sum += (int64_t)(x >> 32) + (int64_t)(x & UINT32_MAX);
    }
    if (io_is_float(k->dtype)) return from_double(k, (double)sum / (double)one);
    /* Integers: the range of the type is 4 standard deviations on each side. */
    if (sum >= 4 * one) sum = 4 * one - 1;
    if (sum < -4 * one) sum = -4 * one;
    uint64_t place = (uint64_t)(sum + 4 * one); /* 35 bits */
    return io_unrank(k->dtype, k->bits < 35 ? place >> (35 - k->bits) : place << (k->bits - 35));
}

static uint64_t and_words(const struct keys *k, uint64_t i, uint64_t words)
{
    uint64_t x = ~(uint64_t)0;
    for (uint64_t j = 0; j < words; j++) x &= random_at(k, STREAM_KEYS, words * i + j);
    return x >> (64 - k->bits);
}

static uint64_t and2(const struct keys *k, uint64_t i)
{
    return and_words(k, i, 2);
}

static uint64_t and4(const struct keys *k, uint64_t i)
{
    return and_words(k, i, 4);
}

static uint64_t and8(const struct keys *k, uint64_t i)
{
    return and_words(k, i, 8);
}

static uint64_t nan_mix(const struct keys *k, uint64_t i)
{
    uint64_t x = random_at(k, STREAM_KEYS, i), choice = random_at(k, STREAM_CHOICE, i) % 8;
    uint64_t infinity = from_double(k, (double)__builtin_inf()), all = ones(k);
    uint64_t sign = x >> 63 << (k->bits - 1);
    uint64_t fraction = all / 2 ^ infinity; /* the fraction's mask */
    switch (choice) {
    case 0:
        return sign | infinity | (x & fraction ? x & fraction : 1); /* NaN, any payload */
    case 1:
        return sign;
    case 2:
        return sign | infinity;
    case 3:
        return sign | (x & fraction); /* subnormal */
    case 4:
        return x & all; /* any bits */
    default:
        return uniform(k, i) | sign;
    }
}

const struct distribution distributions[] = {
    { "uniform", false, uniform },   { "normal", false, normal }, { "sorted", false, sorted },
    { "reversed", false, reversed }, { "almost", false, almost }, { "constant", false, constant },
    { "few", false, few },           { "zipf", false, zipf },     { "hot", false, hot },
    { "and2", false, and2 },         { "and4", false, and4 },     { "and8", false, and8 },
    { "nan-mix", true, nan_mix },    { NULL, false, NULL },
};

bool keys_init(struct keys *keys, ech_dtype dtype, uint64_t n, uint64_t seed, uint64_t values)
{
    *keys = (struct keys){ .dtype = dtype, .n = n, .seed = seed, .values = values };
    keys->bits = 8 * (int)ech_dtype_bytes(dtype);
    /* Every integer below 2^digits is a value of the type. */
    const int digits =
        io_is_float(dtype) ? io_fraction_bits(dtype) + 1 : keys->bits - io_is_signed(dtype);
    keys->zipf_values = ZIPF_MOST;
    if (digits <= 16) keys->zipf_values = ((uint64_t)1 << digits) - !io_is_float(dtype);
    keys->zipf = malloc(keys->zipf_values * sizeof *keys->zipf);
    if (!keys->zipf) return false;
    double sum = 0;
    for (uint64_t v = 0; v < keys->zipf_values; v++) {
        sum += 1.0 / (double)(v + 1);
        keys->zipf[v] = sum;
    }
    return true;
}

void keys_fill(const struct keys *keys, const struct distribution *distribution, uint64_t first,
               uint64_t n, void *out)
{
    size_t bytes = (size_t)keys->bits / 8;
    char *at = out;
    for (uint64_t i = 0; i < n; i++, at += bytes)
        io_store(at, bytes, distribution->key(keys, first + i));
}

void keys_free(struct keys *keys)
{
    free(keys->zipf);
    keys->zipf = NULL;
}
