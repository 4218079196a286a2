/*
 * cuda/device/ptx_wgmma.cuh - products of bit matrices by four warps, from shared memory (sm_90a).
 *
 *     d[64][256] = (d +) popcount(a[64][256] and b[256][256])
 *
 * a is row-major and b column-major, in groups of eight as two matrices of 8 x 16 bytes, one after
 * the other: bits 0 to 127 of each, then bits 128 to 255. Lane l = 4 g + t of warp w has
 *
 *     d[4 j + e]      row 16 w + g,      column 8 j + 2 t + e    (e = 0, 1)
 *     d[4 j + 2 + e]  row 16 w + 8 + g
 *
 * The products are asynchronous: d and the operands must not be accessed before they are waited
 * for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_PTX_WGMMA_CUH
#define ECHI_CUDA_DEVICE_PTX_WGMMA_CUH

#include <stdint.h>
#include "cuda/device/ptx_async.cuh"

/* An operand that begins at a multiple of 16 bytes. */
static __device__ inline uint64_t wgmma_operand(const void *at)
{
#ifdef __CUDACC__
    /* Distances, in units of 16 bytes, from bits 0 to 127 to the others, and from eight rows to the
     * next. */
    const uint64_t half = 8, eight = 16;
    return shared_address(at) >> 4 | half << 16 | eight << 32;
#else
    return (uintptr_t)at;
#endif
}

/* Orders earlier writes to registers before the following products. */
static __device__ inline void wgmma_fence(void)
{
#ifdef __CUDACC__
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
#endif
}

/* Makes the products since the last call one group. */
static __device__ inline void wgmma_commit(void)
{
#ifdef __CUDACC__
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
#endif
}

/* Waits until at most the latest GROUPS groups are in flight. */
template <int GROUPS> static __device__ inline void wgmma_wait(void)
{
#ifdef __CUDACC__
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(GROUPS) : "memory");
#endif
}

#ifndef __CUDACC__
static inline int32_t wgmma_count(uint4 a, uint4 b)
{
    return __popc(a.x & b.x) + __popc(a.y & b.y) + __popc(a.z & b.z) + __popc(a.w & b.w);
}

/* The operand that all warps read is not reported to the emulator, which remembers only the last of
 * several readers; the rows, which belong to one warp each, are read and written by that warp. */
static __attribute__((noinline, no_sanitize("thread"))) void
wgmma_columns(int32_t *d, const uint4 *rows, const uint4 *columns, uint32_t add)
{
    for (uint32_t j = 0; j < 32; j++)
        for (uint32_t e = 0; e < 2; e++) {
            const uint4 first = columns[16 * j + e], second = columns[16 * j + e + 8];
            int32_t *at = d + 4 * j + e;
            at[0] = (add ? at[0] : 0) + wgmma_count(rows[0], first) + wgmma_count(rows[1], second);
            at[2] = (add ? at[2] : 0) + wgmma_count(rows[2], first) + wgmma_count(rows[3], second);
        }
}
#endif

/* add 0: d is taken as zero. */
static __device__ inline void wgmma_and(int32_t (&d)[128], uint64_t a, uint64_t b, uint32_t add)
{
#ifdef __CUDACC__
#define WGMMA_4(i)  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define WGMMA_16(i) WGMMA_4(i), WGMMA_4(i + 4), WGMMA_4(i + 8), WGMMA_4(i + 12)
    asm volatile("{\n"
                 "  .reg .pred adds;\n"
                 "  setp.ne.b32 adds, %130, 0;\n"
                 "  wgmma.mma_async.sync.aligned.m64n256k256.s32.b1.b1.and.popc "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "
                 " %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "
                 " %123, %124, %125, %126, %127}, "
                 "%128, %129, adds;\n"
                 "}"
                 : WGMMA_16(0), WGMMA_16(16), WGMMA_16(32), WGMMA_16(48), WGMMA_16(64),
                   WGMMA_16(80), WGMMA_16(96), WGMMA_16(112)
                 : "l"(a), "l"(b), "r"(add));
#undef WGMMA_4
#undef WGMMA_16
#else
    const uint32_t warp = threadIdx.x / 32 % 4, g = simt_lane() / 4, t = simt_lane() % 4;
    const uint4 *mine = (const uint4 *)(uintptr_t)a + warp * 32 + g;
    const uint4 rows[4] = { mine[0], mine[8], mine[16], mine[24] };
    wgmma_columns(d, rows, (const uint4 *)(uintptr_t)b + 2 * t, add);
#endif
}

#endif
