/*
 * simt/intrinsics_float.c - expected results of the intrinsic functions on floats, computed with
 * the C library and IEEE arithmetic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "intrinsics_oracle.h"

#include <math.h>
#include <string.h>

#define PUT(slot, word) (out[(size_t)FLOAT_##slot * n] = (uint64_t)(word))
#define PUT_F(slot, x)  PUT(slot, bits_of_float(x))
#define PUT_D(slot, x)  PUT(slot, bits_of_double(x))

static const uint32_t no_float = 0x7fc00000u;
static const uint64_t no_double = 0x7ff8000000000000u;

static uint32_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? no_float : bits;
}

static uint64_t bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? no_double : bits;
}

static float float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double double_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The minimum, or the operand that is a number; zeros are +0. */
static double lesser(double x, double y)
{
    if (isnan(x)) return isnan(y) ? y : y + 0.0;
    if (isnan(y)) return x + 0.0;
    return (x < y ? x : y) + 0.0;
}

static double greater(double x, double y)
{
    return 0.0 - lesser(0.0 - x, 0.0 - y);
}

/* A float as a two's complement integer with the given number of bits. */
struct integer {
    int bits, is_signed;
    uint64_t of_nan;
};

static uint64_t whole(double x, double (*rounding)(double), struct integer type)
{
    if (isnan(x)) return type.of_nan;
    const double end = ldexp(1, type.bits - type.is_signed), begin = type.is_signed ? -end : 0;
    const uint64_t mask = ~(uint64_t)0 >> (64 - type.bits);
    const uint64_t top = (uint64_t)1 << (type.bits - 1);
    x = rounding(x);
    if (x >= end) return type.is_signed ? top - 1 : mask;
    if (x <= begin) return type.is_signed ? top : 0;
    return (x < 0 ? 0 - (uint64_t)-x : (uint64_t)x) & mask;
}

static double to_even(double x)
{
    double below = floor(x), part = x - below;
    if (part > 0.5) return below + 1;
    if (part < 0.5) return below;
    return fmod(below, 2) == 0 ? below : below + 1;
}

#define PUT_WHOLE(prefix, x, type)                                                                 \
    (PUT(prefix##RN, whole(x, to_even, type)), PUT(prefix##RZ, whole(x, trunc, type)),             \
     PUT(prefix##RU, whole(x, ceil, type)), PUT(prefix##RD, whole(x, floor, type)))

static void integers(float x, double xx, uint32_t n, uint64_t *out)
{
    const uint64_t top = (uint64_t)1 << 63;
    const struct integer i = { 32, 1, 0 }, u = { 32, 0, 0 }, ll = { 64, 1, top },
                         ull = { 64, 0, top };
    const struct integer di = { 32, 1, 1u << 31 }, du = { 32, 0, 1u << 31 };
    PUT_WHOLE(I_, x, i);
    PUT_WHOLE(U_, x, u);
    PUT_WHOLE(LL_, x, ll);
    PUT_WHOLE(ULL_, x, ull);
    PUT_WHOLE(DI_, xx, di);
    PUT_WHOLE(DU_, xx, du);
    PUT_WHOLE(DLL_, xx, ll);
    PUT_WHOLE(DULL_, xx, ull);
}

static void casts(float x, double xx, uint32_t n, uint64_t *out)
{
    const uint64_t word = bits_of_double(xx);
    PUT_F(AS_INT, x);
    PUT_F(AS_UINT, x);
    PUT_F(INT_AS, x);
    PUT_F(UINT_AS, x);
    PUT_D(AS_LL, xx);
    PUT_D(LL_AS, xx);
    PUT(HIINT, word >> 32);
    PUT(LOINT, word & 0xffffffffu);
    PUT_D(HILOINT, xx);
}

/* The smallest float >= x * y + z: the nearest one, or the next. */
static float rounded_up(float x, float y, float z)
{
    const float nearest = fmaf(x, y, z);
    const double product = (double)x * y, sum = product + z; /* the product is exact */
    const double part = sum - product, error = (product - (sum - part)) + (z - part);
    if (!isfinite(sum)) return nearest;
    return sum > nearest || (sum == nearest && error > 0) ? nextafterf(nearest, INFINITY) : nearest;
}

static void arithmetic(const float *f, const double *d, uint32_t n, uint64_t *out)
{
    PUT_F(FADD, f[0] + f[1]);
    PUT_F(FSUB, f[0] - f[1]);
    PUT_F(FMUL, f[0] * f[1]);
    PUT_F(FDIV, f[0] / f[1]);
    PUT_F(FMAF, fmaf(f[0], f[1], f[2]));
    PUT_F(FMAF_RU, rounded_up(f[0], f[1], f[2]));
    PUT_F(FRCP, 1 / f[0]);
    PUT_F(FSQRT, sqrtf(f[0]));
    PUT_F(FRSQRT, (float)(1 / sqrtl((long double)f[0])));
    PUT_D(DADD, d[0] + d[1]);
    PUT_D(DSUB, d[0] - d[1]);
    PUT_D(DMUL, d[0] * d[1]);
    PUT_D(DDIV, d[0] / d[1]);
    PUT_D(DFMA, fma(d[0], d[1], d[2]));
    PUT_D(DRCP, 1 / d[0]);
    PUT_D(DSQRT, sqrt(d[0]));
    PUT_F(SATURATE, f[0] >= 1 ? 1 : f[0] > 0 ? f[0] : 0);
    PUT_F(MIN, (float)lesser(f[0], f[1]));
    PUT_F(MAX, (float)greater(f[0], f[1]));
    PUT_D(MIN_D, lesser(d[0], d[1]));
    PUT_D(MAX_D, greater(d[0], d[1]));
    PUT_D(MIN_FD, lesser(f[0], d[1]));
    PUT_D(MAX_DF, greater(d[0], f[1]));
    PUT_F(FMINF, (float)lesser(f[0], f[1]));
    PUT_F(FMAXF, (float)greater(f[0], f[1]));
}

static int64_t as_signed(uint64_t x)
{
    int64_t s;
    memcpy(&s, &x, sizeof s);
    return s;
}

static int32_t low_of(uint64_t x)
{
    uint32_t low = (uint32_t)x;
    int32_t s;
    memcpy(&s, &low, sizeof s);
    return s;
}

static void floats(uint64_t word, double xx, uint32_t n, uint64_t *out)
{
    const uint32_t low = (uint32_t)word;
    const int32_t ilow = low_of(word);
    PUT_F(FROM_INT, (float)ilow);
    PUT_F(FROM_UINT, (float)low);
    PUT_F(FROM_LL, (float)as_signed(word));
    PUT_F(FROM_ULL, (float)word);
    PUT_D(D_FROM_INT, (double)ilow);
    PUT_D(D_FROM_UINT, (double)low);
    PUT_D(D_FROM_LL, (double)as_signed(word));
    PUT_D(D_FROM_ULL, (double)word);
    PUT_F(FROM_D, (float)xx);
}

void intrinsics_expect_float(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                             uint64_t *out)
{
    (void)c;
    for (uint32_t t = 0; t < n; t++, in += INTRINSICS_INPUTS, out++) {
        float f[3];
        double d[3];
        for (int i = 0; i < 3; i++) {
            f[i] = t & 1 ? float_of_bits((uint32_t)in[i]) : (float)low_of(in[i]) / 65536;
            d[i] = t & 1 ? double_of_bits(in[i]) : (double)as_signed(in[i]) / (double)(1ll << 40);
            if (isnan(f[i])) f[i] = float_of_bits(no_float);
            if (isnan(d[i])) d[i] = double_of_bits(no_double);
        }
        casts(f[0], d[0], n, out);
        arithmetic(f, d, n, out);
        integers(f[0], d[0], n, out);
        floats(in[0], d[0], n, out);
        for (int slot = FLOAT_RSQRTF; slot < FLOAT_SLOT_COUNT; slot++)
            out[(size_t)slot * n] = 1; /* within the tolerance */
    }
}
