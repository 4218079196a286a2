/*
 * reduce/cpu/floats_avx512.h - the minimum or maximum of floats by the instructions for floats:
 * two operations per vector, where an encoding of the order takes five.
 *
 * They do not order NaN, and zeros of both signs are equal.  So NaN end the attempt, and if the
 * result is a zero, its sign is searched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CPU_FLOATS_AVX512_H
#define ECHI_REDUCE_CPU_FLOATS_AVX512_H

#include "cpu/vector.h"

#include <immintrin.h>

/* The minimum, or the maximum.  Returns false if a number is NaN, or if the processor's state makes
 * small numbers equal to zero.  There is at least a vector of numbers; the last one may overlap. */
#define EXTREME(FROM, float_type, vector, mask, suffix, integers)                                  \
    INLINE bool extreme_##FROM(const FROM##_element *x, size_t n, bool minimum,                    \
                               FROM##_element *bits)                                               \
    {                                                                                              \
        enum { W = VECTOR_BYTES / sizeof *x, DENORMALS_ARE_ZEROS = 0x40 };                         \
        const FROM##_element zero = minimum ? (FROM##_element)1 << (8 * sizeof *x - 1) : 0;        \
        vector most[4];                                                                            \
        mask nan = 0, found = 0;                                                                   \
        size_t i = 0;                                                                              \
        if (_mm_getcsr() & DENORMALS_ARE_ZEROS) return false;                                      \
        UNROLLED(j, 4) most[j] = _mm512_loadu_##suffix(x);                                         \
        for (; i + 4 * W <= n; i += 4 * W) UNROLLED(j, 2)                                          \
            {                                                                                      \
                const vector a = _mm512_loadu_##suffix(x + i + 2 * j * W);                         \
                const vector b = _mm512_loadu_##suffix(x + i + 2 * j * W + W);                     \
                nan |= _mm512_cmp_##suffix##_mask(a, b, _CMP_UNORD_Q);                             \
                most[2 * j] = minimum ? _mm512_min_##suffix(most[2 * j], a)                        \
                                      : _mm512_max_##suffix(most[2 * j], a);                       \
                most[2 * j + 1] = minimum ? _mm512_min_##suffix(most[2 * j + 1], b)                \
                                          : _mm512_max_##suffix(most[2 * j + 1], b);               \
            }                                                                                      \
        for (; i < n; i += W) {                                                                    \
            const vector a = _mm512_loadu_##suffix(x + (i + W <= n ? i : n - W));                  \
            nan |= _mm512_cmp_##suffix##_mask(a, a, _CMP_UNORD_Q);                                 \
            most[0] = minimum ? _mm512_min_##suffix(most[0], a) : _mm512_max_##suffix(most[0], a); \
        }                                                                                          \
        if (nan) return false;                                                                     \
        for (int j = 1; j < 4; j++)                                                                \
            most[0] = minimum ? _mm512_min_##suffix(most[0], most[j])                              \
                              : _mm512_max_##suffix(most[0], most[j]);                             \
        const float_type value =                                                                   \
            minimum ? _mm512_reduce_min_##suffix(most[0]) : _mm512_reduce_max_##suffix(most[0]);   \
        memcpy(bits, &value, sizeof value);                                                        \
        if (value < 0 || value > 0) return true;                                                   \
        for (i = 0; i < n && !found; i += W)                                                       \
            found = _mm512_cmpeq_##integers##_mask(                                                \
                _mm512_loadu_si512(x + (i + W <= n ? i : n - W)), JOINED(all_, FROM)(zero));       \
        *bits = found ? zero : zero ^ (FROM##_element)1 << (8 * sizeof *x - 1);                    \
        return true;                                                                               \
    }

EXTREME(u32, float, __m512, __mmask16, ps, epi32)
EXTREME(u64, double, __m512d, __mmask8, pd, epi64)
#undef EXTREME

/* There are no such instructions. */
INLINE bool extreme_u8(const uint8_t *x, size_t n, bool minimum, uint8_t *bits)
{
    (void)x, (void)n, (void)minimum, (void)bits;
    return false;
}

INLINE bool extreme_u16(const uint16_t *x, size_t n, bool minimum, uint16_t *bits)
{
    (void)x, (void)n, (void)minimum, (void)bits;
    return false;
}

#endif
