/*
 * reduce/cpu/moments_avx512.h - the sums of distances and of their squares of at most a line of f32
 * or f64, for variances of few elements.
 *
 * The elements are first divided into vectors of elements with equal positions modulo the number of
 * vectors, so that adjacent elements are added without further permutations:
 *
 *     0 1 2 3 | 4 5 6 7 | 8 9 a b | c d e f  ->  0 4 8 c | 1 5 9 d | 2 6 a e | 3 7 b f
 *     sum = ((0 4 8 c + 1 5 9 d) + (2 6 a e + 3 7 b f)), then of adjacent lanes
 *
 * These are the sums of lanes.h, in the same order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CPU_MOMENTS_AVX512_H
#define ECHI_REDUCE_CPU_MOMENTS_AVX512_H

#include "cpu/vector.h"

/* The sums of the lanes of a and of b, each in the order of folded_f64(). */
INLINE void fold_both(f64_vector a, f64_vector b, double *sum_a, double *sum_b)
{
    const __m512d pairs = (__m512d)pairs_f64(a, b, 0);
    const __m512d fours = pairs + _mm512_permute_pd(pairs, 0x55);
    const __m512d eights = fours + _mm512_shuffle_f64x2(fours, fours, 0xb1);
    *sum_a = eights[0];
    *sum_b = _mm256_cvtsd_f64(_mm512_extractf64x4_pd(eights, 1));
}

/* The tree of the sums of distances of f64 from k, and of their squares, over `count` vectors in
 * the order of positions. */
INLINE void add_tree(const f64_vector *v, f64_vector k, const int count, f64_vector *first,
                     f64_vector *second)
{
    f64_vector s1[8], s2[8];
    UNROLLED(i, count)
    {
        s1[i] = v[i] - k;
        s2[i] = s1[i] * s1[i];
    }
    _Pragma("GCC unroll 3") for (int half = count / 2; half; half /= 2) UNROLLED(i, half)
    {
        s1[i] = s1[2 * i] + s1[2 * i + 1];
        s2[i] = s2[2 * i] + s2[2 * i + 1];
    }
    *first = s1[0];
    *second = s2[0];
}

/* Divides vectors of f32 by position.  Each step separates even from odd positions, so that vector
 * i has the positions whose bits are those of i in reverse order. */
INLINE void divide_f32(f32_vector *v, const int count)
{
    _Pragma("GCC unroll 3") for (int half = count / 2; half; half /= 2)
    {
        f32_vector to[8];
        UNROLLED(i, count)
        {
            const int part = i / (2 * half) * 2 * half, at = i % (2 * half);
            const f32_vector a = v[part + at % half * 2], b = v[part + at % half * 2 + 1];
            to[i] = at < half ? PICK(a, b, i32_vector, F32_EVEN) : PICK(a, b, i32_vector, F32_ODD);
        }
        UNROLLED(i, count) v[i] = to[i];
    }
}

INLINE void divide_f64(f64_vector *v, const int count)
{
    _Pragma("GCC unroll 3") for (int half = count / 2; half; half /= 2)
    {
        f64_vector to[8];
        UNROLLED(i, count)
        {
            const int part = i / (2 * half) * 2 * half, at = i % (2 * half);
            const f64_vector a = v[part + at % half * 2], b = v[part + at % half * 2 + 1];
            to[i] = at < half ? PICK(a, b, i64_vector, F64_EVEN) : PICK(a, b, i64_vector, F64_ODD);
        }
        UNROLLED(i, count) v[i] = to[i];
    }
}

/* The position of vector i of divide_f32() and divide_f64(). */
INLINE int position_of(int i, const int count)
{
    return count == 8 ? (i & 1) << 2 | (i & 2) | i >> 2 : count == 4 ? (i & 1) << 1 | i >> 1 : i;
}

/* Elements past n are equal to k: their distances do not change the sums, except that -0 may become
 * +0. */
INLINE void short_sums_f32(const float *x, size_t n, double center, const int count, double *sum1,
                           double *sum2)
{
    const f64_vector k = center - (f64_vector){ 0 };
    f32_vector v[8];
    f64_vector low[8], high[8], s1[2], s2[2];
    UNROLLED(i, count)
    {
        const size_t at = (size_t)i * 16, left = n > at ? n - at : 0;
        v[i] = (f32_vector)_mm512_mask_loadu_ps(
            _mm512_set1_ps((float)center), (__mmask16)_bzhi_u32(0xffff, (unsigned)left), x + at);
    }
    divide_f32(v, count);
    UNROLLED(i, count)
    {
        const int to = position_of(i, count);
        low[to] = (f64_vector)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)v[i]));
        high[to] = (f64_vector)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)v[i], 1));
    }
    add_tree(low, k, count, &s1[0], &s2[0]);
    add_tree(high, k, count, &s1[1], &s2[1]);
    fold_both(pairs_f64(s1[0], s1[1], 0), pairs_f64(s2[0], s2[1], 0), sum1, sum2);
}

INLINE void short_sums_f64(const double *x, size_t n, double center, const int count, double *sum1,
                           double *sum2)
{
    const f64_vector k = center - (f64_vector){ 0 };
    f64_vector v[8];
    f64_vector at_position[8], s1, s2;
    UNROLLED(i, count)
    {
        const size_t at = (size_t)i * 8, left = n > at ? n - at : 0;
        v[i] = (f64_vector)_mm512_mask_loadu_pd(_mm512_set1_pd(center),
                                                (__mmask8)_bzhi_u32(0xff, (unsigned)left), x + at);
    }
    divide_f64(v, count);
    UNROLLED(i, count) at_position[position_of(i, count)] = v[i];
    add_tree(at_position, k, count, &s1, &s2);
    fold_both(s1, s2, sum1, sum2);
}

/* The sums of n elements, at most a line. */
#define SHORT_SUMS(FROM, width)                                                                    \
    INLINE void line_sums_##FROM(const FROM##_element *x, size_t n, double k, double *s1,          \
                                 double *s2)                                                       \
    {                                                                                              \
        if (n <= (width))                                                                          \
            short_sums_##FROM(x, n, k, 1, s1, s2);                                                 \
        else if (n <= 2 * (width))                                                                 \
            short_sums_##FROM(x, n, k, 2, s1, s2);                                                 \
        else if (n <= 4 * (width))                                                                 \
            short_sums_##FROM(x, n, k, 4, s1, s2);                                                 \
        else                                                                                       \
            short_sums_##FROM(x, n, k, 8, s1, s2);                                                 \
    }
SHORT_SUMS(f32, 16)
SHORT_SUMS(f64, 8)
#undef SHORT_SUMS

#endif
