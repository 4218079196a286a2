/*
 * files/sum_avx2.c - the sum of the hashes of records of 4 bytes, and their prefixes, by AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if defined(__x86_64__)
#include "files/internal.h"
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

/* files_rank_of() in lanes of 32 bits. */
static __m256i ranks(const struct files_rank *r, __m256i x)
{
    const __m256i negative =
        _mm256_and_si256(_mm256_srai_epi32(x, 31), _mm256_set1_epi32((int)r->float_mask));
    __m256i e = _mm256_xor_si256(x, _mm256_or_si256(_mm256_set1_epi32((int)r->sign), negative));
    e = _mm256_sub_epi32(e, _mm256_set1_epi32((int)r->shift));
    if (r->merged) {
        e = _mm256_sub_epi32(e, _mm256_cmpeq_epi32(e, _mm256_set1_epi32((int)r->zero)));
        e = _mm256_min_epu32(e, _mm256_set1_epi32((int)r->last));
    }
    e = _mm256_xor_si256(e, _mm256_set1_epi32((int)r->flip));
    e = _mm256_srl_epi32(e, _mm_cvtsi32_si128(r->begin_bit));
    return _mm256_and_si256(e, _mm256_set1_epi32((int)r->mask));
}

void files_prefixes_4_avx2(const struct files_rank *rank, const unsigned char *at, size_t n,
                           uint64_t *prefixes)
{
    enum { STEP = 8 };
    size_t i = 0;
    for (; n - i >= STEP; i += STEP) {
        const __m256i e =
            ranks(rank, _mm256_loadu_si256((const __m256i *)(const void *)(at + 4 * i)));
        const __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(e));
        const __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(e, 1));
        _mm256_storeu_si256((__m256i *)(void *)(prefixes + i), low);
        _mm256_storeu_si256((__m256i *)(void *)(prefixes + i + 4), high);
    }
    for (; i < n; i++) {
        uint32_t x;
        memcpy(&x, at + 4 * i, sizeof x);
        prefixes[i] = files_rank_of(rank, x);
    }
}
#endif
