/*
 * cuda/device/ptx_release.cuh - an addition that releases, as inline PTX.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_PTX_RELEASE_CUH
#define ECHI_CUDA_DEVICE_PTX_RELEASE_CUH

#include <stdint.h>

/* Adds, after all earlier accesses of its thread, and of threads that it has synchronised with;
 * returns the previous value. Later accesses do not wait for the result. */
static __device__ inline uint64_t add_release_u64(uint64_t *at, uint64_t value)
{
#ifdef __CUDACC__
    uint64_t before;
    asm volatile("atom.release.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(at), "l"(value)
                 : "memory");
    return before;
#else
    __threadfence();
    return atomicAdd((unsigned long long *)at, (unsigned long long)value);
#endif
}

#endif
