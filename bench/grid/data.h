/*
 * data.h - the keys of the benchmark grid: every distribution in every dtype, from a hash of seed
 * and position.
 *
 * The functions run on the host and in kernels.  A distribution yields a number; a type receives
 * the nearest value that it has.  Keys contain neither NaN nor -0, whose order differs between
 * libraries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_GRID_DATA_H
#define BENCH_GRID_DATA_H

#include <echelon.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define GRID_FN static __host__ __device__ inline
#else
#define GRID_FN static inline
#endif

/* In the order of design.py. */
enum grid_dist {
    DIST_UNIFORM, /* the range of an integer type; floats in [-1, 1) */
    DIST_UNIT,    /* floats in [0, 1); integers below half of the largest */
    DIST_NORMAL,  /* integers: standard deviation of 1/8 of the range */
    DIST_SORTED,
    DIST_REVERSED,
    DIST_EQUAL,
    DIST_TWO,         /* two values */
    DIST_FEW16,       /* 16 values */
    DIST_FEW1000,     /* 1,000 values */
    DIST_AND3,        /* AND of three random words */
    DIST_ZIPF,        /* small integers; value r has a probability of about 1 / r^2 */
    DIST_HEAVY,       /* nine of ten keys are equal */
    DIST_IDS,         /* ascending numbers with gaps, shuffled */
    DIST_PERMUTATION, /* of 0 to n-1 */
    DIST_TIMESTAMPS,  /* ascending with jitter, milliseconds or seconds since 1970 */
    DIST_PRICES,      /* log-normal, in cents; floats in units of 0.01 */
    DIST_COUNTERS,    /* a counter below one of four high words */
    DIST_CLUSTERS,    /* 100 narrow clusters */
    DIST_EXPONENTIAL,
    DIST_LOGNORMAL,
    DIST_PARETO,
    DIST_NEARLY,   /* sorted, 1 % of the keys are random */
    DIST_APPENDED, /* sorted, the last 1 % are random */
    DIST_RUNS,     /* ascending runs of 1,000 */
    DIST_REPEATS,  /* each value about 10 times in succession */
    DIST_ORGAN,    /* ascending, then descending */
    DIST_SAWTOOTH, /* i mod 1,000 */
    DIST_RANGE1E6, /* integers below 10^6 */
    DIST_RANGE100, /* integers below 100 */
    DIST_HIGHBITS, /* the lower half of the bits is constant */
    DIST_SPARSE,   /* half of the keys are 0, the others normal and positive */
    DIST_WIDE,     /* the logarithm is uniform */
    DIST_SPIKES,   /* normal, one key of 10,000 is 1,000 times as large */
    DISTS
};

GRID_FN uint64_t grid_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

GRID_FN uint64_t grid_random(uint64_t seed, uint64_t i)
{
    return grid_mix(grid_mix(seed * 0xd1342543de82ef95ull + 1) + (i + 1) * 0x9e3779b97f4a7c15ull);
}

GRID_FN double grid_unit(uint64_t r)
{
    return (double)(r >> 11) * 0x1p-53;
}

GRID_FN double grid_normal(uint64_t r)
{
    const double angle = 6.283185307179586 * grid_unit(grid_mix(r + 0x632be59bd9b4e019ull));
    return sqrt(-2 * log(1 - grid_unit(r))) * cos(angle);
}

/* A permutation of 0 to n-1, which contains i: a Feistel network, applied until the result is
 * below n. */
GRID_FN uint64_t grid_permuted(uint64_t seed, uint64_t i, uint64_t n)
{
    int half = 1;
    while (half < 32 && (1ull << 2 * half) < n) half++;
    const uint64_t mask = (1ull << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (uint64_t round = 0; round < 4; round++) {
            const uint64_t t = left ^ (grid_random(seed + 77 + round, right) & mask);
            left = right;
            right = t;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

/* ---- Types ---- */

GRID_FN int grid_is_float(int dtype)
{
    return dtype >= ECH_F16;
}

GRID_FN int grid_is_signed(int dtype)
{
    return dtype <= ECH_I64;
}

GRID_FN int grid_bits(int dtype)
{
    switch (dtype) {
    case ECH_I8:
    case ECH_U8:
        return 8;
    case ECH_I16:
    case ECH_U16:
    case ECH_F16:
    case ECH_BF16:
        return 16;
    case ECH_I32:
    case ECH_U32:
    case ECH_F32:
        return 32;
    default:
        return 64;
    }
}

/* The bits of the binary16 or bfloat16 nearest to x, at most the largest finite value. */
GRID_FN uint16_t grid_short_float(float x, int dtype)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    const uint32_t sign = u >> 16 & 0x8000;
    u &= 0x7fffffff;
    if (dtype == ECH_BF16) {
        u = (u + 0x7fff + (u >> 16 & 1)) >> 16;
        return (uint16_t)(sign | (u > 0x7f7f ? 0x7f7f : u));
    }
    if (u < 0x38800000) { /* below 2^-14: a multiple of 2^-24 */
        float magnitude;
        memcpy(&magnitude, &u, 4);
        return (uint16_t)(sign | (uint32_t)(magnitude * 0x1p24f + 0.5f));
    }
    u = (u - 0x38000000 + 0xfff + (u >> 13 & 1)) >> 13;
    return (uint16_t)(sign | (u > 0x7bff ? 0x7bff : u));
}

GRID_FN uint64_t grid_from_double(int dtype, double x)
{
    uint64_t bits = 0;
    const float single = (float)x;
    x += 0.0; /* -0 becomes 0 */
    if (dtype == ECH_F64) {
        memcpy(&bits, &x, 8);
    } else if (dtype == ECH_F32) {
        memcpy(&bits, &single, 4);
        bits = bits == 0x80000000u ? 0 : bits;
    } else {
        bits = grid_short_float(single, dtype);
        bits = bits == 0x8000 ? 0 : bits;
    }
    return bits;
}

/* The integer nearest to x that the type has, or x as a float. */
GRID_FN uint64_t grid_from_number(int dtype, double x)
{
    if (grid_is_float(dtype)) return grid_from_double(dtype, x);
    const int bits = grid_bits(dtype);
    const double most = ldexp(1.0, bits - grid_is_signed(dtype));
    const double least = grid_is_signed(dtype) ? -most : 0;
    x = floor(x + 0.5);
    if (x <= least) return grid_is_signed(dtype) ? 1ull << (bits - 1) : 0;
    if (x >= most) return grid_is_signed(dtype) ? (1ull << (bits - 1)) - 1 : ~0ull >> (64 - bits);
    return (x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x) & ~0ull >> (64 - bits);
}

/* An integer; types that are too narrow receive its lower bits. */
GRID_FN uint64_t grid_from_integer(int dtype, uint64_t x)
{
    if (grid_is_float(dtype)) return grid_from_double(dtype, (double)x);
    return x & ~0ull >> (64 - grid_bits(dtype));
}

/* The key at the fraction x / 2^64 of the range: integers of the whole range, floats in [-1, 1). */
GRID_FN uint64_t grid_spread(int dtype, uint64_t x)
{
    if (grid_is_float(dtype)) return grid_from_double(dtype, 2 * grid_unit(x) - 1);
    const int bits = grid_bits(dtype);
    x >>= 64 - bits;
    return grid_is_signed(dtype) ? x ^ 1ull << (bits - 1) : x;
}

/* ---- Distributions ---- */

/* The position i of n as a fraction of 2^64. */
GRID_FN uint64_t grid_ramp(uint64_t i, uint64_t n)
{
    const double x = (double)i / (double)n * 0x1p64;
    return x >= 0x1.fffffffffffffp63 ? ~0ull : (uint64_t)x;
}

/* A real number with the scale 1, as a float or as an integer that counts 1/units. */
GRID_FN uint64_t grid_scaled(int dtype, double x, double units)
{
    return grid_from_number(dtype, grid_is_float(dtype) ? x : x * units);
}

GRID_FN uint64_t grid_ordered(int dist, int dtype, uint64_t seed, uint64_t i, uint64_t n)
{
    const uint64_t r = grid_random(seed, i), random = grid_spread(dtype, r);
    switch (dist) {
    case DIST_REVERSED:
        return grid_spread(dtype, grid_ramp(n - 1 - i, n));
    case DIST_NEARLY:
        return grid_mix(r) % 100 ? grid_spread(dtype, grid_ramp(i, n)) : random;
    case DIST_APPENDED:
        return i < n - n / 100 ? grid_spread(dtype, grid_ramp(i, n)) : random;
    case DIST_RUNS:
        return grid_spread(dtype, grid_ramp(i % 1000, 1000) + (r >> 10));
    case DIST_ORGAN:
        return grid_spread(dtype, grid_ramp(i < n / 2 ? 2 * i : 2 * (n - 1 - i), n + 1));
    case DIST_SAWTOOTH:
        return grid_from_integer(dtype, i % 1000);
    case DIST_TIMESTAMPS: {
        const uint64_t jitter = r % 1000;
        if (grid_bits(dtype) == 64)
            return grid_from_integer(dtype, 1700000000000ull + 100 * i + jitter);
        return grid_from_integer(dtype, 1700000000ull + i / 10 + jitter / 100);
    }
    default:
        return grid_spread(dtype, grid_ramp(i, n));
    }
}

GRID_FN uint64_t grid_discrete(int dist, int dtype, uint64_t seed, uint64_t i, uint64_t n)
{
    const uint64_t r = grid_random(seed, i);
    const int bits = grid_bits(dtype);
    switch (dist) {
    case DIST_EQUAL:
        return grid_spread(dtype, grid_random(seed + 1, 0));
    case DIST_TWO:
        return grid_spread(dtype, grid_random(seed + 1, r >> 63));
    case DIST_FEW16:
        return grid_spread(dtype, grid_random(seed + 1, r % 16));
    case DIST_FEW1000:
        return grid_spread(dtype, grid_random(seed + 1, r % 1000));
    case DIST_HEAVY:
        return grid_spread(dtype, r % 10 ? 0x3456781234567812ull : grid_mix(r));
    case DIST_ZIPF:
        return grid_from_integer(dtype, (uint64_t)fmin(0x1p53 / (double)((r >> 11) + 1), 1e9));
    case DIST_IDS:
        return grid_from_integer(dtype, 1000000 + 3 * grid_permuted(seed, i, n) + r % 3);
    case DIST_PERMUTATION:
        return grid_from_integer(dtype, grid_permuted(seed, i, n));
    case DIST_REPEATS:
        return grid_spread(dtype, grid_random(seed + 2, (i + r % 3) / 10));
    case DIST_RANGE1E6:
        return grid_from_integer(dtype, r % 1000000);
    case DIST_RANGE100:
        return grid_from_integer(dtype, r % 100);
    case DIST_HIGHBITS:
        return grid_spread(dtype, r >> (64 - bits / 2) << (64 - bits / 2));
    case DIST_AND3:
        return grid_spread(dtype, r & grid_mix(r + 1) & grid_mix(r + 2));
    default: { /* DIST_COUNTERS */
        const uint64_t high = grid_random(seed + 1, r >> 62), low = grid_permuted(seed, i, n);
        const int half = bits / 2;
        if (grid_is_float(dtype))
            return grid_from_double(dtype, 4096 + (double)(low % 65536) / 65536);
        return grid_spread(dtype, (high >> (64 - half) << (64 - half)) +
                                      (low % (1ull << half) << (64 - bits)));
    }
    }
}

GRID_FN uint64_t grid_real(int dist, int dtype, uint64_t seed, uint64_t i)
{
    const uint64_t r = grid_random(seed, i);
    const double u = 1 - grid_unit(r), range = ldexp(1.0, grid_bits(dtype) - grid_is_signed(dtype));
    switch (dist) {
    case DIST_NORMAL: {
        const double middle = grid_is_signed(dtype) || grid_is_float(dtype) ? 0 : 4;
        return grid_scaled(dtype, grid_normal(r) + middle, range / 8);
    }
    case DIST_PRICES: {
        const double cents = floor(exp(7 + 1.2 * grid_normal(r)));
        return grid_from_number(dtype, grid_is_float(dtype) ? cents / 100 : cents);
    }
    case DIST_CLUSTERS: {
        const double centre = grid_unit(grid_random(seed + 1, r % 100));
        return grid_scaled(dtype, centre + 1e-4 * grid_normal(grid_mix(r)), range);
    }
    case DIST_EXPONENTIAL:
        return grid_scaled(dtype, -log(u), range < 1e5 ? range / 16 : 1e4);
    case DIST_LOGNORMAL:
        return grid_scaled(dtype, exp(grid_normal(r)), range < 1e5 ? range / 64 : 1e6);
    case DIST_PARETO:
        return grid_scaled(dtype, pow(u, -1 / 1.16), range < 1e5 ? 1 : 100);
    case DIST_SPARSE:
        return grid_scaled(dtype, r & 1024 ? fabs(grid_normal(r)) : 0,
                           range < 1e5 ? range / 8 : 1e4);
    case DIST_WIDE: {
        const int digits = dtype == ECH_F16 ? 12 : grid_is_float(dtype) ? 40 : grid_bits(dtype) - 1;
        return grid_from_number(dtype, exp2((double)digits * u) - (grid_is_float(dtype) ? 0 : 1));
    }
    case DIST_SPIKES: {
        const double x = fabs(grid_normal(r)) * (grid_mix(r) % 10000 ? 1 : 1000);
        return grid_scaled(dtype, x, range < 1e5 ? range / 64 : 1e5);
    }
    default: /* DIST_UNIT */
        return grid_scaled(dtype, grid_unit(r), range / 2);
    }
}

/* The bits of key i of n. */
GRID_FN uint64_t grid_key(int dist, int dtype, uint64_t seed, uint64_t i, uint64_t n)
{
    switch (dist) {
    case DIST_UNIFORM:
        return grid_spread(dtype, grid_random(seed, i));
    case DIST_UNIT:
    case DIST_NORMAL:
    case DIST_PRICES:
    case DIST_CLUSTERS:
    case DIST_EXPONENTIAL:
    case DIST_LOGNORMAL:
    case DIST_PARETO:
    case DIST_SPARSE:
    case DIST_WIDE:
    case DIST_SPIKES:
        return grid_real(dist, dtype, seed, i);
    case DIST_SORTED:
    case DIST_REVERSED:
    case DIST_NEARLY:
    case DIST_APPENDED:
    case DIST_RUNS:
    case DIST_ORGAN:
    case DIST_SAWTOOTH:
    case DIST_TIMESTAMPS:
        return grid_ordered(dist, dtype, seed, i, n);
    default:
        return grid_discrete(dist, dtype, seed, i, n);
    }
}

/* A position below n that has the pattern of the distribution, which repeats after n. */
GRID_FN uint64_t grid_place(int dist, uint64_t seed, uint64_t i, uint64_t n)
{
    const uint64_t x = grid_key(dist, ECH_U64, seed, i % n, n);
    switch (dist) { /* those that use the whole range are scaled */
    case DIST_UNIFORM:
    case DIST_NORMAL:
    case DIST_SORTED:
    case DIST_REVERSED:
    case DIST_NEARLY:
    case DIST_APPENDED:
    case DIST_RUNS:
    case DIST_ORGAN:
    case DIST_CLUSTERS:
    case DIST_AND3:
        return (uint64_t)(grid_unit(x) * (double)n);
    default:
        return x % n;
    }
}

/* ---- Comparison of results ---- */

GRID_FN uint64_t grid_load(const void *array, uint64_t i, size_t stride, int dtype)
{
    uint64_t x = 0;
    const char *at = (const char *)array + i * stride;
    switch (grid_bits(dtype)) { /* sizes are constants, so that kernels need no calls */
    case 8:
        memcpy(&x, at, 1);
        break;
    case 16:
        memcpy(&x, at, 2);
        break;
    case 32:
        memcpy(&x, at, 4);
        break;
    default:
        memcpy(&x, at, 8);
        break;
    }
    return x;
}

/* An integer of a type, extended to 64 bits. */
GRID_FN int64_t grid_integer(uint64_t bits, int dtype)
{
    const int unused = 64 - grid_bits(dtype);
    return grid_is_signed(dtype) ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

GRID_FN double grid_to_double(uint64_t bits, int dtype)
{
    if (dtype == ECH_U64) return (double)bits;
    if (!grid_is_float(dtype)) return (double)grid_integer(bits, dtype);
    double x;
    memcpy(&x, &bits, 8);
    if (dtype == ECH_F64) return x;
    uint32_t u = (uint32_t)bits;
    if (dtype == ECH_BF16) u <<= 16;
    if (dtype == ECH_F16) { /* the exponent's bias differs by 112 */
        const double magnitude = (u & 0x7c00) == 0
                                     ? (double)(u & 0x3ff) * 0x1p-24
                                     : ldexp(1024 + (double)(u & 0x3ff), (int)(u >> 10 & 31) - 25);
        return u & 0x8000 ? -magnitude : magnitude;
    }
    float f;
    memcpy(&f, &u, 4);
    return (double)f;
}

#endif
