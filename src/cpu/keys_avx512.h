/*
 * cpu/keys_avx512.h - operations on vectors of unsigned keys of each width, for maxima and tests
 * with AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_KEYS_AVX512_H
#define ECHI_CPU_KEYS_AVX512_H

#include "cpu/vector.h"

/* ---- All lanes equal ---- */

INLINE __m512i all_u8(uint8_t x)
{
    return _mm512_set1_epi8((char)x);
}

INLINE __m512i all_u16(uint16_t x)
{
    return _mm512_set1_epi16((short)x);
}

INLINE __m512i all_u32(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

INLINE __m512i all_u64(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* ---- The maxima of two vectors ---- */

INLINE __m512i higher_u8(__m512i a, __m512i b)
{
    return _mm512_max_epu8(a, b);
}

INLINE __m512i higher_u16(__m512i a, __m512i b)
{
    return _mm512_max_epu16(a, b);
}

INLINE __m512i higher_u32(__m512i a, __m512i b)
{
    return _mm512_max_epu32(a, b);
}

INLINE __m512i higher_u64(__m512i a, __m512i b)
{
    return _mm512_max_epu64(a, b);
}

/* ---- Ones in lanes whose top bit is set, of floats; differences ---- */

INLINE __m512i negative_u8(__m512i v) /* floats have 16 bits or more */
{
    (void)v;
    return _mm512_setzero_si512();
}

INLINE __m512i negative_u16(__m512i v)
{
    return _mm512_srai_epi16(v, 15);
}

INLINE __m512i negative_u32(__m512i v)
{
    return _mm512_srai_epi32(v, 31);
}

INLINE __m512i negative_u64(__m512i v)
{
    return _mm512_srai_epi64(v, 63);
}

INLINE __m512i minus_u8(__m512i a, __m512i b)
{
    return _mm512_sub_epi8(a, b);
}

INLINE __m512i minus_u16(__m512i a, __m512i b)
{
    return _mm512_sub_epi16(a, b);
}

INLINE __m512i minus_u32(__m512i a, __m512i b)
{
    return _mm512_sub_epi32(a, b);
}

INLINE __m512i minus_u64(__m512i a, __m512i b)
{
    return _mm512_sub_epi64(a, b);
}

/* ---- The minima of two vectors ---- */

INLINE __m512i lower_u8(__m512i a, __m512i b)
{
    return _mm512_min_epu8(a, b);
}

INLINE __m512i lower_u16(__m512i a, __m512i b)
{
    return _mm512_min_epu16(a, b);
}

INLINE __m512i lower_u32(__m512i a, __m512i b)
{
    return _mm512_min_epu32(a, b);
}

INLINE __m512i lower_u64(__m512i a, __m512i b)
{
    return _mm512_min_epu64(a, b);
}

/* ---- v plus 1 in the lanes that are equal to w ---- */

INLINE __m512i raised_u8(__m512i v, __m512i w) /* floats have 16 bits or more */
{
    (void)w;
    return v;
}

INLINE __m512i raised_u16(__m512i v, __m512i w)
{
    return _mm512_mask_sub_epi16(v, _mm512_cmpeq_epu16_mask(v, w), v, _mm512_set1_epi64(-1));
}

INLINE __m512i raised_u32(__m512i v, __m512i w)
{
    return _mm512_mask_sub_epi32(v, _mm512_cmpeq_epu32_mask(v, w), v, _mm512_set1_epi64(-1));
}

INLINE __m512i raised_u64(__m512i v, __m512i w)
{
    return _mm512_mask_sub_epi64(v, _mm512_cmpeq_epu64_mask(v, w), v, _mm512_set1_epi64(-1));
}

/* ---- A bit for each lane of a that is at most b ---- */

INLINE uint64_t not_above_u8(__m512i a, __m512i b)
{
    return _mm512_cmple_epu8_mask(a, b);
}

INLINE uint64_t not_above_u16(__m512i a, __m512i b)
{
    return _mm512_cmple_epu16_mask(a, b);
}

INLINE uint64_t not_above_u32(__m512i a, __m512i b)
{
    return _mm512_cmple_epu32_mask(a, b);
}

INLINE uint64_t not_above_u64(__m512i a, __m512i b)
{
    return _mm512_cmple_epu64_mask(a, b);
}

/* ---- The lanes whose bits are set, otherwise 0; other lanes are not read ---- */

INLINE __m512i loaded_u8(uint64_t there, const uint8_t *from)
{
    return _mm512_maskz_loadu_epi8(there, from);
}

INLINE __m512i loaded_u16(uint64_t there, const uint16_t *from)
{
    return _mm512_maskz_loadu_epi16((__mmask32)there, from);
}

INLINE __m512i loaded_u32(uint64_t there, const uint32_t *from)
{
    return _mm512_maskz_loadu_epi32((__mmask16)there, from);
}

INLINE __m512i loaded_u64(uint64_t there, const uint64_t *from)
{
    return _mm512_maskz_loadu_epi64((__mmask8)there, from);
}

/* The same with `other` in the other lanes. */
INLINE __m512i load_or_u8(__m512i other, uint64_t there, const uint8_t *from)
{
    return _mm512_mask_loadu_epi8(other, there, from);
}

INLINE __m512i load_or_u16(__m512i other, uint64_t there, const uint16_t *from)
{
    return _mm512_mask_loadu_epi16(other, (__mmask32)there, from);
}

INLINE __m512i load_or_u32(__m512i other, uint64_t there, const uint32_t *from)
{
    return _mm512_mask_loadu_epi32(other, (__mmask16)there, from);
}

INLINE __m512i load_or_u64(__m512i other, uint64_t there, const uint64_t *from)
{
    return _mm512_mask_loadu_epi64(other, (__mmask8)there, from);
}

/* Keys of 1, 2 or 4 bytes, of which n exist, zero-extended to 32 bits. */
INLINE __m512i widened(const void *in, size_t n, size_t bytes)
{
    const __mmask16 there = (__mmask16)_bzhi_u32(0xffff, n < 16 ? (unsigned)n : 16);
    return bytes == 1   ? _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(there, in))
           : bytes == 2 ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, in))
                        : _mm512_maskz_loadu_epi32(there, in);
}

/* ---- The order-preserving form (core/order.h) of each lane ---- */

/* Keys of 1, 2 or 4 bytes. */
INLINE __m512i encoded_32(const struct echi_order *o, __m512i u, size_t bytes)
{
    const uint32_t ones = UINT32_MAX >> (32 - 8 * bytes);
    const __m512i sign = all_u32((uint32_t)o->sign), bits = all_u32(ones);
    if (!o->float_mask) return _mm512_xor_si512(u, all_u32((uint32_t)(o->sign ^ o->flip)));
    const __mmask16 negative = _mm512_test_epi32_mask(u, all_u32(ones ^ ones >> 1));
    __m512i e = _mm512_mask_xor_epi32(_mm512_xor_si512(u, sign), negative, u, bits);
    e = _mm512_and_si512(_mm512_sub_epi32(e, all_u32((uint32_t)o->shift)), bits);
    const __mmask16 zero = _mm512_cmpeq_epi32_mask(e, all_u32((uint32_t)o->zero));
    e = _mm512_mask_add_epi32(e, zero, e, all_u32((uint32_t)o->merge));
    e = _mm512_min_epu32(e, all_u32((uint32_t)o->last));
    return _mm512_xor_si512(e, all_u32((uint32_t)o->flip));
}

INLINE __m512i encoded_64(const struct echi_order *o, __m512i u)
{
    if (!o->float_mask) return _mm512_xor_si512(u, all_u64(o->sign ^ o->flip));
    const __m512i sign = all_u64(o->sign), ones = all_u64(UINT64_MAX);
    __m512i e = _mm512_mask_xor_epi64(_mm512_xor_si512(u, sign), _mm512_movepi64_mask(u), u, ones);
    e = _mm512_sub_epi64(e, all_u64(o->shift));
    const __mmask8 zero = _mm512_cmpeq_epi64_mask(e, all_u64(o->zero));
    e = _mm512_mask_add_epi64(e, zero, e, all_u64(o->merge));
    return _mm512_xor_si512(_mm512_min_epu64(e, all_u64(o->last)), all_u64(o->flip));
}

/* ---- A bit for each lane in which a and b differ ---- */

INLINE uint64_t unequal_u8(__m512i a, __m512i b)
{
    return _mm512_cmpneq_epu8_mask(a, b);
}

INLINE uint64_t unequal_u16(__m512i a, __m512i b)
{
    return _mm512_cmpneq_epu16_mask(a, b);
}

INLINE uint64_t unequal_u32(__m512i a, __m512i b)
{
    return _mm512_cmpneq_epu32_mask(a, b);
}

INLINE uint64_t unequal_u64(__m512i a, __m512i b)
{
    return _mm512_cmpneq_epu64_mask(a, b);
}

/* ---- The maximum of the lanes ---- */

INLINE uint64_t highest_u64(__m512i v)
{
    return _mm512_reduce_max_epu64(v);
}

INLINE uint32_t highest_u32(__m512i v)
{
    return _mm512_reduce_max_epu32(v);
}

/* The instruction for the minimum of eight lanes takes the complements. */
INLINE uint16_t highest_u16(__m512i v)
{
    const __m256i half =
        _mm256_max_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    const __m128i eight =
        _mm_max_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    const __m128i least = _mm_minpos_epu16(_mm_xor_si128(eight, _mm_set1_epi16(-1)));
    return (uint16_t)~_mm_extract_epi16(least, 0);
}

INLINE uint8_t highest_u8(__m512i v)
{
    const __m512i low = _mm512_and_si512(v, _mm512_set1_epi16(0xff)),
                  high = _mm512_srli_epi16(v, 8);
    return (uint8_t)highest_u16(_mm512_max_epu16(low, high));
}

#endif
