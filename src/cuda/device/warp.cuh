/*
 * cuda/device/warp.cuh - functions of one warp: its lanes, sums over them, and the lanes with the
 * same digit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_WARP_CUH
#define ECHI_CUDA_DEVICE_WARP_CUH

#include <stdint.h>
#include "cuda/device/ptx.cuh"

#define WARP_ALL 0xffffffffu

/* Maximum number of threads resident on a multiprocessor. */
#ifndef __CUDA_ARCH__
enum { MULTIPROCESSOR_THREADS = 2048 };
#elif __CUDA_ARCH__ < 800
enum { MULTIPROCESSOR_THREADS = 1024 };
#elif __CUDA_ARCH__ / 10 == 80 || __CUDA_ARCH__ / 100 == 9 || __CUDA_ARCH__ / 100 == 10
enum { MULTIPROCESSOR_THREADS = 2048 };
#else
enum { MULTIPROCESSOR_THREADS = 1536 };
#endif

/* The second argument of __launch_bounds__: blocks, or as many as fit on a multiprocessor. */
#define RESIDENT_BLOCKS(blocks, threads)                                                           \
    ((blocks) * (threads) <= MULTIPROCESSOR_THREADS ? (blocks) : MULTIPROCESSOR_THREADS / (threads))

static __device__ inline uint32_t lane_id(void)
{
    return threadIdx.x & 31;
}

/* The number of the warp in the block, equal in all its lanes. The shuffle shows the compiler that
 * it is the same in all lanes. Otherwise, if a branch depends on it, the compiler would generate a
 * second version of each exchange in the branch, for diverged lanes. */
static __device__ inline uint32_t warp_id(void)
{
    return __shfl_sync(WARP_ALL, threadIdx.x / 32, 0);
}

static __device__ inline uint32_t lanes_below(void)
{
    return (1u << lane_id()) - 1;
}

/* Inclusive prefix sum over the lanes. */
static __device__ inline uint32_t warp_scan(uint32_t x)
{
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        uint32_t below = __shfl_up_sync(WARP_ALL, x, step);
        if (lane_id() >= step) x += below;
    }
    return x;
}

static __device__ inline uint64_t warp_scan_u64(uint64_t x)
{
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        uint64_t below = __shfl_up_sync(WARP_ALL, (unsigned long long)x, step);
        if (lane_id() >= step) x += below;
    }
    return x;
}

/* The lanes whose low BITS bits of digit equal those of the caller: one ballot per bit. */
template <int BITS> static __device__ inline uint32_t warp_match(uint32_t digit)
{
    uint32_t peers = WARP_ALL;
#pragma unroll
    for (int bit = 0; bit < BITS; bit++) peers &= warp_match_bit(digit, 1u << bit);
    return peers;
}

#endif
