/*
 * gf2/random.h - 64 random bits of a matrix, each one with a given probability, computed from their
 * position only: shared by CPU and kernels.
 *
 * A probability is threshold / 2^32.  Its binary digits, from the lowest 1 up, are folded over
 * random words: OR for a 1, AND for a 0, so that after each step a bit is one with the probability
 * given by the digits so far.  One half needs one word.  The words are those of SplitMix64 (Steele,
 * Lea and Flood, 2014) at a counter made of position and digit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_RANDOM_H
#define ECHI_GF2_RANDOM_H

#include "core/both.h"

#include <stdint.h>

ECHI_BOTH uint64_t echi_gf2_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Bits 64 * word ... of a row; threshold is from 0 to 2^32. */
ECHI_BOTH uint64_t echi_gf2_random_word(uint64_t seed, uint64_t threshold, uint64_t row,
                                        uint64_t word)
{
    if (threshold == 0) return 0;
    if (threshold >> 32) return ~(uint64_t)0;
    const uint64_t step = 0x9e3779b97f4a7c15u;
    uint64_t at = echi_gf2_mix(echi_gf2_mix(seed + step) + row * step) + word * 32 * step;
    uint64_t bits = 0;
    int digit = 0;
    while (!(threshold >> digit & 1)) digit++;
    for (; digit < 32; digit++) {
        uint64_t random = echi_gf2_mix(at + (uint64_t)(digit + 1) * step);
        bits = threshold >> digit & 1 ? bits | random : bits & random;
    }
    return bits;
}

#endif
