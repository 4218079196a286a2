/*
 * 4_bitonic.cu - a bitonic network in registers, for comparison.
 *
 * Idea:   in each of 15 steps a lane and its partner, whose number differs in one bit, compare
 *         their keys: one keeps the minimum, the other the maximum. Sequences of 2, 4, 8, 16, 32
 *         become sorted
 * Cost:   15 shuffles and comparisons, for any key width
 * Wastes: nothing for 32 keys of 32 bits; it cannot sort stably by some of the bits
 * From:   Batcher (1968)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void warp_4(const element *in, uint64_t n, element *out)
{
    unsigned lane = threadIdx.x % 32;
    uint64_t i = global_thread();
    if (i - lane >= n) return;                              /* one warp per row */
    uint32_t key = i < n ? order_bits(in[i]) : 0xffffffffu; /* the maximum key */
#pragma unroll
    for (unsigned sorted = 2; sorted <= 32; sorted *= 2) {
#pragma unroll
        for (unsigned apart = sorted / 2; apart > 0; apart /= 2) {
            uint32_t other = __shfl_xor_sync(ALL_LANES, key, apart);
            bool rising = (lane & sorted) == 0, lower = (lane & apart) == 0;
            bool keep_less = rising == lower;
            key = (other < key) == keep_less ? other : key;
        }
    }
    if (i < n) from_order_bits(key, &out[i]);
}
