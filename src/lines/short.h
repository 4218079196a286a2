/*
 * lines/short.h - decimal numbers of at most 15 digits, 16 characters at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_SHORT_H
#define ECHELON_LINES_SHORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { SHORT_DIGITS = 16 }; /* characters that are read at once */

/* The digits of a number: its integer digits without zeros before them, then its fraction. */
struct short_number {
    uint64_t pairs; /* pairs of digits plus 1; the first is in the lowest byte */
    size_t digits;  /* of the integer part */
    size_t used;    /* pairs without zeros at the end; 0: the number is 0 */
    bool negative;
};

#ifdef __SSE2__

/* The first n bytes. */
static inline __m128i short_first(size_t n)
{
    static const unsigned char ones[2 * SHORT_DIGITS] = { 255, 255, 255, 255, 255, 255, 255, 255,
                                                          255, 255, 255, 255, 255, 255, 255, 255 };
    return _mm_loadu_si128((const __m128i *)(const void *)(ones + SHORT_DIGITS - n));
}

/* Pairs of digits as bytes. */
static inline uint64_t short_pairs(__m128i digits)
{
    const __m128i even = _mm_and_si128(digits, _mm_set1_epi16(0xff));
    const __m128i tens = _mm_mullo_epi16(even, _mm_set1_epi16(10));
    const __m128i pairs = _mm_add_epi16(tens, _mm_srli_epi16(digits, 8));
    uint64_t result;
    _mm_storel_epi64((__m128i *)(void *)&result, _mm_packus_epi16(pairs, pairs));
    return result;
}

/* Returns false for a number with more digits, or with zeros before the others. */
static inline bool short_digits(const char *at, size_t left, struct short_number *number,
                                uint64_t *pairs)
{
    const size_t known = left < SHORT_DIGITS ? left : SHORT_DIGITS;
    const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)at);
    const __m128i values = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values);
    const uint32_t mask = (uint32_t)_mm_movemask_epi8(is_digit) & (((uint32_t)1 << known) - 1);
    size_t n = (size_t)__builtin_ctz(~mask);
    const bool zero = n && *at == '0';
    if (n == SHORT_DIGITS || (zero && n > 1)) return false;
    __m128i digits = _mm_and_si128(values, short_first(n));
    if (n < known && at[n] == '.') {
        const size_t all = n + (size_t)__builtin_ctz(~(mask >> (n + 1)));
        if (all + 1 >= SHORT_DIGITS) return false;
        const __m128i fraction = _mm_andnot_si128(short_first(n), short_first(all));
        digits = _mm_or_si128(digits, _mm_and_si128(_mm_srli_si128(values, 1), fraction));
    }
    if (zero) {
        digits = _mm_srli_si128(digits, 1);
        n = 0;
    }
    number->digits = n;
    *pairs = short_pairs(digits);
    return true;
}

#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* The digits at the beginning of a word as numbers, zeros after them; *n: how many. */
static inline uint64_t short_word(const char *at, size_t most, size_t *n)
{
    const uint64_t high = 0x8080808080808080;
    uint64_t text;
    memcpy(&text, at, sizeof text);
    text ^= 0x3030303030303030; /* digits become 0 to 9 */
    const uint64_t other = ((text + 0x7676767676767676) | text) & high;
    *n = other ? (size_t)__builtin_ctzll(other) / 8 : 8;
    if (*n > most) *n = most;
    return *n == 8 ? text : text & (((uint64_t)1 << 8 * *n) - 1);
}

/* Four pairs of digits as bytes. */
static inline uint64_t short_pairs(uint64_t digits)
{
    uint64_t pairs = (10 * digits + (digits >> 8)) & 0x00ff00ff00ff00ff;
    pairs = (pairs | pairs >> 8) & 0x0000ffff0000ffff;
    return (pairs | pairs >> 16) & 0xffffffff;
}

/* Returns false also for a number with a point. */
static inline bool short_digits(const char *at, size_t left, struct short_number *number,
                                uint64_t *pairs)
{
    size_t n, more = 0;
    *pairs = short_pairs(short_word(at, left, &n));
    if (n == 8) *pairs |= short_pairs(short_word(at + 8, left - 8, &more)) << 32;
    n += more;
    if (more == 8 || (n > 1 && *at == '0') || (n < left && at[n] == '.')) return false;
    number->digits = n - (n && *at == '0');
    return true;
}

#else

static inline bool short_digits(const char *at, size_t left, struct short_number *number,
                                uint64_t *pairs)
{
    (void)at, (void)left, (void)number, (void)pairs;
    return false;
}

#endif

/* The number at at, which is not a blank.  limit: the end of the memory that can be read.  Returns
 * false for a number of another form. */
static inline bool short_parse(const char *at, const char *end, const char *limit,
                               struct short_number *number)
{
    uint64_t pairs;
    if (limit - at <= SHORT_DIGITS) return false;
    number->negative = at < end && *at == '-';
    at += number->negative;
    if (!short_digits(at, (size_t)(end - at), number, &pairs)) return false;
    number->used = pairs ? (size_t)(71 - __builtin_clzll(pairs)) / 8 : 0;
    const uint64_t ones = 0x0101010101010101;
    number->pairs = number->used ? pairs + (ones >> (64 - 8 * number->used)) : 0;
    return true;
}

/* The class and the first seven pairs of a number that is not 0, the first in the lowest byte, and
 * 0 after the end. */
static inline uint64_t short_bytes(const struct short_number *number, uint64_t flip)
{
    const size_t used = number->used;
    const uint64_t kept = used < 6 ? ((uint64_t)1 << 8 * (used + 2)) - 1 : UINT64_MAX;
    return (((0x80 + 1 + number->digits) | number->pairs << 8) ^ flip) & kept;
}

#endif
