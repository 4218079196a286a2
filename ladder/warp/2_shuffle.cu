/*
 * 2_shuffle.cu - the same by shuffles, without shared memory.
 *
 * Idea:   a lane reads the key for its position from a register of another lane. A shuffle
 *         specifies the source, not the destination: lane p needs the lane with the p-th zero, or
 *         with the corresponding one, and finds it by binary search in the ballot
 * Cost:   a ballot, a shuffle and five population counts per bit
 * Wastes: the search takes longer than the access to shared memory that it saves
 * From:   the shuffles of sm_30 (2012); begin and end are from the source of rung 1
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The position of the k-th set bit, from 0, by binary search. */
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
    if (i - lane >= n) return; /* one warp per row */
    bool filled = i < n;
    uint32_t key = filled ? order_bits(in[i]) : 0;
    for (unsigned bit = begin; bit < end; bit++) {
        /* Missing keys have only ones, so they stay at the end of the row. */
        uint32_t ones = __ballot_sync(ALL_LANES, !filled || (key >> bit & 1));
        unsigned zeros = 32 - __popc(ones);
        bool zero = lane < zeros;
        unsigned from = warp_2_find(zero ? ~ones : ones, zero ? lane : lane - zeros);
        key = __shfl_sync(ALL_LANES, key, from);
    }
    if (filled) from_order_bits(key, &out[i]);
}
