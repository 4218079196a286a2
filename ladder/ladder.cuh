/*
 * ladder.cuh - for all rungs: the element type, its order, and thread indices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_LADDER_CUH
#define LADDER_LADDER_CUH

#include <stdint.h>

/* The element type of the module: one module per type in ladders.txt. */
#ifndef ELEMENT
#define ELEMENT uint32_t
#endif
typedef ELEMENT element;

#define ALL_LANES 0xffffffffu

/* The index of this thread in the grid, and the number of threads. */
static __device__ inline uint64_t global_thread(void)
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ inline uint64_t global_threads(void)
{
    return (uint64_t)gridDim.x * blockDim.x;
}

/* Order-preserving unsigned form of a key: the sign bit is inverted; for negative floats all bits
 * are. */
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

/* The inverse of order_bits(). */
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

/* Whether a precedes b; floats are totally ordered, including NaN. */
static __device__ inline bool before(element a, element b)
{
    return order_bits(a) < order_bits(b);
}

#endif
