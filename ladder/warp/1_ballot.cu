/*
 * 1_ballot.cu - 32 keys, one warp, one bit per pass.
 *
 * Idea:   a ballot returns the bit of all 32 lanes; lanes whose bit is 0 come first. The new
 *         position of a lane is the number of lanes before its group, plus the number of earlier
 *         lanes in its group: both are population counts
 * Cost:   a ballot, a store and a load per bit; two alternating halves of shared memory, so that no
 *         lane overwrites data that another lane has not read
 * Wastes: keys move between lanes through memory
 * From:   the text on warp radix sort, which relied on lanes in lockstep; since sm_70 they must be
 *         synchronised. Its lane t holds element 31 - t, and counts itself among the lanes t to 31;
 *         here lane t holds element t, and counts the lanes before it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void warp_1(const element *in, uint64_t n, element *out, unsigned begin,
                                  unsigned end)
{
    __shared__ uint32_t room[2][256];
    unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane;
    uint64_t i = global_thread();
    if (i - lane >= n) return; /* one warp per row */
    bool filled = i < n;
    uint32_t key = filled ? order_bits(in[i]) : 0, before_me = (1u << lane) - 1;
    for (unsigned bit = begin; bit < end; bit++) {
        /* Missing keys have only ones, so they stay at the end of the row. */
        bool one = !filled || (key >> bit & 1);
        uint32_t ones = __ballot_sync(ALL_LANES, one);
        unsigned zeros = 32 - __popc(ones);
        unsigned place = one ? zeros + __popc(ones & before_me) : __popc(~ones & before_me);
        uint32_t *x = room[bit % 2] + first;
        x[place] = key;
        __syncwarp(); /* all have written */
        key = x[lane];
    }
    if (filled) from_order_bits(key, &out[i]);
}
