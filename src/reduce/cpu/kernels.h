/*
 * reduce/cpu/kernels.h - template: all kernels of the reduction for the instruction set of the
 * including file, and the struct that lists them.
 *
 *   ISA   the name of the struct
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/dtypes.h"
#include "cpu/cpu.h"
#include "reduce/cpu/common.h"
#include "core/call.h"
#include "cpu/vector.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { OF_SUM, OF_SQUARES, OF_PRODUCT, OF_DOT };

/* Prefetches the same bytes of the next chunk, which may not exist: the folds at the end of a chunk
 * would delay their loads. */
INLINE void prefetch_next(const void *x, size_t bytes)
{
    if (bytes > ECHI_CHUNK_BYTES) return; /* few of these follow each other */
    for (size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const char *)x + ECHI_CHUNK_BYTES + i);
}

INLINE void prefetch(const void *x, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char *)x + i);
}

/* Whether each line of a chunk prefetches that of the next one; otherwise only the last one its
 * successor, so that the folds do not delay its loads. */
INLINE bool needs_prefetches(void)
{
    return atomic_load_explicit(&echi_cpu_prefetches, memory_order_relaxed);
}

/* ---- For variances ---- */

/* a + b.  With AVX-512 a product by 1 and a sum, rounded once: the units of the products have less
 * to do than those of the sums. */
INLINE f64_vector plus_f64(f64_vector a, f64_vector b)
{
#ifdef __AVX512F__
    return (f64_vector)_mm512_fmadd_pd((__m512d)a, _mm512_set1_pd(1), (__m512d)b);
#else
    return a + b;
#endif
}

/* The halves of x as f64: 2^84 + 2^32 * the high half, 2^52 + the low half.  Their differences from
 * those of k are exact, so that only their sum is rounded.  sign: the sign bit of signed integers,
 * otherwise 0. */
INLINE f64_vector high_half(u64_vector x)
{
    return (f64_vector)((x >> 32) | ((uint64_t)0x45300000 << 32));
}

INLINE f64_vector low_half(u64_vector x)
{
    return (f64_vector)(((x << 32) >> 32) | ((uint64_t)0x43300000 << 32));
}

INLINE f64_vector distances_of_integers(const uint64_t *x, uint64_t k, uint64_t sign)
{
    const u64_vector from = (u64_vector){ 0 } + k;
    u64_vector v;
    memcpy(&v, x, sizeof v);
    v ^= sign;
    return (high_half(v) - high_half(from)) + (low_half(v) - low_half(from));
}

/* Copies by fields: a load of a field and its padding waits for the store of the field. */
INLINE void store_moments(struct echi_moments *to, const struct echi_moments *from)
{
    to->n = from->n;
    to->offset = from->offset;
    to->m2 = from->m2;
    to->center = from->center;
    to->scale = from->scale;
}

/* The sum of adjacent lanes, then of adjacent pairs, ... */
static double fold_lanes(double *lane, int count)
{
    for (; count > 1; count /= 2)
        for (int j = 0; j < count / 2; j++) lane[j] = lane[2 * j] + lane[2 * j + 1];
    return lane[0];
}

/* Whether a number differs from k; with ignore not if it is NaN. */
static bool some_differ(const double *x, size_t n, double k, bool ignore)
{
    uint64_t others = 0;
    for (size_t i = 0; i < n; i++) others += x[i] != k && (x[i] == x[i] || !ignore);
    return others != 0;
}

/* The moments of a chunk whose distances need a scale: the same lanes as NAME(moments).  count:
 * the elements that are not ignored. */
static struct echi_moments scaled_moments(const double *x, size_t n, double k, uint32_t scale,
                                          bool ignore, double count)
{
    enum { LANES = ECHI_LINE_BYTES / sizeof *x };
    double s1[LANES], s2[LANES];
    for (int j = 0; j < LANES; j++) s1[j] = s2[j] = -0.0;
    for (size_t i = 0; i < n; i++) {
        const double d = scaled_distance(x[i], k, scale);
        if (ignore && x[i] != x[i]) continue;
        s1[i % LANES] += d;
        s2[i % LANES] += d * d;
    }
    const double sum = fold_lanes(s1, LANES), squares = fold_lanes(s2, LANES);
    return moments_make(ECHI_SPREAD_F64, count, bits_of_f64(k), sum, squares, scale);
}

/* ---- Floats in f32; in f64 the kinds that need f64 or options->accumulate_wide ---- */

#define IS_FLOAT 1
#define IS_F64   0
#define IS_WHOLE 0
#define IN_F64   0
#define IN       f32
#define IS_SAME  0
#define FROM     f16
#include "reduce/cpu/lanes.h"
#define FROM bf16
#include "reduce/cpu/lanes.h"
#undef IS_SAME
#define IS_SAME 1
#define FROM    f32
#include "reduce/cpu/lanes.h"

#undef IS_SAME
#define IS_SAME 0
#undef IN_F64
#undef IN
#define IN_F64 1
#define IN     f64
#define FROM   f16
#include "reduce/cpu/lanes.h"
#define FROM bf16
#include "reduce/cpu/lanes.h"
#define FROM f32
#include "reduce/cpu/lanes.h"
#undef IS_F64
#undef IS_SAME
#define IS_F64  1
#define IS_SAME 1
#define FROM    f64
#include "reduce/cpu/lanes.h"

#undef IS_F64
#undef IS_SAME
#define IS_SAME 0
#undef IS_FLOAT
#define IS_F64   0
#define IS_FLOAT 0
#define FROM     i32
#include "reduce/cpu/lanes.h"
#define FROM u32
#include "reduce/cpu/lanes.h"

#undef IS_WHOLE
#define IS_WHOLE 1
#define FROM     i64
#include "reduce/cpu/lanes.h"
#define FROM u64
#include "reduce/cpu/lanes.h"

#undef IS_FLOAT
#undef IS_F64
#undef IS_WHOLE
#undef IS_SAME
#undef IN_F64
#undef IN

/* ---- Integers ---- */

#ifdef __AVX512F__
/* Folds each of eight vectors to a lane of the first. */
INLINE void fold_all_u64(u64_vector *lane)
{
    UNROLLED(j, 4) lane[j] = pairs_u64(lane[2 * j], lane[2 * j + 1]);
    UNROLLED(j, 2) lane[j] = pairs_u64(lane[2 * j], lane[2 * j + 1]);
    lane[0] = pairs_u64(lane[0], lane[1]);
}
#endif

#ifdef __AVX2__
typedef int8_t i8_vector __attribute__((vector_size(VECTOR_BYTES)));

/* The sums of eight bytes each of a vector, XORed with bias. */
INLINE u64_vector sums_of_bytes(const void *x, i8_vector bias)
{
    i8_vector v;
    memcpy(&v, x, sizeof v);
    v ^= bias;
#ifdef __AVX512F__
    return (u64_vector)_mm512_sad_epu8((__m512i)v, _mm512_setzero_si512());
#else
    return (u64_vector)_mm256_sad_epu8((__m256i)v, _mm256_setzero_si256());
#endif
}
#endif

#define FROM        i8
#define SHORT       int32_t
#define PRODUCTS(v) twice_i32(twice_i16(twice_i8(v)))
#define SUMS(v)     both_i32(both_i16(both_i8(v)))
#define DISTANCE    int16_t
#define SQUARE      int32_t
#define SQUARES     int32_t
#define BYTE_BIAS   0x80
#include "reduce/cpu/integers.h"

#define FROM        i16
#define SHORT       int32_t
#define PRODUCTS(v) twice_i32(twice_i16(v))
#define SUMS(v)     both_i32(both_i16(v))
#define DISTANCE    int32_t
#define SQUARE      uint32_t
#define SQUARES     uint64_t
#include "reduce/cpu/integers.h"

#define FROM        i32
#define SHORT       int64_t
#define PRODUCTS(v) twice_i32(v)
#define SUMS(v)     both_i32(v)
#define BIAS        0x80000000u
#include "reduce/cpu/integers.h"

#define FROM        i64
#define SHORT       uint64_t
#define PRODUCTS(v) (v)
#define SUMS(v)     (v)
#define WORDS
#include "reduce/cpu/integers.h"

#define FROM        u8
#define SHORT       uint32_t
#define PRODUCTS(v) twice_u32(twice_u16(twice_u8(v)))
#define SUMS(v)     both_u32(both_u16(both_u8(v)))
#define DISTANCE    int16_t
#define SQUARE      int32_t
#define SQUARES     int32_t
#define BYTE_BIAS   0
#include "reduce/cpu/integers.h"

#define FROM        u16
#define SHORT       uint32_t
#define PRODUCTS(v) twice_u32(twice_u16(v))
#define SUMS(v)     both_u32(both_u16(v))
#define DISTANCE    int32_t
#define SQUARE      uint32_t
#define SQUARES     uint64_t
#include "reduce/cpu/integers.h"

#define FROM        u32
#define SHORT       uint64_t
#define PRODUCTS(v) twice_u32(v)
#define SUMS(v)     both_u32(v)
#define BIAS        0u
#include "reduce/cpu/integers.h"

#define FROM        u64
#define SHORT       uint64_t
#define PRODUCTS(v) (v)
#define SUMS(v)     (v)
#define WORDS
#include "reduce/cpu/integers.h"

/* ---- By width ---- */

#ifdef __AVX512F__
#include "cpu/keys_avx512.h"
#include "reduce/cpu/floats_avx512.h"
#include "reduce/cpu/moments_avx512.h"
#endif

#define FROM u8
#include "reduce/cpu/width.h"
#define FROM u16
#include "reduce/cpu/width.h"
#define FROM u32
#include "reduce/cpu/width.h"
#define FROM u64
#include "reduce/cpu/width.h"

/* ---- Short calls ---- */

INLINE float nan_f32(void)
{
    const uint32_t bits = (uint32_t)f32_result(NAN);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE double nan_f64(void)
{
    return f64_of_bits(f64_result(NAN));
}

#ifdef __AVX512F__
#define PICK_OF(FROM, suffix)                                                                      \
    INLINE __m512i pick_##FROM(__m512i a, __m512i b, bool least)                                   \
    {                                                                                              \
        return least ? _mm512_min_##suffix(a, b) : _mm512_max_##suffix(a, b);                      \
    }
PICK_OF(i8, epi8)
PICK_OF(i16, epi16)
PICK_OF(i32, epi32)
PICK_OF(i64, epi64)
PICK_OF(u8, epu8)
PICK_OF(u16, epu16)
PICK_OF(u32, epu32)
PICK_OF(u64, epu64)
#undef PICK_OF
#define HAS_FLOATS 1 /* minima and maxima of f32 and f64 */
#else
#define HAS_FLOATS 0
#endif

/* The sum, and the variance, of a chunk at most. */
#define OF_FLOATS(FROM, SUM, name)                                                                 \
    INLINE SUM total_##FROM(const FROM##_element *x, size_t n)                                     \
    {                                                                                              \
        return lanes_##name(x, NULL, n, OF_SUM, false, false);                                     \
    }                                                                                              \
    __attribute__((noinline)) static uint64_t moments_variance_##FROM(                             \
        const struct echi_reduce_rule *rule, const FROM##_element *x, size_t n)                    \
    {                                                                                              \
        return moments_result(rule, moments_##FROM##_f64(rule, x, n, false));                      \
    }
OF_FLOATS(f16, float, f16)
OF_FLOATS(bf16, float, bf16)
OF_FLOATS(f32, float, f32)
OF_FLOATS(f64, double, f64_f64)
#undef OF_FLOATS

INLINE uint64_t variance_of_f16(const struct echi_reduce_rule *rule, const uint16_t *x, size_t n)
{
    return moments_variance_f16(rule, x, n);
}

INLINE uint64_t variance_of_bf16(const struct echi_reduce_rule *rule, const uint16_t *x, size_t n)
{
    return moments_variance_bf16(rule, x, n);
}

#ifdef __AVX512F__
/* The same result as that of the moments, in fewer steps: the variance of a line. */
INLINE double variance_by_sums(size_t n, double s1, double s2)
{
    const double m2 = s2 - s1 * s1 / (double)n;
    return (m2 < 0 ? 0 : m2) / (double)n;
}
#endif

INLINE uint64_t variance_of_f32(const struct echi_reduce_rule *rule, const float *x, size_t n)
{
#ifdef __AVX512F__
    double s1, s2;
    if (n <= ECHI_LINE_BYTES / sizeof *x) {
        line_sums_f32(x, n, (double)x[0], &s1, &s2);
        return f32_result((float)variance_by_sums(n, s1, s2));
    }
#endif
    return moments_variance_f32(rule, x, n);
}

INLINE uint64_t variance_of_f64(const struct echi_reduce_rule *rule, const double *x, size_t n)
{
#ifdef __AVX512F__
    double s1, s2;
    if (n <= ECHI_LINE_BYTES / sizeof *x) {
        line_sums_f64(x, n, x[0], &s1, &s2);
        if (s2 >= ECHI_TINY && s2 <= ECHI_MOST) return f64_result(variance_by_sums(n, s1, s2));
    }
#endif
    return moments_variance_f64(rule, x, n); /* which scales, if necessary */
}

#define FROM     i8
#define BITS     u8
#define SIGN     0x80
#define SUM      u64
#define IS_FLOAT 0
#define EXTREMES 1
#include "reduce/cpu/calls.h"

#define FROM     i16
#define BITS     u16
#define SIGN     0x8000
#define SUM      u64
#define IS_FLOAT 0
#define EXTREMES 1
#include "reduce/cpu/calls.h"

#define FROM     i32
#define BITS     u32
#define SIGN     0x80000000
#define SUM      u64
#define IS_FLOAT 0
#define EXTREMES 1
#include "reduce/cpu/calls.h"

#define FROM     i64
#define BITS     u64
#define SIGN     0x8000000000000000
#define SUM      u64
#define IS_FLOAT 0
#define EXTREMES 1
#include "reduce/cpu/calls.h"

#define FROM     u8
#define BITS     u8
#define SIGN     0
#define SUM      u64
#define IS_FLOAT 0
#define EXTREMES 1
#include "reduce/cpu/calls.h"

#define FROM     u16
#define BITS     u16
#define SIGN     0
#define SUM      u64
#define IS_FLOAT 0
#define EXTREMES 1
#include "reduce/cpu/calls.h"

#define FROM     u32
#define BITS     u32
#define SIGN     0
#define SUM      u64
#define IS_FLOAT 0
#define EXTREMES 1
#include "reduce/cpu/calls.h"

#define FROM     u64
#define BITS     u64
#define SIGN     0
#define SUM      u64
#define IS_FLOAT 0
#define EXTREMES 1
#include "reduce/cpu/calls.h"

#define FROM     f16
#define BITS     u16
#define SIGN     0
#define SUM      f32
#define IS_FLOAT 1
#define EXTREMES 0
#include "reduce/cpu/calls.h"

#define FROM     bf16
#define BITS     u16
#define SIGN     0
#define SUM      f32
#define IS_FLOAT 1
#define EXTREMES 0
#include "reduce/cpu/calls.h"

#define FROM     f32
#define BITS     u32
#define SIGN     0
#define SUM      f32
#define IS_FLOAT 1
#define EXTREMES HAS_FLOATS
#include "reduce/cpu/calls.h"

#define FROM     f64
#define BITS     u64
#define SIGN     0
#define SUM      f64
#define IS_FLOAT 1
#define EXTREMES HAS_FLOATS
#include "reduce/cpu/calls.h"

/* ---- The table ---- */

/* clang-format off */
#define WIDTH_ENTRY(kernel, constant, name, width, ...) [constant] = kernel##_##width,
#define ENTRY(kernel, constant, name, ...)              [constant] = kernel##_##name,
#define ENTRY64(kernel, constant, name, ...)            [constant] = kernel##_##name##_f64,
#define BY_WIDTH(kernel)   { ECHI_DTYPES(WIDTH_ENTRY, kernel) }
#define INTEGERS(kernel)   ECHI_INTEGER_DTYPES(ENTRY, kernel)
#define INTEGERS64(kernel) ECHI_INTEGER_DTYPES(ENTRY64, kernel)
#define NARROW(kernel)     ECHI_NARROW_FLOAT_DTYPES(ENTRY, kernel)
#define FLOATS64(kernel)   ECHI_FLOAT_DTYPES(ENTRY64, kernel)

#define INTEGER_CALLS(kernel) ECHI_INTEGER_DTYPES(ENTRY, kernel)
#define FLOAT_CALLS(kernel)   ECHI_FLOAT_DTYPES(ENTRY, kernel)

const struct echi_reduce_isa ISA = {
    .calls = {
        [ECH_OP_SUM] = { INTEGER_CALLS(sum_call) FLOAT_CALLS(sum_call) },
#ifdef __AVX512F__
        [ECH_OP_MIN] = { INTEGER_CALLS(min_call)[ECH_F32] = min_call_f32,
                         [ECH_F64] = min_call_f64 },
        [ECH_OP_MAX] = { INTEGER_CALLS(max_call)[ECH_F32] = max_call_f32,
                         [ECH_F64] = max_call_f64 },
#else
        [ECH_OP_MIN] = { INTEGER_CALLS(min_call) },
        [ECH_OP_MAX] = { INTEGER_CALLS(max_call) },
#endif
        [ECH_OP_VARIANCE] = { FLOAT_CALLS(variance_call) },
    },
    .chunk = {
        [ECHI_REDUCE_ISUM] = { INTEGERS(isum) },
        [ECHI_REDUCE_IPRODUCT] = { INTEGERS(iproduct) },
        [ECHI_REDUCE_IDOT] = { INTEGERS(idot) },
        [ECHI_REDUCE_SUM] = { NARROW(sum) },
        [ECHI_REDUCE_PRODUCT] = { NARROW(product) },
        [ECHI_REDUCE_DOT] = { NARROW(dot) },
        [ECHI_REDUCE_SUM64] = { INTEGERS64(sum) FLOATS64(sum) },
        [ECHI_REDUCE_PRODUCT64] = { FLOATS64(product) },
        [ECHI_REDUCE_DOT64] = { FLOATS64(dot) },
        [ECHI_REDUCE_VARIANCE] = { INTEGERS64(variance) FLOATS64(variance) },
        [ECHI_REDUCE_BITS] = BY_WIDTH(bits),
        [ECHI_REDUCE_MAX] = BY_WIDTH(max),
        [ECHI_REDUCE_MINMAX] = BY_WIDTH(minmax),
        [ECHI_REDUCE_ARG] = BY_WIDTH(arg),
        [ECHI_REDUCE_COUNT] = BY_WIDTH(count),
    },
#ifdef __AVX512F__
    .far = {
        [ECHI_REDUCE_SUM] = { [ECH_F32] = far_sum_f32 },
        [ECHI_REDUCE_SUM64] = { [ECH_F64] = far_sum_f64_f64 },
    },
    .segments = {
        [ECHI_REDUCE_ISUM] = { INTEGERS(isegments) },
        [ECHI_REDUCE_SUM] = { NARROW(segments) },
        [ECHI_REDUCE_SUM64] = { FLOATS64(segments) },
    },
    .long_segments = {
        [ECHI_REDUCE_ISUM] = { INTEGERS(long_isegments) },
        [ECHI_REDUCE_SUM] = { [ECH_F32] = long_segments_f32 },
        [ECHI_REDUCE_SUM64] = { [ECH_F64] = long_segments_f64_f64 },
    },
    .rows = {
        [ECHI_REDUCE_ISUM] = { INTEGERS(irows) },
        [ECHI_REDUCE_SUM] = { NARROW(rows) },
        [ECHI_REDUCE_SUM64] = { FLOATS64(rows) },
    },
#endif
    .run_starts = { [1] = run_starts_u8, [2] = run_starts_u16, [4] = run_starts_u32,
                    [8] = run_starts_u64 },
    .run_end = { [1] = run_end_u8, [2] = run_end_u16, [4] = run_end_u32, [8] = run_end_u64 },
};
/* clang-format on */
