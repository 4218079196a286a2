/*
 * topk/cpu/kernels.h - template: the kernels of a top-k selection for four key widths, in the
 * instruction set that the including file is compiled for, and the struct that names them.
 *
 *   ISA, ISA_NAME   the name of the struct, and of the instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk/cpu/common.h"
#include "cpu/bits.h"
#include "cpu/vector.h"

/* Element i of a sample is at a position in part i of `parts` parts of the array. */
INLINE size_t sample_at(size_t i, size_t step)
{
    const uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15u >> 32;
    return i * step + (size_t)(hash * (step < UINT32_MAX ? step : UINT32_MAX) >> 32);
}

/* ---- Which of 64 keys are at most v; width.h has the same for other instruction sets ---- */

#ifdef __AVX512BW__

INLINE uint64_t at_most_u8(const uint8_t *e, uint8_t v)
{
    return _mm512_cmple_epu8_mask(_mm512_loadu_si512(e), _mm512_set1_epi8((char)v));
}

INLINE uint64_t at_most_u16(const uint16_t *e, uint16_t v)
{
    const __m512i all = _mm512_set1_epi16((short)v);
    return _mm512_cmple_epu16_mask(_mm512_loadu_si512(e), all) |
           (uint64_t)_mm512_cmple_epu16_mask(_mm512_loadu_si512(e + 32), all) << 32;
}

INLINE uint64_t at_most_u32(const uint32_t *e, uint32_t v)
{
    const __m512i all = _mm512_set1_epi32((int)v);
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint64_t)_mm512_cmple_epu32_mask(_mm512_loadu_si512(e + 16 * i), all) << 16 * i;
    return bits;
}

INLINE uint64_t at_most_u64(const uint64_t *e, uint64_t v)
{
    const __m512i all = _mm512_set1_epi64((long long)v);
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)_mm512_cmple_epu64_mask(_mm512_loadu_si512(e + 8 * i), all) << 8 * i;
    return bits;
}

#endif

/* The first n bits, or all. */
INLINE uint64_t low_bits(size_t n)
{
    return n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
}

/* ---- Kernels ---- */

#define FROM u8
#include "topk/cpu/width.h"
#define FROM u16
#include "topk/cpu/width.h"
#define FROM u32
#include "topk/cpu/width.h"
#define FROM u64
#include "topk/cpu/width.h"

const struct echi_topk_isa ISA = {
    .name = ISA_NAME,
    .widths = { &width_u8, &width_u16, &width_u32, &width_u64 },
};
