/*
 * mma.cuh - a product of 16 x 256 by 256 x 8 bits by a warp: by tensor cores from sm_80 on,
 * otherwise by shuffles.  src/cuda/device/ptx_mma.cuh documents the layout of the operands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_GF2_MMA_CUH
#define LADDER_GF2_MMA_CUH

#include "cuda/device/ptx_mma.cuh"

static __device__ inline void gf2_mma(int32_t (&d)[4], const uint32_t (&a)[4],
                                      const uint32_t (&b)[2])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    const unsigned lane = threadIdx.x % 32, row = lane & ~3u, column = lane % 4 * 8;
    for (unsigned i = 0; i < 4; i++) d[i] = 0;
    for (unsigned t = 0; t < 4; t++)
        for (unsigned half = 0; half < 2; half++)
            for (unsigned i = 0; i < 4; i++) /* row i / 2, column i % 2 of this lane */
                d[i] += __popc(__shfl_sync(0xffffffffu, a[2 * half + i / 2], (int)(row + t)) &
                               __shfl_sync(0xffffffffu, b[half], (int)(column + 4 * (i % 2) + t)));
#else
    mma_and_zero(d, a, b);
#endif
}

#endif
