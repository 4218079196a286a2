/*
 * sort_benchmark.c - the records of the sort benchmark (sortbenchmark.org), computed from their
 * numbers.
 *
 * The records are those of the program gensort 1.5.  Record i has the random numbers
 * x(i + 1), x(i + 2) and so on of a linear congruential generator with x(0) = 0:
 *
 *     x(i + 1) = a x(i) + c   modulo 2^128
 *
 *     binary   10 parts of 10 bytes: the first 10 bytes of x(i + 1) .. x(i + 10), big-endian, the
 *              last 9 with a constant added by exclusive or
 *     ASCII    10 characters of the key | 2 blanks | the record's number as 32 hexadecimal digits |
 *              2 blanks | 13 digits of x(i + 1), each 4 times | CR LF
 *     skewed   a random number of the first bits (binary) or characters (ASCII) of the key are
 *              those of the key of record b of the records that are not skewed.  b is the number of
 *              bits of the record's number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_benchmark.h"

#include <string.h>

static const u128 multiplier = (u128)0x2360ed051fc65da4 << 64 | 0x4385df649fccf645;
static const u128 increment = (u128)0x4a696d4772617952 << 64 | 0x4950202020202001;

/* x(steps): the generator's function, composed with itself as often as the bits of steps require.
 */
static u128 random_after(u128 steps)
{
    u128 x = 0, a = multiplier, c = increment;
    for (; steps; steps >>= 1) {
        if (steps & 1) x = a * x + c;
        c = a * c + c;
        a *= a;
    }
    return x;
}

static unsigned bits_of(u128 value)
{
    const uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    if (high) return 128 - (unsigned)__builtin_clzll(high);
    return low ? 64 - (unsigned)__builtin_clzll(low) : 0;
}

/* ---- Binary records ---- */

/* The first 8 bytes of a number, and the next 8, in the order of memory. */
struct halves {
    uint64_t high, low;
};

static uint64_t big_endian(uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(x);
#else
    return x;
#endif
}

/* What is added to the 10 bytes of each part: 8 and 2 bytes. */
static const struct halves parts[10] = {
    { 0, 0 },
    { 0xf0e8e4e2e1d8d4d2, 0xd1cc },
    { 0xcac9c6c5c3b8b4b2, 0xb1ac },
    { 0xaaa9a6a5a39c9a99, 0x9695 },
    { 0x938e8d8b87787472, 0x716c },
    { 0x6a696665635c5a59, 0x5655 },
    { 0x534e4d4b473c3a39, 0x3635 },
    { 0x332e2d2b271e1d1b, 0x170f },
    { 0xc8c4c2c198949291, 0x8ce0 },
    { 0x170f332e2d2b271e, 0x1d1b },
};

enum { GROUP = 256 }; /* records whose random numbers are computed together */

/* Each part is written with 6 bytes too many, which the next part overwrites. */
static void fill_binary(u128 x, size_t n, unsigned char *out)
{
    struct halves random[GROUP + 9], added[10];
    for (int j = 0; j < 10; j++)
        added[j] = (struct halves){ big_endian(parts[j].high), big_endian(parts[j].low << 48) };
    for (size_t i = 0; i < n + 9; i++) {
        x = x * multiplier + increment;
        random[i] = (struct halves){ big_endian((uint64_t)(x >> 64)), big_endian((uint64_t)x) };
    }
    for (size_t i = 0; i < n; i++, out += BENCHMARK_RECORD)
        for (int j = 0; j < 10; j++) {
            const struct halves part = { random[i + (size_t)j].high ^ added[j].high,
                                         random[i + (size_t)j].low ^ added[j].low };
            memcpy(out + 10 * j, &part, sizeof part);
        }
}

/* ---- ASCII records ---- */

/* The 8 hexadecimal digits of x, in the order of memory. */
static uint64_t hex(uint32_t value)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t x = value;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f; /* one digit per byte */
    const uint64_t letters = (x + 6 * ones) >> 4 & ones;
    return big_endian(x + '0' * ones + letters * ('A' - '0' - 10));
}

/* Writes 16 hexadecimal digits. */
static void put_hex(unsigned char *out, uint64_t x)
{
    const uint64_t digits[2] = { hex((uint32_t)(x >> 32)), hex((uint32_t)x) };
    memcpy(out, digits, sizeof digits);
}

/* Writes the last 13 hexadecimal digits of x, each 4 times. */
static void put_filler(unsigned char *out, uint64_t x)
{
    unsigned char digits[16];
    put_hex(digits, x);
    for (int i = 0; i < 13; i++) {
        const uint32_t four = digits[i + 3] * (uint32_t)0x01010101;
        memcpy(out + 4 * i, &four, sizeof four);
    }
}

/* The key's characters are digits to base 95, with the last digit first. */
static void put_key(unsigned char *out, uint64_t x, int digits)
{
    for (int i = 0; i < digits; i++, x /= 95) out[i] = (unsigned char)(' ' + x % 95);
}

static void fill_ascii(u128 x, u128 number, size_t n, unsigned char *out)
{
    for (size_t i = 0; i < n; i++, number++, out += BENCHMARK_RECORD) {
        x = x * multiplier + increment;
        put_key(out, (uint64_t)(x >> 64), 8);
        put_key(out + 8, (uint64_t)x, 2);
        memset(out + 10, ' ', 2);
        put_hex(out + 12, (uint64_t)(number >> 64));
        put_hex(out + 28, (uint64_t)number);
        memset(out + 44, ' ', 2);
        put_filler(out + 46, (uint64_t)x);
        out[98] = '\r';
        out[99] = '\n';
    }
}

/* ---- Skewed keys ---- */

/* gensort 1.5 uses prefix 64 for all numbers of 61 to 64 bits. */
static unsigned prefix_of(u128 number)
{
    const unsigned bits = bits_of(number);
    return bits > 60 && bits < 64 ? 64 : bits;
}

static void skew(const struct benchmark *b, u128 x, u128 number, size_t n, unsigned char *out)
{
    for (size_t i = 0; i < n; i++, number++, out += BENCHMARK_RECORD) {
        const unsigned char *prefix = b->prefixes[prefix_of(number)];
        x = x * multiplier + increment;
        /* A choice that exceeds the prefix leaves the key unchanged: a quarter of the records. */
        unsigned bits = (unsigned)(x >> 32) & (b->ascii ? 7 : 63);
        if (b->ascii) bits *= 8;
        if (bits > 8 * BENCHMARK_PREFIX) bits = 0;
        memcpy(out, prefix, bits / 8);
        if (bits % 8 == 0) continue;
        const unsigned keep = 0xffu >> bits % 8;
        unsigned char *byte = out + bits / 8;
        *byte = (unsigned char)((*byte & keep) | (prefix[bits / 8] & ~keep));
    }
}

/* ---- All records ---- */

static void fill_some(const struct benchmark *b, u128 x, u128 number, size_t n, unsigned char *out)
{
    if (b->ascii)
        fill_ascii(x, number, n, out);
    else
        fill_binary(x, n, out);
}

void benchmark_init(struct benchmark *benchmark, bool ascii, bool skewed)
{
    unsigned char records[BENCHMARK_PREFIXES * BENCHMARK_RECORD + BENCHMARK_SPARE];
    *benchmark = (struct benchmark){ .ascii = ascii, .skewed = skewed };
    fill_some(benchmark, 0, 0, BENCHMARK_PREFIXES, records);
    for (int i = 0; i < BENCHMARK_PREFIXES; i++)
        memcpy(benchmark->prefixes[i], records + i * BENCHMARK_RECORD, BENCHMARK_PREFIX);
}

void benchmark_fill(const struct benchmark *benchmark, u128 first, size_t n, unsigned char *out)
{
    for (size_t done = 0; done < n; done += GROUP) {
        const size_t count = n - done < GROUP ? n - done : GROUP;
        unsigned char *at = out + done * BENCHMARK_RECORD;
        const u128 x = random_after(first + done);
        fill_some(benchmark, x, first + done, count, at);
        if (benchmark->skewed) skew(benchmark, x, first + done, count, at);
    }
}

const char *u128_text(u128 value, unsigned base, char text[U128_TEXT])
{
    char *at = text + U128_TEXT - 1;
    *at = 0;
    do {
        *--at = "0123456789abcdef"[(unsigned)(value % base)];
        value /= base;
    } while (value);
    return at;
}
