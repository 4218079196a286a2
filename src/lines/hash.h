/*
 * lines/hash.h - a hash of the bytes of a record, 16 bytes per multiplication.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_HASH_H
#define ECHELON_LINES_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* The first n < 8 bytes. */
static inline uint64_t hash_load_some(const char *at, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, at, n);
    return word;
}

/* The first n < 8 bytes, of 8 that can be read; more n mean 8. */
static inline uint64_t hash_load_masked(const char *at, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return hash_load(at) & (n < 8 ? ((uint64_t)1 << 8 * n) - 1 : UINT64_MAX);
#else
    return n < 8 ? hash_load_some(at, n) : hash_load(at);
#endif
}

/* Both halves of the product. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 product;
    const product all = (product)a * b;
    return (uint64_t)all ^ (uint64_t)(all >> 64);
#else
    const uint64_t low = a & UINT32_MAX, high = a >> 32, b_low = b & UINT32_MAX, b_high = b >> 32;
    const uint64_t first = low * b_low, middle = high * b_low + (first >> 32);
    const uint64_t other = low * b_high + (middle & UINT32_MAX);
    const uint64_t top = high * b_high + (middle >> 32) + (other >> 32);
    return ((other << 32) | (first & UINT32_MAX)) ^ top;
#endif
}

/* Records of up to HASH_SHORT bytes are loaded by two masked words, so that no branch depends on
 * their length. */
enum { HASH_SHORT = 16 };

/* Bytes up to limit can be read. */
static inline uint64_t hash_bytes(const char *at, size_t n, const char *limit)
{
    const uint64_t first = UINT64_C(0x9e3779b97f4a7c15), second = UINT64_C(0xd6e8feb86659fd93);
    const uint64_t third = UINT64_C(0xff51afd7ed558ccd);
    uint64_t a = n * first, b = third;
    if (n <= HASH_SHORT && limit - at >= HASH_SHORT)
        return hash_fold(hash_load_masked(at, n) ^ a ^ second,
                         hash_load_masked(at + 8, n < 8 ? 0 : n - 8) ^ third);
    if (n < 8) return hash_fold(hash_load_some(at, n) ^ a ^ second, third);
    const char *end = at + n;
    if (n <= HASH_SHORT)
        return hash_fold(hash_load(at) ^ a ^ second, hash_load_some(at + 8, n - 8) ^ third);
    for (; end - at > 2 * HASH_SHORT; at += 2 * HASH_SHORT) {
        a = hash_fold(hash_load(at) ^ a, hash_load(at + 8) ^ second);
        b = hash_fold(hash_load(at + 16) ^ b, hash_load(at + 24) ^ first);
    }
    if (end - at > HASH_SHORT) {
        a = hash_fold(hash_load(at) ^ a, hash_load(at + 8) ^ second);
        at += HASH_SHORT;
    }
    /* The last 16 bytes may have been read before. */
    b = hash_fold(hash_load(end - 16) ^ b, hash_load(end - 8) ^ third);
    return hash_fold(a ^ second, b ^ first);
}

#endif
