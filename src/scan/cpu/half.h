/*
 * scan/cpu/half.h - transposes two blocks of 16-bit floats at once, before the conversion to f32:
 * half the work of transposing after it.
 *
 * Eight registers of eight elements per lane are transposed lane by lane: element j of register k
 * becomes element k of register j.  Each register then has element j of as many 16-byte vectors as
 * it has lanes, and is widened to two registers of f32.  With AVX-512, registers are loaded in
 * memory order, so these vectors are permuted; order_*() corrects the order of their totals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CPU_HALF_H
#define ECHI_SCAN_CPU_HALF_H

#include "scan/cpu/vector.h"

#if VECTOR_BYTES > 16

/* Three stages, each of which rotates the six bits of an element's register and place by one. */
INLINE void turn_u16(i64_vector r[8])
{
    i64_vector next[8];
    UNROLLED(stage, 3)
    {
        UNROLLED(i, 4)
        {
#ifdef __AVX512F__
            next[2 * i] = (i64_vector)_mm512_unpacklo_epi16((__m512i)r[i], (__m512i)r[i + 4]);
            next[2 * i + 1] = (i64_vector)_mm512_unpackhi_epi16((__m512i)r[i], (__m512i)r[i + 4]);
#else
            next[2 * i] = (i64_vector)_mm256_unpacklo_epi16((__m256i)r[i], (__m256i)r[i + 4]);
            next[2 * i + 1] = (i64_vector)_mm256_unpackhi_epi16((__m256i)r[i], (__m256i)r[i + 4]);
#endif
        }
        UNROLLED(i, 8) r[i] = next[i];
    }
}

#ifdef __AVX512F__

INLINE void get_turned(const uint16_t *x, i64_vector r[8])
{
    UNROLLED(k, 8) memcpy(&r[k], x + 32 * k, sizeof r[k]);
    turn_u16(r);
}

INLINE void put_turned(uint16_t *x, i64_vector r[8])
{
    turn_u16(r);
    UNROLLED(k, 8) memcpy(x + 32 * k, &r[k], sizeof r[k]);
}

INLINE void widen_f16(i64_vector r, f32_vector *first, f32_vector *second)
{
    *first = (f32_vector)_mm512_cvtph_ps(_mm512_castsi512_si256((__m512i)r));
    *second = (f32_vector)_mm512_cvtph_ps(_mm512_extracti64x4_epi64((__m512i)r, 1));
}

INLINE void widen_bf16(i64_vector r, f32_vector *first, f32_vector *second)
{
    const __m256i low = _mm512_castsi512_si256((__m512i)r);
    const __m256i high = _mm512_extracti64x4_epi64((__m512i)r, 1);
    *first = (f32_vector)_mm512_slli_epi32(_mm512_cvtepu16_epi32(low), 16);
    *second = (f32_vector)_mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16);
}

INLINE i64_vector narrow_f16(f32_vector first, f32_vector second)
{
    enum { HOW = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    const __m256i low = _mm512_cvtps_ph((__m512)one_nan_f32(first), HOW);
    const __m256i high = _mm512_cvtps_ph((__m512)one_nan_f32(second), HOW);
    return (i64_vector)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

INLINE i64_vector narrow_bf16(f32_vector first, f32_vector second)
{
    const __m256i low = _mm512_cvtepi32_epi16((__m512i)rounded_bf16(first));
    const __m256i high = _mm512_cvtepi32_epi16((__m512i)rounded_bf16(second));
    return (i64_vector)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

#define ORDER_0   0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27
#define ORDER_1   4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31
#define UNORDER_0 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29
#define UNORDER_1 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31

/* One lane per vector: to memory order, and back. */
INLINE void order_halves(f32_vector t[2])
{
    const f32_vector first = t[0], second = t[1];
    t[0] = PICK(first, second, i32_vector, ORDER_0);
    t[1] = PICK(first, second, i32_vector, ORDER_1);
}

INLINE void order_back(f32_vector t[2])
{
    const f32_vector first = t[0], second = t[1];
    t[0] = PICK(first, second, i32_vector, UNORDER_0);
    t[1] = PICK(first, second, i32_vector, UNORDER_1);
}

#else

INLINE void get_turned(const uint16_t *x, i64_vector r[8])
{
    UNROLLED(k, 8) r[k] = (i64_vector)two_16(x + 8 * k, x + 64 + 8 * k);
    turn_u16(r);
}

INLINE void put_turned(uint16_t *x, i64_vector r[8])
{
    turn_u16(r);
    UNROLLED(k, 8) put_16(x + 8 * k, x + 64 + 8 * k, (__m256i)r[k]);
}

INLINE void widen_f16(i64_vector r, f32_vector *first, f32_vector *second)
{
    *first = (f32_vector)_mm256_cvtph_ps(_mm256_castsi256_si128((__m256i)r));
    *second = (f32_vector)_mm256_cvtph_ps(_mm256_extracti128_si256((__m256i)r, 1));
}

INLINE void widen_bf16(i64_vector r, f32_vector *first, f32_vector *second)
{
    const __m128i low = _mm256_castsi256_si128((__m256i)r);
    const __m128i high = _mm256_extracti128_si256((__m256i)r, 1);
    *first = (f32_vector)_mm256_slli_epi32(_mm256_cvtepu16_epi32(low), 16);
    *second = (f32_vector)_mm256_slli_epi32(_mm256_cvtepu16_epi32(high), 16);
}

INLINE i64_vector narrow_f16(f32_vector first, f32_vector second)
{
    const __m128i low = _mm256_cvtps_ph((__m256)one_nan_f32(first), _MM_FROUND_TO_NEAREST_INT);
    const __m128i high = _mm256_cvtps_ph((__m256)one_nan_f32(second), _MM_FROUND_TO_NEAREST_INT);
    return (i64_vector)_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

INLINE i64_vector narrow_bf16(f32_vector first, f32_vector second)
{
    const __m256i both =
        _mm256_packus_epi32((__m256i)rounded_bf16(first), (__m256i)rounded_bf16(second));
    return (i64_vector)_mm256_permute4x64_epi64(both, 0xd8);
}

INLINE void order_halves(f32_vector *t)
{
    (void)t;
}

INLINE void order_back(f32_vector *t)
{
    (void)t;
}
#endif
#endif
#endif
