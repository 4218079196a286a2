/*
 * crc32.c - the CRC-32 of IEEE 802.3, for short records.
 *
 * The polynomial is 0x04c11db7, with reflected bits.  On x86 with PCLMULQDQ, each 16 bytes are
 * folded into the next 16 bytes: a message without its first block has the same CRC if the block,
 * multiplied by x^128 modulo the polynomial, is added to the second block.  The tables process what
 * remains.
 *
 *     | block 0 | block 1 | ... | block k | tail |
 *          `--fold--^  `--fold--> ...  ^
 *                                      `-- 8 bytes per step from here, with an initial CRC of 0
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "crc32.h"

#include <string.h>

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>
#define HAS_FOLD 1
#else
#define HAS_FOLD 0
#endif

void crc32_init(struct crc32 *crc)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t c = byte;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        crc->table[0][byte] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int byte = 0; byte < 256; byte++) {
            const uint32_t before = crc->table[k - 1][byte];
            crc->table[k][byte] = before >> 8 ^ crc->table[0][before & 255];
        }
    crc->folds = false;
#if HAS_FOLD
    crc->folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse2");
#endif
}

/* Continues with n bytes from the state c, which is the complement of a CRC. */
static inline uint32_t add_bytes(const struct crc32 *crc, uint32_t c, const unsigned char *at,
                                 size_t n)
{
    const uint32_t(*t)[256] = crc->table;
    for (; n >= 8; at += 8, n -= 8) {
        uint64_t x;
        memcpy(&x, at, sizeof x);
        x ^= c;
        c = t[7][x & 255] ^ t[6][x >> 8 & 255] ^ t[5][x >> 16 & 255] ^ t[4][x >> 24 & 255] ^
            t[3][x >> 32 & 255] ^ t[2][x >> 40 & 255] ^ t[1][x >> 48 & 255] ^ t[0][x >> 56];
    }
    if (n >= 4) {
        uint32_t x;
        memcpy(&x, at, sizeof x);
        x ^= c;
        c = t[3][x & 255] ^ t[2][x >> 8 & 255] ^ t[1][x >> 16 & 255] ^ t[0][x >> 24];
        at += 4;
        n -= 4;
    }
    while (n--) c = c >> 8 ^ t[0][(c ^ *at++) & 255];
    return c;
}

uint32_t crc32_portable(const struct crc32 *crc, const void *bytes, size_t n)
{
    return ~add_bytes(crc, ~(uint32_t)0, bytes, n);
}

#if HAS_FOLD
__attribute__((target("pclmul,sse2"))) static uint32_t fold(const struct crc32 *crc,
                                                            const unsigned char *at, size_t n)
{
    /* x^(128 + 32) and x^(128 - 32) modulo the polynomial, reflected, times x. */
    const __m128i powers = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    const __m128i start = _mm_cvtsi32_si128(-1);
    unsigned char left[16];
    __m128i x = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)at), start);
    for (at += 16, n -= 16; n >= 16; at += 16, n -= 16) {
        const __m128i low = _mm_clmulepi64_si128(x, powers, 0x00);
        const __m128i high = _mm_clmulepi64_si128(x, powers, 0x11);
        const __m128i next = _mm_loadu_si128((const __m128i *)(const void *)at);
        x = _mm_xor_si128(_mm_xor_si128(low, high), next);
    }
    _mm_storeu_si128((__m128i *)(void *)left, x);
    return ~add_bytes(crc, add_bytes(crc, 0, left, sizeof left), at, n);
}
#endif

uint32_t crc32_of(const struct crc32 *crc, const void *bytes, size_t n)
{
#if HAS_FOLD
    if (crc->folds && n >= 32) return fold(crc, bytes, n);
#endif
    return crc32_portable(crc, bytes, n);
}
