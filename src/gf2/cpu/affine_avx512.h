/*
 * gf2/cpu/affine_avx512.h - template: bytes times blocks of 8 x 8 bits with AVX-512 and GFNI.
 *
 * An operand is the matrix operand of gf2p8affineqb: byte 7 - i has the bits of the block's column
 * i.  A block with one row per byte is converted by reversing its bytes and applying one such
 * instruction to constants, which transposes it.
 *
 * The product keeps 256 rows of four byte columns in 16 registers.  Per block it needs two affine
 * instructions, with the blocks of two bytes of a, and one three-operand exclusive or.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

enum { OPERAND_BYTES = 8 };

static inline __m512i NAME(operands)(__m512i blocks)
{
    const __m512i reverse = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
    const __m512i diagonal = _mm512_set1_epi64(0x0102040810204080);
    return _mm512_gf2p8affine_epi64_epi8(diagonal, _mm512_shuffle_epi8(blocks, reverse), 0);
}

static void NAME(prepare)(const uint64_t *blocks, size_t n, void *operands)
{
    uint64_t *out = operands;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm512_storeu_si512(out + i, NAME(operands)(_mm512_loadu_si512(blocks + i)));
    if (i == n) return;
    const __mmask8 some = (__mmask8)((1u << (n - i)) - 1);
    _mm512_mask_storeu_epi64(out + i, some,
                             NAME(operands)(_mm512_maskz_loadu_epi64(some, blocks + i)));
}

/* Clang 14 scales the displacement of this instruction's broadcast memory operand wrongly, so the
 * operand has to be in a register there. */
INLINED __m512i NAME(operand)(const uint64_t *b)
{
    __m512i operand = _mm512_set1_epi64((long long)*b);
#ifdef __clang__
    __asm__("" : "+v"(operand));
#endif
    return operand;
}

/* `lines` lines of `count` byte columns; both are constants if this is inlined. */
INLINED void NAME(multiply_part)(const uint8_t *a, size_t k, const uint64_t *b, size_t step,
                                 uint8_t *const *out, const int count, const int lines)
{
    __m512i sum[4][4];
    for (int j = 0; j < count; j++)
        for (int r = 0; r < lines; r++) sum[j][r] = _mm512_loadu_si512(out[j] + r * 64);
    size_t i = 0;
    for (; i + 2 <= k; i += 2, a += 2 * ECHI_GF2_TILE) {
        __m512i first[4], second[4];
        for (int r = 0; r < lines; r++) {
            first[r] = _mm512_loadu_si512(a + r * 64);
            second[r] = _mm512_loadu_si512(a + ECHI_GF2_TILE + r * 64);
        }
        for (int j = 0; j < count; j++) {
            const __m512i b0 = NAME(operand)(&b[(size_t)j * step + i]);
            const __m512i b1 = NAME(operand)(&b[(size_t)j * step + i + 1]);
            for (int r = 0; r < lines; r++)
                sum[j][r] = _mm512_ternarylogic_epi64(
                    sum[j][r], _mm512_gf2p8affine_epi64_epi8(first[r], b0, 0),
                    _mm512_gf2p8affine_epi64_epi8(second[r], b1, 0), 0x96);
        }
    }
    if (i < k)
        for (int j = 0; j < count; j++) {
            const __m512i b0 = NAME(operand)(&b[(size_t)j * step + i]);
            for (int r = 0; r < lines; r++)
                sum[j][r] = _mm512_xor_si512(sum[j][r], _mm512_gf2p8affine_epi64_epi8(
                                                            _mm512_loadu_si512(a + r * 64), b0, 0));
        }
    for (int j = 0; j < count; j++)
        for (int r = 0; r < lines; r++) _mm512_storeu_si512(out[j] + r * 64, sum[j][r]);
}

INLINED void NAME(multiply_lines)(const uint8_t *a, size_t k, const uint64_t *b, size_t step,
                                  uint8_t *const *out, int count, const int lines)
{
    if (count == 4)
        NAME(multiply_part)(a, k, b, step, out, 4, lines);
    else
        for (int j = 0; j < count; j++)
            NAME(multiply_part)(a, k, b + (size_t)j * step, step, out + j, 1, lines);
}

static void NAME(multiply)(const uint8_t *a, size_t k, const void *operands, size_t step,
                           uint8_t *out, const uint32_t *list, size_t n, int lines)
{
    const uint64_t *b = operands;
    for (size_t j = 0; j < n; j += 4, b += 4 * step) {
        const int count = n - j < 4 ? (int)(n - j) : 4;
        uint8_t *at[4];
        for (int i = 0; i < count; i++)
            at[i] = out + (list ? list[j + (size_t)i] : j + (size_t)i) * ECHI_GF2_TILE;
        switch (lines) {
        case 1:
            NAME(multiply_lines)(a, k, b, step, at, count, 1);
            break;
        case 2:
            NAME(multiply_lines)(a, k, b, step, at, count, 2);
            break;
        case 3:
            NAME(multiply_lines)(a, k, b, step, at, count, 3);
            break;
        default:
            NAME(multiply_lines)(a, k, b, step, at, count, 4);
        }
    }
}

/* Like NAME(turn) in kernels.h, for four adjacent blocks of 16 x 16 bytes. */
INLINED void NAME(turn_wide)(__m512i *rows)
{
    for (int step = 0; step < 4; step++) {
        __m512i next[16];
        for (int i = 0; i < 8; i++) {
            next[2 * i] = _mm512_unpacklo_epi8(rows[i], rows[i + 8]);
            next[2 * i + 1] = _mm512_unpackhi_epi8(rows[i], rows[i + 8]);
        }
        for (int i = 0; i < 16; i++) rows[i] = next[i];
    }
}

/* Converts 16 rows of 64 bytes to 64 byte columns: each row's line is read once. */
static void NAME(to_wide)(const uint8_t *in, size_t stride_bytes, uint8_t *out)
{
    __m512i rows[16];
    for (int r = 0; r < 16; r++) rows[r] = _mm512_loadu_si512(in + (size_t)r * stride_bytes);
    NAME(turn_wide)(rows);
    for (int c = 0; c < 16; c++, out += ECHI_GF2_TILE) {
        __m128i *at = (__m128i *)(void *)out;
        const size_t next = ECHI_GF2_TILE; /* in vectors: 16 columns further */
        _mm_storeu_si128(at, _mm512_castsi512_si128(rows[c]));
        _mm_storeu_si128(at + next, _mm512_extracti32x4_epi32(rows[c], 1));
        _mm_storeu_si128(at + 2 * next, _mm512_extracti32x4_epi32(rows[c], 2));
        _mm_storeu_si128(at + 3 * next, _mm512_extracti32x4_epi32(rows[c], 3));
    }
}

/* The inverse: `count` rows of 64 bytes are written or added. */
static void NAME(from_wide)(const uint8_t *in, size_t count, uint8_t *out, size_t stride_bytes,
                            bool add)
{
    __m512i rows[16];
    for (int c = 0; c < 16; c++, in += ECHI_GF2_TILE) {
        const __m128i *at = (const __m128i *)(const void *)in;
        const size_t next = ECHI_GF2_TILE;
        __m512i row = _mm512_castsi128_si512(_mm_loadu_si128(at));
        row = _mm512_inserti32x4(row, _mm_loadu_si128(at + next), 1);
        row = _mm512_inserti32x4(row, _mm_loadu_si128(at + 2 * next), 2);
        rows[c] = _mm512_inserti32x4(row, _mm_loadu_si128(at + 3 * next), 3);
    }
    NAME(turn_wide)(rows);
    for (size_t r = 0; r < 16 && r < count; r++, out += stride_bytes)
        _mm512_storeu_si512(out,
                            add ? _mm512_xor_si512(rows[r], _mm512_loadu_si512(out)) : rows[r]);
}

#define GF2_WIDE

/* If byte 0 of the operand is the mask, bit 7 of the product is the parity of bytes & mask. */
static size_t NAME(find)(const uint8_t *bytes, size_t from, size_t to, uint8_t mask)
{
    const __m512i operand = _mm512_set1_epi64(mask);
    uint64_t allowed = ~(uint64_t)0 << from % 64;
    for (size_t i = from & ~(size_t)63; i < to; i += 64, allowed = ~(uint64_t)0) {
        const __m512i odd =
            _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(bytes + i), operand, 0);
        const uint64_t found = _mm512_movepi8_mask(odd) & allowed;
        if (!found) continue;
        const size_t at = i + (size_t)__builtin_ctzll(found);
        return at < to ? at : to;
    }
    return to;
}

/* A byte times an operand with a single one moves one of its bits. */
static void NAME(gather)(const uint8_t *const *from, const uint8_t *bit, int n, uint8_t *out,
                         int lines)
{
    __m512i operand[8];
    for (int t = 0; t < n; t++)
        operand[t] = _mm512_set1_epi64((long long)((uint64_t)1 << (8 * (7 - t) + bit[t])));
    for (int line = 0; line < lines; line++) {
        __m512i sum = _mm512_setzero_si512();
        for (int t = 0; t < n; t++)
            sum = _mm512_xor_si512(
                sum, _mm512_gf2p8affine_epi64_epi8(
                         _mm512_loadu_si512(from[t] + line * ECHI_GF2_LINE), operand[t], 0));
        _mm512_storeu_si512(out + line * ECHI_GF2_LINE, sum);
    }
}

static void NAME(permute)(const struct echi_gf2_moves *moves, uint8_t *const *lines)
{
    __m512i made[ECHI_GF2_MOVE_LINES];
    for (int i = 0; i < moves->lines; i++) {
        __m512i line = _mm512_loadu_si512(lines[i]);
        for (int j = 0; j < moves->count[i]; j++) {
            const struct echi_gf2_move *move = &moves->move[moves->which[i][j]];
            line = _mm512_mask_permutexvar_epi8(line, move->mask, _mm512_loadu_si512(move->index),
                                                _mm512_loadu_si512(lines[moves->from_line[i][j]]));
        }
        made[i] = line;
    }
    for (int i = 0; i < moves->lines; i++) _mm512_storeu_si512(lines[i], made[i]);
}

#define OPERAND_PERMUTE NAME(permute)
