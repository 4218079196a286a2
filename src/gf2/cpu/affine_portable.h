/*
 * gf2/cpu/affine_portable.h - template: bytes times blocks of 8 x 8 bits in C that compilers can
 * vectorise.
 *
 * An operand is the block itself: each of its rows is added to the bytes that have the row's bit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { OPERAND_BYTES = 8 };

static void NAME(prepare)(const uint64_t *blocks, size_t n, void *operands)
{
    memcpy(operands, blocks, n * sizeof *blocks);
}

static void NAME(multiply)(const uint8_t *a, size_t k, const void *operands, size_t step,
                           uint8_t *out, const uint32_t *list, size_t n, int lines)
{
    const uint8_t *b = operands;
    for (size_t j = 0; j < n; j++, b += step * OPERAND_BYTES)
        for (int line = 0; line < lines; line++) {
            uint8_t *at = out + (list ? list[j] : j) * ECHI_GF2_TILE + line * ECHI_GF2_LINE;
            uint8_t sum[ECHI_GF2_LINE];
            memcpy(sum, at, sizeof sum);
            for (size_t i = 0; i < k; i++) {
                const uint8_t *bytes = a + i * ECHI_GF2_TILE + line * ECHI_GF2_LINE;
                for (int t = 0; t < 8; t++) {
                    const uint8_t row = b[i * OPERAND_BYTES + (size_t)t], bit = (uint8_t)(1 << t);
                    for (int r = 0; r < ECHI_GF2_LINE; r++)
                        sum[r] ^= (uint8_t)(bytes[r] & bit ? row : 0);
                }
            }
            memcpy(at, sum, sizeof sum);
        }
}

#define OPERAND_PERMUTE NULL
#define GF2_BY_WORDS
