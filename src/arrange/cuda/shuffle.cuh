/*
 * arrange/cuda/shuffle.cuh - the map of arrange/shuffle.h on the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_SHUFFLE_CUH
#define ECHI_ARRANGE_CUDA_SHUFFLE_CUH

#include "arrange/shuffle.h"

/* x + a random number below m, modulo m, which is at most 2^31. */
static __device__ inline uint32_t shuffle_add(uint32_t x, uint32_t of, uint32_t key, uint32_t m)
{
    uint32_t h = (of ^ key) * ECHI_SHUFFLE_MULTIPLY_1;
    h ^= h >> 15;
    h *= ECHI_SHUFFLE_MULTIPLY_2;
    const uint32_t sum = x + __umulhi(h, m);
    return min(sum, sum - m); /* a negative difference wraps to a large number */
}

/* The source of position i. If a result is past n, the rounds are applied to it again, without
 * another division. */
static __device__ inline uint64_t shuffle_at(const struct echi_shuffle &map, uint64_t i)
{
    const uint32_t a = map.a, b = map.b;
    uint32_t row = (uint32_t)__umul64hi(i, map.inverse); /* may be one too small */
    uint32_t column = (uint32_t)(i - (uint64_t)row * a);
    if (column >= a) {
        column -= a;
        row++;
    }
    do {
#pragma unroll
        for (int r = 0; r < ECHI_SHUFFLE_ROUNDS; r += 2) {
            column = shuffle_add(column, row, map.keys[r], a);
            row = shuffle_add(row, column, map.keys[r + 1], b);
        }
        i = (uint64_t)row * a + column;
    } while (i >= map.n);
    return i;
}

#endif
