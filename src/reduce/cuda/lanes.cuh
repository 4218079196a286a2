/*
 * reduce/cuda/lanes.cuh - the accumulators of one thread while a warp processes the lines of a
 * chunk.
 *
 * Floats have one accumulator per lane of the thread, updated line by line.  If the order does not
 * matter, small integers stay packed in words: sums of bytes use __dp4a(), maxima of bytes the
 * upper bytes of 16-bit halves, tests of bytes the carries of a subtraction.
 *
 * Means, norms and variances of integers of 8 and 16 bits sum the elements and their squares as
 * integers (REDUCE_EXACT). f64 does not round such a sum of a chunk, so the result is the same.
 *
 *     REDUCE_FLOAT  0: integers, or only order and bits;  1: IEEE of KEY_BITS;  2: bf16
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_LANES_CUH
#define ECHI_REDUCE_CUDA_LANES_CUH

#include "reduce/cuda/value.cuh"
#include "cuda/device/ptx_half.cuh"

/* ---- Elements as numbers ---- */

/* For floats that are computed in f32; not called for others. */
static __device__ inline float to_f32(ukey u)
{
#if REDUCE_FLOAT == 2
    return __uint_as_float((uint32_t)u << 16);
#elif KEY_BITS == 16
    return f32_of_f16((uint16_t)u);
#else
    return __uint_as_float((uint32_t)u);
#endif
}

/* Integers of up to 32 bits are inserted into the fraction of a double and corrected by one
 * subtraction, which is exact and faster than a conversion. */
static __device__ inline double to_f64(const struct echi_reduce_rule &rule, ukey u)
{
#if REDUCE_FLOAT && KEY_BITS == 64
    return __longlong_as_double((long long)u);
#elif REDUCE_FLOAT
    return (double)to_f32(u);
#elif KEY_BITS == 64
    return rule.sign ? (double)(int64_t)u : (double)u;
#else
    return __hiloint2double(0x43300000, (int)(u ^ (ukey)rule.sign)) -
           (4503599627370496.0 + (double)(uint32_t)rule.sign);
#endif
}

static __device__ inline center center_make(const struct echi_reduce_rule &rule, ukey u)
{
#if REDUCE_WHOLE
    return center_of_integer(&rule, u);
#else
    return to_f64(rule, u);
#endif
}

/* The halves of x as f64: 2^84 + 2^32 * the high half, 2^52 + the low half. */
static __device__ inline double high_half(uint64_t x)
{
    return __hiloint2double(0x45300000, (int)(x >> 32));
}

static __device__ inline double low_half(uint64_t x)
{
    return __hiloint2double(0x43300000, (int)x);
}

/* Differences of halves are exact, so that only their sum is rounded. */
static __device__ inline double distance_of(const struct echi_reduce_rule &rule, ukey u, center k)
{
#if REDUCE_WHOLE
    const uint64_t x = center_of_integer(&rule, u);
    return (high_half(x) - high_half(k)) + (low_half(x) - low_half(k));
#else
    return to_f64(rule, u) - k;
#endif
}

/* A product of 32 bits, signed or unsigned, extended to 64. */
static __device__ inline uint64_t widened(const struct echi_reduce_rule &rule, uint32_t u)
{
    return rule.sign ? (uint64_t)(int64_t)(int32_t)u : u;
}

/* An integer of less than 64 bits, extended to 32. */
static __device__ inline uint32_t extended(const struct echi_reduce_rule &rule, ukey u)
{
    return (uint32_t)(u ^ (ukey)rule.sign) - (uint32_t)rule.sign;
}

/* ---- Several elements in a word ---- */

static __device__ inline uint32_t spread(uint64_t u)
{
    return KEY_BITS == 8    ? (uint32_t)(u & 0xff) * 0x01010101u
           : KEY_BITS == 16 ? (uint32_t)(u & 0xffff) * 0x00010001u
                            : (uint32_t)u;
}

#define TOPS (KEY_BITS == 8 ? 0x80808080u : KEY_BITS == 16 ? 0x80008000u : 0x80000000u)

static __device__ inline uint32_t word_sub(uint32_t x, uint32_t y)
{
    return ((x | TOPS) - (y & ~TOPS)) ^ ((x ^ ~y) & TOPS);
}

static __device__ inline uint32_t word_add(uint32_t x, uint32_t y)
{
    return ((x & ~TOPS) + (y & ~TOPS)) ^ ((x ^ y) & TOPS);
}

/* order_encode() of every element of a word. */
static __device__ inline uint32_t word_encode(const struct echi_order &o, uint32_t w)
{
#if KEY_BITS == 16
    if (!(o.float_mask | o.shift)) return w ^ spread(o.sign) ^ spread(o.flip);
    uint32_t negative = (w >> 15 & 0x00010001u) * 0xffffu & spread(o.float_mask);
    return word_sub(w ^ (negative | spread(o.sign)), spread(o.shift)) ^ spread(o.flip);
#else
    return w ^ spread(o.sign) ^ spread(o.flip); /* bytes are not floats */
#endif
}

/* The maximum of the elements, packed in halves: for bytes, the upper byte of each half decides, so
 * the lower ones need not be cleared. */
struct most {
#if KEY_BITS == 64
    uint64_t u;
#elif KEY_BITS == 8
    uint32_t even, odd;
#else
    uint32_t u;
#endif
};

static __device__ inline void most_start(struct most &m)
{
#if KEY_BITS == 8
    m.even = m.odd = 0;
#else
    m.u = 0;
#endif
}

static __device__ inline void most_add(struct most &m, const uint32_t (&e)[4])
{
#if KEY_BITS == 64
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        uint64_t both = (uint64_t)e[i + 1] << 32 | e[i];
        m.u = both > m.u ? both : m.u;
    }
#else
#pragma unroll
    for (int i = 0; i < 4; i++) {
#if KEY_BITS == 8
        m.odd = __vmaxu2(m.odd, e[i]);
        m.even = __vmaxu2(m.even, e[i] << 8);
#elif KEY_BITS == 16
        m.u = __vmaxu2(m.u, e[i]);
#else
        m.u = max(m.u, e[i]);
#endif
    }
#endif
}

static __device__ inline uint64_t most_end(const struct most &m)
{
#if KEY_BITS == 8
    uint32_t both = __vmaxu2(m.odd, m.even);
    return max(both >> 24, both >> 8 & 0xff);
#elif KEY_BITS == 16
    return max(m.u >> 16, m.u & 0xffff);
#else
    return m.u;
#endif
}

/* The encoded elements of a vector; those from `count` on become 0. */
template <int FULL>
static __device__ inline void encode(const struct echi_order &o, const struct vector &v,
                                     uint32_t count, uint32_t (&e)[4])
{
#if KEY_BITS <= 16
#pragma unroll
    for (int i = 0; i < 4; i++) e[i] = word_encode(o, v.w[i]);
#elif KEY_BITS == 32
#pragma unroll
    for (int i = 0; i < 4; i++) e[i] = order_encode(o, v.w[i]);
#else
#pragma unroll
    for (int i = 0; i < 2; i++) {
        ukey u = order_encode(o, vector_element(v, i));
        e[2 * i] = (uint32_t)u;
        e[2 * i + 1] = (uint32_t)(u >> 32);
    }
#endif
    if (!FULL)
#pragma unroll
        for (int i = 0; i < 4; i++) e[i] &= vector_mask(i, count);
}

/* Adds the same value to all elements; for bytes, which are not floats, it is always 0. */
static __device__ inline void add_to_all(uint32_t (&e)[4], ukey u)
{
#if KEY_BITS == 64
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        uint64_t both = ((uint64_t)e[i + 1] << 32 | e[i]) + u;
        e[i] = (uint32_t)both;
        e[i + 1] = (uint32_t)(both >> 32);
    }
#else
#pragma unroll
    for (int i = 0; i < 4; i++)
        e[i] = KEY_BITS == 8 ? e[i] : KEY_BITS == 16 ? word_add(e[i], spread(u)) : e[i] + u;
#endif
}

/* ---- A thread's lanes ---- */

template <int KIND> struct lanes {
    uint64_t sum;
};
template <> struct lanes<REDUCE_SUM> {
    float lane[VECTOR];
};
template <> struct lanes<REDUCE_PRODUCT> {
    float lane[VECTOR];
};
template <> struct lanes<REDUCE_DOT> {
    float lane[VECTOR];
};
#if REDUCE_EXACT
#if KEY_BITS == 8
typedef uint32_t square_sum;
#else
typedef uint64_t square_sum;
#endif
/* Sums of the elements with their signs inverted, which makes them unsigned. */
struct exact_lanes {
    uint32_t n, sum;
    square_sum squares;
};
template <> struct lanes<REDUCE_SUM64> {
    struct exact_lanes of;
};
template <> struct lanes<REDUCE_VARIANCE> {
    struct exact_lanes of;
    center k;
};
#else
template <> struct lanes<REDUCE_SUM64> {
    double lane[VECTOR];
    uint32_t ignored;
};
template <> struct lanes<REDUCE_VARIANCE> {
    double lane[VECTOR], square[VECTOR];
    center k;
    uint32_t n, some; /* some: bits of the distances of f64; 0 if all are +0 */
};
#endif
template <> struct lanes<REDUCE_PRODUCT64> {
    double lane[VECTOR];
};
template <> struct lanes<REDUCE_DOT64> {
    double lane[VECTOR];
};
template <> struct lanes<REDUCE_OTHER> {
    uint32_t w[4]; /* of bits; w[0] counts; a product is in the first two */
};
template <> struct lanes<REDUCE_MAX> {
    struct most most;
};
template <> struct lanes<REDUCE_MINMAX> {
    struct most most, inverted; /* inverted: of the inverted elements, for the minimum */
};
template <> struct lanes<REDUCE_ARG> {
    ukey best;
    uint32_t at; /* position of the vector in the chunk */
};

static __device__ inline void fill_lanes(float (&lane)[VECTOR], float with)
{
#pragma unroll
    for (int i = 0; i < VECTOR; i++) lane[i] = with;
}

static __device__ inline void fill_lanes(double (&lane)[VECTOR], double with)
{
#pragma unroll
    for (int i = 0; i < VECTOR; i++) lane[i] = with;
}

/* Adds adjacent lanes, then adjacent pairs, ... */
static __device__ inline float add_lanes(float (&lane)[VECTOR])
{
#pragma unroll
    for (int step = 1; step < VECTOR; step *= 2)
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (i % (2 * step) == 0) lane[i] += lane[(i + step) % VECTOR];
    return lane[0];
}

static __device__ inline double add_lanes(double (&lane)[VECTOR])
{
#pragma unroll
    for (int step = 1; step < VECTOR; step *= 2)
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (i % (2 * step) == 0) lane[i] += lane[(i + step) % VECTOR];
    return lane[0];
}

static __device__ inline float multiply_lanes(float (&lane)[VECTOR])
{
#pragma unroll
    for (int step = 1; step < VECTOR; step *= 2)
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (i % (2 * step) == 0) lane[i] *= lane[(i + step) % VECTOR];
    return lane[0];
}

static __device__ inline double multiply_lanes(double (&lane)[VECTOR])
{
#pragma unroll
    for (int step = 1; step < VECTOR; step *= 2)
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (i % (2 * step) == 0) lane[i] *= lane[(i + step) % VECTOR];
    return lane[0];
}

#endif
