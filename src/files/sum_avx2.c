/*
 * files/sum_avx2.c - the sum of the hashes of records of 4 bytes, for processors with AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if defined(__x86_64__)
#include "files/sum.h"
#include "files/sum_4.h"

#include <immintrin.h>
#include <string.h>

/* Four numbers in the low halves; the high halves are ignored. */
static inline __m256i hashes(__m256i x)
{
    const __m256i first = _mm256_mul_epu32(x, _mm256_set1_epi64x(SUM_4_FIRST));
    const __m256i mixed = _mm256_xor_si256(first, _mm256_srli_epi64(first, 32));
    const __m256i second = _mm256_mul_epu32(mixed, _mm256_set1_epi64x(SUM_4_SECOND));
    const __m256i third = _mm256_mul_epu32(second, _mm256_srli_epi64(second, 32));
    return _mm256_add_epi64(third, first);
}

uint64_t files_sum_4_avx2(const unsigned char *at, size_t n)
{
    enum { STEP = 8 };
    const __m256i key = _mm256_set1_epi32((int)SUM_4_KEY);
    __m256i even = _mm256_setzero_si256(), odd = even;
    size_t i = 0;
    for (; n - i >= STEP; i += STEP) {
        const __m256i x =
            _mm256_xor_si256(key, _mm256_loadu_si256((const __m256i *)(const void *)(at + 4 * i)));
        even = _mm256_add_epi64(even, hashes(x));
        odd = _mm256_add_epi64(odd, hashes(_mm256_srli_epi64(x, 32)));
    }
    uint64_t lanes[4], sum = 0;
    _mm256_storeu_si256((__m256i *)(void *)lanes, _mm256_add_epi64(even, odd));
    for (int lane = 0; lane < 4; lane++) sum += lanes[lane];
    for (; i < n; i++) {
        uint32_t x;
        memcpy(&x, at + 4 * i, sizeof x);
        sum += sum_hash_4(x);
    }
    return sum;
}
#endif
