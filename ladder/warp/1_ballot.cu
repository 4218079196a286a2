/*
 * 1_ballot.cu - 32 keys, one warp, one bit a pass.
 *
 * Idea:   a ballot tells every lane the bit of all 32; the lanes whose bit is 0 come first.  A
 *         lane's new place is the number of lanes that come before its group, and of those in its
 *         group that stand before it: both are population counts
 * Cost:   a ballot, a store and a load a bit; two halves of shared memory in turn, so that nobody
 *         writes what another lane has yet to read
 * Wastes: keys go through memory from one lane to another
 * From:   the course's warp sort, which relied on lanes that go in step: since sm_70 they are told
 *         to meet
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
    if (i - lane >= n) return; /* a row for a warp */
    bool filled = i < n;
    uint32_t key = filled ? order_bits(in[i]) : 0, before_me = (1u << lane) - 1;
    for (unsigned bit = begin; bit < end; bit++) {
        /* What is behind the end of the row has ones only, and so stays there. */
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
