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

/* The lanes of the warp that have the same bit of x as I.  Four instructions; the compiler makes
 * seven of the twin, since it moves the bit through a register on its way to the ballot. */
static __device__ inline uint32_t warp_match_bit(uint32_t x, uint32_t bit)
{
#ifdef __CUDA_ARCH__
    uint32_t lanes;
    asm volatile("{\n"
                 "  .reg .pred one;\n"
                 "  .reg .b32 masked;\n"
                 "  and.b32 masked, %1, %2;\n"
                 "  setp.ne.u32 one, masked, 0;\n"
                 "  vote.sync.ballot.b32 %0, one, 0xffffffff;\n"
                 "  @!one not.b32 %0, %0;\n"
                 "}"
                 : "=r"(lanes)
                 : "r"(x), "r"(bit));
    return lanes;
#else
    uint32_t ones = __ballot_sync(0xffffffffu, (x & bit) != 0);
    return x & bit ? ones : ~ones;
#endif
}

#endif
