/*
 * 2_shuffle.cu - the same by shuffles, without shared memory.
 *
 * Idea:   a lane takes the key that belongs to it from the register of another.  A shuffle asks
 *         whose key to take, not where to put one's own: lane p wants the lane whose zero is the
 *         p-th, or whose one is, and finds it by halving the ballot
 * Cost:   a ballot, a shuffle and five population counts a bit
 * Wastes: the search takes longer than the trip through shared memory that it saves
 * From:   the shuffles of sm_30 (2012); begin and end are the course's
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The place of the k-th bit that is set, from 0: its half, then its quarter ... of the word. */
static __device__ inline unsigned warp_2_find(uint32_t bits, unsigned k)
{
    unsigned place = 0;
#pragma unroll
    for (unsigned width = 16; width > 0; width /= 2) {
        unsigned below = __popc(bits >> place & ((1u << width) - 1));
        if (k >= below) {
            k -= below;
            place += width;
        }
    }
    return place;
}

extern "C" __global__ void warp_2(const element *in, uint64_t n, element *out, unsigned begin,
                                  unsigned end)
{
    unsigned lane = threadIdx.x % 32;
    uint64_t i = global_thread();
    if (i - lane >= n) return; /* a row for a warp */
    bool filled = i < n;
    uint32_t key = filled ? order_bits(in[i]) : 0;
    for (unsigned bit = begin; bit < end; bit++) {
        /* What is behind the end of the row has ones only, and so stays there. */
        uint32_t ones = __ballot_sync(ALL_LANES, !filled || (key >> bit & 1));
        unsigned zeros = 32 - __popc(ones);
        bool zero = lane < zeros;
        unsigned from = warp_2_find(zero ? ~ones : ones, zero ? lane : lane - zeros);
        key = __shfl_sync(ALL_LANES, key, from);
    }
    if (filled) from_order_bits(key, &out[i]);
}
