/*
 * cuda/device/block_range.cuh - the minimum and maximum key of a block, and other reductions over
 * its warps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_BLOCK_RANGE_CUH
#define ECHI_CUDA_DEVICE_BLOCK_RANGE_CUH

#include "cuda/device/instance.cuh"
#include "cuda/device/warp.cuh"

static __device__ inline ukey key_min(ukey x, ukey y)
{
    return x < y ? x : y;
}

static __device__ inline ukey key_max(ukey x, ukey y)
{
    return x < y ? y : x;
}

/* The minimum and maximum of the warp's values, in every lane. */
static __device__ inline void warp_range(ukey &low, ukey &high)
{
#if KEY_BYTES <= 4 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
    low = (ukey)__reduce_min_sync(WARP_ALL, (uint32_t)low);
    high = (ukey)__reduce_max_sync(WARP_ALL, (uint32_t)high);
#elif KEY_BYTES <= 4
#pragma unroll
    for (int step = 16; step; step /= 2) {
        low = key_min(low, (ukey)__shfl_xor_sync(WARP_ALL, (uint32_t)low, step));
        high = key_max(high, (ukey)__shfl_xor_sync(WARP_ALL, (uint32_t)high, step));
    }
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* first reduces the upper halves */
    const uint32_t least = __reduce_min_sync(WARP_ALL, (uint32_t)(low >> 32));
    const uint32_t most = __reduce_max_sync(WARP_ALL, (uint32_t)(high >> 32));
    const uint32_t least_low = (uint32_t)(low >> 32) == least ? (uint32_t)low : ~0u;
    const uint32_t most_low = (uint32_t)(high >> 32) == most ? (uint32_t)high : 0;
    low = (ukey)least << 32 | __reduce_min_sync(WARP_ALL, least_low);
    high = (ukey)most << 32 | __reduce_max_sync(WARP_ALL, most_low);
#else
#pragma unroll
    for (int step = 16; step; step /= 2) {
        low = key_min(low, __shfl_xor_sync(WARP_ALL, (unsigned long long)low, step));
        high = key_max(high, __shfl_xor_sync(WARP_ALL, (unsigned long long)high, step));
    }
#endif
}

/* The same for the block; every thread must call it. It is also a barrier for earlier writes to
 * shared memory. */
template <int WARPS>
static __device__ inline void block_range(ukey (&lows)[WARPS], ukey (&highs)[WARPS], ukey &low,
                                          ukey &high)
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id() < WARPS ? lane_id() : 0;
    warp_range(low, high);
    if (lane_id() == 0) {
        lows[warp] = low;
        highs[warp] = high;
    }
    __syncthreads(); /* the ranges of all warps are written */
    low = lows[lane];
    high = highs[lane];
    warp_range(low, high);
}

static __device__ inline uint32_t warp_max(uint32_t x)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_max_sync(WARP_ALL, x);
#else
#pragma unroll
    for (int step = 16; step; step /= 2) x = max(x, __shfl_xor_sync(WARP_ALL, x, step));
    return x;
#endif
}

static __device__ inline uint32_t warp_sum(uint32_t x)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(WARP_ALL, x);
#else
#pragma unroll
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(WARP_ALL, x, step);
    return x;
#endif
}

#endif
