/*
 * sort/cpu/vector_avx2.h - operations on a vector of 16 u16, 8 u32 or 4 u64 under the names that
 * network.h uses, with AVX2.  u64 are compared as signed integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CPU_VECTOR_AVX2_H
#define ECHI_SORT_CPU_VECTOR_AVX2_H

#include "cpu/places.h"

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define INLINE   static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

typedef __m256i vec;

INLINE vec load(const void *p)
{
    return _mm256_loadu_si256(p);
}

INLINE void store(void *p, vec v)
{
    _mm256_storeu_si256(p, v);
}

INLINE vec bit_and(vec a, vec b)
{
    return _mm256_and_si256(a, b);
}

INLINE vec bit_xor(vec a, vec b)
{
    return _mm256_xor_si256(a, b);
}

/* Some lanes are the first ones: their number stands for a mask. */
INLINE size_t row_lanes(size_t n, size_t first, size_t lanes)
{
    return n <= first ? 0 : n - first < lanes ? n - first : lanes;
}

/* Copies bytes to an aligned array that is a multiple of a vector. */
INLINE void copy_padded(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    memset((char *)to + bytes, 0, (0 - bytes) % 64);
}

/* Lanes of 16 bytes in reverse order. */
INLINE vec swap_halves(vec v)
{
    return _mm256_permute4x64_epi64(v, 0x4E);
}

/* ---- u16 ---- */

enum { LANES_u16 = 16 };
typedef size_t mask_u16;

INLINE size_t row_lanes_u16(size_t n, int row)
{
    return row_lanes(n, (size_t)row * LANES_u16, LANES_u16);
}

INLINE vec broadcast_u16(uint16_t key)
{
    return _mm256_set1_epi16((short)key);
}

/* There is no masked access to 16 bits. */
INLINE vec load_some_u16(const uint16_t *p, size_t lanes, vec others)
{
    _Alignas(32) uint16_t keys[LANES_u16];
    store(keys, others);
    for (size_t i = 0; i < lanes; i++) keys[i] = p[i];
    return load(keys);
}

INLINE void store_some_u16(uint16_t *p, size_t lanes, vec v)
{
    _Alignas(32) uint16_t keys[LANES_u16];
    store(keys, v);
    for (size_t i = 0; i < lanes; i++) p[i] = keys[i];
}

INLINE vec min_u16(vec a, vec b)
{
    return _mm256_min_epu16(a, b);
}

/* a = min(a, b), b = max(a, b) */
INLINE void compare_u16(vec *a, vec *b)
{
    vec low = _mm256_min_epu16(*a, *b);
    *b = _mm256_max_epu16(*a, *b);
    *a = low;
}

/* The maximum in the lanes with an equal bit of the number: 0xAA.., 0xCC.., 0xF0.. or 0xFF00. */
INLINE vec max_in_u16(uint32_t lanes, vec others, vec a, vec b)
{
    const vec high = _mm256_max_epu16(a, b);
    if ((lanes & 0xffff) == 0xAAAA) return _mm256_blend_epi16(others, high, 0xAA);
    if ((lanes & 0xffff) == 0xCCCC) return _mm256_blend_epi16(others, high, 0xCC);
    if ((lanes & 0xffff) == 0xF0F0) return _mm256_blend_epi16(others, high, 0xF0);
    return _mm256_blend_epi32(others, high, 0xF0);
}

INLINE vec sign_bits_u16(vec v)
{
    return _mm256_srai_epi16(v, 15);
}

INLINE vec add_u16(vec a, vec b)
{
    return _mm256_add_epi16(a, b);
}

INLINE vec subtract_u16(vec a, vec b)
{
    return _mm256_sub_epi16(a, b);
}

/* Lane i takes lane i ^ mask. */
INLINE vec swap_lanes_u16(vec v, int mask)
{
    if (mask == 2) return _mm256_shuffle_epi32(v, 0xB1);
    if (mask == 4) return _mm256_shuffle_epi32(v, 0x4E);
    if (mask == 8) return swap_halves(v);
    const __m128i byte = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i from = _mm_xor_si128(byte, _mm_set1_epi8((char)(2 * (mask & 7))));
    const vec w = _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(from));
    return mask & 8 ? swap_halves(w) : w;
}

/* ---- u32 ---- */

enum { LANES_u32 = 8 };
typedef size_t mask_u32;

INLINE size_t row_lanes_u32(size_t n, int row)
{
    return row_lanes(n, (size_t)row * LANES_u32, LANES_u32);
}

INLINE vec broadcast_u32(uint32_t key)
{
    return _mm256_set1_epi32((int)key);
}

INLINE vec first_lanes_u32(size_t lanes)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)lanes),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

INLINE vec load_some_u32(const uint32_t *p, size_t lanes, vec others)
{
    const vec first = first_lanes_u32(lanes);
    return _mm256_blendv_epi8(others, _mm256_maskload_epi32((const int *)p, first), first);
}

INLINE void store_some_u32(uint32_t *p, size_t lanes, vec v)
{
    _mm256_maskstore_epi32((int *)p, first_lanes_u32(lanes), v);
}

INLINE vec min_u32(vec a, vec b)
{
    return _mm256_min_epu32(a, b);
}

INLINE void compare_u32(vec *a, vec *b)
{
    vec low = _mm256_min_epu32(*a, *b);
    *b = _mm256_max_epu32(*a, *b);
    *a = low;
}

INLINE vec max_in_u32(uint32_t lanes, vec others, vec a, vec b)
{
    const vec high = _mm256_max_epu32(a, b);
    if ((lanes & 0xff) == 0xAA) return _mm256_blend_epi32(others, high, 0xAA);
    if ((lanes & 0xff) == 0xCC) return _mm256_blend_epi32(others, high, 0xCC);
    return _mm256_blend_epi32(others, high, 0xF0);
}

INLINE vec sign_bits_u32(vec v)
{
    return _mm256_srai_epi32(v, 31);
}

INLINE vec add_u32(vec a, vec b)
{
    return _mm256_add_epi32(a, b);
}

INLINE vec subtract_u32(vec a, vec b)
{
    return _mm256_sub_epi32(a, b);
}

INLINE vec swap_lanes_u32(vec v, int mask)
{
    const vec w = (mask & 3) == 1   ? _mm256_shuffle_epi32(v, 0xB1)
                  : (mask & 3) == 2 ? _mm256_shuffle_epi32(v, 0x4E)
                  : (mask & 3) == 3 ? _mm256_shuffle_epi32(v, 0x1B)
                                    : v;
    return mask & 4 ? swap_halves(w) : w;
}

/* Bits of the lanes of a that are less than those of b. */
INLINE uint32_t less_u32(vec a, vec b)
{
    const vec not_less = _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a);
    return ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(not_less)) & 0xff;
}

INLINE uint32_t less_equal_u32(vec a, vec b)
{
    const vec not_more = _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), b);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(not_more));
}

/* The lanes whose bits are set, then the others. */
INLINE vec compress_u32(uint32_t lanes, vec v)
{
    return _mm256_permutevar8x32_epi32(v, places_32(lanes));
}

/* Writes the lanes in less from left on and the others before right; there is room for a vector. */
INLINE void divide_u32(vec v, uint32_t less, uint32_t *left, uint32_t *right)
{
    const vec both = compress_u32(less, v);
    store(left, both);
    store(right - LANES_u32, both);
}

/* ---- u64 ---- */

enum { LANES_u64 = 4 };
typedef size_t mask_u64;

INLINE size_t row_lanes_u64(size_t n, int row)
{
    return row_lanes(n, (size_t)row * LANES_u64, LANES_u64);
}

INLINE vec broadcast_u64(uint64_t key)
{
    return _mm256_set1_epi64x((long long)key);
}

INLINE vec first_lanes_u64(size_t lanes)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)lanes), _mm256_setr_epi64x(0, 1, 2, 3));
}

INLINE vec load_some_u64(const uint64_t *p, size_t lanes, vec others)
{
    const vec first = first_lanes_u64(lanes);
    return _mm256_blendv_epi8(
        others, _mm256_maskload_epi64((const long long *)(const void *)p, first), first);
}

INLINE void store_some_u64(uint64_t *p, size_t lanes, vec v)
{
    _mm256_maskstore_epi64((long long *)(void *)p, first_lanes_u64(lanes), v);
}

INLINE vec min_u64(vec a, vec b)
{
    return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
}

INLINE void compare_u64(vec *a, vec *b)
{
    const vec swapped = _mm256_cmpgt_epi64(*a, *b);
    vec low = _mm256_blendv_epi8(*a, *b, swapped);
    *b = _mm256_blendv_epi8(*b, *a, swapped);
    *a = low;
}

INLINE vec max_in_u64(uint32_t lanes, vec others, vec a, vec b)
{
    const vec high = _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b));
    return (lanes & 15) == 10 ? _mm256_blend_epi32(others, high, 0xCC)
                              : _mm256_blend_epi32(others, high, 0xF0);
}

INLINE vec sign_bits_u64(vec v)
{
    return _mm256_cmpgt_epi64(_mm256_setzero_si256(), v);
}

INLINE vec add_u64(vec a, vec b)
{
    return _mm256_add_epi64(a, b);
}

INLINE vec subtract_u64(vec a, vec b)
{
    return _mm256_sub_epi64(a, b);
}

INLINE vec swap_lanes_u64(vec v, int mask)
{
    if (mask == 1) return _mm256_shuffle_epi32(v, 0x4E);
    if (mask == 2) return swap_halves(v);
    return _mm256_permute4x64_epi64(v, 0x1B);
}

INLINE uint32_t less_u64(vec a, vec b)
{
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(b, a)));
}

INLINE uint32_t less_equal_u64(vec a, vec b)
{
    return ~less_u64(b, a) & 15;
}

INLINE vec compress_u64(uint32_t lanes, vec v)
{
    return _mm256_permutevar8x32_epi32(v, places_64_in_halves(lanes));
}

INLINE void divide_u64(vec v, uint32_t less, uint64_t *left, uint64_t *right)
{
    const vec both = compress_u64(less, v);
    store(left, both);
    store(right - LANES_u64, both);
}

#endif
