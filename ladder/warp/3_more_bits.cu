/*
 * 3_more_bits.cu - several bits per pass.
 *
 * Idea:   from the highest bit of a digit down, two masks contain the lanes with a smaller digit,
 *         and the lanes whose bits so far are equal; after all bits their population counts give
 *         the position. Keys move once per digit, for a digit of 32 bits only once
 * Cost:   a ballot per bit, a store and a load per digit
 * Wastes: the number of ballots does not change with the digit size; only the moves are fewer
 * From:   the source of rung 1 suggests 2, 3 or 4 bits per pass. A digit whose size does not
 *         divide the number of bits is narrower in the last pass
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void warp_3(const element *in, uint64_t n, element *out, unsigned begin,
                                  unsigned end, unsigned digit_bits)
{
    __shared__ uint32_t room[2][256];
    unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane, pass = 0;
    uint64_t i = global_thread();
    if (i - lane >= n) return; /* one warp per row */
    bool filled = i < n;
    uint32_t key = filled ? order_bits(in[i]) : 0, before_me = (1u << lane) - 1;
    for (unsigned low = begin, high; low < end; low = high) {
        uint32_t less = 0, same = ALL_LANES;
        high = end - low < digit_bits ? end : low + digit_bits;
        for (unsigned bit = high; bit-- > low;) {
            /* Missing keys have only ones, so they stay at the end of the row. */
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
