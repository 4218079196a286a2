/*
 * sort/cuda/lengths.cuh - digits by length, for keys of which many are near the low end of a range:
 * the number of bits of the distance from this end, and the `kept` bits below its first one.
 *
 *     distance   0 1 2 3   4 5 6 7   8   10  12  14   16   20   24   28   32     kept = 2
 *     digit      0 1 2 3   4 5 6 7   8   9   10  11   12   13   14   15
 *
 * A map has such digits for each value of the bits above a cut: for keys that consist of two
 * numbers.
 *
 *     keys       |upper 0                     |upper 1                     |
 *     digits     |.|.| . | . |   .   |   .    |.|.| . | . |   .   |   .    |
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_LENGTHS_CUH
#define ECHI_SORT_CUDA_LENGTHS_CUH

#include "sort/cuda/common.cuh"

static __device__ inline uint32_t length_digit(ukey distance, uint32_t kept)
{
    const uint32_t bits = KEY_BITS == 64 ? bits_of(distance) : 32 - (uint32_t)__clz((int)distance);
    const uint32_t shift = bits > kept ? bits - kept - 1 : 0;
    return (shift << kept) + (uint32_t)(distance >> shift);
}

/* The number of digits of distances of `bits` bits, which is at least `kept`. */
static __device__ inline uint32_t length_digits(uint32_t bits, uint32_t kept)
{
    return (bits - kept + 1) << kept;
}

struct length_map {
    uint32_t cut;        /* the lower part has this many bits */
    uint32_t kept, each; /* digits of each value of the upper part */
    uint32_t skip;       /* shorter lengths have the first digit */
};

/* At most `most` digits for each value of the upper part. */
static __device__ inline struct length_map length_map_of(uint32_t cut, uint32_t most)
{
    enum { MOST_KEPT = 8 };
    struct length_map m = { cut, 0, 0, 0 };
    while (m.kept < MOST_KEPT && m.kept < cut && length_digits(cut, m.kept + 1) <= most) m.kept++;
    const uint32_t all = length_digits(cut, m.kept);
    m.each = min(all, most);
    m.skip = all - m.each;
    return m;
}

static __device__ inline uint32_t length_map_digit(const struct length_map &m, ukey distance)
{
    const uint32_t upper = m.cut < KEY_BITS ? (uint32_t)(distance >> m.cut) : 0;
    const uint32_t digit = length_digit(distance & (ukey)bits_mask(m.cut), m.kept);
    return upper * m.each + max(digit, m.skip) - m.skip;
}

/* The first distance of a digit; modulo 2^KEY_BITS. */
static __device__ inline ukey length_first(uint32_t digit, uint32_t kept)
{
    const uint32_t shift = digit >> kept > 1 ? (digit >> kept) - 1 : 0;
    return (ukey)(digit - (shift << kept)) << shift;
}

/* The same for a map. */
static __device__ inline ukey length_map_first(const struct length_map &m, uint32_t digit)
{
    const uint32_t upper = digit / m.each, rest = digit - upper * m.each;
    return (m.cut < KEY_BITS ? (ukey)upper << m.cut : (ukey)0) +
           (rest ? length_first(rest + m.skip, m.kept) : (ukey)0);
}

#endif
