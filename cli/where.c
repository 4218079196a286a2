/*
 * where.c - parses a condition on numbers, such as ">=3".
 *
 *     < <= == != >= >   followed by a number; == and != also by nan
 *     & &= !&           followed by a bit mask: any, all or none of its bits are set; integers only
 *     nan zero nonzero
 *
 * Numbers are compared by value.  If the column's type cannot represent the number, such as 2.5 or
 * 300 for u8, the condition is converted to an equivalent one: "<2.5" of integers is "<=2".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *sign;
    ech_compare compare;
} signs[] = {
    /* A longer sign before its prefix. */
    { "<=", ECH_COMPARE_LESS_EQUAL },    { "<", ECH_COMPARE_LESS },
    { "==", ECH_COMPARE_EQUAL },         { "=", ECH_COMPARE_EQUAL },
    { "!=", ECH_COMPARE_NOT_EQUAL },     { "!&", ECH_COMPARE_HAS_NONE },
    { ">=", ECH_COMPARE_GREATER_EQUAL }, { ">", ECH_COMPARE_GREATER },
    { "&=", ECH_COMPARE_HAS_ALL },       { "&", ECH_COMPARE_HAS_ANY },
};

/* Conditions that every integer satisfies, and none. */
static const struct where all_pass = { ECH_COMPARE_HAS_NONE, 0 },
                          none_pass = { ECH_COMPARE_HAS_ANY, 0 };

/* ---- Integers ---- */

/* The position of a number in the range of an integer type. */
struct place {
    int side;       /* -1: less than the minimum; 1: greater than the maximum; 0: in the range */
    uint64_t floor; /* if in the range: the number rounded down */
    bool exact;     /* the number is an integer */
};

static bool parse_hex(const char *at, uint64_t *value)
{
    if (at[0] != '0' || (at[1] | 0x20) != 'x' || !at[2]) return false;
    *value = 0;
    for (at += 2; *at; at++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, *at | 0x20);
        if (!digit || *value >> 60) return false;
        *value = *value << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

static struct place place_fraction(double x, bool is_signed, int bits)
{
    double below = floor(x), top = ldexp(1.0, is_signed ? bits - 1 : bits);
    if (below < (is_signed ? -top : 0)) return (struct place){ .side = -1 };
    if (below >= top) return (struct place){ .side = 1 };
    uint64_t u = below < 0 ? 0 - (uint64_t)-below : (uint64_t)below;
    return (struct place){ .floor = u, .exact = below == x };
}

static bool parse_place(const char *text, ech_dtype dtype, struct place *place)
{
    const char *end = text + strlen(text);
    bool negative = false, is_signed = io_is_signed(dtype);
    int bits = 8 * (int)ech_dtype_bytes(dtype);
    uint64_t magnitude, most = ~(uint64_t)0 >> (64 - bits);
    if (is_signed) most >>= 1;
    if (!parse_hex(text, &magnitude)) {
        io_number found = io_parse_integer(text, end, &negative, &magnitude);
        if (found == IO_NUMBER_RANGE) {
            *place = (struct place){ .side = negative ? -1 : 1 };
            return true;
        }
        double x;
        if (found != IO_NUMBER_OK) {
            if (io_parse_float(text, end, &x) != IO_NUMBER_OK || isnan(x)) return false;
            *place = place_fraction(x, is_signed, bits);
            return true;
        }
    }
    uint64_t least = is_signed ? most + 1 : 0;
    if (magnitude > (negative ? least : most))
        *place = (struct place){ .side = negative ? -1 : 1 };
    else
        *place = (struct place){ .floor = negative ? 0 - magnitude : magnitude, .exact = true };
    return true;
}

static struct where compare_integers(ech_compare compare, const struct place *place)
{
    bool less = compare == ECH_COMPARE_LESS || compare == ECH_COMPARE_LESS_EQUAL;
    bool greater = compare == ECH_COMPARE_GREATER || compare == ECH_COMPARE_GREATER_EQUAL;
    if (!place->side && place->exact) return (struct where){ compare, place->floor };
    if (compare == ECH_COMPARE_EQUAL) return none_pass;
    if (compare == ECH_COMPARE_NOT_EQUAL) return all_pass;
    if (place->side)
        return place->side < 0 ? (less ? none_pass : all_pass) : (greater ? none_pass : all_pass);
    return (struct where){ less ? ECH_COMPARE_LESS_EQUAL : ECH_COMPARE_GREATER, place->floor };
}

/* ---- Words ---- */

static int fail(const char *what, const char *text)
{
    return cli_fail(EXIT_BAD,
                    "%s is \"%s\"; give a condition such as \"<3\", \">=0.5\", \"==7\", \"!=nan\", "
                    "\"nonzero\", or \"&0xff\" for bits",
                    what, text);
}

static int parse_bits(const char *what, const char *text, const char *number, ech_dtype dtype,
                      struct where *where)
{
    struct place place;
    if (io_is_float(dtype))
        return cli_fail(EXIT_BAD,
                        "%s is \"%s\", a condition on the bits of integers, but the numbers are %s",
                        what, text, ech_dtype_name(dtype));
    if (!parse_place(number, dtype, &place)) return fail(what, text);
    if (place.side || !place.exact)
        return cli_fail(EXIT_BAD, "%s is \"%s\"; the mask must be a value of %s", what, text,
                        ech_dtype_name(dtype));
    where->value = place.floor;
    return EXIT_DONE;
}

static int parse_number(const char *what, const char *text, const char *number, ech_dtype dtype,
                        struct where *where)
{
    const char *end = number + strlen(number);
    double x;
    uint64_t bits;
    bool nan = io_parse_float(number, end, &x) == IO_NUMBER_OK && isnan(x);
    bool equal = where->compare == ECH_COMPARE_EQUAL, is_float = io_is_float(dtype);
    if (nan && !equal && where->compare != ECH_COMPARE_NOT_EQUAL)
        return cli_fail(EXIT_BAD,
                        "%s is \"%s\", but NaN has no order: compare it with == or !=", what, text);
    if (nan && equal) {
        where->compare = ECH_COMPARE_IS_NAN;
    } else if (nan && !is_float) {
        *where = all_pass;
    } else if (nan) {
        static const char least[] = "-inf";
        where->compare = ECH_COMPARE_GREATER_EQUAL;
        io_parse_key(least, least + sizeof least - 1, dtype, &where->value);
    } else if (is_float && parse_hex(number, &bits)) {
        char decimal[IO_NUMBER_TEXT];
        size_t length = io_format_key(ECH_U64, &bits, decimal);
        io_parse_key(decimal, decimal + length, dtype, &where->value);
    } else if (is_float) {
        if (io_parse_key(number, end, dtype, &where->value) != IO_NUMBER_OK)
            return fail(what, text);
    } else {
        struct place place;
        if (!parse_place(number, dtype, &place)) return fail(what, text);
        struct where found = compare_integers(where->compare, &place);
        where->compare = found.compare;
        io_store(&where->value, ech_dtype_bytes(dtype), found.value);
    }
    return EXIT_DONE;
}

size_t where_sign(const char *text, ech_compare *compare)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t length = strlen(signs[i].sign);
        if (strncmp(text, signs[i].sign, length) != 0) continue;
        *compare = signs[i].compare;
        return length;
    }
    return 0;
}

int where_parse(const char *what, const char *text, ech_dtype dtype, struct where *where)
{
    const char *at = text + strspn(text, " ");
    *where = (struct where){ ECH_COMPARE_NONZERO, 0 };
    if (strcmp(at, "nonzero") == 0) return EXIT_DONE;
    where->compare = ECH_COMPARE_EQUAL;
    if (strcmp(at, "zero") == 0) return EXIT_DONE;
    where->compare = ECH_COMPARE_IS_NAN;
    if (strcmp(at, "nan") == 0) return EXIT_DONE;
    const size_t sign = where_sign(at, &where->compare);
    if (!sign) return fail(what, text);
    at += sign;
    at += strspn(at, " ");
    return where->compare >= ECH_COMPARE_HAS_ANY ? parse_bits(what, text, at, dtype, where)
                                                 : parse_number(what, text, at, dtype, where);
}

bool where_is_number(const char *text)
{
    double ignored;
    uint64_t bits;
    return parse_hex(text, &bits) ||
           io_parse_float(text, text + strlen(text), &ignored) == IO_NUMBER_OK;
}

int where_check(const char *what, const char *text)
{
    struct where where;
    return where_parse(what, text, strchr(text, '&') ? ECH_U64 : ECH_F64, &where);
}
