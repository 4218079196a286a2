/*
 * simt/planted_words.cuh - words of shared memory, and volatile accesses, for planted kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_PLANTED_WORDS_CUH
#define SIMT_PLANTED_WORDS_CUH

#include "planted.h"

extern __shared__ __align__(16) unsigned char shared_bytes[];

static __device__ inline uint32_t *shared_words(void)
{
    return (uint32_t *)shared_bytes;
}

static __device__ inline uint32_t look(const uint32_t *at)
{
    return *(const volatile uint32_t *)at;
}

static __device__ inline void tell(uint32_t *at, uint32_t value)
{
    *(volatile uint32_t *)at = value;
}

#endif
