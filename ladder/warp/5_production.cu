/*
 * 5_production.cu - rows for a library that sorts arrays.
 *
 * Idea:   a key becomes a 64-bit number whose upper half is its row, so that one sort of all
 *         numbers sorts every row; bits above the last row number are not sorted by
 * Cost:   one pass over memory before and after the sort, and twice the bytes within
 * Wastes: rows that fit in a warp pass through global memory several times
 * From:   how a caller of ech_sort() can sort rows
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void warp_5_join(const element *in, uint64_t n, uint64_t *joined)
{
    uint64_t i = global_thread();
    if (i < n) joined[i] = i / 32 << 32 | order_bits(in[i]);
}

extern "C" __global__ void warp_5_split(const uint64_t *joined, uint64_t n, element *out)
{
    uint64_t i = global_thread();
    if (i < n) from_order_bits((uint32_t)joined[i], &out[i]);
}
