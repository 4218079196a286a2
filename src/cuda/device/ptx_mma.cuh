/*
 * cuda/device/ptx_mma.cuh - products of bit matrices and of f64 matrices by one warp (sm_80), and
 * loads of operands from shared memory.
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

/* ---- Products of f64 matrices ----
 *
 *     d[16][8] = d + a[16][4 DEPTH] b[4 DEPTH][8]
 *
 * Each element is a chain of fused multiply-adds, first to last.  Lane l = 4 g + t holds
 *
 *     a[2 i] row g, column 4 i + t    a[2 i + 1] row g + 8
 *     b[i] row 4 i + t, column g
 *     d[0], d[1] row g, columns 2 t and 2 t + 1;  d[2], d[3] row g + 8
 *
 * sm_80 has a smaller instruction with the same chains. */
#ifdef __CUDACC__
template <int DEPTH>
static __device__ inline void mma_f64(double (&d)[4], const double (&a)[2 * DEPTH],
                                      const double (&b)[DEPTH])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (DEPTH == 1)
        asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
            "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
            : "d"(a[0]), "d"(a[1]), "d"(b[0]));
    else if (DEPTH == 2)
        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2 % (2 * DEPTH)]), "d"(a[3 % (2 * DEPTH)]), "d"(b[0]),
              "d"(b[1 % DEPTH]));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
            "{%0, %1, %2, %3};"
            : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2 % (2 * DEPTH)]), "d"(a[3 % (2 * DEPTH)]),
              "d"(a[4 % (2 * DEPTH)]), "d"(a[5 % (2 * DEPTH)]), "d"(a[6 % (2 * DEPTH)]),
              "d"(a[7 % (2 * DEPTH)]), "d"(b[0]), "d"(b[1 % DEPTH]), "d"(b[2 % DEPTH]),
              "d"(b[3 % DEPTH]));
#else
#pragma unroll
    for (int i = 0; i < DEPTH; i++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(d[2 * half]), "+d"(d[2 * half + 1])
                : "d"(a[2 * i + half]), "d"(b[i]));
#endif
}
#else
/* The operands of a lane, and the addresses of all lanes' operands. */
template <int DEPTH> struct mma_lane {
    double a[2 * DEPTH], b[DEPTH];
    const struct mma_lane *all[32];
};

/* Accesses to other lanes' variables are not reported to the emulator. */
template <int DEPTH>
static __attribute__((noinline, no_sanitize("thread"))) void
mma_chain(double *d, const struct mma_lane<DEPTH> *const *all, uint32_t lane)
{
    for (int e = 0; e < 4; e++)
        for (uint32_t k = 0; k < 4 * DEPTH; k++) {
            const double a = all[lane / 4 * 4 + k % 4]->a[k / 4 * 2 + (uint32_t)e / 2];
            const double b = all[(lane % 4 * 2 + (uint32_t)e % 2) * 4 + k % 4]->b[k / 4];
            d[e] = fma(a, b, d[e]);
        }
}

template <int DEPTH>
static __attribute__((noinline, no_sanitize("thread"))) void
mma_enter(const struct mma_lane<DEPTH> **all, uint32_t lane, const struct mma_lane<DEPTH> *mine)
{
    all[lane] = mine;
}

template <int DEPTH>
static inline void mma_f64(double (&d)[4], const double (&a)[2 * DEPTH], const double (&b)[DEPTH])
{
    struct mma_lane<DEPTH> mine;
    const uint32_t lane = simt_lane();
    for (int i = 0; i < 2 * DEPTH; i++) mine.a[i] = a[i];
    for (int i = 0; i < DEPTH; i++) mine.b[i] = b[i];
    const unsigned long long list = (uintptr_t)mine.all;
    const struct mma_lane<DEPTH> **all =
        (const struct mma_lane<DEPTH> **)(uintptr_t)__shfl_sync(0xffffffffu, list, 0);
    mma_enter<DEPTH>(all, lane, &mine);
    __syncwarp(); /* the addresses are listed */
    mma_chain<DEPTH>(d, all, lane);
    __syncwarp(); /* the operands have been read */
}
#endif

#endif
