/*
 * sort/cpu/ranks_avx512.h - the ranks of few keys, for stable sorts with values.
 *
 *     x        5 2 5 1          encoded keys, in lanes of 32 or 64 bits
 *     rank     2 1 3 0          how many keys precede each: smaller ones, and equal ones before it
 *     out      1 2 5 5          element j goes to rank[j]
 *
 * Each key is compared with a vector of keys at once, without branches. Up to ECHI_RANKED_KEYS keys
 * take less time than a sort of packed integers.
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
