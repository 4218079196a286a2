/*
 * cpu/places.h - the places of the set bits of a byte, for packing eight elements by a permutation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_PLACES_H
#define ECHI_CPU_PLACES_H

#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

/* Entry m has a byte for each bit of m: the places of the set bits, then those of the others. */
extern const uint64_t echi_cpu_places[256];

#ifdef __AVX2__

static inline __m256i places_32(uint64_t bits)
{
    const void *at = &echi_cpu_places[(uint8_t)bits];
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)at));
}

/* The places of four elements of 64 bits, as places of halves. */
static inline __m256i places_64_in_halves(uint64_t bits)
{
    const __m128i place = _mm_cvtsi64_si128((long long)echi_cpu_places[bits & 15]);
    const __m256i first = _mm256_slli_epi64(_mm256_cvtepu8_epi64(place), 1);
    const __m256i second = _mm256_slli_epi64(first, 32);
    return _mm256_or_si256(_mm256_or_si256(first, second), _mm256_set1_epi64x((long long)1 << 32));
}

#ifdef __AVX512F__
static inline __m512i places_64(uint64_t bits)
{
    const void *at = &echi_cpu_places[(uint8_t)bits];
    return _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)at));
}
#endif
#endif

#endif
