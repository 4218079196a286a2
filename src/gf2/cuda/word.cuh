/*
 * gf2/cuda/word.cuh - words of matrices over GF(2): masks, transposes of 32 x 32 bits, and the
 * iteration of threads over a matrix in tiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_WORD_CUH
#define ECHI_GF2_CUDA_WORD_CUH

#include <stdint.h>
#include "cuda/device/warp.cuh"

#define GF2_ALL (~(uint64_t)0)

static __device__ inline uint64_t words_of(uint64_t cols)
{
    return (cols + 63) / 64;
}

/* The bits of a row's word that belong to columns below n. */
static __device__ inline uint64_t columns_below(uint64_t n, uint64_t word)
{
    if (n <= word * 64) return 0;
    return n - word * 64 >= 64 ? GF2_ALL : ((uint64_t)1 << (n & 63)) - 1;
}

/* Stores the bits in mask; the other bits of the word are not changed. */
static __device__ inline void store_masked(uint64_t *at, uint64_t value, uint64_t mask)
{
    if (mask != GF2_ALL) value = (*at & ~mask) | (value & mask);
    *at = value;
}

/* Lane i passes row i and receives column i of 32 x 32 bits. */
static __device__ inline uint32_t turn_warp(uint32_t x)
{
    uint32_t mask = 0x0000ffffu;
#pragma unroll
    for (int step = 16; step; step /= 2) {
        const uint32_t other = __shfl_xor_sync(WARP_ALL, x, step);
        x = lane_id() & step ? (x & ~mask) | ((other & ~mask) >> step)
                             : (x & mask) | ((other & mask) << step);
        mask ^= mask << (step / 2);
    }
    return x;
}

/* The same in one thread: m[i] is row i, then column i. */
static __device__ inline void turn_thread(uint32_t m[32])
{
    uint32_t mask = 0x0000ffffu;
#pragma unroll
    for (int step = 16; step; step /= 2) {
#pragma unroll
        for (int i = 0; i < 32; i++) {
            if (i & step) continue;
            const uint32_t t = ((m[i] >> step) ^ m[i + step]) & mask;
            m[i + step] ^= t;
            m[i] ^= t << step;
        }
        mask ^= mask << (step / 2);
    }
}

#endif
