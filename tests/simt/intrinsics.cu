/*
 * simt/intrinsics.cu - kernels that call every intrinsic function that the SIMT emulator supports.
 *
 * Their oracle was verified on a GPU (intrinsics_gpu.cu).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef __CUDACC__
#pragma nv_diag_suppress 1444 /* CUDA 13 deprecates long4 and similar names */
#endif
#include "intrinsics.h"

#include <assert.h>
#include <stdio.h>

static __device__ inline uint32_t thread_of_grid()
{
    uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    return block * (blockDim.x * blockDim.y * blockDim.z) + thread;
}

static __device__ inline void put(const struct intrinsics_args &a, int slot, uint64_t word)
{
    a.out[(uint64_t)slot * a.n + thread_of_grid()] = word;
}

/* Floats as bits; every NaN becomes one value, because its sign and payload are unspecified. */
static __device__ inline void put_float(const struct intrinsics_args &a, int slot, float x)
{
    put(a, slot, x == x ? __float_as_uint(x) : 0x7fc00000u);
}

static __device__ inline void put_double(const struct intrinsics_args &a, int slot, double x)
{
    put(a, slot, x == x ? (uint64_t)__double_as_longlong(x) : 0x7ff8000000000000u);
}

#include "intrinsics_integer.cuh"
#include "intrinsics_float.cuh"
#include "intrinsics_warp.cuh"
#include "intrinsics_memory.cuh"
#include "intrinsics_place.cuh"
