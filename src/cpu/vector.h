/*
 * cpu/vector.h - vectors as wide as the registers of the instruction set that the including file is
 * compiled for, elements as vectors of f32 or f64, and sums of adjacent lanes.
 *
 * The vector types of GCC and Clang allow one source for all processors. Intrinsics are used where
 * compilers would generate several instructions for one conversion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_VECTOR_H
#define ECHI_CPU_VECTOR_H

#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* A loop over an array, unrolled so that the array is kept in registers. */
/* Before a loop with one sum or maximum: gcc computes several, with the option
 * -fvariable-expansion-in-unroller, so that an iteration does not wait for the previous one; clang
 * does so anyway. */
#ifdef __clang__
#define SEVERAL_SUMS
#else
#define SEVERAL_SUMS _Pragma("GCC unroll 4")
#endif
#define UNROLLED(i, n) _Pragma("GCC unroll 8") for (int i = 0; i < (n); i++)

/* The parameters of element types, from which templates form types and names. */
typedef int8_t i8_element;
typedef int16_t i16_element;
typedef int32_t i32_element;
typedef int64_t i64_element;
typedef uint8_t u8_element;
typedef uint16_t u16_element, f16_element, bf16_element;
typedef uint32_t u32_element;
typedef uint64_t u64_element;
typedef float f32_element;
typedef double f64_element;

#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)

/* EVEN and ODD: the even and the odd lanes of two vectors of f32, then of f64. */
#if defined(__AVX512F__)
#include <immintrin.h>
#define VECTOR_BYTES 64
#define F32_EVEN     0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define F32_ODD      1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define F32_NUMBERS  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define F64_EVEN     0, 2, 4, 6, 8, 10, 12, 14
#define F64_ODD      1, 3, 5, 7, 9, 11, 13, 15
#define F64_NUMBERS  0, 1, 2, 3, 4, 5, 6, 7
#elif defined(__AVX2__)
#include <immintrin.h>
#define VECTOR_BYTES 32
#define F32_EVEN     0, 2, 4, 6, 8, 10, 12, 14
#define F32_ODD      1, 3, 5, 7, 9, 11, 13, 15
#define F32_NUMBERS  0, 1, 2, 3, 4, 5, 6, 7
#define F64_EVEN     0, 2, 4, 6
#define F64_ODD      1, 3, 5, 7
#define F64_NUMBERS  0, 1, 2, 3
#else
#define VECTOR_BYTES 16
#define F32_EVEN     0, 2, 4, 6
#define F32_ODD      1, 3, 5, 7
#define F32_NUMBERS  0, 1, 2, 3
#define F64_EVEN     0, 2
#define F64_ODD      1, 3
#define F64_NUMBERS  0, 1
#endif

/* _half: with as many elements as a vector of elements twice as wide; _quarter: four times as
 * wide. */
typedef float f32_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef float f32_half __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef double f64_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int16_t i16_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t i32_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t i32_half __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef int64_t i64_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t u64_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t u32_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t u32_half __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef uint16_t u16_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef uint16_t u16_half __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef uint16_t u16_quarter __attribute__((vector_size(VECTOR_BYTES / 4)));

typedef i32_vector f32_mask; /* all ones in a lane: true */
typedef i64_vector f64_mask;

#ifdef __clang__
#define PICK(a, b, lanes, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, lanes, ...) __builtin_shuffle(a, b, (lanes){ __VA_ARGS__ })
#endif

/* ---- Sums of pairs of adjacent lanes, of a before b; with `product`, products ---- */

INLINE f32_vector pairs_f32(f32_vector a, f32_vector b, int product)
{
    f32_vector even = PICK(a, b, i32_vector, F32_EVEN), odd = PICK(a, b, i32_vector, F32_ODD);
    return product ? even * odd : even + odd;
}

INLINE f64_vector pairs_f64(f64_vector a, f64_vector b, int product)
{
    f64_vector even = PICK(a, b, i64_vector, F64_EVEN), odd = PICK(a, b, i64_vector, F64_ODD);
    return product ? even * odd : even + odd;
}

/* ---- The sum of all lanes of a vector, in adjacent pairs; with `product`, the product ---- */

#if defined(__AVX512F__)

INLINE double folded_f64(f64_vector v, int product)
{
    const __m256d a = _mm512_castpd512_pd256((__m512d)v);
    const __m256d b = _mm512_extractf64x4_pd((__m512d)v, 1);
    const __m256d even = _mm256_unpacklo_pd(a, b), odd = _mm256_unpackhi_pd(a, b);
    const __m256d w = product ? even * odd : even + odd; /* of a, b, a, b */
    const __m128d low = _mm256_castpd256_pd128(w), high = _mm256_extractf128_pd(w, 1);
    const __m128d x = product ? low * high : low + high;
    return product ? x[0] * x[1] : x[0] + x[1];
}

INLINE float folded_f32(f32_vector v, int product)
{
    const __m256 a = _mm512_castps512_ps256((__m512)v);
    const __m256 b = _mm512_extractf32x8_ps((__m512)v, 1);
    __m256 even = _mm256_shuffle_ps(a, b, 0x88), odd = _mm256_shuffle_ps(a, b, 0xdd);
    const __m256 w = product ? even * odd : even + odd; /* of a, a, b, b in each half */
    even = _mm256_shuffle_ps(w, w, 0x88);
    odd = _mm256_shuffle_ps(w, w, 0xdd);
    const __m256 x = product ? even * odd : even + odd; /* of a, b */
    const __m128 low = _mm256_castps256_ps128(x), high = _mm256_extractf128_ps(x, 1);
    const __m128 y = product ? low * high : low + high;
    return product ? y[0] * y[1] : y[0] + y[1];
}

#elif defined(__AVX2__)

INLINE double folded_f64(f64_vector v, int product)
{
    const __m128d a = _mm256_castpd256_pd128((__m256d)v);
    const __m128d b = _mm256_extractf128_pd((__m256d)v, 1);
    const __m128d even = _mm_unpacklo_pd(a, b), odd = _mm_unpackhi_pd(a, b);
    const __m128d w = product ? even * odd : even + odd; /* of a, b */
    return product ? w[0] * w[1] : w[0] + w[1];
}

INLINE float folded_f32(f32_vector v, int product)
{
    const __m128 a = _mm256_castps256_ps128((__m256)v), b = _mm256_extractf128_ps((__m256)v, 1);
    __m128 even = _mm_shuffle_ps(a, b, 0x88), odd = _mm_shuffle_ps(a, b, 0xdd);
    const __m128 w = product ? even * odd : even + odd; /* of a, a, b, b */
    even = _mm_shuffle_ps(w, w, 0x88);
    odd = _mm_shuffle_ps(w, w, 0xdd);
    const __m128 x = product ? even * odd : even + odd; /* of a, b */
    return product ? x[0] * x[1] : x[0] + x[1];
}

#else

INLINE double folded_f64(f64_vector v, int product)
{
    return product ? v[0] * v[1] : v[0] + v[1];
}

INLINE float folded_f32(f32_vector v, int product)
{
    const float a = product ? v[0] * v[1] : v[0] + v[1], b = product ? v[2] * v[3] : v[2] + v[3];
    return product ? a * b : a + b;
}

#endif

INLINE u64_vector pairs_u64(u64_vector a, u64_vector b)
{
    return PICK(a, b, i64_vector, F64_EVEN) + PICK(a, b, i64_vector, F64_ODD);
}

/* ---- Products of adjacent lanes in integers twice as wide, which cannot overflow ---- */

INLINE i64_vector twice_u8(i64_vector v)
{
    u16_vector w = (u16_vector)v;
    return (i64_vector)((w & 0xff) * (w >> 8));
}

INLINE i64_vector twice_i8(i64_vector v)
{
    i16_vector low = (i16_vector)((u16_vector)v << 8);
    return (i64_vector)((low >> 8) * ((i16_vector)v >> 8));
}

INLINE i64_vector twice_u16(i64_vector v)
{
    u32_vector w = (u32_vector)v;
    return (i64_vector)((w & 0xffff) * (w >> 16));
}

INLINE i64_vector twice_i16(i64_vector v)
{
    i32_vector low = (i32_vector)((u32_vector)v << 16);
    return (i64_vector)((low >> 16) * ((i32_vector)v >> 16));
}

INLINE i64_vector twice_u32(i64_vector v)
{
    u64_vector w = (u64_vector)v;
    return (i64_vector)((w & 0xffffffff) * (w >> 32));
}

INLINE i64_vector twice_i32(i64_vector v)
{
    i64_vector low = (i64_vector)((u64_vector)v << 32);
    return (low >> 32) * (v >> 32);
}

/* ---- Sums of adjacent lanes in integers twice as wide ---- */

INLINE i64_vector both_u8(i64_vector v)
{
    u16_vector w = (u16_vector)v;
    return (i64_vector)((w & 0xff) + (w >> 8));
}

INLINE i64_vector both_i8(i64_vector v)
{
    i16_vector low = (i16_vector)((u16_vector)v << 8);
    return (i64_vector)((low >> 8) + ((i16_vector)v >> 8));
}

INLINE i64_vector both_u16(i64_vector v)
{
    u32_vector w = (u32_vector)v;
    return (i64_vector)((w & 0xffff) + (w >> 16));
}

INLINE i64_vector both_i16(i64_vector v)
{
    i32_vector low = (i32_vector)((u32_vector)v << 16);
    return (i64_vector)((low >> 16) + ((i32_vector)v >> 16));
}

INLINE i64_vector both_u32(i64_vector v)
{
    u64_vector w = (u64_vector)v;
    return (i64_vector)((w & 0xffffffff) + (w >> 32));
}

INLINE i64_vector both_i32(i64_vector v)
{
    i64_vector low = (i64_vector)((u64_vector)v << 32);
    return (low >> 32) + (v >> 32);
}

/* ---- Selection by lane ---- */

/* v in the lanes where `there` is true, otherwise `other`. */
INLINE f32_vector keep_f32(f32_vector v, f32_mask there, f32_vector other)
{
    return (f32_vector)(((i32_vector)v & there) | ((i32_vector)other & ~there));
}

INLINE f64_vector keep_f64(f64_vector v, f64_mask there, f64_vector other)
{
    return (f64_vector)(((i64_vector)v & there) | ((i64_vector)other & ~there));
}

/* The lanes below n. */
INLINE f32_mask below_f32(ptrdiff_t n)
{
    return (f32_mask)((i32_vector){ F32_NUMBERS } < (i32_vector){ 0 } + (int32_t)n);
}

INLINE f64_mask below_f64(ptrdiff_t n)
{
    return (f64_mask)((i64_vector){ F64_NUMBERS } < (i64_vector){ 0 } + (int64_t)n);
}

/* ---- Elements in f32 ---- */

/* The first bytes of a vector, fewer than its size, then zeros. */
INLINE void copy_some(void *to, const void *from, size_t bytes)
{
#ifdef __AVX512F__
    __mmask64 some = _bzhi_u64(~(uint64_t)0, (unsigned)bytes);
    _mm512_storeu_si512(to, _mm512_maskz_loadu_epi8(some, from));
#else
    memset(to, 0, VECTOR_BYTES);
    memcpy(to, from, bytes);
#endif
}

#ifdef __AVX512F__
/* The elements whose bit is set in `there`, -0 in other lanes. */
INLINE f32_vector load_there_f32(const float *x, uint64_t there)
{
    return (f32_vector)_mm512_mask_loadu_ps(_mm512_set1_ps(-0.0f), (__mmask16)there, x);
}

INLINE f64_vector load_there_f64(const double *x, uint64_t there)
{
    return (f64_vector)_mm512_mask_loadu_pd(_mm512_set1_pd(-0.0), (__mmask8)there, x);
}

/* The same for integers of `bytes` bytes, 0 in other lanes. */
INLINE i64_vector load_there(const void *x, uint64_t there, size_t bytes)
{
    return (i64_vector)(bytes == 8   ? _mm512_maskz_loadu_epi64((__mmask8)there, x)
                        : bytes == 4 ? _mm512_maskz_loadu_epi32((__mmask16)there, x)
                        : bytes == 2 ? _mm512_maskz_loadu_epi16((__mmask32)there, x)
                                     : _mm512_maskz_loadu_epi8(there, x));
}
#endif

INLINE f32_vector load_f32_f32(const float *x)
{
    f32_vector v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Loads 16-bit elements, zero-extended to 32 bits. */
INLINE u32_vector load_u16_u32(const uint16_t *x)
{
    u16_half u;
    memcpy(&u, x, sizeof u);
#if defined(__AVX512F__)
    return (u32_vector)_mm512_cvtepu16_epi32((__m256i)u);
#elif defined(__AVX2__)
    return (u32_vector)_mm256_cvtepu16_epi32((__m128i)u);
#else
    return __builtin_convertvector(u, u32_vector);
#endif
}

INLINE u32_half load_u16_half(const uint16_t *x)
{
#if defined(__AVX512F__)
    return (u32_half)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
#elif defined(__AVX2__)
    return (u32_half)_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
#else
    u16_quarter u;
    memcpy(&u, x, sizeof u);
    return __builtin_convertvector(u, u32_half);
#endif
}

INLINE f32_vector load_bf16_f32(const uint16_t *x)
{
    return (f32_vector)(load_u16_u32(x) << 16);
}

INLINE f32_half load_bf16_half(const uint16_t *x)
{
    return (f32_half)(load_u16_half(x) << 16);
}

#ifdef __AVX512F__
INLINE f32_vector load_f16_f32(const uint16_t *x)
{
    return (f32_vector)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x));
}

INLINE f32_half load_f16_half(const uint16_t *x)
{
    __m128i u = _mm_loadu_si128((const __m128i *)(const void *)x);
    return (f32_half)_mm256_maskz_cvtph_ps(0xff, u);
}
#elif defined(__F16C__)
INLINE f32_vector load_f16_f32(const uint16_t *x)
{
    return (f32_vector)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x));
}

INLINE f32_half load_f16_half(const uint16_t *x)
{
    return (f32_half)_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)x));
}
#else
/* The multiplication corrects the exponent's bias and normalises subnormals. */
#define F16_TO_F32(u, f32, i32)                                                                    \
    i32 magnitude = (i32)((u & 0x7fff) << 13), special = (i32)((u & 0x7fff) >= 0x7c00);            \
    i32 scaled = (i32)((f32)magnitude * 0x1p112f);                                                 \
    return (f32)(scaled | (special & 0x7f800000) | (i32)((u & 0x8000) << 16))

INLINE f32_vector load_f16_f32(const uint16_t *x)
{
    u32_vector u = load_u16_u32(x);
    F16_TO_F32(u, f32_vector, i32_vector);
}

INLINE f32_half load_f16_half(const uint16_t *x)
{
    u32_half u = load_u16_half(x);
    F16_TO_F32(u, f32_half, i32_half);
}
#endif

/* ---- Elements in f64 ---- */

INLINE f64_vector wider_f32(f32_half v)
{
#if defined(__AVX512F__)
    return (f64_vector)_mm512_cvtps_pd((__m256)v);
#elif defined(__AVX2__)
    return (f64_vector)_mm256_cvtps_pd((__m128)v);
#else
    return __builtin_convertvector(v, f64_vector);
#endif
}

INLINE f64_vector wider_i32(i32_half v)
{
#if defined(__AVX512F__)
    return (f64_vector)_mm512_cvtepi32_pd((__m256i)v);
#elif defined(__AVX2__)
    return (f64_vector)_mm256_cvtepi32_pd((__m128i)v);
#else
    return __builtin_convertvector(v, f64_vector);
#endif
}

INLINE f64_vector load_f16_f64(const uint16_t *x)
{
    return wider_f32(load_f16_half(x));
}

INLINE f64_vector load_bf16_f64(const uint16_t *x)
{
    return wider_f32(load_bf16_half(x));
}

INLINE f64_vector load_f32_f64(const float *x)
{
    f32_half v;
    memcpy(&v, x, sizeof v);
    return wider_f32(v);
}

INLINE f64_vector load_f64_f64(const double *x)
{
    f64_vector v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE f64_vector load_i32_f64(const int32_t *x)
{
    i32_half v;
    memcpy(&v, x, sizeof v);
    return wider_i32(v);
}

/* The value minus 2^31 fits in an i32; nothing is rounded. */
INLINE f64_vector load_u32_f64(const uint32_t *x)
{
    u32_half v;
    memcpy(&v, x, sizeof v);
    return wider_i32((i32_half)(v ^ 0x80000000u)) + 0x1p31;
}

#ifdef __AVX512F__
/* Elements as f64; those whose bit is not set are not read. */
INLINE f64_vector load_masked_f16(const uint16_t *x, __mmask8 there)
{
    return wider_f32((f32_half)_mm256_maskz_cvtph_ps(0xff, _mm_maskz_loadu_epi16(there, x)));
}

INLINE f64_vector load_masked_bf16(const uint16_t *x, __mmask8 there)
{
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(there, x));
    return wider_f32((f32_half)_mm256_slli_epi32(wide, 16));
}

INLINE f64_vector load_masked_f32(const float *x, __mmask8 there)
{
    return wider_f32((f32_half)_mm256_maskz_loadu_ps(there, x));
}

INLINE f64_vector load_masked_f64(const double *x, __mmask8 there)
{
    return (f64_vector)_mm512_maskz_loadu_pd(there, x);
}

INLINE f64_vector load_masked_i32(const int32_t *x, __mmask8 there)
{
    return wider_i32((i32_half)_mm256_maskz_loadu_epi32(there, x));
}

INLINE f64_vector load_masked_u32(const uint32_t *x, __mmask8 there)
{
    return (f64_vector)_mm512_cvtepu32_pd(_mm256_maskz_loadu_epi32(there, x));
}
#endif

INLINE f64_vector load_i64_f64(const int64_t *x)
{
    i64_vector v;
    memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, f64_vector);
}

INLINE f64_vector load_u64_f64(const uint64_t *x)
{
    u64_vector v;
    memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, f64_vector);
}

#endif
