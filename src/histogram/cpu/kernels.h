/*
 * histogram/cpu/kernels.h - template: the histogram's kernels of all widths in the instruction set
 * that the including file is compiled for.
 *
 *   ISA    the name of the struct that contains them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "histogram/cpu/common.h"

#ifdef __AVX512F__
#include "histogram/cpu/slots_avx512.h"
#endif

#ifdef __AVX512F__
enum { WORDS = 8 };
#elif defined __AVX2__
enum { WORDS = 4 };
#else
enum { WORDS = 2 };
#endif

#define INLINE static inline
#define SLOT   uint32_t

#define KEY_BITS 8
#define KEY      uint8_t
#define NAME(x)  x##_u8
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME

#define KEY_BITS 16
#define KEY      uint16_t
#define NAME(x)  x##_u16
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME

#define KEY_BITS 32
#define KEY      uint32_t
#define NAME(x)  x##_u32
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME

#define KEY_BITS 64
#define KEY      uint64_t
#define NAME(x)  x##_u64
#include "histogram/cpu/slots.h"
#undef KEY_BITS
#undef KEY
#undef NAME
#undef SLOT

/* ---- Short calls ---- */

#ifdef __AVX512F__
/* The counters of n elements, at most 64; a bit for each that is in a bin. */
INLINE uint64_t few_slots_f64(const double *x, size_t n, double from, double to, double factor,
                              uint32_t last, uint32_t *slots)
{
    uint64_t inside = 0;
    for (size_t i = 0; i < n; i += 8) {
        const __mmask8 there = (__mmask8)_bzhi_u64(~(uint64_t)0, (unsigned)(n - i));
        const __m512d v = _mm512_maskz_loadu_pd(there, x + i), lower = _mm512_set1_pd(from);
        __mmask8 in = _mm512_mask_cmp_pd_mask(there, v, lower, _CMP_GE_OQ);
        in = _mm512_mask_cmp_pd_mask(in, v, _mm512_set1_pd(to), _CMP_LT_OQ);
        const __m512d t = (v - lower) * _mm512_set1_pd(factor);
        const __m256i slot =
            _mm256_min_epu32(_mm512_maskz_cvttpd_epi32(in, t), _mm256_set1_epi32((int)last));
        _mm256_storeu_si256((__m256i *)(void *)(slots + i), slot);
        inside |= (uint64_t)in << i;
    }
    return inside;
}

INLINE uint64_t few_slots_f32(const float *x, size_t n, float from, float to, float factor,
                              uint32_t last, uint32_t *slots)
{
    uint64_t inside = 0;
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 there = (__mmask16)_bzhi_u64(~(uint64_t)0, (unsigned)(n - i));
        const __m512 v = _mm512_maskz_loadu_ps(there, x + i), lower = _mm512_set1_ps(from);
        __mmask16 in = _mm512_mask_cmp_ps_mask(there, v, lower, _CMP_GE_OQ);
        in = _mm512_mask_cmp_ps_mask(in, v, _mm512_set1_ps(to), _CMP_LT_OQ);
        const __m512 t = (v - lower) * _mm512_set1_ps(factor);
        const __m512i slot =
            _mm512_min_epu32(_mm512_maskz_cvttps_epi32(in, t), _mm512_set1_epi32((int)last));
        _mm512_storeu_si512(slots + i, slot);
        inside |= (uint64_t)in << i;
    }
    return inside;
}
#endif

/* A call of memset() takes longer than few counters. */
INLINE void clear_counts(uint64_t *counts, size_t n)
{
    typedef uint64_t words __attribute__((vector_size(WORDS * 8)));
    const words zero = { 0 };
    size_t i = 0;
    for (; i + WORDS <= n; i += WORDS) memcpy(counts + i, &zero, sizeof zero);
    if (n >= WORDS)
        memcpy(counts + n - WORDS, &zero, sizeof zero);
    else
        for (; i < n; i++) counts[i] = 0;
}

#define ELEM     float
#define NAME(x)  x##_f32
#define IS_FLOAT 1
#include "histogram/cpu/calls.h"

#define ELEM     double
#define NAME(x)  x##_f64
#define IS_FLOAT 1
#include "histogram/cpu/calls.h"

#define ELEM     int8_t
#define NAME(x)  x##_i8
#define IS_FLOAT 0
#include "histogram/cpu/calls.h"

#define ELEM     int16_t
#define NAME(x)  x##_i16
#define IS_FLOAT 0
#include "histogram/cpu/calls.h"

#define ELEM     int32_t
#define NAME(x)  x##_i32
#define IS_FLOAT 0
#include "histogram/cpu/calls.h"

#define ELEM     int64_t
#define NAME(x)  x##_i64
#define IS_FLOAT 0
#include "histogram/cpu/calls.h"

#define ELEM     uint8_t
#define NAME(x)  x##_u8
#define IS_FLOAT 0
#include "histogram/cpu/calls.h"

#define ELEM     uint16_t
#define NAME(x)  x##_u16
#define IS_FLOAT 0
#include "histogram/cpu/calls.h"

#define ELEM     uint32_t
#define NAME(x)  x##_u32
#define IS_FLOAT 0
#include "histogram/cpu/calls.h"

#define ELEM     uint64_t
#define NAME(x)  x##_u64
#define IS_FLOAT 0
#include "histogram/cpu/calls.h"

/* clang-format off */
const struct echi_histogram_isa ISA = {
    .slots = { slots_u8, slots_u16, slots_u32, slots_u64 },
    .calls = {
        .histogram = { [ECH_F32] = histogram_f32, [ECH_F64] = histogram_f64 },
        .bincount = { [ECH_I8] = bincount_i8, [ECH_I16] = bincount_i16, [ECH_I32] = bincount_i32,
                      [ECH_I64] = bincount_i64, [ECH_U8] = bincount_u8, [ECH_U16] = bincount_u16,
                      [ECH_U32] = bincount_u32, [ECH_U64] = bincount_u64 },
    },
};
/* clang-format on */
