/*
 * strings/cuda/text.cuh - device code: reads strings, compares them, makes their keys.
 *
 * Eight bytes are read as one or two aligned words, unless a word is not completely within the
 * array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_STRINGS_CUDA_TEXT_CUH
#define ECHI_STRINGS_CUDA_TEXT_CUH

#include <stdint.h>
#include "strings/cuda/common.h"

static __device__ inline uint64_t number_at(const void *array, uint32_t bytes, uint64_t i)
{
    return bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static __device__ inline void store_number(void *array, uint32_t bytes, uint64_t i, uint64_t number)
{
    if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)number;
    else
        ((uint64_t *)array)[i] = number;
}

static __device__ inline uint64_t reverse_bytes(uint64_t x)
{
    const uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);
    return (uint64_t)__byte_perm(low, 0, 0x0123) << 32 | __byte_perm(high, 0, 0x0123);
}

/* The `left` bytes at position `at`, at most eight, the first one at the top; the bits below them
 * are undefined. */
static __device__ inline uint64_t load_text(const struct echi_string_array &a, uint64_t at,
                                            uint64_t left)
{
    const uint8_t *text = a.bytes + at;
    const uint32_t skipped = (uint32_t)((uintptr_t)text & 7);
    const bool two = skipped + min(left, (uint64_t)8) > 8; /* words are needed */
    if (left == 0) return 0;
    if (at >= skipped && at - skipped + (two ? 16 : 8) <= a.total_bytes) {
        const uint64_t *words = (const uint64_t *)(text - skipped);
        uint64_t x = words[0] >> 8 * skipped;
        if (two) x |= words[1] << (64 - 8 * skipped);
        return reverse_bytes(x);
    }
    uint64_t x = 0;
    for (uint32_t i = 0; i < min(left, (uint64_t)8); i++) x |= (uint64_t)text[i] << (56 - 8 * i);
    return x;
}

static __device__ inline uint64_t text_key(const struct echi_string_array &a, uint64_t position,
                                           uint64_t depth)
{
    const struct echi_string s = echi_string_at(&a, position);
    const uint64_t left = s.n > depth ? s.n - depth : 0;
    return echi_string_key(&a, load_text(a, s.begin + depth, left), left);
}

/* How many bytes two strings have in common that agree before `depth`; at most `most`. */
static __device__ inline uint64_t text_common(const struct echi_string_array &a,
                                              struct echi_string x, struct echi_string y,
                                              uint64_t depth, uint64_t most)
{
    most = min(most, min(x.n, y.n));
    for (; depth < most; depth += 8) {
        const uint64_t left = most - depth;
        const uint64_t u = load_text(a, x.begin + depth, left);
        const uint64_t v = load_text(a, y.begin + depth, left);
        const uint32_t same = u == v ? 8 : (uint32_t)__clzll((long long)(u ^ v)) / 8;
        if (same < 8) return min(most, depth + same);
    }
    return most;
}

/* Whether x precedes y, which agree before `depth`. */
static __device__ inline bool text_less(const struct echi_string_array &a, uint64_t x, uint64_t y,
                                        uint64_t depth)
{
    const struct echi_string s = echi_string_at(&a, x), t = echi_string_at(&a, y);
    const uint64_t all = min(s.n, t.n), common = text_common(a, s, t, depth, all);
    if (common == all) return a.descending ? s.n > t.n : s.n < t.n;
    return (a.bytes[s.begin + common] < a.bytes[t.begin + common]) != (a.descending != 0);
}

#endif
