/*
 * scan/cpu/vector.h - vector operations of scans: elements shifted within a vector, and blocks of
 * floats transposed from and to memory order.
 *
 * A vector has LANES pieces of 16 bytes.  The size of a block is chosen so that lane i of register
 * j can be element j of the block's i-th 16 bytes of memory: split_*() is applied to pairs of
 * registers, as often as the number of registers can be halved, and join_*() is the inverse.  If an
 * instruction does not cross lanes (AVX2), the lanes of a register are loaded from places `apart`
 * in memory instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CPU_VECTOR_H
#define ECHI_SCAN_CPU_VECTOR_H

#include "core/half.h"
#include "cpu/cpu.h"
#include "cpu/vector.h"

#if defined(__SSE2__) && !defined(__AVX2__)
#include <emmintrin.h>
#endif

enum { LANES = VECTOR_BYTES / 16 };

typedef uint8_t u8_vector __attribute__((vector_size(VECTOR_BYTES)));

/* ---- One element ---- */

INLINE float number_f16(uint16_t u)
{
    return echi_f32_of_f16(u);
}

INLINE float number_bf16(uint16_t u)
{
    return echi_f32_of_bf16(u);
}

INLINE float number_f32(float x)
{
    return x;
}

INLINE double number_f64(double x)
{
    return x;
}

INLINE uint16_t result_f16(float x)
{
    return echi_f16_of_f32(x);
}

INLINE uint16_t result_bf16(float x)
{
    return echi_bf16_of_f32(x);
}

INLINE float result_f32(float x)
{
    return x == x ? x : echi_f32_of_bits(0x7fc00000);
}

INLINE double result_f64(double x)
{
    const uint64_t u = 0x7ff8000000000000;
    double nan;
    memcpy(&nan, &u, sizeof nan);
    return x == x ? x : nan;
}

/* ---- Within a vector of integers; `bytes` per element ---- */

#define RUN_2(x)  (x), (x) + 1
#define RUN_4(x)  RUN_2(x), RUN_2((x) + 2)
#define RUN_8(x)  RUN_4(x), RUN_4((x) + 4)
#define RUN_16(x) RUN_8(x), RUN_8((x) + 8)
#define LAST_1    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
#define LAST_2    14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15
#define LAST_4    RUN_4(12), RUN_4(12), RUN_4(12), RUN_4(12)

/* Within each lane, elements shifted up by this many bytes; zeros are shifted in. */
INLINE i64_vector up_bytes(i64_vector v, int bytes)
{
#if defined(__AVX512F__)
    return bytes == 1   ? (i64_vector)_mm512_bslli_epi128((__m512i)v, 1)
           : bytes == 2 ? (i64_vector)_mm512_bslli_epi128((__m512i)v, 2)
           : bytes == 4 ? (i64_vector)_mm512_bslli_epi128((__m512i)v, 4)
                        : (i64_vector)_mm512_bslli_epi128((__m512i)v, 8);
#elif defined(__AVX2__)
    return bytes == 1   ? (i64_vector)_mm256_bslli_epi128((__m256i)v, 1)
           : bytes == 2 ? (i64_vector)_mm256_bslli_epi128((__m256i)v, 2)
           : bytes == 4 ? (i64_vector)_mm256_bslli_epi128((__m256i)v, 4)
                        : (i64_vector)_mm256_bslli_epi128((__m256i)v, 8);
#elif defined(__SSE2__)
    return bytes == 1   ? (i64_vector)_mm_bslli_si128((__m128i)v, 1)
           : bytes == 2 ? (i64_vector)_mm_bslli_si128((__m128i)v, 2)
           : bytes == 4 ? (i64_vector)_mm_bslli_si128((__m128i)v, 4)
                        : (i64_vector)_mm_bslli_si128((__m128i)v, 8);
#else
    const u8_vector zero = { 0 }, u = (u8_vector)v;
    return bytes == 1   ? (i64_vector)PICK(zero, u, u8_vector, RUN_16(15))
           : bytes == 2 ? (i64_vector)PICK(zero, u, u8_vector, RUN_16(14))
           : bytes == 4 ? (i64_vector)PICK(zero, u, u8_vector, RUN_16(12))
                        : (i64_vector)PICK(zero, u, u8_vector, RUN_16(8));
#endif
}

/* Broadcasts each lane's last element within the lane. */
INLINE i64_vector spread_last(i64_vector v, int bytes)
{
#if defined(__AVX512F__)
    const __m512i last = bytes == 1 ? _mm512_set1_epi8(15) : _mm512_set1_epi16(0x0f0e);
    return bytes == 8   ? (i64_vector)_mm512_unpackhi_epi64((__m512i)v, (__m512i)v)
           : bytes == 4 ? (i64_vector)_mm512_shuffle_epi32((__m512i)v, _MM_PERM_DDDD)
                        : (i64_vector)_mm512_shuffle_epi8((__m512i)v, last);
#elif defined(__AVX2__)
    const __m256i last = bytes == 1 ? _mm256_set1_epi8(15) : _mm256_set1_epi16(0x0f0e);
    return bytes == 8   ? (i64_vector)_mm256_unpackhi_epi64((__m256i)v, (__m256i)v)
           : bytes == 4 ? (i64_vector)_mm256_shuffle_epi32((__m256i)v, 0xff)
                        : (i64_vector)_mm256_shuffle_epi8((__m256i)v, last);
#elif defined(__SSE2__)
    __m128i u = (__m128i)v;
    if (bytes == 1) u = _mm_unpackhi_epi8(u, u);
    if (bytes <= 2) u = _mm_shufflehi_epi16(u, 0xff);
    return (i64_vector)(bytes == 4 ? _mm_shuffle_epi32(u, 0xff) : _mm_unpackhi_epi64(u, u));
#else
    const u8_vector u = (u8_vector)v;
    return bytes == 1   ? (i64_vector)PICK(u, u, u8_vector, LAST_1)
           : bytes == 2 ? (i64_vector)PICK(u, u, u8_vector, LAST_2)
           : bytes == 4 ? (i64_vector)PICK(u, u, u8_vector, LAST_4)
                        : (i64_vector)PICK(u, u, u8_vector, RUN_8(8), RUN_8(8));
#endif
}

/* Shifted up by one or two lanes; zeros are shifted in. */
INLINE i64_vector up_lanes(i64_vector v, int lanes)
{
#if defined(__AVX512F__)
    const __m512i zero = _mm512_setzero_si512();
    return (i64_vector)(lanes == 1 ? _mm512_alignr_epi64((__m512i)v, zero, 6)
                                   : _mm512_alignr_epi64((__m512i)v, zero, 4));
#elif defined(__AVX2__)
    (void)lanes;
    return (i64_vector)_mm256_permute2x128_si256((__m256i)v, (__m256i)v, 0x08);
#else
    (void)lanes;
    return v ^ v;
#endif
}

/* Broadcasts the last lane. */
INLINE i64_vector last_lane(i64_vector v)
{
#if defined(__AVX512F__)
    return (i64_vector)_mm512_shuffle_i64x2((__m512i)v, (__m512i)v, 0xff);
#elif defined(__AVX2__)
    return (i64_vector)_mm256_permute4x64_epi64((__m256i)v, 0xee);
#else
    return v;
#endif
}

#define BACK_1 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
#define BACK_2 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1
#define BACK_4 12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3
#define BACK_8 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7

/* The elements from the last to the first. */
INLINE i64_vector reversed(i64_vector v, int bytes)
{
#if defined(__AVX2__)
    const __m128i by = bytes == 1   ? _mm_setr_epi8(BACK_1)
                       : bytes == 2 ? _mm_setr_epi8(BACK_2)
                       : bytes == 4 ? _mm_setr_epi8(BACK_4)
                                    : _mm_setr_epi8(BACK_8);
#endif
#if defined(__AVX512F__)
    const __m512i lanes = _mm512_shuffle_epi8((__m512i)v, _mm512_broadcast_i32x4(by));
    return (i64_vector)_mm512_shuffle_i64x2(lanes, lanes, 0x1b);
#elif defined(__AVX2__)
    const __m256i lanes = _mm256_shuffle_epi8((__m256i)v, _mm256_broadcastsi128_si256(by));
    return (i64_vector)_mm256_permute4x64_epi64(lanes, 0x4e);
#elif defined(__SSE2__)
    __m128i u = (__m128i)v;
    if (bytes == 1) u = _mm_or_si128(_mm_slli_epi16(u, 8), _mm_srli_epi16(u, 8));
    if (bytes <= 2) u = _mm_shufflehi_epi16(_mm_shufflelo_epi16(u, 0x1b), 0x1b);
    return (i64_vector)(bytes == 4 ? _mm_shuffle_epi32(u, 0x1b) : _mm_shuffle_epi32(u, 0x4e));
#else
    const u8_vector u = (u8_vector)v;
    return bytes == 1   ? (i64_vector)PICK(u, u, u8_vector, BACK_1)
           : bytes == 2 ? (i64_vector)PICK(u, u, u8_vector, BACK_2)
           : bytes == 4 ? (i64_vector)PICK(u, u, u8_vector, BACK_4)
                        : (i64_vector)PICK(u, u, u8_vector, BACK_8);
#endif
}

INLINE u8_vector most_u8(u8_vector a, u8_vector b)
{
#if defined(__AVX512F__)
    return (u8_vector)_mm512_max_epu8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (u8_vector)_mm256_max_epu8((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (u8_vector)_mm_max_epu8((__m128i)a, (__m128i)b);
#else
    const u8_vector more = (u8_vector)(a > b);
    return (a & more) | (b & ~more);
#endif
}

INLINE u16_vector most_u16(u16_vector a, u16_vector b)
{
#if defined(__AVX512F__)
    return (u16_vector)_mm512_max_epu16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (u16_vector)_mm256_max_epu16((__m256i)a, (__m256i)b);
#else
    const u16_vector more = (u16_vector)(a > b);
    return (a & more) | (b & ~more);
#endif
}

INLINE u32_vector most_u32(u32_vector a, u32_vector b)
{
#if defined(__AVX512F__)
    return (u32_vector)_mm512_max_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (u32_vector)_mm256_max_epu32((__m256i)a, (__m256i)b);
#else
    const u32_vector more = (u32_vector)(a > b);
    return (a & more) | (b & ~more);
#endif
}

INLINE u64_vector most_u64(u64_vector a, u64_vector b)
{
#if defined(__AVX512F__)
    return (u64_vector)_mm512_max_epu64((__m512i)a, (__m512i)b);
#else
    const u64_vector more = (u64_vector)(a > b);
    return (a & more) | (b & ~more);
#endif
}

/* There is no multiplication of bytes: even and odd ones are multiplied as halves of words. */
INLINE u8_vector times_u8(u8_vector a, u8_vector b)
{
    const u16_vector u = (u16_vector)a, v = (u16_vector)b;
    return (u8_vector)((u * v & 0xff) | (u >> 8) * (v & 0xff00));
}

INLINE u16_vector times_u16(u16_vector a, u16_vector b)
{
    return a * b;
}

INLINE u32_vector times_u32(u32_vector a, u32_vector b)
{
    return a * b;
}

INLINE u64_vector times_u64(u64_vector a, u64_vector b)
{
    return a * b;
}

/* ---- Blocks of floats ---- */

#if defined(__AVX512F__)
#define SCAN_APART  0 /* a register is loaded from one place in memory */
#define F32_SPLIT_0 F32_EVEN
#define F32_SPLIT_1 F32_ODD
#define F32_JOIN_0  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define F32_JOIN_1  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define F32_UP(s)   RUN_16(16 - (s))
#define F64_SPLIT_0 F64_EVEN
#define F64_SPLIT_1 F64_ODD
#define F64_JOIN_0  0, 8, 1, 9, 2, 10, 3, 11
#define F64_JOIN_1  4, 12, 5, 13, 6, 14, 7, 15
#define F64_UP(s)   RUN_8(8 - (s))
#elif defined(__AVX2__)
#define SCAN_APART  1
#define F32_SPLIT_0 0, 2, 8, 10, 4, 6, 12, 14
#define F32_SPLIT_1 1, 3, 9, 11, 5, 7, 13, 15
#define F32_JOIN_0  0, 8, 1, 9, 4, 12, 5, 13
#define F32_JOIN_1  2, 10, 3, 11, 6, 14, 7, 15
#define F32_UP(s)   RUN_8(8 - (s))
#define F64_SPLIT_0 0, 4, 2, 6
#define F64_SPLIT_1 1, 5, 3, 7
#define F64_JOIN_0  0, 4, 2, 6
#define F64_JOIN_1  1, 5, 3, 7
#define F64_UP(s)   RUN_4(4 - (s))
#else
#define SCAN_APART  0
#define F32_SPLIT_0 F32_EVEN
#define F32_SPLIT_1 F32_ODD
#define F32_JOIN_0  0, 4, 1, 5
#define F32_JOIN_1  2, 6, 3, 7
#define F32_UP(s)   RUN_4(4 - (s))
#define F64_SPLIT_0 F64_EVEN
#define F64_SPLIT_1 F64_ODD
#define F64_JOIN_0  0, 2
#define F64_JOIN_1  1, 3
#define F64_UP(s)   RUN_2(2 - (s))
#endif

#define SPLIT_0_f32(a, b) PICK(a, b, i32_vector, F32_SPLIT_0)
#define SPLIT_1_f32(a, b) PICK(a, b, i32_vector, F32_SPLIT_1)
#define JOIN_0_f32(a, b)  PICK(a, b, i32_vector, F32_JOIN_0)
#define JOIN_1_f32(a, b)  PICK(a, b, i32_vector, F32_JOIN_1)
#define SPLIT_0_f64(a, b) PICK(a, b, i64_vector, F64_SPLIT_0)
#define SPLIT_1_f64(a, b) PICK(a, b, i64_vector, F64_SPLIT_1)
#define JOIN_0_f64(a, b)  PICK(a, b, i64_vector, F64_JOIN_0)
#define JOIN_1_f64(a, b)  PICK(a, b, i64_vector, F64_JOIN_1)

/* The lanes of v shifted up by s; the last lanes of `before` are shifted in. */
INLINE f32_vector up_f32(f32_vector before, f32_vector v, int s)
{
    if (s == 1) return PICK(before, v, i32_vector, F32_UP(1));
    if (s == 2) return PICK(before, v, i32_vector, F32_UP(2));
#if VECTOR_BYTES >= 32
    if (s == 4) return PICK(before, v, i32_vector, F32_UP(4));
#endif
#if VECTOR_BYTES >= 64
    if (s == 8) return PICK(before, v, i32_vector, F32_UP(8));
#endif
    return v;
}

INLINE f64_vector up_f64(f64_vector before, f64_vector v, int s)
{
    if (s == 1) return PICK(before, v, i64_vector, F64_UP(1));
#if VECTOR_BYTES >= 32
    if (s == 2) return PICK(before, v, i64_vector, F64_UP(2));
#endif
#if VECTOR_BYTES >= 64
    if (s == 4) return PICK(before, v, i64_vector, F64_UP(4));
#endif
    return v;
}

/* Canonicalises NaN. */
INLINE f32_vector one_nan_f32(f32_vector v)
{
    const f32_vector nan = (f32_vector)((i32_vector){ 0 } + 0x7fc00000);
#ifdef __AVX512F__
    const __mmask16 is = _mm512_cmp_ps_mask((__m512)v, (__m512)v, _CMP_UNORD_Q);
    return (f32_vector)_mm512_mask_mov_ps((__m512)v, is, (__m512)nan);
#else
    return keep_f32(v, (f32_mask)(v == v), nan);
#endif
}

INLINE f64_vector one_nan_f64(f64_vector v)
{
    const f64_vector nan = (f64_vector)((i64_vector){ 0 } + 0x7ff8000000000000);
#ifdef __AVX512F__
    const __mmask8 is = _mm512_cmp_pd_mask((__m512d)v, (__m512d)v, _CMP_UNORD_Q);
    return (f64_vector)_mm512_mask_mov_pd((__m512d)v, is, (__m512d)nan);
#else
    return keep_f64(v, (f64_mask)(v == v), nan);
#endif
}

/* Rounds each f32 to the bits of the nearest bf16, ties to even. */
INLINE u32_vector rounded_bf16(f32_vector v)
{
    const u32_vector u = (u32_vector)one_nan_f32(v);
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

/* ---- Load and store of the registers of a block ---- */

#if defined(__AVX2__) && !defined(__AVX512F__)
/* `bytes` bytes from each of two places. */
INLINE __m256i two_16(const void *x, const void *y)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)x)),
                                   _mm_loadu_si128((const __m128i *)y), 1);
}

INLINE __m128i two_8(const void *x, const void *y)
{
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)x),
                              _mm_loadl_epi64((const __m128i *)y));
}

INLINE __m128i two_4(const void *x, const void *y)
{
    int32_t a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    return _mm_insert_epi32(_mm_cvtsi32_si128(a), b, 1);
}

INLINE f32_vector get_f32_f32(const float *x, size_t apart)
{
    return (f32_vector)two_16(x, x + apart);
}

INLINE f32_vector get_f16_f32(const uint16_t *x, size_t apart)
{
    return (f32_vector)_mm256_cvtph_ps(two_8(x, x + apart));
}

INLINE f32_vector get_bf16_f32(const uint16_t *x, size_t apart)
{
    return (f32_vector)_mm256_slli_epi32(_mm256_cvtepu16_epi32(two_8(x, x + apart)), 16);
}

INLINE f64_vector get_f64_f64(const double *x, size_t apart)
{
    return (f64_vector)two_16(x, x + apart);
}

INLINE f64_vector get_f32_f64(const float *x, size_t apart)
{
    return (f64_vector)_mm256_cvtps_pd((__m128)two_8(x, x + apart));
}

INLINE f64_vector get_f16_f64(const uint16_t *x, size_t apart)
{
    return (f64_vector)_mm256_cvtps_pd(_mm_cvtph_ps(two_4(x, x + apart)));
}

INLINE f64_vector get_bf16_f64(const uint16_t *x, size_t apart)
{
    const __m128i u = _mm_slli_epi32(_mm_cvtepu16_epi32(two_4(x, x + apart)), 16);
    return (f64_vector)_mm256_cvtps_pd((__m128)u);
}

INLINE void put_16(void *x, void *y, __m256i v)
{
    _mm_storeu_si128((__m128i *)x, _mm256_castsi256_si128(v));
    _mm_storeu_si128((__m128i *)y, _mm256_extracti128_si256(v, 1));
}

INLINE void put_f32(float *x, size_t apart, f32_vector v)
{
    put_16(x, x + apart, (__m256i)one_nan_f32(v));
}

INLINE void put_f64(double *x, size_t apart, f64_vector v)
{
    put_16(x, x + apart, (__m256i)one_nan_f64(v));
}

INLINE void put_f16(uint16_t *x, size_t apart, f32_vector v)
{
    const __m128i h = _mm256_cvtps_ph((__m256)one_nan_f32(v), _MM_FROUND_TO_NEAREST_INT);
    _mm_storel_epi64((__m128i *)(void *)x, h);
    _mm_storel_epi64((__m128i *)(void *)(x + apart), _mm_unpackhi_epi64(h, h));
}

INLINE void put_bf16(uint16_t *x, size_t apart, f32_vector v)
{
    const u32_vector r = rounded_bf16(v);
    const __m256i h = _mm256_packus_epi32((__m256i)r, (__m256i)r);
    _mm_storel_epi64((__m128i *)(void *)x, _mm256_castsi256_si128(h));
    _mm_storel_epi64((__m128i *)(void *)(x + apart), _mm256_extracti128_si256(h, 1));
}

#else
INLINE void put_f32(float *x, size_t apart, f32_vector v)
{
    const f32_vector u = one_nan_f32(v);
    (void)apart;
    memcpy(x, &u, sizeof u);
}

INLINE void put_f64(double *x, size_t apart, f64_vector v)
{
    const f64_vector u = one_nan_f64(v);
    (void)apart;
    memcpy(x, &u, sizeof u);
}

INLINE void put_u16(uint16_t *x, u32_vector v)
{
#ifdef __AVX512F__
    const u16_half u = (u16_half)_mm512_cvtepi32_epi16((__m512i)v);
#else
    const u16_half u = __builtin_convertvector(v, u16_half);
#endif
    memcpy(x, &u, sizeof u);
}

INLINE void put_bf16(uint16_t *x, size_t apart, f32_vector v)
{
    (void)apart;
    put_u16(x, rounded_bf16(v));
}

#ifdef __AVX512F__
INLINE void put_f16(uint16_t *x, size_t apart, f32_vector v)
{
    const __m512 u = (__m512)one_nan_f32(v);
    (void)apart;
    _mm256_storeu_si256((__m256i *)(void *)x,
                        _mm512_cvtps_ph(u, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#else
/* As echi_f16_of_f32() of core/half.h. */
INLINE void put_f16(uint16_t *x, size_t apart, f32_vector v)
{
    const u32_vector u = (u32_vector)v, sign = u >> 16 & 0x8000;
    const i32_vector rest = (i32_vector)(u & 0x7fffffff), is_small = rest < 113 << 23;
    const u32_vector normal = ((u32_vector)rest + 0xfff + (u >> 13 & 1) - (112u << 23)) >> 13;
    const f32_vector small = (f32_vector)(rest & is_small) + 0.5f;
    const i32_vector is_large = rest >= 0x47800000, is_nan = rest > 0x7f800000;
    i32_vector h = (((i32_vector)small - 0x3f000000) & is_small) | ((i32_vector)normal & ~is_small);
    (void)apart;
    h = (h & ~is_large) | (0x7c00 & is_large) | (i32_vector)sign;
    put_u16(x, (u32_vector)((h & ~is_nan) | (0x7e00 & is_nan)));
}
#endif
#endif
/* ---- A part of a line ----
 *
 * By whole vectors, which the processor forwards from stores to the loads of the same vectors. */

#ifdef __AVX512F__
/* The elements of a vector from number `at` on that are among the first `count`, of 4 or 8 bytes;
 * the others are 0.  Without any, memory is not accessed: a masked access that fails takes long. */
INLINE i64_vector loaded_part(const void *in, size_t at, size_t count, size_t bytes)
{
    const char *from = (const char *)in + at * bytes;
    if (count <= at) return (i64_vector){ 0 };
    if (count - at >= VECTOR_BYTES / bytes) return (i64_vector)_mm512_loadu_si512(from);
    const unsigned there = _bzhi_u32(~0u, (unsigned)(count - at));
    return (i64_vector)(bytes == 8 ? _mm512_maskz_loadu_epi64((__mmask8)there, from)
                                   : _mm512_maskz_loadu_epi32((__mmask16)there, from));
}

INLINE void store_part(void *out, size_t at, size_t count, size_t bytes, i64_vector v)
{
    char *to = (char *)out + at * bytes;
    if (count <= at) return;
    const unsigned there =
        count - at >= VECTOR_BYTES / bytes ? 0xffff : _bzhi_u32(~0u, (unsigned)(count - at));
    if (bytes == 8)
        _mm512_mask_storeu_epi64(to, (__mmask8)there, (__m512i)v);
    else
        _mm512_mask_storeu_epi32(to, (__mmask16)there, (__m512i)v);
}
#endif

/* Copies `bytes` bytes and pads with zeros to `padded`, a multiple of a vector. */
INLINE void copy_padded(void *to, const void *from, size_t bytes, size_t padded)
{
#ifdef __AVX512BW__
    size_t i = 0;
    for (; i < bytes; i += VECTOR_BYTES)
        copy_some((char *)to + i, (const char *)from + i, echi_min(bytes - i, VECTOR_BYTES));
    for (; i < padded; i += VECTOR_BYTES) memset((char *)to + i, 0, VECTOR_BYTES);
#else
    memcpy(to, from, bytes);
    memset((char *)to + bytes, 0, padded - bytes);
#endif
}

/* Copies `bytes` bytes from an array of whole vectors. */
INLINE void copy_back(void *to, const void *from, size_t bytes)
{
#ifdef __AVX512BW__
    for (size_t i = 0; i < bytes; i += VECTOR_BYTES) {
        const unsigned here = (unsigned)echi_min(bytes - i, VECTOR_BYTES);
        _mm512_mask_storeu_epi8((char *)to + i, _bzhi_u64(~(uint64_t)0, here),
                                _mm512_loadu_si512((const char *)from + i));
    }
#else
    memcpy(to, from, bytes);
#endif
}

#endif
