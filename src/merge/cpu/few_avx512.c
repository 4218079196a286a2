/*
 * merge/cpu/few_avx512.c - merges of few keys, compiled for AVX-512: each key of b is compared with
 * all keys of a at once, which gives its place; the keys of a take the other places in order.
 *
 *     a    2 5 5 9      b   3 5      places of b   1 4      result   2 3 5 5 5 9
 *
 * No branch depends on the keys.  Keys are moved as they are, so equal ones that differ in bits
 * keep their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cpu/keys_avx512.h"
#include "merge/cpu/common.h"

/* What a merge of few keys needs. */
struct few {
    const struct echi_order *order;
    const void *a, *b;
    void *out;
    size_t n_a, n_b;
};

enum {
    ROWS = 4, /* vectors of keys of a */
    MOST_COMPARISONS = 64,
    MOST_NARROW = 40 /* of keys of 8 or 16 bits, which a network sorts faster */
};

/* Lanes of 4 or 8 bytes: keys from number `from` on, at most a vector. */
INLINE __m512i keys_at(const void *keys, size_t from, size_t n, size_t bytes)
{
    const char *at = (const char *)keys + from * bytes;
    if (from >= n) return _mm512_setzero_si512(); /* a masked access to no memory takes long */
    if (bytes < 8) return widened(at, n - from, bytes);
    const __mmask8 there = (__mmask8)_bzhi_u32(0xff, n - from < 8 ? (unsigned)(n - from) : 8);
    return _mm512_maskz_loadu_epi64(there, at);
}

INLINE void store_keys(void *keys, size_t to, size_t n, __m512i v, size_t bytes)
{
    char *at = (char *)keys + to * bytes;
    const __mmask16 there = (__mmask16)_bzhi_u32(0xffff, n - to < 16 ? (unsigned)(n - to) : 16);
    if (bytes == 1)
        _mm_mask_storeu_epi8(at, there, _mm512_cvtepi32_epi8(v));
    else if (bytes == 2)
        _mm256_mask_storeu_epi16(at, there, _mm512_cvtepi32_epi16(v));
    else if (bytes == 4)
        _mm512_mask_storeu_epi32(at, there, v);
    else
        _mm512_mask_storeu_epi64(at, (__mmask8)there, v);
}

INLINE __m512i encoded(const struct echi_order *o, __m512i v, size_t bytes)
{
    return bytes < 8 ? encoded_32(o, v, bytes) : encoded_64(o, v);
}

/* Copies n keys. */
INLINE void copy_keys(void *out, const void *in, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i += 64 / bytes) {
        const size_t left = (n - i) * bytes;
        const uint64_t there = _bzhi_u64(~(uint64_t)0, left < 64 ? (unsigned)left : 64);
        const char *from = (const char *)in + i * bytes;
        _mm512_mask_storeu_epi8((char *)out + i * bytes, there,
                                _mm512_maskz_loadu_epi8(there, from));
    }
}

/* Which keys of a are not greater than the key in all lanes of b; rows and bytes are constants. */
INLINE uint64_t not_greater(const __m512i *a, __m512i b, size_t rows, size_t bytes)
{
    uint64_t bits = 0;
    for (size_t row = 0; row < rows; row++)
        bits |=
            bytes < 8 ? not_above_u32(a[row], b) << 16 * row : not_above_u64(a[row], b) << 8 * row;
    return bits;
}

/* The places of the keys of b, as bits.  0: all keys of a come before those of b. */
INLINE uint64_t places_of_b(const struct few *m, size_t rows, size_t bytes)
{
    const size_t lanes = bytes < 8 ? 16 : 8, n_a = m->n_a, n_b = m->n_b;
    const uint64_t there = _bzhi_u64(~(uint64_t)0, (unsigned)n_a);
    __m512i a[ROWS], b = encoded(m->order, keys_at(m->b, 0, n_b, bytes), bytes);
    uint64_t places = 0; /* ECHI_MERGE_FEW bits */
    for (size_t row = 0; row < rows; row++)
        a[row] = encoded(m->order, keys_at(m->a, row * lanes, n_a, bytes), bytes);
    const __m128i first = _mm512_castsi512_si128(b);
    const __m512i head =
        bytes < 8 ? _mm512_broadcastd_epi32(first) : _mm512_broadcastq_epi64(first);
    if ((not_greater(a, head, rows, bytes) & there) == there) return 0;
    for (size_t from = 0; from < n_b; from += lanes) {
        const size_t end = n_b - from < lanes ? n_b : from + lanes;
        __m512i at = _mm512_setzero_si512(); /* the lane of key j, in all lanes */
        if (from) b = encoded(m->order, keys_at(m->b, from, n_b, bytes), bytes);
        for (size_t j = from; j < end; j++) {
            const __m512i key =
                bytes < 8 ? _mm512_permutexvar_epi32(at, b) : _mm512_permutexvar_epi64(at, b);
            const uint64_t bits = not_greater(a, key, rows, bytes) & there;
            at = bytes < 8 ? _mm512_add_epi32(at, all_u32(1)) : _mm512_add_epi64(at, all_u64(1));
            places |= (uint64_t)1 << (j + (size_t)__builtin_popcountll(bits));
        }
    }
    return places;
}

INLINE void merge(const struct few *m, size_t rows, size_t bytes)
{
    const size_t lanes = bytes < 8 ? 16 : 8, n = m->n_a + m->n_b;
    uint64_t places = places_of_b(m, rows, bytes);
    if (!places) {
        copy_keys(m->out, m->a, m->n_a, bytes);
        copy_keys((char *)m->out + m->n_a * bytes, m->b, m->n_b, bytes);
        return;
    }
    for (size_t to = 0, a = 0, b = 0; to < n; to += lanes, places >>= lanes) {
        const __mmask16 from_b = (__mmask16)places;
        const __m512i x = keys_at(m->a, a, m->n_a, bytes);
        const __m512i y = keys_at(m->b, b, m->n_b, bytes);
        const size_t some = (size_t)__builtin_popcount(bytes < 8 ? from_b : (__mmask8)from_b);
        const __m512i v =
            bytes < 8 ? _mm512_mask_expand_epi32(_mm512_maskz_expand_epi32((__mmask16)~from_b, x),
                                                 from_b, y)
                      : _mm512_mask_expand_epi64(_mm512_maskz_expand_epi64((__mmask8)~from_b, x),
                                                 (__mmask8)from_b, y);
        store_keys(m->out, to, n, v, bytes);
        a += lanes - some;
        b += some;
    }
}

INLINE bool merge_sized(const struct few *m, size_t bytes)
{
    const size_t lanes = bytes < 8 ? 16 : 8, rows = (m->n_a + lanes - 1) / lanes;
    const size_t most = bytes < 4 ? MOST_NARROW : MOST_COMPARISONS;
    if (rows * m->n_b > most) return false;
    switch (rows) {
    case 1:
        merge(m, 1, bytes);
        return true;
    case 2:
        merge(m, 2, bytes);
        return true;
    case 3:
    case ROWS:
        merge(m, ROWS, bytes);
        return true;
    default:
        return false;
    }
}

bool echi_merge_few_avx512(const struct echi_merge *merge)
{
    const struct few m = { &merge->order,   merge->keys[0], merge->keys[1],
                           merge->keys_out, merge->n[0],    merge->n[1] };
    switch (merge->key_bytes) {
    case 1:
        return merge_sized(&m, 1);
    case 2:
        return merge_sized(&m, 2);
    case 4:
        return merge_sized(&m, 4);
    default:
        return merge_sized(&m, 8);
    }
}

/* ---- Short calls ---- */

INLINE bool merge_call(const ech_ctx *ctx, const void *a, const void *b, void *out, size_t n_a,
                       size_t n_b, ech_dtype dtype, size_t bytes)
{
    const size_t n = n_a + n_b;
    const struct few m = { &echi_orders[1][dtype], a, b, out, n_a, n_b };
    return n_a - 1 < ECHI_MERGE_FEW && n_b - 1 < ECHI_MERGE_FEW && n <= ECHI_MERGE_FEW &&
           echi_call_is_quick(ctx) && a && b && out &&
           (((uintptr_t)a | (uintptr_t)b | (uintptr_t)out) & (bytes - 1)) == 0 &&
           echi_are_apart(out, n * bytes, a, n_a * bytes) &&
           echi_are_apart(out, n * bytes, b, n_b * bytes) && merge_sized(&m, bytes);
}

#define CALL(bytes)                                                                                \
    static ech_status merge_call_##bytes(ech_ctx *ctx, const void *a, const void *b, void *out,    \
                                         size_t n_a, size_t n_b, ech_dtype dtype,                  \
                                         const ech_merge_options *options)                         \
    {                                                                                              \
        (void)options;                                                                             \
        return merge_call(ctx, a, b, out, n_a, n_b, dtype, bytes)                                  \
                   ? ECH_OK                                                                        \
                   : echi_merge_any(ctx, a, b, out, n_a, n_b, dtype, NULL);                        \
    }
CALL(1)
CALL(2)
CALL(4)
CALL(8)
#undef CALL

echi_merge_function *const echi_merge_calls_avx512[4] = { merge_call_1, merge_call_2, merge_call_4,
                                                          merge_call_8 };
