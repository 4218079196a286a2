/*
 * cuda/ptx.cuh - instructions that C cannot express, each beside what it means in C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_PTX_CUH
#define ECHI_CUDA_PTX_CUH

#include <stdint.h>

/* A load or store that other blocks of the grid see as one access, with no order to any other: PTX
 * ISA, "Memory Consistency Model", relaxed operations of scope gpu.  (The volatile twins are weaker
 * in name only: a volatile access is performed as relaxed, at system scope.) */
static __device__ inline uint32_t load_relaxed(const uint32_t *at)
{
#ifdef __CUDA_ARCH__
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
#else
    return *(const volatile uint32_t *)at;
#endif
}

static __device__ inline void store_relaxed(uint32_t *at, uint32_t value)
{
#ifdef __CUDA_ARCH__
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
#else
    *(volatile uint32_t *)at = value;
#endif
}

#endif
