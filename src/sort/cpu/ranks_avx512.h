/*
 * sort/cpu/ranks_avx512.h - the ranks of few keys, for stable sorts with values.
 *
 *     x        5 2 5 1          encoded keys, in lanes of 32 or 64 bits
 *     rank     2 1 3 0          how many keys precede each: smaller ones, and equal ones before it
 *     out      1 2 5 5          element j goes to rank[j]
 *
 * Each key is compared with a vector of keys at once, without branches. Up to ECHI_RANKED_KEYS keys
 * take less time than a sort of packed integers.  Up to 16 keys of at most 32 bits are sorted with
 * their positions in registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CPU_RANKS_AVX512_H
#define ECHI_SORT_CPU_RANKS_AVX512_H

#include "cpu/keys_avx512.h"

/* The keys of a row of 16 or 8 lanes, encoded; other lanes are those of key 0. */
INLINE __m512i row_of_keys(const struct echi_window *w, const void *keys, size_t n, size_t bytes,
                           size_t row, void *copy)
{
    const size_t lanes = bytes == 8 ? 8 : 16, at = row * lanes, left = n > at ? n - at : 0;
    const char *from = (const char *)keys + at * bytes;
    const __mmask8 there = (__mmask8)_bzhi_u32(0xff, left < 8 ? (unsigned)left : 8);
    const __m512i u =
        bytes == 8 ? _mm512_maskz_loadu_epi64(there, from) : widened(from, left, bytes);
    _mm512_store_si512((char *)copy + 64 * row, u);
    const __m128i begin = _mm_cvtsi32_si128(w->begin);
    const __m512i mask = bytes == 8 ? all_u64(w->mask) : all_u32((uint32_t)w->mask);
    if (bytes == 8)
        return _mm512_and_si512(_mm512_srl_epi64(encoded_64(&w->order, u), begin), mask);
    return _mm512_and_si512(_mm512_srl_epi32(encoded_32(&w->order, u, bytes), begin), mask);
}

/* A bit for each key of `rows` vectors that is at most x[i]. */
INLINE uint64_t at_most(const __m512i *v, size_t rows, size_t bytes, const char *x, size_t i)
{
    uint64_t bits = 0;
    for (size_t row = 0; row < rows; row++) {
        if (bytes == 8)
            bits |= not_above_u64(v[row], all_u64(((const uint64_t *)(const void *)x)[i]))
                    << 8 * row;
        else
            bits |= not_above_u32(v[row], all_u32(((const uint32_t *)(const void *)x)[i]))
                    << 16 * row;
    }
    return bits;
}

/* The rank of key i of 16 keys of a vector: the number of keys that are less, or equal and before
 * it. */
INLINE uint32_t rank_of_16(__m512i v, uint64_t there, const char *x, size_t i)
{
    const __m512i key = all_u32(((const uint32_t *)(const void *)x)[i]);
    const uint64_t less = ~not_above_u32(key, v), most = not_above_u32(v, key);
    return (uint32_t)__builtin_popcountll((less | _bzhi_u64(most, (unsigned)i)) & there);
}

/* Computes the ranks of n keys, at most `most`, and copies them to lanes of 4 or 8 bytes; bytes and
 * most are constants. With several vectors, a key is compared only once with each: if k keys are at
 * most key i, its rank is the highest free one below k; equal keys take ranks in descending
 * order. */
INLINE void find_ranks(const struct echi_window *w, const void *keys, size_t n, size_t bytes,
                       size_t most, void *copy, uint32_t *rank)
{
    enum { MOST_ROWS = 4 };
    const size_t rows = bytes == 8 ? (most + 7) / 8 : (most + 15) / 16;
    const uint64_t there = ((uint64_t)1 << n) - 1;
    uint64_t free = there;
    _Alignas(64) char x[64 * MOST_ROWS];
    __m512i v[MOST_ROWS];
    for (size_t row = 0; row < rows; row++) {
        v[row] = row_of_keys(w, keys, n, bytes, row, copy);
        _mm512_store_si512(x + 64 * row, v[row]);
    }
    for (size_t i = 0; rows == 1 && i < n; i++) rank[i] = rank_of_16(v[0], there, x, i);
    for (size_t i = n; rows > 1 && i-- > 0;) {
        const int k = __builtin_popcountll(at_most(v, rows, bytes, x, i) & there);
        const int place = 63 - __builtin_clzll(_bzhi_u64(free, (unsigned)k));
        free ^= (uint64_t)1 << place;
        rank[i] = (uint32_t)place;
    }
}

/* ---- Keys of at most 32 bits with their positions, as integers of 64 bits ---- */

/* Writes the first n lanes of 32 bits as integers of 1, 2 or 4 bytes. */
INLINE void store_narrowed(void *to, size_t n, __m512i v, size_t bytes)
{
    const __mmask16 there = (__mmask16)_bzhi_u32(0xffff, (unsigned)n);
    if (bytes == 1)
        _mm_mask_storeu_epi8(to, there, _mm512_cvtepi32_epi8(v));
    else if (bytes == 2)
        _mm256_mask_storeu_epi16(to, there, _mm512_cvtepi32_epi16(v));
    else
        _mm512_mask_storeu_epi32(to, there, v);
}

/* The low or the high 8 of 16 lanes, as integers of 64 bits. */
INLINE __m512i half_of(__m512i v, int half)
{
    return _mm512_cvtepu32_epi64(half ? _mm512_extracti64x4_epi64(v, 1)
                                      : _mm512_castsi512_si256(v));
}

INLINE void store_wide(void *to, size_t n, __m512i low, __m512i high)
{
    _mm512_mask_storeu_epi64(to, (__mmask8)_bzhi_u32(0xff, n < 8 ? (unsigned)n : 8), low);
    if (n > 8)
        _mm512_mask_storeu_epi64((char *)to + 64, (__mmask8)_bzhi_u32(0xff, (unsigned)(n - 8)),
                                 high);
}

/* The values of positions p, or the positions, of 4 or 8 bytes. */
INLINE void store_values(void *to, size_t n, __m512i p, const char *values, size_t bytes)
{
    if (bytes == 4 && values) {
        p = _mm512_permutexvar_epi32(p, widened(values, n, 4));
        store_narrowed(to, n, p, 4);
    } else if (bytes == 4) {
        store_narrowed(to, n, p, 4);
    } else if (bytes == 8 && values) {
        const __mmask8 first = (__mmask8)_bzhi_u32(0xff, n < 8 ? (unsigned)n : 8);
        const __m512i low = _mm512_maskz_loadu_epi64(first, values);
        const __m512i high = n > 8 ? _mm512_maskz_loadu_epi64(
                                         (__mmask8)_bzhi_u32(0xff, (unsigned)(n - 8)), values + 64)
                                   : low;
        store_wide(to, n, _mm512_permutex2var_epi64(low, half_of(p, 0), high),
                   _mm512_permutex2var_epi64(low, half_of(p, 1), high));
    } else {
        store_wide(to, n, half_of(p, 0), half_of(p, 1));
    }
}

/* Sorts n <= 16 keys and their values of 4 or 8 bytes. */
INLINE void sort_with_positions(const struct echi_window *w, const void *keys, const void *values,
                                size_t n, size_t bytes, size_t value_bytes, void *keys_out,
                                void *values_out)
{
    const __m512i u = widened(keys, n, bytes), ones = all_u64(UINT64_MAX);
    const __m512i e =
        _mm512_srl_epi32(encoded_32(&w->order, u, bytes), _mm_cvtsi32_si128(w->begin));
    const __m512i x = _mm512_and_si512(e, all_u32((uint32_t)w->mask));
    const __m512i places = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const uint32_t there = _bzhi_u32(0xffff, (unsigned)n);
    vec v[2];
    v[0] = _mm512_or_si512(_mm512_slli_epi64(half_of(x, 0), 32), places);
    v[0] = _mm512_mask_mov_epi64(ones, (__mmask8)there, v[0]);
    if (n <= 8) {
        merge_columns_u64(v, 1, 1);
        merge_columns_u64(v, 1, 2);
        merge_columns_u64(v, 1, 4);
        v[1] = ones;
    } else {
        v[1] = _mm512_add_epi64(places, all_u64(8));
        v[1] = _mm512_or_si512(_mm512_slli_epi64(half_of(x, 1), 32), v[1]);
        v[1] = _mm512_mask_mov_epi64(ones, (__mmask8)(there >> 8), v[1]);
        sort_columns_u64(v, 2);
        merge_columns_u64(v, 2, 1);
        merge_columns_u64(v, 2, 2);
        merge_columns_u64(v, 2, 4);
    }
    const __m512i low = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(v[0]));
    const __m512i p = _mm512_inserti64x4(low, _mm512_cvtepi64_epi32(v[1]), 1);
    store_values(values_out, n, p, values, value_bytes);
    if (keys_out) store_narrowed(keys_out, n, _mm512_permutexvar_epi32(p, u), bytes);
}

/* Element j of `bytes` goes to rank[j]. */
#define PLACE(size)                                                                                \
    if (bytes == size) {                                                                           \
        for (size_t j = 0; j < n; j++)                                                             \
            memcpy(to + rank[j] * (size_t)size, from + j * from_bytes, size);                      \
        return;                                                                                    \
    }

INLINE void place(const uint32_t *rank, size_t n, const char *from, size_t from_bytes, size_t bytes,
                  char *to)
{
    PLACE(4)
    PLACE(8)
    PLACE(1)
    PLACE(2)
    PLACE(16)
    for (size_t j = 0; j < n; j++) memcpy(to + rank[j] * bytes, from + j * from_bytes, bytes);
}

#undef PLACE

/* Values or, if there are none, positions of 4 or 8 bytes. */
static void place_values(const uint32_t *rank, size_t n, const char *values, size_t bytes, void *to)
{
    uint32_t *narrow = to;
    uint64_t *wide = to;
    if (values)
        place(rank, n, values, bytes, bytes, to);
    else if (bytes == 4)
        for (size_t j = 0; j < n; j++) narrow[rank[j]] = (uint32_t)j;
    else
        for (size_t j = 0; j < n; j++) wide[rank[j]] = j;
}

#endif
