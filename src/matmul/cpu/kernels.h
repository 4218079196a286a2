/*
 * matmul/cpu/kernels.h - template: the kernels of common.h for one instruction set; the including
 * file defines ISA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/half.h"
#include "cpu/cpu.h"
#include "matmul/cpu/common.h"

#include <math.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
#define ISA_NAME "avx512"
#elif defined(__AVX2__)
#define ISA_NAME "avx2"
#else
#define ISA_NAME "portable"
#endif

#if defined(__AVX2__)
/* ---- Sums of lanes: the upper half is added to the lower ---- */

INLINE float sum_4(__m128 v)
{
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

INLINE float sum_8(__m256 v)
{
    return sum_4(_mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
}

INLINE double sum_4d(__m256d v)
{
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}
#endif

/* ---- f32 ---- */

#define REAL         float
#define T(name)      f32_##name
#define FMA(x, y, z) __builtin_fmaf(x, y, z)
#define QUIET_NAN    (echi_f32_of_bits(0x7fc00000))
#if defined(__AVX512F__)
typedef __m512 f32_vector;
#define LANES         16
#define TILE_ROWS     14
#define ROW_REGISTERS 16
#define UNROLL_PARTS  _Pragma("GCC unroll 16")
#define ZERO()        _mm512_setzero_ps()
#define ADD(x, y)     _mm512_add_ps(x, y)
#define LOAD(p)       _mm512_loadu_ps(p)
#define STORE(p, v)   _mm512_storeu_ps(p, v)
#define ALL(x)        _mm512_set1_ps(x)
#define VFMA(x, y, z) _mm512_fmadd_ps(x, y, z)

INLINE __m512 f32_load_first(const float *p, size_t n, float x)
{
    const __mmask16 first = (__mmask16)_bzhi_u32(0xffff, n < 16 ? (uint32_t)n : 16);
    return _mm512_mask_loadu_ps(ALL(x), first, p);
}

INLINE float f32_add_lanes(__m512 v)
{
    return sum_8(_mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
}
#elif defined(__AVX2__)
typedef __m256 f32_vector;
#define LANES         8
#define TILE_ROWS     6
#define ROW_REGISTERS 12
#define UNROLL_PARTS  _Pragma("GCC unroll 16")
#define ZERO()        _mm256_setzero_ps()
#define ADD(x, y)     _mm256_add_ps(x, y)
#define LOAD(p)       _mm256_loadu_ps(p)
#define STORE(p, v)   _mm256_storeu_ps(p, v)
#define ALL(x)        _mm256_set1_ps(x)
#define VFMA(x, y, z) _mm256_fmadd_ps(x, y, z)

INLINE __m256 f32_load_first(const float *p, size_t n, float x)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i first = _mm256_cmpgt_epi32(_mm256_set1_epi32(n < 8 ? (int)n : 8), lane);
    return _mm256_blendv_ps(ALL(x), _mm256_maskload_ps(p, first), _mm256_castsi256_ps(first));
}

INLINE float f32_add_lanes(__m256 v)
{
    return sum_8(v);
}
#else
#include "matmul/cpu/lanes.h"
#endif
#include "matmul/cpu/real.h"

/* ---- f64 ---- */

#define REAL         double
#define T(name)      f64_##name
#define FMA(x, y, z) __builtin_fma(x, y, z)
#define QUIET_NAN    ((double)NAN)
#if defined(__AVX512F__)
typedef __m512d f64_vector;
#define LANES         8
#define TILE_ROWS     14
#define ROW_REGISTERS 16
#define UNROLL_PARTS  _Pragma("GCC unroll 16")
#define ZERO()        _mm512_setzero_pd()
#define ADD(x, y)     _mm512_add_pd(x, y)
#define LOAD(p)       _mm512_loadu_pd(p)
#define STORE(p, v)   _mm512_storeu_pd(p, v)
#define ALL(x)        _mm512_set1_pd(x)
#define VFMA(x, y, z) _mm512_fmadd_pd(x, y, z)

INLINE __m512d f64_load_first(const double *p, size_t n, double x)
{
    const __mmask8 first = (__mmask8)_bzhi_u32(0xff, n < 8 ? (uint32_t)n : 8);
    return _mm512_mask_loadu_pd(ALL(x), first, p);
}

INLINE double f64_add_lanes(__m512d v)
{
    return sum_4d(_mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1)));
}
#elif defined(__AVX2__)
typedef __m256d f64_vector;
#define LANES         4
#define TILE_ROWS     6
#define ROW_REGISTERS 12
#define UNROLL_PARTS  _Pragma("GCC unroll 16")
#define ZERO()        _mm256_setzero_pd()
#define ADD(x, y)     _mm256_add_pd(x, y)
#define LOAD(p)       _mm256_loadu_pd(p)
#define STORE(p, v)   _mm256_storeu_pd(p, v)
#define ALL(x)        _mm256_set1_pd(x)
#define VFMA(x, y, z) _mm256_fmadd_pd(x, y, z)

INLINE __m256d f64_load_first(const double *p, size_t n, double x)
{
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    const __m256i first = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n < 4 ? (int)n : 4), lane);
    return _mm256_blendv_pd(ALL(x), _mm256_maskload_pd(p, first), _mm256_castsi256_pd(first));
}

INLINE double f64_add_lanes(__m256d v)
{
    return sum_4d(v);
}
#else
#include "matmul/cpu/lanes.h"
#endif
#include "matmul/cpu/real.h"

const struct echi_matmul_isa ISA = { .name = ISA_NAME, .f32 = &f32_kernels, .f64 = &f64_kernels };
