/*
 * 3_more_bits.cu - several bits a pass.
 *
 * Idea:   from the highest bit of a digit down, two masks say which lanes have a lesser digit than
 *         mine, and which have the same as far as is known; when all its bits are seen, their
 *         counts are my place.  The keys move once a digit, and of a digit of 32 bits once at all
 * Cost:   a ballot a bit, a store and a load a digit
 * Wastes: the ballots are as many as before, whatever the digit: only the moves are fewer
 * From:   the course's "two or more bits a pass"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void warp_3(const element *in, uint64_t n, element *out, unsigned digit_bits)
{
    __shared__ uint32_t room[2][256];
    unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane, pass = 0;
    uint64_t i = global_thread();
    if (i - lane >= n) return; /* a row for a warp */
    bool filled = i < n;
    uint32_t key = filled ? order_bits(in[i]) : 0, before_me = (1u << lane) - 1;
    for (unsigned begin = 0; begin < 32; begin += digit_bits) {
        uint32_t less = 0, same = ALL_LANES;
        for (unsigned bit = begin + digit_bits; bit-- > begin;) {
            /* What is behind the end of the row has ones only, and so stays there. */
            bool one = !filled || (key >> bit & 1);
            uint32_t ones = __ballot_sync(ALL_LANES, one);
            if (one) less |= same & ~ones;
            same &= one ? ones : ~ones;
        }
        uint32_t *x = room[pass++ % 2] + first;
        x[__popc(less) + __popc(same & before_me)] = key;
        __syncwarp(); /* all have written */
        key = x[lane];
    }
    if (filled) from_order_bits(key, &out[i]);
}
