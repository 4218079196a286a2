/*
 * scan/cuda/value.cuh - the values of a scan: conversion from and to elements, and operators.
 *
 *     SCAN_FLOAT 0   integers, and types that core/order.h maps to them   u32, or u64
 *     SCAN_FLOAT 1   IEEE floats of KEY_BITS                   f32, f64 of f64
 *     SCAN_FLOAT 2   bf16                                      f32
 *     SCAN_WIDE 1    computed and written in 64 bits           u64, f64
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_VALUE_CUH
#define ECHI_SCAN_CUDA_VALUE_CUH

#ifndef SCAN_FLOAT
#define SCAN_FLOAT 0
#endif
#ifndef SCAN_WIDE
#define SCAN_WIDE 0
#endif

#include "cuda/device/order.cuh"
#include "cuda/device/ptx_half.cuh"
#include "scan/cuda/common.h"
#include "cuda/device/warp.cuh"

#define SCAN_64 (SCAN_WIDE || KEY_BITS == 64)

#if SCAN_FLOAT && SCAN_64
typedef double value;
#elif SCAN_FLOAT
typedef float value;
#elif SCAN_64
typedef uint64_t value;
#else
typedef uint32_t value;
#endif
#if SCAN_WIDE
typedef uint64_t uout;
#else
typedef ukey uout;
#endif

/* Integers of 8 and 16 bits, except for sums, are converted to values, and back, by words. */
#define SCAN_WORDS (KEY_BITS <= 16 && !SCAN_FLOAT && !SCAN_WIDE)

/* The operator of OTHER is a.other: sums and products if SCAN_WIDE, minima, products and bit
 * operators if SCAN_WORDS, products of other floats, products and bit operators of other integers.
 * BITS is OR or XOR. */
enum { SUM, MIN, PRODUCT, BITS, OTHER };
enum { VECTOR = 16 / KEY_BYTES, LINE = SCAN_WARP * VECTOR, TILE = SCAN_LINES * LINE };

static __device__ inline uint64_t value_bits(value x)
{
#if SCAN_FLOAT && SCAN_64
    return (uint64_t)__double_as_longlong(x);
#elif SCAN_FLOAT
    return __float_as_uint(x);
#else
    return x;
#endif
}

static __device__ inline value value_of_bits(uint64_t u)
{
#if SCAN_FLOAT && SCAN_64
    return __longlong_as_double((long long)u);
#elif SCAN_FLOAT
    return __uint_as_float((uint32_t)u);
#else
    return (value)u;
#endif
}

/* ---- Operators ---- */

template <int OP> static __device__ inline bool is_sum(const struct scan_args &a)
{
    return OP == SUM || (SCAN_WIDE && OP == OTHER && a.other == SCAN_SUM);
}

template <int OP>
static __device__ inline value combine(const struct scan_args &a, value x, value y)
{
    if (is_sum<OP>(a)) return x + y;
#if SCAN_WIDE || SCAN_FLOAT
    return x * y;
#else
    if (OP == MIN || (OP == OTHER && SCAN_WORDS && a.other == SCAN_MIN)) return x < y ? x : y;
    if (OP == PRODUCT || (OP == OTHER && a.other == SCAN_PRODUCT)) return x * y;
    return x ^ y ^ (a.other == SCAN_OR ? x & y : 0);
#endif
}

/* The identity element: x combined with it is bit-identical to x, except that a NaN may become
 * another. */
template <int OP> static __device__ inline value neutral(const struct scan_args &a)
{
#if SCAN_FLOAT
    return is_sum<OP>(a) ? -(value)0 : (value)1;
#else
    if (OP == MIN || (OP == OTHER && SCAN_WORDS && a.other == SCAN_MIN)) return ~(value)0;
    return OP != SUM && a.other == SCAN_PRODUCT ? 1 : 0;
#endif
}

/* ---- Elements ---- */

template <int OP> static __device__ inline value value_of(const struct scan_args &a, ukey u)
{
#if SCAN_FLOAT
#if SCAN_FLOAT == 2
    return __uint_as_float((uint32_t)u << 16);
#elif KEY_BITS == 16
    return f32_of_f16(u);
#elif KEY_BITS == 32
    return __uint_as_float(u);
#else
    return __longlong_as_double((long long)u);
#endif
#elif SCAN_WIDE
    return a.is_signed ? (value)(int64_t)(skey)u : (value)u;
#elif SCAN_WORDS
    return u;
#else
    if (OP == SUM) return u;
    /* A NaN that is ignored is greater than a.first, which is included in each result. */
    return OP == MIN ? order_encode(a.order, u) : (ukey)(u ^ (ukey)a.order.flip);
#endif
}

template <int OP> static __device__ inline uout element_of(const struct scan_args &a, value x)
{
#if SCAN_FLOAT && SCAN_64
    return x != x ? 0x7ff8000000000000u : (uint64_t)__double_as_longlong(x);
#elif SCAN_FLOAT == 2
    uint32_t u = __float_as_uint(x);
    return (uout)(x != x ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16);
#elif SCAN_FLOAT && KEY_BITS == 16
    return x != x ? (uout)0x7e00 : f16_of_f32(x);
#elif SCAN_FLOAT
    return x != x ? 0x7fc00000u : __float_as_uint(x);
#elif SCAN_WIDE
    return x;
#elif SCAN_WORDS
    return (uout)x;
#else
    if (OP == SUM) return (uout)x;
    if (OP == MIN) return order_decode(a.order, (ukey)x);
    return (uout)(x ^ (ukey)a.order.flip);
#endif
}

#if SCAN_WORDS
/* Replicates a value to two halves or four bytes; no carry passes from one to the next. */
static __device__ inline uint32_t each_element(uint64_t x)
{
    return (uint32_t)(ukey)x * (KEY_BITS == 8 ? 0x01010101u : 0x00010001u);
}

/* All ones in the 16-bit halves of a word that are negative; 0 for types without floats. */
static __device__ inline uint32_t negative_halves(const struct echi_order &o, uint32_t word)
{
    return (word >> 15 & 0x00010001u) * 0xffff & each_element(o.float_mask);
}

/* order_encode() and order_decode() of all elements of a word; 8-bit elements are not floats. */
static __device__ inline uint32_t word_encode(const struct echi_order &o, uint32_t u)
{
    const uint32_t top = 0x80008000u, shift = each_element(o.shift);
    if (KEY_BITS == 8) return u ^ each_element(o.sign ^ o.flip);
    u ^= negative_halves(o, u) | each_element(o.sign);
    u = ((u | top) - (shift & ~top)) ^ ((u ^ ~shift) & top);
    return u ^ each_element(o.flip);
}

static __device__ inline uint32_t word_decode(const struct echi_order &o, uint32_t e)
{
    const uint32_t top = 0x80008000u, shift = each_element(o.shift);
    if (KEY_BITS == 8) return e ^ each_element(o.sign ^ o.flip);
    e ^= each_element(o.flip);
    e = ((e & ~top) + (shift & ~top)) ^ ((e ^ shift) & top);
    return e ^ (negative_halves(o, ~e) | each_element(o.sign));
}
#endif

/* ---- Lanes ---- */

#if !SCAN_FLOAT && SCAN_64
typedef unsigned long long moved; /* uint64_t is another type of the same size */
#else
typedef value moved;
#endif

static __device__ inline value lane_up(value x, int step)
{
    return (value)__shfl_up_sync(WARP_ALL, (moved)x, step);
}

static __device__ inline value lane_across(value x, int step)
{
    return (value)__shfl_xor_sync(WARP_ALL, (moved)x, step);
}

static __device__ inline value lane_at(value x, int lane)
{
    return (value)__shfl_sync(WARP_ALL, (moved)x, lane);
}

#endif
