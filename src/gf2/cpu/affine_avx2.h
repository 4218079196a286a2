/*
 * gf2/cpu/affine_avx2.h - template: bytes times blocks of 8 x 8 bits with AVX2.
 *
 * An operand is two tables of 16 bytes: all linear combinations of the block's rows 0 to 3, and of
 * rows 4 to 7.  A byte of a selects one entry of each (vpshufb), for 32 rows at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

enum { OPERAND_BYTES = 32 };

static void NAME(prepare)(const uint64_t *blocks, size_t n, void *operands)
{
    uint8_t *out = operands;
    const __m256i number = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0,
                                            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m256i has[4], spread[4];
    for (int t = 0; t < 4; t++) {
        const __m256i bit = _mm256_set1_epi8((char)(1 << t));
        has[t] = _mm256_cmpeq_epi8(_mm256_and_si256(number, bit), bit);
        spread[t] = _mm256_setr_m128i(_mm_set1_epi8((char)t), _mm_set1_epi8((char)(t + 4)));
    }
    for (size_t i = 0; i < n; i++) {
        const __m256i rows = _mm256_set1_epi64x((long long)blocks[i]);
        __m256i table = _mm256_setzero_si256();
        for (int t = 0; t < 4; t++)
            table = _mm256_xor_si256(
                table, _mm256_and_si256(has[t], _mm256_shuffle_epi8(rows, spread[t])));
        _mm256_storeu_si256((__m256i *)(void *)(out + i * OPERAND_BYTES), table);
    }
}

static inline __m256i NAME(load)(const uint8_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline __m256i NAME(table)(const uint8_t *at)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)at));
}

/* 64 rows of `count` byte columns; count is a constant if this is inlined. */
INLINED void NAME(multiply_part)(const uint8_t *a, size_t k, const uint8_t *b, size_t step,
                                 uint8_t *const *out, const int count)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    __m256i sum[4][2];
    for (int j = 0; j < count; j++)
        for (int r = 0; r < 2; r++) sum[j][r] = NAME(load)(out[j] + r * 32);
    for (size_t i = 0; i < k; i++, a += ECHI_GF2_TILE, b += OPERAND_BYTES) {
        __m256i low[2], high[2];
        for (int r = 0; r < 2; r++) {
            const __m256i bytes = NAME(load)(a + r * 32);
            low[r] = _mm256_and_si256(bytes, nibble);
            high[r] = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
        }
        for (int j = 0; j < count; j++) {
            const uint8_t *operand = b + (size_t)j * step * OPERAND_BYTES;
            const __m256i lows = NAME(table)(operand), highs = NAME(table)(operand + 16);
            for (int r = 0; r < 2; r++)
                sum[j][r] =
                    _mm256_xor_si256(_mm256_xor_si256(sum[j][r], _mm256_shuffle_epi8(lows, low[r])),
                                     _mm256_shuffle_epi8(highs, high[r]));
        }
    }
    for (int j = 0; j < count; j++)
        for (int r = 0; r < 2; r++)
            _mm256_storeu_si256((__m256i *)(void *)(out[j] + r * 32), sum[j][r]);
}

static void NAME(multiply)(const uint8_t *a, size_t k, const void *operands, size_t step,
                           uint8_t *out, const uint32_t *list, size_t n, int lines)
{
    const uint8_t *b = operands;
    for (size_t j = 0; j < n; j += 4, b += 4 * step * OPERAND_BYTES) {
        const size_t count = n - j < 4 ? n - j : 4;
        uint8_t *at[4];
        for (size_t i = 0; i < count; i++)
            at[i] = out + (list ? list[j + i] : j + i) * ECHI_GF2_TILE;
        for (int line = 0; line < lines; line++) {
            const uint8_t *rows = a + line * ECHI_GF2_LINE;
            if (count == 4)
                NAME(multiply_part)(rows, k, b, step, at, 4);
            else
                for (size_t i = 0; i < count; i++)
                    NAME(multiply_part)(rows, k, b + i * step * OPERAND_BYTES, step, at + i, 1);
            for (size_t i = 0; i < count; i++) at[i] += ECHI_GF2_LINE;
        }
    }
}

#define OPERAND_PERMUTE NULL
#define GF2_BY_WORDS
