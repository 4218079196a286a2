/*
 * matmul/cuda/real.cuh - the types of this instance of the products: elements of a and b, the type
 * of computation, and how an element of c is computed and written.
 *
 *     MATMUL_TYPE   0: f32, 1: f64, 2: f16, 3: bf16
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CUDA_REAL_CUH
#define ECHI_MATMUL_CUDA_REAL_CUH

#include "matmul/cuda/common.h"

#ifndef MATMUL_TYPE
#define MATMUL_TYPE 0
#endif
/* FP64 tensor cores; other GPUs with compute capability 8 and higher have the instruction, but no
 * fast units. */
#ifdef __CUDA_ARCH__
#define MATMUL_TENSOR                                                                              \
    (MATMUL_TYPE == 1 && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000))
#else
#define MATMUL_TENSOR (MATMUL_TYPE == 1)
#endif
/* Only matmul_square and matmul_small of f32, if a multiprocessor has more than 200 KB of shared
 * memory; the host has the same condition. */
#ifdef __CUDA_ARCH__
#define MATMUL_MORE_STAGES (MATMUL_TYPE == 0 && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#else
#define MATMUL_MORE_STAGES (MATMUL_TYPE == 0)
#endif
#include "core/half.h"
#include "cuda/device/ptx_half.cuh"

#if MATMUL_TYPE == 1
typedef double real;
typedef double element;
typedef double2 real_vector;
#elif MATMUL_TYPE == 0
typedef float real;
typedef float element;
typedef float4 real_vector;
#else
typedef float real;
typedef uint16_t element;
typedef float4 real_vector;
#endif
enum { REAL_VECTOR = 16 / sizeof(real) }; /* elements */

static __device__ inline real fused(real x, real y, real z)
{
#if MATMUL_TYPE == 1
    return __fma_rn(x, y, z);
#else
    return __fmaf_rn(x, y, z);
#endif
}

static __device__ inline real real_of(element x)
{
#if MATMUL_TYPE == 2
    return echi_f32_of_f16(x); /* f32_of_f16() makes products take twice as long */
#elif MATMUL_TYPE == 3
    return echi_f32_of_bf16(x);
#else
    return x;
#endif
}

/* NaN is written as the canonical one. */
static __device__ inline real quiet(real x)
{
#if MATMUL_TYPE == 1
    return x != x ? __longlong_as_double(0x7ff8000000000000ll) : x;
#else
    return x != x ? __int_as_float(0x7fc00000) : x;
#endif
}

static __device__ inline element element_of(real x)
{
#if MATMUL_TYPE == 2
    return x != x ? (element)0x7e00 : f16_of_f32(x);
#elif MATMUL_TYPE == 3
    return echi_bf16_of_f32(x);
#else
    return quiet(x);
#endif
}

/* alpha s, or alpha s + beta c. */
static __device__ inline real ended(real s, real alpha, real beta, real c)
{
    const real r = alpha * s;
    return beta != 0 ? fused(beta, c, r) : r;
}

#endif
