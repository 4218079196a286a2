/*
 * lines/wide.h - 16 bytes of text in a register.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_WIDE_H
#define ECHELON_LINES_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WIDE = 16 };

#if defined(__AVX2__)

#include <immintrin.h>

#define HAVE_WIDE 1
typedef __m128i wide;

/* All bits of the first n bytes; more n mean 16. */
static inline wide wide_first(size_t n)
{
    static const unsigned char ones[2 * WIDE] = { 255, 255, 255, 255, 255, 255, 255, 255,
                                                  255, 255, 255, 255, 255, 255, 255, 255 };
    return _mm_loadu_si128((const wide *)(const void *)(ones + WIDE - (n < WIDE ? n : WIDE)));
}

static inline wide wide_load(const char *at)
{
    return _mm_loadu_si128((const wide *)(const void *)at);
}

/* The first 8 bytes, and the other ones, each with its first byte in the lowest one. */
static inline wide wide_of(uint64_t low, uint64_t high)
{
    return _mm_set_epi64x((long long)high, (long long)low);
}

/* The bytes after n < 16 bytes of 0. */
static inline wide wide_behind(wide a, size_t n)
{
    static const unsigned char places[2 * WIDE] = { 128, 128, 128, 128, 128, 128, 128, 128,
                                                    128, 128, 128, 128, 128, 128, 128, 128,
                                                    0,   1,   2,   3,   4,   5,   6,   7,
                                                    8,   9,   10,  11,  12,  13,  14,  15 };
    return _mm_shuffle_epi8(a, _mm_loadu_si128((const wide *)(const void *)(places + WIDE - n)));
}

static inline wide wide_and(wide a, wide b)
{
    return _mm_and_si128(a, b);
}

static inline wide wide_or(wide a, wide b)
{
    return _mm_or_si128(a, b);
}

static inline wide wide_xor(wide a, wide b)
{
    return _mm_xor_si128(a, b);
}

/* Whether one of the first n bytes, of which first is wide_first(n), is 0 or 1. */
static inline bool wide_has_small(wide a, wide first)
{
    const wide small = _mm_cmpeq_epi8(_mm_min_epu8(a, _mm_set1_epi8(1)), a);
    return !_mm_testz_si128(small, first);
}

/* a to z become A to Z. */
static inline wide wide_upper(wide a)
{
    const wide from_a = _mm_cmpgt_epi8(a, _mm_set1_epi8('a' - 1));
    const wide to_z = _mm_cmpgt_epi8(_mm_set1_epi8('z' + 1), a);
    return _mm_sub_epi8(a, _mm_and_si128(_mm_and_si128(from_a, to_z), _mm_set1_epi8(32)));
}

/* The first 8 bytes, and bytes 7 to 14, each as a big-endian number. */
static inline uint64_t wide_word(wide a)
{
    return __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(a));
}

static inline uint64_t wide_next(wide a)
{
    return __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(_mm_srli_si128(a, 7)));
}

#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && defined(__SIZEOF_INT128__)

#define HAVE_WIDE 1
__extension__ typedef unsigned __int128 wide; /* the first byte is in the lowest one */

static inline wide wide_first(size_t n)
{
    return n < WIDE ? ((wide)1 << 8 * n) - 1 : ~(wide)0;
}

static inline wide wide_load(const char *at)
{
    wide a;
    memcpy(&a, at, sizeof a);
    return a;
}

static inline wide wide_of(uint64_t low, uint64_t high)
{
    return (wide)high << 64 | low;
}

static inline wide wide_behind(wide a, size_t n)
{
    return a << 8 * n;
}

static inline wide wide_and(wide a, wide b)
{
    return a & b;
}

static inline wide wide_or(wide a, wide b)
{
    return a | b;
}

static inline wide wide_xor(wide a, wide b)
{
    return a ^ b;
}

static inline uint64_t wide_small_bytes(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
    return (word - 2 * ones) & ~word & high;
}

static inline bool wide_has_small(wide a, wide first)
{
    a |= ~first;
    return (wide_small_bytes((uint64_t)a) | wide_small_bytes((uint64_t)(a >> 64))) != 0;
}

static inline uint64_t wide_upper_word(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080, low = word & ~high;
    const uint64_t from_a = low + ones * (0x80 - 'a'), after_z = low + ones * (0x7f - 'z');
    return word - (((from_a ^ after_z) & ~word & high) >> 2);
}

static inline wide wide_upper(wide a)
{
    return wide_of(wide_upper_word((uint64_t)a), wide_upper_word((uint64_t)(a >> 64)));
}

static inline uint64_t wide_word(wide a)
{
    return __builtin_bswap64((uint64_t)a);
}

static inline uint64_t wide_next(wide a)
{
    return __builtin_bswap64((uint64_t)(a >> 56));
}

#else

#define HAVE_WIDE 0

#endif

#endif
