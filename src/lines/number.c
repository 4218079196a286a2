/*
 * lines/number.c - numbers of any number of digits, units and months as bytes in their order.
 *
 *     0x80 + class, digits, two per byte        a number > 0; complemented if < 0; 0 is 0x80
 *
 * The class is 1 without an integer part, 1 + the count of its digits up to 98, or, for more
 * digits, 99 + the count of bytes that follow with the count of digits.  Trailing zeros are not
 * stored: the digits are those of a fraction, and a byte of 0 ends them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A decimal number without its leading zeros. */
struct decimal {
    bool negative;
    const char *integer;
    size_t integer_digits;
    const char *fraction;
    size_t fraction_digits; /* without trailing zeros */
    const char *end;        /* of the text of the number */
    bool digits;            /* there are some */
};

static struct decimal parse(const char *at, const char *end)
{
    struct decimal d = { .negative = at < end && *at == '-' };
    const char *first = at + d.negative;
    at = first;
    while (at < end && *at == '0') at++;
    d.integer = at;
    while (at < end && is_digit(*at)) at++;
    d.integer_digits = (size_t)(at - d.integer);
    d.digits = at > first;
    if (at < end && *at == '.') {
        const char *last = ++at;
        d.fraction = at;
        for (; at < end && is_digit(*at); at++)
            if (*at != '0') last = at + 1;
        d.fraction_digits = (size_t)(last - d.fraction);
        d.digits |= at > d.fraction;
    }
    d.end = at;
    return d;
}

static bool is_zero(const struct decimal *d)
{
    return d->integer_digits == 0 && d->fraction_digits == 0;
}

static void put_class(struct sink *s, size_t integer_digits)
{
    enum { ZERO = 0x80, MOST = 98, LONG = 99 };
    if (integer_digits <= MOST) {
        sink_put(s, (unsigned char)(ZERO + 1 + integer_digits));
        return;
    }
    int bytes = 0;
    for (uint64_t n = integer_digits; n; n >>= 8) bytes++;
    sink_put(s, (unsigned char)(ZERO + LONG + bytes));
    while (bytes--) sink_put(s, (unsigned char)((uint64_t)integer_digits >> 8 * bytes));
}

static void put_decimal(struct sink *s, const struct decimal *d)
{
    const unsigned char flip = s->flip;
    if (is_zero(d)) {
        sink_put(s, 0x80);
        return;
    }
    if (d->negative) s->flip ^= 0xff;
    put_class(s, d->integer_digits);
    size_t integer = d->integer_digits;
    if (!d->fraction_digits)
        while (d->integer[integer - 1] == '0') integer--;
    int high = -1; /* the first digit of a byte that is not complete */
    const char *at = d->integer, *end = at + integer;
    for (int part = 0; part < 2; part++) {
        for (; at < end && !sink_full(s); at++) {
            if (high < 0) {
                high = *at - '0';
            } else {
                sink_put(s, (unsigned char)(1 + 10 * high + *at - '0'));
                high = -1;
            }
        }
        at = d->fraction;
        end = at + d->fraction_digits;
    }
    if (high >= 0) sink_put(s, (unsigned char)(1 + 10 * high));
    sink_put(s, 0);
    s->flip = flip;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) at++;
    return at;
}

void lines_put_number(struct sink *sink, const char *at, const char *end)
{
    const struct decimal d = parse(skip_blanks(at, end), end);
    put_decimal(sink, &d);
}

/* ---- Units ---- */

/* k and K 1, M 2, G 3 and so on; 0: no unit. */
static int unit_of(const char *at, const char *end)
{
    static const char units[] = "KMGTPEZYRQ";
    if (at >= end) return 0;
    if (*at == 'k') return 1;
    for (int i = 0; units[i]; i++)
        if (units[i] == *at) return i + 1;
    return 0;
}

void lines_put_human(struct sink *sink, const char *at, const char *end)
{
    const struct decimal d = parse(skip_blanks(at, end), end);
    int unit = is_zero(&d) ? 0 : unit_of(d.end, end);
    if (d.negative) unit = -unit;
    sink_put(sink, (unsigned char)(0x80 + unit));
    put_decimal(sink, &d);
}

/* ---- Months ---- */

static int month_of(const char *at, const char *end)
{
    static const char months[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
    if (end - at < 3) return 0;
    char name[3];
    for (int i = 0; i < 3; i++)
        name[i] = at[i] >= 'a' && at[i] <= 'z' ? (char)(at[i] - 'a' + 'A') : at[i];
    for (int i = 0; i < 12; i++)
        if (months[3 * i] == name[0] && months[3 * i + 1] == name[1] &&
            months[3 * i + 2] == name[2])
            return i + 1;
    return 0;
}

void lines_put_month(struct sink *sink, const char *at, const char *end)
{
    sink_put(sink, (unsigned char)month_of(skip_blanks(at, end), end));
}

/* ---- What is compared ---- */

const char *lines_number_end(enum kind kind, const char **at, const char *end)
{
    *at = skip_blanks(*at, end);
    if (kind == KIND_MONTH) return month_of(*at, end) ? *at + 3 : *at;
    if (kind == KIND_GENERAL) return lines_general_end(*at, end);
    const struct decimal d = parse(*at, end);
    if (!d.digits) return *at;
    return d.end + (kind == KIND_HUMAN && unit_of(d.end, end));
}
