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
#include "lines/short.h"

enum { FEW_DIGITS = 40 };

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
    d.fraction = at;
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

/* Two digits per byte, without bytes at the end that stand for zeros; a byte of 0 ends them. */
static void put_few_digits(struct sink *s, const struct decimal *d)
{
    unsigned char digits[FEW_DIGITS + 1] = { 0 }, bytes[FEW_DIGITS / 2 + 1];
    const size_t n = d->integer_digits + d->fraction_digits;
    size_t used = 0;
    for (size_t i = 0; i < d->integer_digits; i++) digits[i] = (unsigned char)(d->integer[i] - '0');
    for (size_t i = 0; i < d->fraction_digits; i++)
        digits[d->integer_digits + i] = (unsigned char)(d->fraction[i] - '0');
    for (size_t i = 0; i < n; i += 2)
        bytes[used++] = (unsigned char)(1 + 10 * digits[i] + digits[i + 1]);
    while (used > 1 && bytes[used - 1] == 1) used--; /* not all digits are 0 */
    bytes[used++] = 0;
    sink_put_all(s, (const char *)bytes, used);
}

static void put_many_digits(struct sink *s, const struct decimal *d)
{
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
    if (d->integer_digits <= FEW_DIGITS / 2 && d->fraction_digits <= FEW_DIGITS / 2)
        put_few_digits(s, d);
    else
        put_many_digits(s, d);
    s->flip = flip;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) at++;
    return at;
}

/* ---- Numbers of at most 15 digits, 16 characters at a time ---- */

/* Returns false for another number, for which nothing is appended. */
static bool put_short(struct sink *s, const char *at, const char *end)
{
    struct short_number number;
    if (!s->limit || !short_parse(at, end, s->limit, &number)) return false;
    if (!number.used) {
        sink_put(s, 0x80);
        return true;
    }
    const uint64_t flip = (s->flip != 0) != number.negative ? UINT64_MAX : 0;
    const uint64_t first = short_bytes(&number, flip);
    const unsigned char last[2] = { (unsigned char)((number.pairs >> 56) ^ flip),
                                    (unsigned char)flip };
    char bytes[10];
    memcpy(bytes, &first, sizeof first);
    memcpy(bytes + sizeof first, last, sizeof last);
    const unsigned char before = s->flip;
    s->flip = 0;
    if (number.used <= 6 && s->n >= s->skip && s->n - s->skip + sizeof first <= s->room) {
        memcpy(s->to + (s->n - s->skip), bytes, sizeof first); /* 0 after the end */
        s->n += number.used + 2;
    } else {
        sink_put_all(s, bytes, number.used + 2);
    }
    s->flip = before;
    return true;
}

void lines_put_number(struct sink *sink, const char *at, const char *end)
{
    at = skip_blanks(at, end);
    if (sink->limit && put_short(sink, at, end)) return;
    const struct decimal d = parse(at, end);
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
