/*
 * 5_production.cu - rows for a library that sorts arrays.
 *
 * Idea:   a key becomes a number of 64 bits whose upper half is its row, so that one sort of all of
 *         them sorts every row; its bits above the last row's need not be looked at
 * Cost:   a pass over memory before and behind the sort, and twice the bytes within
 * Wastes: rows that fit a warp go through global memory several times
 * From:   what a caller of ech_sort() does, which has no rows
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
