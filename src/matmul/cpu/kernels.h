/*
 * matmul/cpu/kernels.h - template: the kernels of common.h for one instruction set; the including
 * file defines ISA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/half.h"
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

/* ---- f32 ---- */

#define REAL         float
#define T(name)      f32_##name
#define FMA(x, y, z) __builtin_fmaf(x, y, z)
#define QUIET_NAN    (echi_f32_of_bits(0x7fc00000))
#if defined(__AVX512F__)
typedef __m512 f32_vector;
#define LANES         16
#define TILE_ROWS     14
#define ZERO()        _mm512_setzero_ps()
#define LOAD(p)       _mm512_loadu_ps(p)
#define STORE(p, v)   _mm512_storeu_ps(p, v)
#define ALL(x)        _mm512_set1_ps(x)
#define VFMA(x, y, z) _mm512_fmadd_ps(x, y, z)
#elif defined(__AVX2__)
typedef __m256 f32_vector;
#define LANES         8
#define TILE_ROWS     6
#define ZERO()        _mm256_setzero_ps()
#define LOAD(p)       _mm256_loadu_ps(p)
#define STORE(p, v)   _mm256_storeu_ps(p, v)
#define ALL(x)        _mm256_set1_ps(x)
#define VFMA(x, y, z) _mm256_fmadd_ps(x, y, z)
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
#define ZERO()        _mm512_setzero_pd()
#define LOAD(p)       _mm512_loadu_pd(p)
#define STORE(p, v)   _mm512_storeu_pd(p, v)
#define ALL(x)        _mm512_set1_pd(x)
#define VFMA(x, y, z) _mm512_fmadd_pd(x, y, z)
#elif defined(__AVX2__)
typedef __m256d f64_vector;
#define LANES         4
#define TILE_ROWS     6
#define ZERO()        _mm256_setzero_pd()
#define LOAD(p)       _mm256_loadu_pd(p)
#define STORE(p, v)   _mm256_storeu_pd(p, v)
#define ALL(x)        _mm256_set1_pd(x)
#define VFMA(x, y, z) _mm256_fmadd_pd(x, y, z)
#else
#include "matmul/cpu/lanes.h"
#endif
#include "matmul/cpu/real.h"

const struct echi_matmul_isa ISA = { .name = ISA_NAME, .f32 = &f32_kernels, .f64 = &f64_kernels };
