/*
 * cuda/device/ptx_mma.cuh - products of bit matrices by one warp (sm_80), and loads of their
 * operands from shared memory.
 *
 *     d[16][8] = c[16][8] + popcount(a[16][256] op b[256][8])
 *
 * Lane l = 4 g + t holds these parts of a, b, c and d:
 *
 *     a[0] row g      bits 32 t ..    a[2] row g      bits 128 + 32 t ..
 *     a[1] row g + 8  bits 32 t ..    a[3] row g + 8  bits 128 + 32 t ..
 *     b[0] column g   bits 32 t ..    b[1] column g   bits 128 + 32 t ..
 *     c[0], c[1] row g, columns 2 t and 2 t + 1;  c[2], c[3] row g + 8
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_PTX_MMA_CUH
#define ECHI_CUDA_DEVICE_PTX_MMA_CUH

#include <stdint.h>
#include "cuda/device/ptx_async.cuh"

/* Loads four matrices of 8 rows of 16 bytes from shared memory: lane l passes the address of row l
 * % 8 of matrix l / 8, and receives word l % 4 of row l / 4 of each. */
static __device__ inline void load_matrices(uint32_t (&to)[4], const void *row)
{
#ifdef __CUDACC__
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
#else
    const uint32_t all = 0xffffffffu, lane = simt_lane();
    const unsigned long long mine = (uintptr_t)row;
    for (uint32_t i = 0; i < 4; i++) {
        const unsigned long long theirs = __shfl_sync(all, mine, (int)(8 * i + lane / 4));
        to[i] = ((const uint32_t *)(uintptr_t)theirs)[lane % 4];
    }
#endif
}

#ifndef __CUDACC__
/* The product, by shuffles; op is 0 for "and", 1 for "xor". */
static inline void mma_bits(int op, int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    const uint32_t all = 0xffffffffu, lane = simt_lane(), row = lane & ~3u, column = lane % 4 * 8;
    for (uint32_t t = 0; t < 4; t++)
        for (int half = 0; half < 2; half++) {
            const uint32_t upper = __shfl_sync(all, a[2 * half], (int)(row + t));
            const uint32_t lower = __shfl_sync(all, a[2 * half + 1], (int)(row + t));
            const uint32_t left = __shfl_sync(all, b[half], (int)(column + t));
            const uint32_t right = __shfl_sync(all, b[half], (int)(column + 4 + t));
            d[0] += __popc(op ? upper ^ left : upper & left);
            d[1] += __popc(op ? upper ^ right : upper & right);
            d[2] += __popc(op ? lower ^ left : lower & left);
            d[3] += __popc(op ? lower ^ right : lower & right);
        }
}
#endif

static __device__ inline void mma_and(int32_t (&d)[4], const uint32_t (&a)[4],
                                      const uint32_t (&b)[2])
{
#ifdef __CUDACC__
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    mma_bits(0, d, a, b);
#endif
}

/* The same with c = 0. */
static __device__ inline void mma_and_zero(int32_t (&d)[4], const uint32_t (&a)[4],
                                           const uint32_t (&b)[2])
{
#ifdef __CUDACC__
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(0));
#else
    d[0] = d[1] = d[2] = d[3] = 0;
    mma_bits(0, d, a, b);
#endif
}

static __device__ inline void mma_xor(int32_t (&d)[4], const uint32_t (&a)[4],
                                      const uint32_t (&b)[2])
{
#ifdef __CUDACC__
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    mma_bits(1, d, a, b);
#endif
}

#endif
