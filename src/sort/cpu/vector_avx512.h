/*
 * sort/cpu/vector_avx512.h - operations on a vector of 32 u16, 16 u32 or 8 u64 under the same
 * names, for the templates of the AVX-512 sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CPU_VECTOR_AVX512_H
#define ECHI_SORT_CPU_VECTOR_AVX512_H

#include "cpu/places.h"

#include <immintrin.h>
#include <stdint.h>

#define INLINE   static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

typedef __m512i vec;

INLINE vec load(const void *p)
{
    return _mm512_loadu_si512(p);
}

INLINE void store(void *p, vec v)
{
    _mm512_storeu_si512(p, v);
}

INLINE vec bit_and(vec a, vec b)
{
    return _mm512_and_si512(a, b);
}

INLINE vec bit_xor(vec a, vec b)
{
    return _mm512_xor_si512(a, b);
}

/* The lower n bits, n <= 64. */
INLINE uint64_t first_bits(size_t n)
{
    return _bzhi_u64(~(uint64_t)0, (unsigned)n);
}

/* The lower n bits without the first ones, up to 64 from a multiple of 64 on. */
INLINE uint64_t row_bits(size_t n, size_t first)
{
    const size_t word = first / 64 * 64;
    return first_bits(n <= word ? 0 : n - word < 64 ? n - word : 64) >> first % 64;
}

/* Copies at least one byte to an aligned array that is a multiple of a vector. */
INLINE void copy_padded(void *to, const void *from, size_t bytes)
{
    size_t i = 0;
    do {
        const __mmask64 lanes = first_bits(bytes - i < 64 ? bytes - i : 64);
        _mm512_store_si512((char *)to + i, _mm512_maskz_loadu_epi8(lanes, (const char *)from + i));
        i += 64;
    } while (i < bytes);
}

/* ---- u16: only what the networks need ---- */

enum { LANES_u16 = 32 };
typedef __mmask32 mask_u16;

/* The lanes of a row that hold the first n keys. */
INLINE mask_u16 row_lanes_u16(size_t n, int row)
{
    return (mask_u16)row_bits(n, (size_t)row * LANES_u16);
}

INLINE vec broadcast_u16(uint16_t key)
{
    return _mm512_set1_epi16((short)key);
}

INLINE vec load_some_u16(const uint16_t *p, mask_u16 lanes, vec others)
{
    return _mm512_mask_loadu_epi16(others, lanes, p);
}

INLINE void store_some_u16(uint16_t *p, mask_u16 lanes, vec v)
{
    _mm512_mask_storeu_epi16(p, lanes, v);
}

INLINE vec min_u16(vec a, vec b)
{
    return _mm512_min_epu16(a, b);
}

INLINE vec max_u16(vec a, vec b)
{
    return _mm512_max_epu16(a, b);
}

/* a = min(a, b), b = max(a, b) */
INLINE void compare_u16(vec *a, vec *b)
{
    vec low = min_u16(*a, *b);
    *b = max_u16(*a, *b);
    *a = low;
}

INLINE vec max_in_u16(uint32_t lanes, vec others, vec a, vec b)
{
    return _mm512_mask_max_epu16(others, (mask_u16)lanes, a, b);
}

INLINE vec sign_bits_u16(vec v)
{
    return _mm512_srai_epi16(v, 15);
}

INLINE vec add_u16(vec a, vec b)
{
    return _mm512_add_epi16(a, b);
}

INLINE vec subtract_u16(vec a, vec b)
{
    return _mm512_sub_epi16(a, b);
}

/* Lane i takes lane i ^ mask. */
INLINE vec swap_lanes_u16(vec v, int mask)
{
    if (mask == 1) return _mm512_rol_epi32(v, 16);
    if (mask == 2) return _mm512_shuffle_epi32(v, 0xB1);
    if (mask == 4) return _mm512_shuffle_epi32(v, 0x4E);
    if (mask == 8) return _mm512_shuffle_i64x2(v, v, 0xB1);
    if (mask == 16) return _mm512_shuffle_i64x2(v, v, 0x4E);
    if (mask < 8) {
        const __m128i byte = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const __m128i from = _mm_xor_si128(byte, _mm_set1_epi8((char)(2 * mask)));
        return _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(from));
    }
    const vec lane = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,
                                      16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_permutexvar_epi16(_mm512_xor_si512(lane, _mm512_set1_epi16((short)mask)), v);
}

/* ---- u32 ---- */

enum { LANES_u32 = 16 };
typedef __mmask16 mask_u32;

INLINE mask_u32 row_lanes_u32(size_t n, int row)
{
    return (mask_u32)row_bits(n, (size_t)row * LANES_u32);
}

INLINE vec broadcast_u32(uint32_t key)
{
    return _mm512_set1_epi32((int)key);
}

INLINE vec load_some_u32(const uint32_t *p, __mmask16 lanes, vec others)
{
    return _mm512_mask_loadu_epi32(others, lanes, p);
}

INLINE void store_some_u32(uint32_t *p, __mmask16 lanes, vec v)
{
    _mm512_mask_storeu_epi32(p, lanes, v);
}

INLINE vec min_u32(vec a, vec b)
{
    return _mm512_min_epu32(a, b);
}

INLINE vec max_u32(vec a, vec b)
{
    return _mm512_max_epu32(a, b);
}

INLINE void compare_u32(vec *a, vec *b)
{
    vec low = min_u32(*a, *b);
    *b = max_u32(*a, *b);
    *a = low;
}

/* The maximum in some lanes; the others are those of a third vector. */
INLINE vec max_in_u32(uint32_t lanes, vec others, vec a, vec b)
{
    return _mm512_mask_max_epu32(others, (mask_u32)lanes, a, b);
}

INLINE vec blend_u32(uint32_t lanes, vec others, vec v)
{
    return _mm512_mask_blend_epi32((__mmask16)lanes, others, v);
}

INLINE uint32_t less_u32(vec a, vec b)
{
    return _mm512_cmplt_epu32_mask(a, b);
}

INLINE uint32_t less_equal_u32(vec a, vec b)
{
    return _mm512_cmple_epu32_mask(a, b);
}

/* To a register and then as a whole to memory: compressing stores are many times slower on Zen
 * 4. */
INLINE vec compress_u32(uint32_t lanes, vec v)
{
    return _mm512_mask_compress_epi32(v, (__mmask16)lanes, v);
}

/* Writes the lanes of a vector that are in less from left on, and the others before right, in two
 * halves.  Whole halves are written: there is room for a vector at left and before right.  One
 * permutation puts the lanes in less before the others. */
INLINE void divide_u32(vec v, uint32_t less, uint32_t *left, uint32_t *right)
{
    const __m256i low = _mm256_permutevar8x32_epi32(_mm512_castsi512_si256(v), places_32(less));
    const __m256i high =
        _mm256_permutevar8x32_epi32(_mm512_extracti64x4_epi64(v, 1), places_32(less >> 8));
    const int count = __builtin_popcount((uint8_t)less);
    _mm256_storeu_si256((__m256i *)left, low);
    _mm256_storeu_si256((__m256i *)(left + count), high);
    _mm256_storeu_si256((__m256i *)(right - 8), low);
    _mm256_storeu_si256((__m256i *)(right - 16 + count), high);
}

/* All ones in lanes whose top bit is set. */
INLINE vec sign_bits_u32(vec v)
{
    return _mm512_srai_epi32(v, 31);
}

INLINE vec add_u32(vec a, vec b)
{
    return _mm512_add_epi32(a, b);
}

INLINE vec subtract_u32(vec a, vec b)
{
    return _mm512_sub_epi32(a, b);
}

/* Lane i takes lane i ^ mask. */
INLINE vec swap_lanes_u32(vec v, int mask)
{
    if (mask == 1) return _mm512_shuffle_epi32(v, 0xB1);
    if (mask == 2) return _mm512_shuffle_epi32(v, 0x4E);
    if (mask == 3) return _mm512_shuffle_epi32(v, 0x1B);
    if (mask == 4) return _mm512_shuffle_i64x2(v, v, 0xB1);
    if (mask == 8) return _mm512_shuffle_i64x2(v, v, 0x4E);
    vec lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_epi32(_mm512_xor_si512(lane, _mm512_set1_epi32(mask)), v);
}

/* a0 b0 a1 b1 ... of the lower, or the upper, halves of a and b. */
INLINE vec zip_low_u32(vec a, vec b)
{
    vec i = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_epi32(a, i, b);
}

INLINE vec zip_high_u32(vec a, vec b)
{
    vec i = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    return _mm512_permutex2var_epi32(a, i, b);
}

/* ---- u64 ---- */

enum { LANES_u64 = 8 };
typedef __mmask8 mask_u64;

INLINE mask_u64 row_lanes_u64(size_t n, int row)
{
    return (mask_u64)row_bits(n, (size_t)row * LANES_u64);
}

INLINE vec broadcast_u64(uint64_t key)
{
    return _mm512_set1_epi64((long long)key);
}

INLINE vec load_some_u64(const uint64_t *p, __mmask8 lanes, vec others)
{
    return _mm512_mask_loadu_epi64(others, lanes, p);
}

INLINE void store_some_u64(uint64_t *p, __mmask8 lanes, vec v)
{
    _mm512_mask_storeu_epi64(p, lanes, v);
}

INLINE vec min_u64(vec a, vec b)
{
    return _mm512_min_epu64(a, b);
}

INLINE vec max_u64(vec a, vec b)
{
    return _mm512_max_epu64(a, b);
}

INLINE void compare_u64(vec *a, vec *b)
{
    vec low = min_u64(*a, *b);
    *b = max_u64(*a, *b);
    *a = low;
}

INLINE vec max_in_u64(uint32_t lanes, vec others, vec a, vec b)
{
    return _mm512_mask_max_epu64(others, (mask_u64)lanes, a, b);
}

INLINE vec blend_u64(uint32_t lanes, vec others, vec v)
{
    return _mm512_mask_blend_epi64((__mmask8)lanes, others, v);
}

INLINE uint32_t less_u64(vec a, vec b)
{
    return _mm512_cmplt_epu64_mask(a, b);
}

INLINE uint32_t less_equal_u64(vec a, vec b)
{
    return _mm512_cmple_epu64_mask(a, b);
}

INLINE vec compress_u64(uint32_t lanes, vec v)
{
    return _mm512_permutexvar_epi64(places_64(lanes), v);
}

INLINE void divide_u64(vec v, uint32_t less, uint64_t *left, uint64_t *right)
{
    const vec both = compress_u64(less, v);
    store(left, both);
    store(right - LANES_u64, both);
}

/* All ones in lanes whose top bit is set. */
INLINE vec sign_bits_u64(vec v)
{
    return _mm512_srai_epi64(v, 63);
}

INLINE vec add_u64(vec a, vec b)
{
    return _mm512_add_epi64(a, b);
}

INLINE vec subtract_u64(vec a, vec b)
{
    return _mm512_sub_epi64(a, b);
}

INLINE vec swap_lanes_u64(vec v, int mask)
{
    if (mask == 1) return _mm512_shuffle_epi32(v, 0x4E);
    if (mask == 2) return _mm512_shuffle_i64x2(v, v, 0xB1);
    if (mask == 3) return _mm512_permutex_epi64(v, 0x1B);
    if (mask == 4) return _mm512_shuffle_i64x2(v, v, 0x4E);
    vec lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_permutexvar_epi64(_mm512_xor_si512(lane, _mm512_set1_epi64(mask)), v);
}

INLINE vec zip_low_u64(vec a, vec b)
{
    return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b);
}

INLINE vec zip_high_u64(vec a, vec b)
{
    return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b);
}

/* Restores the lanes of two vectors after splits of bit, bit / 2, ..., 1: the lane of the result is
 * rotated, and its lowest bit selects the vector.  second: 0, or bit for the second vector. */
INLINE vec unite_u64(vec a, vec b, int bit, int second)
{
    typedef uint64_t numbers __attribute__((vector_size(64)));
    const numbers lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const uint64_t low = (uint64_t)(2 * bit - 1);
    const numbers from =
        (lane & (uint64_t)~low) | (lane & low) >> 1 | (lane & 1) * LANES_u64 | (uint64_t)second;
    return _mm512_permutex2var_epi64(a, (vec)from, b);
}

#endif
