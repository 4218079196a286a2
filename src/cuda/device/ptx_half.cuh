/*
 * cuda/device/ptx_half.cuh - conversions of f16 from and to f32, each instruction with an
 * equivalent in C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_PTX_HALF_CUH
#define ECHI_CUDA_DEVICE_PTX_HALF_CUH

#include <stdint.h>

static __device__ inline float f32_of_f16(uint16_t u)
{
#ifdef __CUDACC__
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(u));
    return x;
#else
    uint32_t rest = u & 0x7fffu, sign = (uint32_t)(u & 0x8000u) << 16;
    uint32_t special = rest >= 0x7c00 ? 112u << 23 : 0;
    uint32_t normal = (rest << 13) + (112u << 23) + special;
    uint32_t small = __float_as_uint((float)(int)rest * 5.9604644775390625e-8f); /* 2^-24 */
    return __uint_as_float(sign | (rest < 0x400 ? small : normal));
#endif
}

/* Rounds to nearest, ties to even. x must not be NaN: the resulting NaN would differ. */
static __device__ inline uint16_t f16_of_f32(float x)
{
#ifdef __CUDACC__
    uint16_t u;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(u) : "f"(x));
    return u;
#else
    uint32_t u = __float_as_uint(x), rest = u & 0x7fffffff, sign = u >> 16 & 0x8000;
    uint32_t normal = (rest + 0xfff + (rest >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t small = __float_as_uint(__uint_as_float(rest) + 0.5f) - 0x3f000000;
    uint32_t h = rest < 113u << 23 ? small : normal;
    return (uint16_t)(sign | (rest >= 0x477ff000 ? 0x7c00 : h));
#endif
}

#endif
