/*
 * search/cpu/few_avx512.c - searches in few elements, compiled for AVX-512: a needle is compared
 * with all elements at once, and its position is the number of those that precede it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/cpu/few.h"
#include "cpu/keys_avx512.h"

enum { ROWS = 2 /* vectors of elements */ };

/* n keys, at most a vector, encoded; bytes is a constant. */
INLINE __m512i keys_at(const struct echi_search *s, const void *keys, size_t from, size_t n,
                       size_t bytes)
{
    const char *at = (const char *)keys + from * bytes;
    if (bytes < 8) return encoded_32(&s->order, widened(at, n, bytes), bytes);
    const __mmask8 there = (__mmask8)_bzhi_u32(0xff, n < 8 ? (unsigned)n : 8);
    return encoded_64(&s->order, _mm512_maskz_loadu_epi64(there, at));
}

/* How many of the elements are less than needle i of x, or not greater, if upper. */
INLINE uint32_t before(const __m512i *v, uint32_t there, const uint32_t *x, size_t i, size_t bytes,
                       bool upper)
{
    uint32_t bits = 0;
    for (int row = 0; row < ROWS; row++) {
        if (bytes < 8) {
            const __m512i needle = all_u32(x[i]);
            bits |= (uint32_t)(upper ? not_above_u32(v[row], needle)
                                     : _mm512_cmplt_epu32_mask(v[row], needle))
                    << 16 * row;
        } else {
            const __m512i needle = all_u64(((const uint64_t *)(const void *)x)[i]);
            bits |= (uint32_t)(upper ? not_above_u64(v[row], needle)
                                     : _mm512_cmplt_epu64_mask(v[row], needle))
                    << 8 * row;
        }
    }
    return (uint32_t)__builtin_popcount(bits & there);
}

INLINE void search(const struct echi_search *s, size_t bytes, bool upper)
{
    const size_t lanes = bytes < 8 ? 16 : 8;
    const uint32_t there = (uint32_t)(((uint64_t)1 << s->n) - 1);
    _Alignas(64) uint32_t x[16];
    uint32_t *narrow = s->positions;
    uint64_t *wide = s->positions;
    __m512i v[ROWS];
    for (size_t row = 0; row < ROWS; row++) {
        const size_t from = row * lanes;
        v[row] = keys_at(s, s->sorted, from, s->n > from ? s->n - from : 0, bytes);
    }
    for (size_t first = 0; first < s->m; first += lanes) {
        const size_t count = s->m - first < lanes ? s->m - first : lanes;
        _mm512_store_si512(x, keys_at(s, s->needles, first, count, bytes));
        if (s->index_bytes == 8)
            for (size_t i = 0; i < count; i++)
                wide[first + i] = before(v, there, x, i, bytes, upper);
        else
            for (size_t i = 0; i < count; i++)
                narrow[first + i] = before(v, there, x, i, bytes, upper);
    }
}

INLINE bool search_sized(const struct echi_search *s, size_t bytes)
{
    if (!s->n || s->n > ROWS * (size_t)(bytes < 8 ? 16 : 8)) return false;
    if (s->upper)
        search(s, bytes, true);
    else
        search(s, bytes, false);
    return true;
}

bool echi_search_few_avx512(const struct echi_search *s)
{
    switch (s->key_bytes) {
    case 1:
        return search_sized(s, 1);
    case 2:
        return search_sized(s, 2);
    case 4:
        return search_sized(s, 4);
    default:
        return search_sized(s, 8);
    }
}
