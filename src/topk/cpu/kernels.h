/*
 * topk/cpu/kernels.h - template: the kernels of a top-k selection for four key widths, in the
 * instruction set that the including file is compiled for, and the struct that names them.
 *
 *   ISA, ISA_NAME   the name of the struct, and of the instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk/cpu/common.h"
#include "core/call.h"
#include "cpu/bits.h"
#include "cpu/vector.h"

/* Element i of a sample is at a position in part i of `parts` parts of the array. */
INLINE size_t sample_at(size_t i, size_t step)
{
    const uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15u >> 32;
    return i * step + (size_t)(hash * (step < UINT32_MAX ? step : UINT32_MAX) >> 32);
}

enum { INSIDE = 512 /* keys of an interval that a bisection copies */ };

#ifdef __AVX512F__
#include <immintrin.h>

/* The number of keys of blocks of 64 that are at most v, counted in lanes. */
INLINE size_t count_lanes_32(const void *keys, size_t blocks, uint32_t v)
{
    const __m512i limit = _mm512_set1_epi32((int)v), one = _mm512_set1_epi32(1);
    __m512i count[4];
    UNROLLED(j, 4) count[j] = _mm512_setzero_si512();
    for (const char *at = keys; blocks; blocks--, at += 256) UNROLLED(j, 4)
        {
            const __mmask16 here = _mm512_cmple_epu32_mask(_mm512_loadu_si512(at + 64 * j), limit);
            count[j] = _mm512_mask_add_epi32(count[j], here, count[j], one);
        }
    count[0] = _mm512_add_epi32(_mm512_add_epi32(count[0], count[1]),
                                _mm512_add_epi32(count[2], count[3]));
    return (uint32_t)_mm512_reduce_add_epi32(count[0]);
}

INLINE size_t count_lanes_64(const void *keys, size_t blocks, uint64_t v)
{
    const __m512i limit = _mm512_set1_epi64((long long)v), one = _mm512_set1_epi64(1);
    __m512i count[4];
    UNROLLED(j, 4) count[j] = _mm512_setzero_si512();
    for (const char *at = keys; blocks; blocks--, at += 512) UNROLLED(j, 8)
        {
            const __mmask8 here = _mm512_cmple_epu64_mask(_mm512_loadu_si512(at + 64 * j), limit);
            count[j % 4] = _mm512_mask_add_epi64(count[j % 4], here, count[j % 4], one);
        }
    count[0] = _mm512_add_epi64(_mm512_add_epi64(count[0], count[1]),
                                _mm512_add_epi64(count[2], count[3]));
    return (size_t)_mm512_reduce_add_epi64(count[0]);
}
#endif

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
