/*
 * cuda/scan_look.cuh - what lies before a tile: decoupled look-back (Merrill and Garland, 2016) over
 * tiles and groups of 32 tiles.
 *
 *     tiles     |T T T ... T|T T T ... T|T T ...     each says its total when it has it
 *     groups    |     G     |     G     |            the last tile of each says the group's total,
 *     prefixes              P           P            and then what all groups up to it come to
 *
 *     before a tile = P of the groups before + (T + T + ... of its group, before it)
 *     P             = P' + G + G + ... from whichever P' is there already
 *
 * Each sum goes from left to right, and P + G is by definition the next P: the result does not
 * depend on what was there when a block looked.  A word is written once: 32 bits of the value, bit
 * 32 to say that it is there, bit 33 that a head lies within; a value of 64 bits takes two words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SCAN_LOOK_CUH
#define ECHI_CUDA_SCAN_LOOK_CUH

#include "scan_value.cuh"

enum { PARTS = sizeof(value) / 4 };

static __device__ inline void publish(uint64_t *words, uint64_t i, value x, bool head)
{
#pragma unroll
    for (int p = 0; p < PARTS; p++)
        store_relaxed_u64(words + i * PARTS + p, (uint64_t)(head ? 3 : 1) << 32 |
                                                     (uint32_t)(value_bits(x) >> 32 * p));
}

/* Whether the words are there; then what they say. */
static __device__ inline bool peek(const uint64_t *words, uint64_t i, value &x, bool &head)
{
    uint64_t bits = 0, state = ~(uint64_t)0;
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        uint64_t word = load_relaxed_u64(words + i * PARTS + p);
        bits |= (word & 0xffffffff) << 32 * p;
        state &= word >> 32;
    }
    x = value_of_bits(bits);
    head = state & 2;
    return state & 1;
}

/* All lanes' x from lane `from` on, from left to right. */
template <int OP>
static __device__ inline value fold_lanes(const struct scan_args &a, value x, uint32_t from)
{
    if (lane_id() < from) x = neutral<OP>(a);
    value sum = neutral<OP>(a);
#pragma unroll
    for (int lane = 0; lane < 32; lane++) sum = combine<OP>(a, sum, lane_at(x, lane));
    return sum;
}

/* What all groups of the row before group g come to; word is the place of g's. */
template <int OP, int HEADS>
static __device__ inline value look_back(const struct scan_args &a, uint64_t g, uint64_t word)
{
    const uint64_t back = 32 - lane_id(); /* how far before g my group is; g + 1: before the row */
    value x = back == g + 1 ? value_of_bits(a.first) : neutral<OP>(a);
    bool head = false;
    int known = back == g + 1 ? 2 : 0; /* 1: the group's total.  2: nothing before it matters */
    for (;;) { /* until the blocks of the tiles before, which began before this one, have said it */
        if (back <= g && known < 2) {
            if (peek(a.prefixes, word - back, x, head))
                known = 2;
            else if (peek(a.groups, word - back, x, head))
                known = HEADS && head ? 2 : 1;
            else
                known = 0;
        }
        uint32_t ends = __ballot_sync(WARP_ALL, known == 2);
        uint32_t there = __ballot_sync(WARP_ALL, known != 0);
        uint32_t from = last_lane(ends), needed = WARP_ALL << from;
        if (ends && (there & needed) == needed) return fold_lanes<OP>(a, x, from);
    }
}

/* Called by one warp: says what the tile comes to, and finds what lies before it. */
template <int OP, int HEADS>
static __device__ inline value before_tile(const struct scan_args &a, uint64_t tile, value total,
                                           bool head)
{
    const uint64_t row = tile / a.row_tiles, t = tile - row * a.row_tiles;
    const uint64_t g = t / SCAN_GROUP, word = row * a.row_groups + g;
    const uint32_t i = (uint32_t)(t % SCAN_GROUP);
    if (lane_id() == 0) publish(a.tiles, tile, total, head);

    value x = neutral<OP>(a);
    bool x_head = false;
    if (lane_id() < i)
        while (!peek(a.tiles, tile - i + lane_id(), x, x_head)) {}
    uint32_t heads = HEADS ? __ballot_sync(WARP_ALL, x_head) : 0;
    value within = fold_lanes<OP>(a, x, last_lane(heads));

    const bool last = i == SCAN_GROUP - 1;
    value sum = HEADS && head ? total : combine<OP>(a, within, total);
    const bool any = HEADS && (head || heads);
    if (last && lane_id() == 0) publish(a.groups, word, sum, any);
    value before = g ? look_back<OP, HEADS>(a, g, word) : value_of_bits(a.first);
    if (last && lane_id() == 0)
        publish(a.prefixes, word, any ? sum : combine<OP>(a, before, sum), false);
    return HEADS && heads ? within : combine<OP>(a, before, within);
}

#endif
