/*
 * lines/mask.h - which of the next 64 bytes are a character, as the bits of a number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_MASK_H
#define ECHELON_LINES_MASK_H

#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { MASK_BYTES = 64 };

#if defined(__AVX2__)

#define MASK_STEP 32
typedef __m256i mask_bytes;

static inline mask_bytes mask_load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline uint64_t mask_equal(mask_bytes text, char c)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(text, _mm256_set1_epi8(c)));
}

/* Spaces, tabs and newlines. */
static inline uint64_t mask_blank(mask_bytes text)
{
    const __m256i tab = _mm256_cmpeq_epi8(text, _mm256_set1_epi8('\t'));
    const __m256i newline = _mm256_cmpeq_epi8(text, _mm256_set1_epi8('\n'));
    const __m256i space = _mm256_cmpeq_epi8(text, _mm256_set1_epi8(' '));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(space, _mm256_or_si256(tab, newline)));
}

#elif defined(__SSE2__)

#define MASK_STEP 16
typedef __m128i mask_bytes;

static inline mask_bytes mask_load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline uint64_t mask_equal(mask_bytes text, char c)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(c)));
}

/* Spaces, tabs and newlines. */
static inline uint64_t mask_blank(mask_bytes text)
{
    const __m128i tab = _mm_cmpeq_epi8(text, _mm_set1_epi8('\t'));
    const __m128i newline = _mm_cmpeq_epi8(text, _mm_set1_epi8('\n'));
    const __m128i space = _mm_cmpeq_epi8(text, _mm_set1_epi8(' '));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(space, _mm_or_si128(tab, newline)));
}

#else

#define MASK_STEP 8
typedef uint64_t mask_bytes;

static inline mask_bytes mask_load(const char *at)
{
    uint64_t text;
    memcpy(&text, at, sizeof text);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    text = __builtin_bswap64(text);
#endif
    return text;
}

static inline uint64_t mask_equal(mask_bytes text, char c)
{
    const uint64_t ones = 0x0101010101010101, low = 0x7f7f7f7f7f7f7f7f;
    const uint64_t x = text ^ ones * (unsigned char)c;
    const uint64_t zero = ~(((x & low) + low) | x | low); /* 0x80 in each byte that is 0 */
    return (zero >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static inline uint64_t mask_blank(mask_bytes text)
{
    return mask_equal(text, ' ') | mask_equal(text, '\t') | mask_equal(text, '\n');
}

#endif

static inline uint64_t mask_of(const char *at, char c)
{
    uint64_t mask = 0;
    for (int i = 0; i < MASK_BYTES; i += MASK_STEP) mask |= mask_equal(mask_load(at + i), c) << i;
    return mask;
}

static inline uint64_t mask_of_blanks(const char *at)
{
    uint64_t mask = 0;
    for (int i = 0; i < MASK_BYTES; i += MASK_STEP) mask |= mask_blank(mask_load(at + i)) << i;
    return mask;
}

/* Bit i: the number of bits 0 .. i that are set is odd; so, of quotes, what is between them. */
static inline uint64_t mask_between(uint64_t quotes)
{
    for (int shift = 1; shift < MASK_BYTES; shift *= 2) quotes ^= quotes << shift;
    return quotes;
}

#endif
