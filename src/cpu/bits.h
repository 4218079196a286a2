/*
 * cpu/bits.h - which of 64 elements are selected, as bits, and packing of these elements, in the
 * instruction set that the including file is compiled for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_BITS_H
#define ECHI_CPU_BITS_H

#include "cpu/places.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__) || defined(__AVX512BW__)
#include <immintrin.h>
#endif

/* Bit i of the result is whether byte i is not 0; n is at most 64. */
static inline uint64_t bits_of_bytes(const uint8_t *bytes, size_t n)
{
#ifdef __AVX512BW__
    const __mmask64 there = _bzhi_u64(~(uint64_t)0, (unsigned)n);
    __m512i v = _mm512_maskz_loadu_epi8(there, bytes);
    return _mm512_test_epi8_mask(v, v);
#else
    uint64_t bits = 0;
    size_t i = 0;
#ifdef __AVX2__
    for (; i + 32 <= n; i += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + i));
        __m256i zero = _mm256_cmpeq_epi8(v, _mm256_setzero_si256());
        bits |= (uint64_t)(uint32_t)~_mm256_movemask_epi8(zero) << i;
    }
#else
    for (; i + 8 <= n; i += 8) {
        const uint64_t low = 0x7f7f7f7f7f7f7f7f;
        uint64_t x;
        memcpy(&x, bytes + i, 8);
        x = (((x & low) + low) | x) >> 7 & 0x0101010101010101;
        bits |= (x * 0x0102040810204080) >> 56 << i; /* the products of its bits do not collide */
    }
#endif
    for (; i < n; i++) bits |= (uint64_t)(bytes[i] != 0) << i;
    return bits;
#endif
}

/* The mask of a comparison in a general register.  GCC 12 with the address sanitizer otherwise
 * stored the mask of 8 lanes as one byte, and loaded it as eight. */
static inline uint64_t mask_bits(uint64_t mask)
{
    __asm__("" : "+r"(mask));
    return mask;
}

/* The first n bits, or all. */
static inline uint64_t low_bits(size_t n)
{
    return n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
}

/* The same without a branch, for a number that is not a constant. */
static inline uint64_t bits_below(size_t n)
{
#ifdef __BMI2__
    return _bzhi_u64(~(uint64_t)0, n < 64 ? (unsigned)n : 64);
#else
    return low_bits(n);
#endif
}

/* The same for n of at most 255. */
static inline uint64_t bits_below_few(size_t n)
{
#ifdef __BMI2__
    return _bzhi_u64(~(uint64_t)0, (unsigned)n);
#else
    return low_bits(n);
#endif
}

/* ---- Which of 64 keys are at most v ---- */

#ifdef __AVX512BW__

static inline uint64_t at_most_u8(const uint8_t *e, uint8_t v)
{
    return _mm512_cmple_epu8_mask(_mm512_loadu_si512(e), _mm512_set1_epi8((char)v));
}

static inline uint64_t at_most_u16(const uint16_t *e, uint16_t v)
{
    const __m512i all = _mm512_set1_epi16((short)v);
    return _mm512_cmple_epu16_mask(_mm512_loadu_si512(e), all) |
           (uint64_t)_mm512_cmple_epu16_mask(_mm512_loadu_si512(e + 32), all) << 32;
}

static inline uint64_t at_most_u32(const uint32_t *e, uint32_t v)
{
    const __m512i all = _mm512_set1_epi32((int)v);
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint64_t)_mm512_cmple_epu32_mask(_mm512_loadu_si512(e + 16 * i), all) << 16 * i;
    return bits;
}

static inline uint64_t at_most_u64(const uint64_t *e, uint64_t v)
{
    const __m512i all = _mm512_set1_epi64((long long)v);
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)_mm512_cmple_epu64_mask(_mm512_loadu_si512(e + 8 * i), all) << 8 * i;
    return bits;
}

#else

static inline uint64_t at_most_u8(const uint8_t *e, uint8_t v)
{
    uint8_t flags[64];
    for (int i = 0; i < 64; i++) flags[i] = e[i] <= v;
    return bits_of_bytes(flags, 64);
}

static inline uint64_t at_most_u16(const uint16_t *e, uint16_t v)
{
    uint8_t flags[64];
    for (int i = 0; i < 64; i++) flags[i] = e[i] <= v;
    return bits_of_bytes(flags, 64);
}

static inline uint64_t at_most_u32(const uint32_t *e, uint32_t v)
{
    uint8_t flags[64];
    for (int i = 0; i < 64; i++) flags[i] = e[i] <= v;
    return bits_of_bytes(flags, 64);
}

static inline uint64_t at_most_u64(const uint64_t *e, uint64_t v)
{
    uint8_t flags[64];
    for (int i = 0; i < 64; i++) flags[i] = e[i] <= v;
    return bits_of_bytes(flags, 64);
}

#endif

/* ---- Which of 64 keys differ from the key before, and which may be a float 0 or NaN ---- */

#ifdef __AVX512BW__

static inline uint64_t differing_u8(const uint8_t *e)
{
    return _mm512_cmpneq_epu8_mask(_mm512_loadu_si512(e), _mm512_loadu_si512(e - 1));
}

static inline uint64_t differing_u16(const uint16_t *e)
{
    uint64_t bits = 0;
    for (int i = 0; i < 64; i += 32)
        bits |= (uint64_t)_mm512_cmpneq_epu16_mask(_mm512_loadu_si512(e + i),
                                                   _mm512_loadu_si512(e + i - 1))
                << i;
    return bits;
}

static inline uint64_t differing_u32(const uint32_t *e)
{
    uint64_t bits = 0;
    for (int i = 0; i < 64; i += 16)
        bits |= (uint64_t)_mm512_cmpneq_epu32_mask(_mm512_loadu_si512(e + i),
                                                   _mm512_loadu_si512(e + i - 1))
                << i;
    return bits;
}

static inline uint64_t differing_u64(const uint64_t *e)
{
    uint64_t bits = 0;
    for (int i = 0; i < 64; i += 8)
        bits |= (uint64_t)_mm512_cmpneq_epu64_mask(_mm512_loadu_si512(e + i),
                                                   _mm512_loadu_si512(e + i - 1))
                << i;
    return bits;
}

/* Without the sign, a NaN is above infinity, and 0 minus 1 is the largest integer. */
static inline uint64_t zeros_and_nans_u8(const uint8_t *e) /* floats have 16 bits or more */
{
    (void)e;
    return 0;
}

static inline uint64_t zeros_and_nans_u16(const uint16_t *e) /* f16 or bf16 */
{
    const __m512i one = _mm512_set1_epi16(1), from = _mm512_set1_epi16((short)0xf800);
    uint64_t bits = 0;
    for (int i = 0; i < 64; i += 32) {
        const __m512i x = _mm512_slli_epi16(_mm512_loadu_si512(e + i), 1);
        bits |= (uint64_t)_mm512_cmpge_epu16_mask(_mm512_sub_epi16(x, one), from) << i;
    }
    return bits;
}

static inline uint64_t zeros_and_nans_u32(const uint32_t *e)
{
    const __m512i one = _mm512_set1_epi32(1), from = _mm512_set1_epi32((int)0xff000000);
    uint64_t bits = 0;
    for (int i = 0; i < 64; i += 16) {
        const __m512i x = _mm512_slli_epi32(_mm512_loadu_si512(e + i), 1);
        bits |= (uint64_t)_mm512_cmpge_epu32_mask(_mm512_sub_epi32(x, one), from) << i;
    }
    return bits;
}

static inline uint64_t zeros_and_nans_u64(const uint64_t *e)
{
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i from = _mm512_set1_epi64((long long)0xffe0000000000000);
    uint64_t bits = 0;
    for (int i = 0; i < 64; i += 8) {
        const __m512i x = _mm512_slli_epi64(_mm512_loadu_si512(e + i), 1);
        bits |= (uint64_t)_mm512_cmpge_epu64_mask(_mm512_sub_epi64(x, one), from) << i;
    }
    return bits;
}

#endif

/* ---- Packing, one by one or by vectors ----
 *
 * keep_some_u32(to, from, kept) writes the elements of from[64] whose bits are set, one after
 * another, and nothing else.  `to` may be `from`, or begin before it.  positions_some(to, at, kept)
 * writes at + the number of each bit.
 */

#if defined(__AVX2__) && !defined(__AVX512BW__)

/* By whole vectors, which write up to 64 bytes past the kept elements. */
static inline void keep_whole_u32(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 8; v++) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(from + 32 * v));
        char *own = to + 4 * __builtin_popcountll(kept & low_bits(8 * (size_t)v));
        _mm256_storeu_si256((__m256i *)(void *)own,
                            _mm256_permutevar8x32_epi32(x, places_32(kept >> 8 * v)));
    }
}

#endif

#ifdef __AVX512BW__

static inline __mmask16 lanes_below(int count)
{
    return (__mmask16)((1u << count) - 1);
}

/* A compress instruction whose destination is not its source waits on Zen 5 for the previous value
 * of the destination, although it overwrites it: five cycles instead of two.  So the elements that
 * are not kept are those of the source, and not 0.
 *
 *     keep_one     elements of one vector, by a masked store: a compressing store to memory takes
 *                  ten times as long on some processors
 *     keep_some    64 elements, by these
 *     keep_whole   64 elements by whole vectors, which write up to 64 bytes past the kept ones:
 *                  from memory, masked stores take longer
 */
static inline void keep_one_u32(char *to, const char *from, uint64_t kept)
{
    const __mmask16 own = (__mmask16)kept;
    const __m512i x = _mm512_maskz_loadu_epi32(own, from);
    _mm512_mask_storeu_epi32(to, (__mmask16)bits_below_few((size_t)__builtin_popcount(own)),
                             _mm512_mask_compress_epi32(x, own, x));
}

static inline void keep_one_u64(char *to, const char *from, uint64_t kept)
{
    const __mmask8 own = (__mmask8)kept;
    const __m512i x = _mm512_maskz_loadu_epi64(own, from);
    _mm512_mask_storeu_epi64(to, (__mmask8)bits_below_few((size_t)__builtin_popcount(own)),
                             _mm512_mask_compress_epi64(x, own, x));
}

static inline void keep_whole_u32(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 4; v++, kept >>= 16) {
        const __m512i x = _mm512_loadu_si512(from + 64 * v);
        _mm512_storeu_si512(to, _mm512_mask_compress_epi32(x, (__mmask16)kept, x));
        to += 4 * __builtin_popcount((__mmask16)kept);
    }
}

static inline void keep_some_u32(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 4 && kept; v++, kept >>= 16) {
        keep_one_u32(to, from + 64 * v, kept);
        to += 4 * __builtin_popcount((__mmask16)kept);
    }
}

static inline void keep_whole_u64(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 8; v++, kept >>= 8) {
        const __m512i x = _mm512_loadu_si512(from + 64 * v);
        _mm512_storeu_si512(to, _mm512_mask_compress_epi64(x, (__mmask8)kept, x));
        to += 8 * __builtin_popcount((__mmask8)kept);
    }
}

static inline void keep_some_u64(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 8 && kept; v++, kept >>= 8) {
        keep_one_u64(to, from + 64 * v, kept);
        to += 8 * __builtin_popcount((__mmask8)kept);
    }
}

#ifdef __AVX512VBMI2__

static inline void keep_one_u8(char *to, const char *from, uint64_t kept)
{
    const __m512i x = _mm512_maskz_loadu_epi8(kept, from);
    _mm512_mask_storeu_epi8(to, bits_below_few((size_t)__builtin_popcountll(kept)),
                            _mm512_mask_compress_epi8(x, kept, x));
}

static inline void keep_one_u16(char *to, const char *from, uint64_t kept)
{
    const __mmask32 own = (__mmask32)kept;
    const __m512i x = _mm512_maskz_loadu_epi16(own, from);
    _mm512_mask_storeu_epi16(to, (__mmask32)bits_below_few((size_t)__builtin_popcount(own)),
                             _mm512_mask_compress_epi16(x, own, x));
}

static inline void keep_some_u8(char *to, const char *from, uint64_t kept)
{
    keep_one_u8(to, from, kept);
}

static inline void keep_some_u16(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 2; v++, kept >>= 32) {
        keep_one_u16(to, from + 64 * v, kept);
        to += 2 * __builtin_popcount((__mmask32)kept);
    }
}

static inline void keep_whole_u8(char *to, const char *from, uint64_t kept)
{
    const __m512i x = _mm512_loadu_si512(from);
    _mm512_storeu_si512(to, _mm512_mask_compress_epi8(x, kept, x));
}

static inline void keep_whole_u16(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 2; v++, kept >>= 32) {
        const __m512i x = _mm512_loadu_si512(from + 64 * v);
        _mm512_storeu_si512(to, _mm512_mask_compress_epi16(x, (__mmask32)kept, x));
        to += 2 * __builtin_popcount((__mmask32)kept);
    }
}

#else

/* Zero-extends bytes and 16-bit elements to 32 bits, the minimum width of AVX-512F's
 * compress instruction. */
static inline void keep_some_u8(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 4; v++, kept >>= 16) {
        __mmask16 own = (__mmask16)kept;
        int count = __builtin_popcount(own);
        __m512i x = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(own, from + 16 * v));
        __m128i packed = _mm512_cvtepi32_epi8(_mm512_mask_compress_epi32(x, own, x));
        _mm_mask_storeu_epi8(to, lanes_below(count), packed);
        to += count;
    }
}

static inline void keep_some_u16(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 4; v++, kept >>= 16) {
        __mmask16 own = (__mmask16)kept;
        int count = __builtin_popcount(own);
        __m512i x = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(own, from + 32 * v));
        __m256i packed = _mm512_cvtepi32_epi16(_mm512_mask_compress_epi32(x, own, x));
        _mm256_mask_storeu_epi16(to, lanes_below(count), packed);
        to += 2 * count;
    }
}

#endif

/* whole: by whole vectors, which write up to 64 bytes past the positions. */
static inline void positions_by(uint64_t *to, uint64_t at, uint64_t kept, int whole)
{
    __m512i first = _mm512_set1_epi64((long long)at);
    for (; kept; kept >>= 8, first = _mm512_add_epi64(first, _mm512_set1_epi64(8))) {
        const int count = __builtin_popcount((uint8_t)kept);
        _mm512_mask_storeu_epi64(to, whole ? (__mmask8)0xff : (__mmask8)lanes_below(count),
                                 _mm512_add_epi64(first, places_64(kept)));
        to += count;
    }
}

static inline void positions32_by(uint32_t *to, uint64_t at, uint64_t kept, int whole)
{
    __m256i first = _mm256_set1_epi32((int)(uint32_t)at);
    for (; kept; kept >>= 8, first = _mm256_add_epi32(first, _mm256_set1_epi32(8))) {
        const int count = __builtin_popcount((uint8_t)kept);
        _mm256_mask_storeu_epi32(to, whole ? (__mmask8)0xff : (__mmask8)lanes_below(count),
                                 _mm256_add_epi32(first, places_32(kept)));
        to += count;
    }
}

/* The distances of the positions; `before` precedes the first. */
static inline void distances_by(uint64_t *to, uint64_t before, uint64_t at, uint64_t kept,
                                int whole)
{
    __m512i first = _mm512_set1_epi64((long long)at), last = _mm512_set1_epi64((long long)before);
    for (; kept; kept >>= 8, first = _mm512_add_epi64(first, _mm512_set1_epi64(8))) {
        const __mmask8 own = (__mmask8)kept;
        const int count = __builtin_popcount(own);
        const __m512i x = _mm512_add_epi64(first, places_64(kept));
        const __m512i distances = _mm512_sub_epi64(x, _mm512_alignr_epi64(x, last, 7));
        _mm512_mask_storeu_epi64(to, whole ? (__mmask8)0xff : (__mmask8)lanes_below(count),
                                 distances);
        if (own) last = _mm512_permutexvar_epi64(_mm512_set1_epi64(count - 1), x);
        to += count;
    }
}

static inline void distances_some(uint64_t *to, uint64_t before, uint64_t at, uint64_t kept)
{
    distances_by(to, before, at, kept, 0);
}

static inline void distances_whole(uint64_t *to, uint64_t before, uint64_t at, uint64_t kept)
{
    distances_by(to, before, at, kept, 1);
}

static inline void positions_some(uint64_t *to, uint64_t at, uint64_t kept)
{
    positions_by(to, at, kept, 0);
}

static inline void positions32_some(uint32_t *to, uint64_t at, uint64_t kept)
{
    positions32_by(to, at, kept, 0);
}

static inline void positions_whole(uint64_t *to, uint64_t at, uint64_t kept)
{
    positions_by(to, at, kept, 1);
}

static inline void positions32_whole(uint32_t *to, uint64_t at, uint64_t kept)
{
    positions32_by(to, at, kept, 1);
}

#else

#ifdef __AVX2__

static inline void keep_whole_u64(char *to, const char *from, uint64_t kept)
{
    for (int v = 0; v < 16; v++) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(from + 32 * v));
        char *own = to + 8 * __builtin_popcountll(kept & low_bits(4 * (size_t)v));
        _mm256_storeu_si256((__m256i *)(void *)own,
                            _mm256_permutevar8x32_epi32(x, places_64_in_halves(kept >> 4 * v)));
    }
}

#endif

static inline void keep_some(char *to, const char *from, uint64_t kept, size_t bytes)
{
    for (; kept; kept &= kept - 1, to += bytes)
        memcpy(to, from + (size_t)__builtin_ctzll(kept) * bytes, bytes);
}

static inline void positions_some(uint64_t *to, uint64_t at, uint64_t kept)
{
    for (; kept; kept &= kept - 1) *to++ = at + (uint64_t)__builtin_ctzll(kept);
}

static inline void positions32_some(uint32_t *to, uint64_t at, uint64_t kept)
{
    for (; kept; kept &= kept - 1) *to++ = (uint32_t)(at + (uint64_t)__builtin_ctzll(kept));
}

static inline void positions_whole(uint64_t *to, uint64_t at, uint64_t kept)
{
    positions_some(to, at, kept);
}

static inline void distances_some(uint64_t *to, uint64_t before, uint64_t at, uint64_t kept)
{
    for (; kept; kept &= kept - 1) {
        const uint64_t own = at + (uint64_t)__builtin_ctzll(kept);
        *to++ = own - before;
        before = own;
    }
}

static inline void distances_whole(uint64_t *to, uint64_t before, uint64_t at, uint64_t kept)
{
    distances_some(to, before, at, kept);
}

static inline void positions32_whole(uint32_t *to, uint64_t at, uint64_t kept)
{
    positions32_some(to, at, kept);
}

static inline void keep_some_u8(char *to, const char *from, uint64_t kept)
{
    keep_some(to, from, kept, 1);
}

static inline void keep_some_u16(char *to, const char *from, uint64_t kept)
{
    keep_some(to, from, kept, 2);
}

static inline void keep_some_u32(char *to, const char *from, uint64_t kept)
{
    keep_some(to, from, kept, 4);
}

static inline void keep_some_u64(char *to, const char *from, uint64_t kept)
{
    keep_some(to, from, kept, 8);
}

#endif

#endif
