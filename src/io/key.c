/*
 * io/key.c - the order of keys, byte order, half precision.
 *
 * The bits u of a key are mapped to a rank that is compared as an unsigned integer: signed integers
 * invert their sign bit; floats invert it, too, and negative floats all bits.  This is IEEE 754
 * totalOrder.  For nan-last, the ranks of negative NaN, which come first, wrap around to the top:
 *
 *     totalOrder   -NaN ... | -inf ... -0 +0 ... +inf | +NaN ...
 *     NaN last                -inf ... -0 +0 ... +inf | +NaN ... | -NaN ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/dtypes.h"
#include "io/io.h"

#include <string.h>

enum { UNSIGNED, SIGNED, FLOAT };

static const struct kind {
    bool is_signed;
    int fraction_bits; /* 0: not a float */
} kinds[] = {
#define ENTRY(with, constant, name, width, bytes, kind, mantissa_bits, numpy)                      \
    [constant] = { kind != UNSIGNED, mantissa_bits },
    ECHI_DTYPES(ENTRY, )
#undef ENTRY
};

bool io_is_signed(ech_dtype dtype)
{
    return kinds[dtype].is_signed;
}

int io_fraction_bits(ech_dtype dtype)
{
    return kinds[dtype].fraction_bits;
}

bool io_is_float(ech_dtype dtype)
{
    return kinds[dtype].fraction_bits != 0;
}

uint64_t io_load(const void *p, size_t bytes)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (bytes) {
    case 1:
        return memcpy(&u8, p, 1), u8;
    case 2:
        return memcpy(&u16, p, 2), u16;
    case 4:
        return memcpy(&u32, p, 4), u32;
    default:
        return memcpy(&u64, p, 8), u64;
    }
}

void io_store(void *p, size_t bytes, uint64_t value)
{
    uint8_t u8 = (uint8_t)value;
    uint16_t u16 = (uint16_t)value;
    uint32_t u32 = (uint32_t)value;
    switch (bytes) {
    case 1:
        memcpy(p, &u8, 1);
        break;
    case 2:
        memcpy(p, &u16, 2);
        break;
    case 4:
        memcpy(p, &u32, 4);
        break;
    default:
        memcpy(p, &value, 8);
    }
}

/* ---- Order ---- */

/* Constants derived from an io_order, computed once for many keys. */
struct ranker {
    size_t bytes;
    uint64_t ones, top, sign, shift, zero, last;
    bool is_float, merged, descending;
    int begin_bit;
    uint64_t bits_mask;
};

static struct ranker make_ranker(const struct io_order *order)
{
    size_t bytes = ech_dtype_bytes(order->dtype);
    const struct kind *kind = &kinds[order->dtype];
    int width = 8 * (int)bytes, end = order->end_bit ? order->end_bit : width;
    struct ranker r = { .bytes = bytes,
                        .ones = ~(uint64_t)0 >> (64 - width),
                        .top = (uint64_t)1 << (width - 1),
                        .is_float = kind->fraction_bits != 0,
                        .descending = order->descending,
                        .begin_bit = order->begin_bit };
    r.sign = kind->is_signed ? r.top : 0;
    if (r.is_float && order->order == ECH_ORDER_NAN_LAST) {
        r.shift = ((uint64_t)1 << kind->fraction_bits) - 1;
        r.merged = order->merged;
        r.zero = r.top - 1 - r.shift;
        r.last = (r.ones - r.shift) - r.shift + 1; /* one past +inf */
    }
    int count = end - order->begin_bit;
    r.bits_mask = count <= 0 ? 0 : ~(uint64_t)0 >> (64 - count);
    return r;
}

static uint64_t rank_of(const struct ranker *r, const void *p)
{
    uint64_t u = io_load(p, r->bytes);
    uint64_t e = u ^ (r->is_float && (u & r->top) ? r->ones : r->sign);
    e = (e - r->shift) & r->ones;
    if (r->merged) {
        if (e == r->zero) e++;
        if (e > r->last) e = r->last;
    }
    if (r->descending) e ^= r->ones;
    /* For an empty range begin_bit may be the width, by which a shift is undefined. */
    return r->bits_mask ? (e >> r->begin_bit) & r->bits_mask : 0;
}

uint64_t io_rank(const struct io_order *order, const void *p)
{
    struct ranker r = make_ranker(order);
    return rank_of(&r, p);
}

uint64_t io_unrank(ech_dtype dtype, uint64_t rank)
{
    struct ranker r = make_ranker(&(struct io_order){ .dtype = dtype, .order = ECH_ORDER_TOTAL });
    bool negative = r.is_float && !(rank & r.top);
    return (rank ^ (negative ? r.ones : r.sign)) & r.ones;
}

uint64_t io_first_unsorted(const struct io_order *order, const void *keys, uint64_t n,
                           bool strictly)
{
    struct ranker r = make_ranker(order);
    const char *at = keys;
    if (n == 0) return n;
    uint64_t before = rank_of(&r, at);
    for (uint64_t i = 1; i < n; i++) {
        uint64_t now = rank_of(&r, at + i * r.bytes);
        if (now < before || (strictly && now == before)) return i;
        before = now;
    }
    return n;
}

uint64_t io_unique(const struct io_order *order, void *keys, uint64_t *values, uint64_t n)
{
    struct ranker r = make_ranker(order);
    char *at = keys;
    if (n == 0) return 0;
    uint64_t kept = 1, before = rank_of(&r, at);
    for (uint64_t i = 1; i < n; i++) {
        uint64_t now = rank_of(&r, at + i * r.bytes);
        if (now == before) continue;
        memmove(at + kept * r.bytes, at + i * r.bytes, r.bytes);
        if (values) values[kept] = values[i];
        before = now;
        kept++;
    }
    return kept;
}

uint64_t io_unique_index(const struct io_order *order, const void *keys, void *index,
                         size_t index_bytes, uint64_t n)
{
    struct ranker r = make_ranker(order);
    const char *at = keys;
    char *place = index;
    uint64_t kept = 0, before = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t position = io_load(place + i * index_bytes, index_bytes);
        uint64_t now = rank_of(&r, at + position * r.bytes);
        if (i && now == before) continue;
        io_store(place + kept++ * index_bytes, index_bytes, position);
        before = now;
    }
    return kept;
}

/* ---- Bytes ---- */

void io_swap(void *elements, uint64_t n, size_t element_bytes)
{
    char *at = elements;
    for (uint64_t i = 0; i < n; i++, at += element_bytes) {
        uint64_t value = io_load(at, element_bytes);
        value = __builtin_bswap64(value) >> (64 - 8 * element_bytes);
        io_store(at, element_bytes, value);
    }
}

/* ---- 16-bit floats ---- */

/* Converts a double to a 16-bit float with these numbers of exponent and fraction bits. */
static uint16_t narrow(double x, int exponent_bits, int fraction_bits)
{
    uint64_t u;
    memcpy(&u, &x, 8);
    unsigned sign = (unsigned)(u >> 63) << 15, exponents = (1u << exponent_bits) - 1;
    unsigned infinity = exponents << fraction_bits;
    int exponent = (int)(u >> 52 & 0x7ff);
    uint64_t fraction = u & (((uint64_t)1 << 52) - 1);
    if (exponent == 0x7ff)
        return (uint16_t)(sign | infinity | (fraction ? 1u << (fraction_bits - 1) : 0));

    /* Keep fraction_bits + 1 of the 53 bits of the significand, or fewer for a subnormal. */
    int biased = exponent - 1023 + (int)(exponents >> 1);
    int drop = 52 - fraction_bits + (biased < 1 ? 1 - biased : 0);
    if (exponent == 0 || drop > 54) return (uint16_t)sign;
    uint64_t significand = fraction | (uint64_t)1 << 52;
    uint64_t kept = significand >> drop, rest = significand & (((uint64_t)1 << drop) - 1);
    uint64_t half = (uint64_t)1 << (drop - 1);
    if (rest > half || (rest == half && (kept & 1))) kept++;
    /* A carry out of the fraction increments the exponent, up to infinity. */
    if (biased >= 1) kept += (uint64_t)(biased - 1) << fraction_bits;
    return (uint16_t)(sign | (kept > infinity ? infinity : (unsigned)kept));
}

static double widen(uint16_t bits, int exponent_bits, int fraction_bits)
{
    unsigned exponents = (1u << exponent_bits) - 1;
    unsigned exponent = (unsigned)(bits >> fraction_bits) & exponents;
    unsigned fraction = bits & ((1u << fraction_bits) - 1);
    uint64_t sign = (uint64_t)(bits >> 15) << 63, u;
    if (exponent == exponents) {
        u = sign | (uint64_t)0x7ff << 52 | (uint64_t)fraction << (52 - fraction_bits);
    } else if (exponent) {
        u = sign | (uint64_t)(exponent - (exponents >> 1) + 1023) << 52 |
            (uint64_t)fraction << (52 - fraction_bits);
    } else {
        /* Subnormal: fraction times a power of two that is a normal double. */
        uint64_t power = (uint64_t)(1023 + 1 - (int)(exponents >> 1) - fraction_bits) << 52;
        double unit, x;
        memcpy(&unit, &power, 8);
        x = (double)fraction * unit;
        memcpy(&u, &x, 8);
        u |= sign;
    }
    double x;
    memcpy(&x, &u, 8);
    return x;
}

static int exponent_bits_of(ech_dtype dtype)
{
    return 15 - kinds[dtype].fraction_bits;
}

uint16_t io_half_from_double(ech_dtype dtype, double x)
{
    return narrow(x, exponent_bits_of(dtype), kinds[dtype].fraction_bits);
}

double io_half_to_double(ech_dtype dtype, uint16_t bits)
{
    return widen(bits, exponent_bits_of(dtype), kinds[dtype].fraction_bits);
}
