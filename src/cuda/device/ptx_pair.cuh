/*
 * cuda/device/ptx_pair.cuh - a store of 16 bytes of which neither half tears, as inline PTX.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_PTX_PAIR_CUH
#define ECHI_CUDA_DEVICE_PTX_PAIR_CUH

#include <stdint.h>

/* at: aligned to 16 bytes.  Two volatile stores of 8 bytes would be two memory accesses. */
static __device__ inline void store_pair_u64(uint64_t *at, uint64_t low, uint64_t high)
{
#ifdef __CUDACC__
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};"
                 :
                 : "l"(at), "l"(low), "l"(high)
                 : "memory");
#else
    ((volatile uint64_t *)at)[0] = low;
    ((volatile uint64_t *)at)[1] = high;
#endif
}

#endif
