/*
 * files/hash.c - hashes of bytes, for the manifest and for the files that it describes.
 *
 * Four lanes of 64 bits, each a chain of multiplications that loses no bit, so that every change of
 * few bytes changes the hash.  The hash detects damage; it does not protect from an adversary.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/manifest.h"

#include <string.h>

enum { LANES = 4, STEP = LANES * sizeof(uint64_t) };

static const uint64_t factor = UINT64_C(0x9fb21c651e98df25);

static inline uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void step(uint64_t lane[LANES], const unsigned char *at)
{
    uint64_t word[LANES];
    memcpy(word, at, STEP);
    for (int i = 0; i < LANES; i++) lane[i] = rotate((lane[i] ^ word[i]) * factor, 29);
}

uint64_t files_hash(const void *bytes, size_t n, uint64_t seed)
{
    const unsigned char *at = bytes;
    unsigned char rest[STEP] = { 0 };
    uint64_t lane[LANES], hash = seed ^ n * factor;
    size_t left = n;
    for (int i = 0; i < LANES; i++) lane[i] = seed + (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
    for (; left >= STEP; at += STEP, left -= STEP) step(lane, at);
    if (left) memcpy(rest, at, left);
    step(lane, rest);
    for (int i = 0; i < LANES; i++) {
        hash = (hash ^ lane[i]) * factor;
        hash ^= hash >> 32;
    }
    return hash;
}
