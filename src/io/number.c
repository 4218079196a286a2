/*
 * io/number.c - converts a number from and to text.
 *
 *     number   = blanks [sign] ( digits [ "." digits ] [ e [sign] digits ] | "nan" | "inf" ) blanks
 *
 * One side of the point may have no digits.  Letters may be of either case, and "infinity" is
 * "inf".  A decimal of up to 19 digits with a power of ten of at most 27 is computed exactly in 128
 * bits, as an integer times or divided by a power of five, and rounded once.  strtod() converts all
 * others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void trim(const char **at, const char **end)
{
    while (*at < *end && is_blank(**at)) (*at)++;
    while (*at < *end && is_blank((*end)[-1])) (*end)--;
}

/* ---- Integers ---- */

io_number io_parse_integer(const char *at, const char *end, bool *negative, uint64_t *magnitude)
{
    trim(&at, &end);
    *negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || !is_digit(*at)) return IO_NUMBER_BAD;
    uint64_t value = 0;
    bool over = false;
    for (; at < end && is_digit(*at); at++) {
        unsigned digit = (unsigned)(*at - '0');
        over |= value > (UINT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    if (at < end) return IO_NUMBER_BAD;
    *magnitude = value;
    return over ? IO_NUMBER_RANGE : IO_NUMBER_OK;
}

/* ---- Decimals ---- */

struct decimal {
    uint64_t digits; /* of the significand, when there are at most 19 */
    int count;
    int exponent; /* power of ten */
    bool negative;
    const char *at; /* its sign or first digit */
};

static bool matches(const char *at, const char *end, const char *word)
{
    for (; at < end && *word; at++, word++)
        if ((*at | 0x20) != *word) return false;
    return at == end && *word == 0;
}

static const char *take_digits(const char *at, const char *end, struct decimal *d)
{
    for (; at < end && is_digit(*at); at++) {
        if (d->count == 0 && *at == '0') continue;
        if (d->count < 19) d->digits = d->digits * 10 + (unsigned)(*at - '0');
        if (d->count < 1000) d->count++;
    }
    return at;
}

static bool scan_decimal(const char *at, const char *end, struct decimal *d)
{
    const char *first = at;
    at = take_digits(at, end, d);
    size_t digits = (size_t)(at - first);
    if (at < end && *at == '.') {
        const char *point = ++at;
        at = take_digits(at, end, d);
        digits += (size_t)(at - point);
        d->exponent = at - point < 1000 ? -(int)(at - point) : -1000;
    }
    if (digits == 0) return false;
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        bool minus = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) at++;
        if (at == end || !is_digit(*at)) return false;
        int power = 0;
        for (; at < end && is_digit(*at); at++)
            if (power < 100000) power = power * 10 + (*at - '0');
        d->exponent += minus ? -power : power;
    }
    return at == end;
}

/* Parses [at, end) without blanks: sets *special for NaN and infinity, otherwise d. */
static io_number scan_float(const char *at, const char *end, struct decimal *d, double *special)
{
    trim(&at, &end);
    *d = (struct decimal){ .at = at };
    d->negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    *special = 0;
    if (matches(at, end, "nan"))
        *special = (double)NAN;
    else if (matches(at, end, "inf") || matches(at, end, "infinity"))
        *special = (double)INFINITY;
    else
        return scan_decimal(at, end, d) ? IO_NUMBER_OK : IO_NUMBER_BAD;
    *special = copysign(*special, d->negative ? -1.0 : 1.0);
    return IO_NUMBER_OK;
}

/* x * 2^power, with x rounded to its leading keep bits, ties to even. */
static double leading_bits(wide x, int power, int keep)
{
    uint64_t high = (uint64_t)(x >> 64);
    int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)x);
    int drop = bits - keep;
    if (drop <= 0) return ldexp((double)(uint64_t)x, power);
    wide rest = x & (((wide)1 << drop) - 1), half = (wide)1 << (drop - 1);
    uint64_t kept = (uint64_t)(x >> drop);
    if (rest > half || (rest == half && (kept & 1))) kept++;
    return ldexp((double)kept, power + drop);
}

/* Rounds a decimal once, to keep bits.  Returns false if it has too many digits or its power is too
 * large. */
static bool round_decimal(const struct decimal *d, int keep, double *value)
{
    enum { MOST_POWER = 27 }; /* 5^27 is the largest power of five in 63 bits */
    if (d->count > 19 || d->exponent < -MOST_POWER || d->exponent > MOST_POWER) return false;
    uint64_t five = 1;
    for (int i = d->exponent < 0 ? -d->exponent : d->exponent; i; i--) five *= 5;
    double x = 0;
    if (d->digits && d->exponent >= 0) {
        x = leading_bits((wide)d->digits * five, d->exponent, keep);
    } else if (d->digits) {
        /* The quotient has more than 64 bits, so only whether the remainder is 0 matters. */
        int shift = 64 + __builtin_clzll(d->digits);
        wide dividend = (wide)d->digits << shift, quotient = dividend / five;
        if (quotient * five != dividend) quotient |= 1;
        x = leading_bits(quotient, d->exponent - shift, keep);
    }
    *value = d->negative ? -x : x;
    return true;
}

io_number io_parse_float(const char *at, const char *end, double *value)
{
    struct decimal d;
    io_number status = scan_float(at, end, &d, value);
    if (status != IO_NUMBER_OK || *value != 0) return status;
    if (!round_decimal(&d, 53, value)) *value = strtod(d.at, NULL);
    return IO_NUMBER_OK;
}

/* A conversion through double would round twice. */
static io_number parse_single(const char *at, const char *end, float *value)
{
    struct decimal d;
    double x;
    io_number status = scan_float(at, end, &d, &x);
    if (status != IO_NUMBER_OK) return status;
    if (x != 0 || round_decimal(&d, 24, &x))
        *value = (float)x;
    else
        *value = strtof(d.at, NULL);
    return IO_NUMBER_OK;
}

/* ---- Keys ---- */

static io_number parse_integer_key(const char *at, const char *end, ech_dtype dtype, void *key)
{
    bool negative, is_signed = io_is_signed(dtype);
    uint64_t magnitude;
    io_number status = io_parse_integer(at, end, &negative, &magnitude);
    if (status == IO_NUMBER_BAD) {
        double ignored;
        return io_parse_float(at, end, &ignored) == IO_NUMBER_OK ? IO_NUMBER_FRACTION : status;
    }
    if (status != IO_NUMBER_OK) return status;
    size_t bytes = ech_dtype_bytes(dtype);
    uint64_t ones = ~(uint64_t)0 >> (64 - 8 * bytes);
    uint64_t most = is_signed ? ones / 2 : ones;
    if (negative) most = is_signed ? most + 1 : 0;
    if (magnitude > most) return IO_NUMBER_RANGE;
    io_store(key, bytes, negative ? 0 - magnitude : magnitude);
    return IO_NUMBER_OK;
}

io_number io_parse_key(const char *at, const char *end, ech_dtype dtype, void *key)
{
    if (!io_is_float(dtype)) return parse_integer_key(at, end, dtype, key);
    io_number status;
    if (dtype == ECH_F32) {
        float single;
        status = parse_single(at, end, &single);
        if (status == IO_NUMBER_OK) memcpy(key, &single, sizeof single);
        return status;
    }
    double value;
    status = io_parse_float(at, end, &value);
    if (status != IO_NUMBER_OK) return status;
    if (dtype == ECH_F64) {
        memcpy(key, &value, sizeof value);
    } else {
        uint16_t half = io_half_from_double(dtype, value);
        memcpy(key, &half, sizeof half);
    }
    return status;
}

double io_key_to_double(ech_dtype dtype, const void *key)
{
    if (!io_is_float(dtype)) {
        size_t bytes = ech_dtype_bytes(dtype);
        uint64_t value = io_load(key, bytes);
        if (!io_is_signed(dtype)) return (double)value;
        int unused = 64 - 8 * (int)bytes;
        return (double)((int64_t)(value << unused) >> unused);
    }
    if (dtype == ECH_F64) {
        double value;
        memcpy(&value, key, sizeof value);
        return value;
    }
    if (dtype == ECH_F32) {
        float single;
        memcpy(&single, key, sizeof single);
        return (double)single;
    }
    return io_half_to_double(dtype, (uint16_t)io_load(key, 2));
}

/* Writes the digits of value; returns the length. */
static size_t format_integer(uint64_t value, bool negative, char *text)
{
    char digits[20];
    size_t n = 0, at = 0;
    do digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    if (negative) text[at++] = '-';
    while (n) text[at++] = digits[--n];
    text[at] = 0;
    return at;
}

size_t io_format_key(ech_dtype dtype, const void *key, char *text)
{
    size_t bytes = ech_dtype_bytes(dtype);
    uint64_t wanted = io_load(key, bytes), back = 0;
    if (!io_is_float(dtype)) {
        if (!io_is_signed(dtype)) return format_integer(wanted, false, text);
        int unused = 64 - 8 * (int)bytes;
        int64_t number = (int64_t)(wanted << unused) >> unused;
        return format_integer(number < 0 ? 0 - (uint64_t)number : (uint64_t)number, number < 0,
                              text);
    }
    double value = io_key_to_double(dtype, key);
    if (isnan(value))
        return (size_t)snprintf(text, IO_NUMBER_TEXT, signbit(value) ? "-nan" : "nan");
    /* Integers such as 65504 of f16 in full, not as 6.55e+04. */
    if (bytes == 2 && fabs(value) < 1e5 && value == floor(value))
        return (size_t)snprintf(text, IO_NUMBER_TEXT, "%.0f", value);
    /* kept: digits that every decimal preserves in the type.  enough: digits that identify every
     * number.  normal: the minimum normal number, below which fewer digits may be enough. */
    const int fraction = io_fraction_bits(dtype), exponent = 8 * (int)bytes - 1 - fraction;
    const int kept = fraction * 30103 / 100000, enough = 2 + (fraction + 1) * 30103 / 100000;
    const double normal = ldexp(1, 2 - (1 << (exponent - 1)));
    int n = 0;
    for (int some = fabs(value) < normal ? 1 : kept; some <= enough; some++) {
        n = snprintf(text, IO_NUMBER_TEXT, "%.*g", some, value);
        if (some == enough) break;
        io_parse_key(text, text + n, dtype, &back);
        if (io_load(&back, bytes) == wanted) break;
    }
    return (size_t)n;
}
