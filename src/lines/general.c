/*
 * lines/general.c - floats as bytes in their order.
 *
 *     0                     not a number
 *     1, 2                  NaN with the sign bit, without it
 *     3, 16 or more bytes   a long double: sign and exponent, then the significand
 *
 * Numbers are converted to long double, as GNU sort does, so that 1 and 1 + 2^-60 differ where that
 * type has 64 bits.  -0 equals 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ON_STACK = 128 };

/* A short decimal number without an exponent, correctly rounded: its digits are an integer, which
 * a power of 10 that long double represents exactly divides.  Returns its end, or NULL if it is
 * another number. */
static const char *parse_short(const char *at, const char *end, long double *value)
{
    static const long double powers[] = { 1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                          1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                          1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L };
    enum { MOST = LDBL_MANT_DIG >= 64 ? 19 : 15 };
    const bool negative = at < end && *at == '-';
    uint64_t digits = 0;
    int n = 0, after = -1; /* digits after the point */
    if (negative) at++;
    for (; at < end; at++) {
        if (*at == '.' && after < 0) {
            after = 0;
        } else if (*at >= '0' && *at <= '9') {
            digits = 10 * digits + (uint64_t)(*at - '0');
            if (++n > MOST) return NULL;
            after += after >= 0;
        } else {
            break;
        }
    }
    if (n == 0 || (at < end && strchr("eExXpP.nNiI", *at) && *at)) return NULL;
    *value = (long double)digits / powers[after > 0 ? after : 0];
    if (negative) *value = -*value;
    return at;
}

/* strtold() of [at, end): *value and the end of the number; at if there is none. */
static const char *parse_float(const char *at, const char *end, long double *value)
{
    const char *last = parse_short(at, end, value);
    if (last) return last;
    const size_t n = (size_t)(end - at);
    char few[ON_STACK], *copy = n < ON_STACK ? few : malloc(n + 1), *stop;
    /* Without memory the number is that of its first bytes. */
    const size_t room = copy ? n : ON_STACK - 1;
    if (!copy) copy = few;
    memcpy(copy, at, room);
    copy[room] = 0;
    *value = strtold(copy, &stop);
    last = at + (stop - copy);
    if (copy != few) free(copy);
    return last;
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r'))) at++;
    return at;
}

const char *lines_general_end(const char *at, const char *end)
{
    long double value;
    const char *first = skip_space(at, end), *last = parse_float(first, end, &value);
    return last == first ? at : last;
}

static void put_uint(struct sink *s, uint64_t value, int bytes)
{
    while (bytes--) sink_put(s, (unsigned char)(value >> 8 * bytes));
}

/* The exponent as an unsigned number, and the significand in [1/2, 1) as 64-bit integers. */
static void put_magnitude(struct sink *s, long double value)
{
    enum { BIAS = 1 << 15, INFINITE = 0xffff };
    if (isinf(value)) {
        put_uint(s, INFINITE, 2);
        put_uint(s, 0, 8);
        return;
    }
    int exponent = 0;
    long double fraction = ldexpl(frexpl(value, &exponent), 64);
    const uint64_t high = (uint64_t)fraction;
    put_uint(s, value == 0 ? 0 : (uint64_t)(BIAS + exponent), 2);
    put_uint(s, high, 8);
#if LDBL_MANT_DIG > 64
    put_uint(s, (uint64_t)ldexpl(fraction - (long double)high, 64), 8);
#endif
}

void lines_put_general(struct sink *sink, const char *at, const char *end)
{
    enum { NONE = 0, NEGATIVE_NAN = 1, POSITIVE_NAN = 2, NEGATIVE = 3, POSITIVE = 4 };
    long double value;
    const char *first = skip_space(at, end);
    if (first == end || parse_float(first, end, &value) == first) {
        sink_put(sink, NONE);
        return;
    }
    if (isnan(value)) {
        sink_put(sink, signbit(value) ? NEGATIVE_NAN : POSITIVE_NAN);
        return;
    }
    const unsigned char flip = sink->flip;
    sink_put(sink, value < 0 ? NEGATIVE : POSITIVE);
    if (value < 0) sink->flip ^= 0xff;
    put_magnitude(sink, value < 0 ? -value : value);
    sink->flip = flip;
}
