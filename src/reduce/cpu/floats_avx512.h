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

/* The distance of the four vectors that are read at once.  Memory delivers four streams faster than
 * one, which is best for the caches. */
INLINE size_t stream_elements(size_t n, size_t width, size_t bytes)
{
    enum { NEAR_BYTES = 1 << 18 };
    return n * bytes <= NEAR_BYTES ? width : n / (4 * width) * width;
}

/* The minimum, or the maximum.  Returns false if a number is NaN, or if the processor's state makes
 * small numbers equal to zero.  There is at least a vector of numbers; the last one may overlap.
 * Because of the assembler statement the compiler loads each vector once, not once per use. */
#define EXTREME(FROM, float_type, vector, mask, suffix, integers)                                  \
    INLINE bool extreme_##FROM(const FROM##_element *x, size_t n, bool minimum,                    \
                               FROM##_element *bits)                                               \
    {                                                                                              \
        enum { W = VECTOR_BYTES / sizeof *x, DENORMALS_ARE_ZEROS = 0x40 };                         \
        const FROM##_element zero = minimum ? (FROM##_element)1 << (8 * sizeof *x - 1) : 0;        \
        vector most[4];                                                                            \
        mask nan, found = 0, ordered[2] = { (mask)-1, (mask)-1 };                                  \
        const size_t count = n / (4 * W), apart = stream_elements(n, W, sizeof *x);                \
        const size_t next = apart == W ? 4 * W : W;                                                \
        size_t i = 0;                                                                              \
        if (_mm_getcsr() & DENORMALS_ARE_ZEROS) return false;                                      \
        UNROLLED(j, 4) most[j] = _mm512_loadu_##suffix(x);                                         \
        for (size_t k = 0; k < count; k++, i += next) UNROLLED(j, 2)                               \
            {                                                                                      \
                vector a = _mm512_loadu_##suffix(x + i + 2 * (size_t)j * apart);                   \
                vector b = _mm512_loadu_##suffix(x + i + (2 * (size_t)j + 1) * apart);             \
                __asm__("" : "+v"(a), "+v"(b));                                                    \
                ordered[j] = _mm512_mask_cmp_##suffix##_mask(ordered[j], a, b, _CMP_ORD_Q);        \
                most[2 * j] = minimum ? _mm512_min_##suffix(most[2 * j], a)                        \
                                      : _mm512_max_##suffix(most[2 * j], a);                       \
                most[2 * j + 1] = minimum ? _mm512_min_##suffix(most[2 * j + 1], b)                \
                                          : _mm512_max_##suffix(most[2 * j + 1], b);               \
            }                                                                                      \
        i = 4 * W * count;                                                                         \
        nan = (mask) ~(ordered[0] & ordered[1]);                                                   \
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
