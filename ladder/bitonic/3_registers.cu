/*
 * 3_registers.cu - steps within a warp need neither shared memory nor barriers.
 *
 * Idea:   a warp holds 128 keys, four a lane: key 32 r + lane in register r.  Keys 32 and 64
 *         apart are in two registers of one lane, nearer ones in the same register of two lanes,
 *         which swap them by a shuffle and keep the lesser or the greater; only steps 128 or more
 *         apart go through memory
 * Cost:   of the 55 steps of a tile 6 need barriers, and no bank is fought for
 * Wastes: both lanes of a pair compare; and the array still goes through memory log2(n / 1024) ^
 *         2 / 2 times, which no sort that compares by a fixed pattern can avoid: radix sort goes
 *         four times
 * From:   the shuffles of sm_30 (2012)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The bits that order as keys do; past the end, where nothing is written back, the greatest. */
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

/* The lane has the lower of the two where the bit `half` of its number is 0. */
static __device__ inline uint32_t bitonic_3_keep(uint32_t mine, uint32_t other, bool upper)
{
    return (other < mine) != upper ? other : mine;
}

/* A step within the warp: half and flip as in rung 1, both known to the compiler. */
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
    __syncthreads(); /* all have read what was there before */
#pragma unroll
    for (unsigned r = 0; r < 4; r++) x[first + 32 * r] = key[r];
    __syncthreads(); /* all keys are there */
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
