/*
 * core/exact.h - sums of f64 that do not depend on the order of addition, for the CPU and for
 * kernels.
 *
 * A number is converted to an integer of 192 bits (two's complement, three limbs, least significant
 * limb first). Its unit is derived from the maximum magnitude, whose highest bit is at most bit
 * 146. The 44 bits above leave room for the sum of 2^44 numbers. Bits of a number below 2^-147
 * times the power of two just above the maximum are lost: f32 loses nothing unless magnitudes
 * differ by a factor of 2^123. Integers are added limb by limb, in any order; the sum is rounded to
 * f64 once.
 *
 *   INLINE    static inline, or the qualifiers of a kernel's functions
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_EXACT_H
#define ECHI_CORE_EXACT_H

#include <stdint.h>
#include <string.h>

enum {
    ECHI_EXACT_LIMBS = 3,
    ECHI_EXACT_WORDS = 4, /* the limbs, and flags for infinities and NaN */
    ECHI_EXACT_TOP = 147, /* all magnitudes are less than 2^147 units */
    ECHI_EXACT_LOG2_N = 44,
    ECHI_EXACT_PLUS = 1, /* bits of the last word */
    ECHI_EXACT_MINUS = 2,
    ECHI_EXACT_NAN = 4
};

INLINE uint64_t exact_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The exponent field; subnormals have that of the smallest normal number. */
INLINE int exact_exponent(uint64_t bits)
{
    int field = (int)(bits >> 52 & 0x7ff);
    return field ? field : 1;
}

/* The magnitude of a finite number as bits in the same order; 0 for infinities and NaN. */
INLINE uint64_t exact_magnitude(double x)
{
    uint64_t magnitude = exact_bits(x) & ~((uint64_t)1 << 63);
    return magnitude >> 52 == 0x7ff ? 0 : magnitude;
}

/* word[0 ... 3] of x; largest is the maximum of exact_magnitude(). */
INLINE void exact_split(double x, uint64_t largest, uint64_t word[ECHI_EXACT_WORDS])
{
    const uint64_t bits = exact_bits(x), fraction = bits & (((uint64_t)1 << 52) - 1);
    const uint64_t negative = bits >> 63;
    word[0] = word[1] = word[2] = word[3] = 0;
    if ((bits >> 52 & 0x7ff) == 0x7ff) {
        word[3] = fraction ? ECHI_EXACT_NAN : negative ? ECHI_EXACT_MINUS : ECHI_EXACT_PLUS;
        return;
    }
    uint64_t m = fraction | (bits >> 52 & 0x7ff ? (uint64_t)1 << 52 : 0);
    int shift = exact_exponent(bits) - exact_exponent(largest) + ECHI_EXACT_TOP - 53;
    if (shift < 0) {
        m = shift > -64 ? m >> -shift : 0;
        shift = 0;
    }
    uint64_t low = m << (shift & 63), high = shift & 63 ? m >> (64 - (shift & 63)) : 0;
    word[0] = shift < 64 ? low : 0;
    word[1] = shift < 64 ? high : low;
    word[2] = shift < 64 ? 0 : high;
    if (negative) {
        word[0] = ~word[0] + 1;
        word[1] = ~word[1] + (word[0] == 0);
        word[2] = ~word[2] + (word[0] == 0 && word[1] == 0);
    }
}

/* sum += word */
INLINE void exact_add(uint64_t sum[ECHI_EXACT_WORDS], const uint64_t word[ECHI_EXACT_WORDS])
{
    uint64_t carry = 0;
    for (int i = 0; i < ECHI_EXACT_LIMBS; i++) {
        uint64_t with = word[i] + carry;
        carry = with < carry;
        sum[i] += with;
        carry += sum[i] < with;
    }
    sum[ECHI_EXACT_LIMBS] |= word[ECHI_EXACT_LIMBS];
}

INLINE double exact_power(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE int exact_length(uint64_t x)
{
    int length = 0;
    for (int step = 32; step; step /= 2)
        if (x >> step) {
            x >>= step;
            length += step;
        }
    return length + (x != 0);
}

/* The bits of the nearest f64 to sum, ties to even. */
INLINE double exact_round(const uint64_t sum[ECHI_EXACT_WORDS], uint64_t largest)
{
    uint64_t w[3] = { sum[0], sum[1], sum[2] };
    const uint64_t special = sum[3], negative = w[2] >> 63;
    const bool both = (special & ECHI_EXACT_PLUS) && (special & ECHI_EXACT_MINUS);
    if (special) {
        uint64_t bits = special & ECHI_EXACT_NAN || both ? (uint64_t)0x7ff8 << 48
                        : special & ECHI_EXACT_PLUS      ? (uint64_t)0x7ff0 << 48
                                                         : (uint64_t)0xfff0 << 48;
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    if (negative) {
        w[0] = ~w[0] + 1;
        w[1] = ~w[1] + (w[0] == 0);
        w[2] = ~w[2] + (w[0] == 0 && w[1] == 0);
    }
    const int length = w[2]   ? 128 + exact_length(w[2])
                       : w[1] ? 64 + exact_length(w[1])
                              : exact_length(w[0]);
    const int unit = exact_exponent(largest) - 1022 - ECHI_EXACT_TOP; /* a unit is 2^unit */
    int cut = length - 53;                                            /* bits removed by rounding */
    if (cut + unit < -1074) cut = -1074 - unit; /* a subnormal result has fewer bits */
    if (cut < 0) cut = 0;
    uint64_t kept = 0, half = 0, below = 0;
    for (int i = 0; i < 3; i++) { /* the bits of each limb above, at and below the cut */
        const int at = cut - 64 * i;
        if (at <= 0)
            kept |= at > -64 ? w[i] << -at : 0;
        else if (at < 64)
            kept |= w[i] >> at;
        if (at > 0 && at <= 64) {
            half = w[i] >> (at - 1) & 1;
            below |= at > 1 ? w[i] << (65 - at) : 0;
        } else if (at > 64) {
            below |= w[i];
        }
    }
    kept += half && (below || (kept & 1));
    const int exponent = cut + unit, part = exponent / 2;
    double x = (double)(int64_t)kept * exact_power(part) * exact_power(exponent - part);
    return negative ? -x : x;
}

/* a + b; NaN results are canonicalised. */
INLINE double exact_plus(double a, double b)
{
    double x = a + b;
    uint64_t nan = (uint64_t)0x7ff8 << 48;
    if (x != x) memcpy(&x, &nan, sizeof x);
    return x;
}

#endif
