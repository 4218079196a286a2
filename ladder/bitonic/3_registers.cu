/*
 * 3_registers.cu - steps within a warp need neither shared memory nor barriers.
 *
 * Idea:   a warp holds 128 keys, four per lane: key 32 r + lane in register r. Keys 32 and 64 apart
 *         are in two registers of one lane, closer keys in the same register of two lanes, which
 *         exchange them by a shuffle and keep the minimum or the maximum; only steps 128 or more
 *         apart use shared memory
 * Cost:   6 of the 55 steps of a tile need barriers; no bank conflicts
 * Wastes: both lanes of a pair compare; and the array still passes through memory log2(n / 1024) ^
 *         2 / 2 times, which no sort by a fixed pattern of comparisons can avoid: radix sort needs
 *         four passes
 * From:   the shuffles of sm_30 (2012)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* Loads order-preserving bits; the maximum past the end, where nothing is written back. */
static __device__ inline void bitonic_3_load(uint32_t *key, const element *keys, uint64_t n)
{
    const uint64_t first = (uint64_t)blockIdx.x * 1024 + threadIdx.x / 32 * 128 + threadIdx.x % 32;
#pragma unroll
    for (unsigned r = 0; r < 4; r++)
        key[r] = first + 32 * r < n ? order_bits(keys[first + 32 * r]) : UINT32_MAX;
}

static __device__ inline void bitonic_3_store(const uint32_t *key, element *keys, uint64_t n)
{
    const uint64_t first = (uint64_t)blockIdx.x * 1024 + threadIdx.x / 32 * 128 + threadIdx.x % 32;
#pragma unroll
    for (unsigned r = 0; r < 4; r++)
        if (first + 32 * r < n) from_order_bits(key[r], &keys[first + 32 * r]);
}

/* The lane holds the lower position if the bit `half` of its index is 0. */
static __device__ inline uint32_t bitonic_3_keep(uint32_t mine, uint32_t other, bool upper)
{
    return (other < mine) != upper ? other : mine;
}

/* A step within the warp: half and flip as in rung 1, both compile-time constants. */
static __device__ inline void bitonic_3_near(uint32_t *key, unsigned half, unsigned flip)
{
    const unsigned lane = threadIdx.x % 32;
    uint32_t other[4];
#pragma unroll
    for (unsigned r = 0; r < 4; r++) {
        other[r] = key[r ^ flip / 32];
        if (flip % 32) other[r] = __shfl_xor_sync(ALL_LANES, other[r], (int)(flip % 32));
    }
#pragma unroll
    for (unsigned r = 0; r < 4; r++)
        key[r] = bitonic_3_keep(key[r], other[r], (32 * r + lane) & half);
}

/* A step between warps, through shared memory. */
static __device__ inline void bitonic_3_far(uint32_t *key, uint32_t *x, unsigned half,
                                            unsigned flip)
{
    const unsigned first = threadIdx.x / 32 * 128 + threadIdx.x % 32;
    __syncthreads(); /* all have read the previous keys */
#pragma unroll
    for (unsigned r = 0; r < 4; r++) x[first + 32 * r] = key[r];
    __syncthreads(); /* all keys are written */
#pragma unroll
    for (unsigned r = 0; r < 4; r++)
        key[r] = bitonic_3_keep(key[r], x[(first + 32 * r) ^ flip], (first + 32 * r) & half);
}

static __device__ inline void bitonic_3_clean(uint32_t *key, uint32_t *x, unsigned from)
{
#pragma unroll
    for (unsigned near = 512; near > 0; near /= 2) {
        if (near > from) continue;
        if (near >= 128)
            bitonic_3_far(key, x, near, near);
        else
            bitonic_3_near(key, near, near);
    }
}

extern "C" __global__ void bitonic_3_sort(element *keys, uint64_t n)
{
    __shared__ uint32_t x[1024];
    uint32_t key[4];
    bitonic_3_load(key, keys, n);
#pragma unroll
    for (unsigned half = 1; half < 1024; half *= 2) {
        if (half >= 128)
            bitonic_3_far(key, x, half, 2 * half - 1);
        else
            bitonic_3_near(key, half, 2 * half - 1);
        bitonic_3_clean(key, x, half / 2);
    }
    bitonic_3_store(key, keys, n);
}

extern "C" __global__ void bitonic_3_merge(element *keys, uint64_t n)
{
    __shared__ uint32_t x[1024];
    uint32_t key[4];
    bitonic_3_load(key, keys, n);
    bitonic_3_clean(key, x, 512);
    bitonic_3_store(key, keys, n);
}
