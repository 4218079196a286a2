/*
 * ladder.cuh - what every rung may use: the type of an element, its order, and where a thread is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_LADDER_CUH
#define LADDER_LADDER_CUH

#include <stdint.h>

/* Of the image that is being compiled: one for each type in ladders.txt. */
#ifndef ELEMENT
#define ELEMENT uint32_t
#endif
typedef ELEMENT element;

#define ALL_LANES 0xffffffffu

/* This thread's number in the whole grid, and how many there are. */
static __device__ inline uint64_t global_thread(void)
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ inline uint64_t global_threads(void)
{
    return (uint64_t)gridDim.x * blockDim.x;
}

/* Bits that order as keys do, as unsigned numbers: the sign of integers is flipped; of floats it is
 * too, and of negative ones all other bits. */
static __device__ inline uint32_t order_bits(uint32_t x)
{
    return x;
}

static __device__ inline uint32_t order_bits(int32_t x)
{
    return (uint32_t)x ^ 0x80000000u;
}

static __device__ inline uint32_t order_bits(float x)
{
    uint32_t bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits ^ 0x80000000u;
}

static __device__ inline uint64_t order_bits(uint64_t x)
{
    return x;
}

static __device__ inline uint64_t order_bits(double x)
{
    uint64_t bits = (uint64_t)__double_as_longlong(x);
    return bits >> 63 ? ~bits : bits ^ 1ull << 63;
}

/* The key that has these order bits, into *x. */
static __device__ inline void from_order_bits(uint32_t bits, uint32_t *x)
{
    *x = bits;
}

static __device__ inline void from_order_bits(uint32_t bits, int32_t *x)
{
    *x = (int32_t)(bits ^ 0x80000000u);
}

static __device__ inline void from_order_bits(uint32_t bits, float *x)
{
    *x = __uint_as_float(bits & 0x80000000u ? bits ^ 0x80000000u : ~bits);
}

/* Whether a comes before b; any two floats, NaN too, have an order. */
static __device__ inline bool before(element a, element b)
{
    return order_bits(a) < order_bits(b);
}

#endif
