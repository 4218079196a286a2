/*
 * cuda/device/ptx_warps.cuh - a barrier of the first warps of a block, while the others wait for
 * them at the next barrier of all.
 *
 *     if (warps_join(128)) {          four warps
 *         ... warps_sync(128); ...
 *     }
 *     __syncthreads();
 *
 * In the equivalent all threads of the block join, so the code between must do nothing in threads
 * from 128 on except to call warps_sync() as often.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_PTX_WARPS_CUH
#define ECHI_CUDA_DEVICE_PTX_WARPS_CUH

#include <stdint.h>

/* Whether this thread is one of the first `threads`, a multiple of 32. */
static __device__ inline bool warps_join(uint32_t threads)
{
#ifdef __CUDACC__
    return threadIdx.x < threads;
#else
    (void)threads;
    return true;
#endif
}

static __device__ inline void warps_sync(uint32_t threads)
{
#ifdef __CUDACC__
    asm volatile("bar.sync 1, %0;" : : "r"(threads) : "memory");
#else
    (void)threads;
    __syncthreads();
#endif
}

#endif
