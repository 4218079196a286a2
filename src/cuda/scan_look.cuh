/*
 * cuda/scan_look.cuh - what lies before a tile: decoupled look-back (Merrill and Garland, 2016)
 * over tiles and groups of 32 tiles.
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

static __device__ inline uint64_t word_of(value x, bool head, int part)
{
    return (uint64_t)(head ? 3 : 1) << 32 | (uint32_t)(value_bits(x) >> 32 * part);
}

static __device__ inline void publish(uint64_t *words, uint64_t i, value x, bool head)
{
#pragma unroll
    for (int p = 0; p < PARTS; p++)
        store_relaxed_u64(words + i * PARTS + p, word_of(x, head, p));
}

/* The same by a block that only reads the tile: once the block that writes it sees this, it may. */
static __device__ inline void publish_ahead(uint64_t *words, uint64_t i, value x, bool head)
{
#pragma unroll
    for (int p = 0; p < PARTS; p++)
        store_release_u64(words + i * PARTS + p, word_of(x, head, p));
}

static __device__ inline void await_reader(const uint64_t *words, uint64_t i)
{
    while (!(load_acquire_u64(words + i * PARTS + PARTS - 1) >> 32)) {}
}

struct words {
    uint64_t word[PARTS];
};

static __device__ inline void look(const uint64_t *words, uint64_t i, struct words &w)
{
#pragma unroll
    for (int p = 0; p < PARTS; p++) w.word[p] = load_relaxed_u64(words + i * PARTS + p);
}

static __device__ inline bool are_there(const struct words &w)
{
    uint64_t state = w.word[0];
    if (PARTS == 2) state &= w.word[PARTS - 1];
    return state >> 32 & 1;
}

static __device__ inline bool have_head(const struct words &w)
{
    return w.word[0] >> 33 & 1;
}

static __device__ inline value value_in(const struct words &w)
{
    uint64_t bits = (uint32_t)w.word[0];
    if (PARTS == 2) bits |= w.word[PARTS - 1] << 32;
    return value_of_bits(bits);
}

/* All lanes' x from lane `from` on, from left to right. */
template <int OP>
static __device__ inline value fold_lanes(const struct scan_args &a, value x, uint32_t from)
{
    if (lane_id() < from) x = neutral<OP>(a);
    value sum = neutral<OP>(a);
#pragma unroll 8 /* a register each for the shuffles under way, of which a block has few */
    for (int lane = 0; lane < 32; lane++) sum = combine<OP>(a, sum, lane_at(x, lane));
    return sum;
}

/* What all groups of the row before group g come to; word is the place of g's.  prefix and group
 * are what a look at those of the group `back` before it has shown; one is before the row when back
 * is g + 1. */
template <int OP, int HEADS>
static __device__ inline value look_back(const struct scan_args &a, uint64_t g, uint64_t word,
                                         uint64_t back, struct words prefix, struct words group)
{
    value x = back == g + 1 ? value_of_bits(a.first) : neutral<OP>(a);
    int known = back == g + 1 ? 2 : 0; /* 1: the group's total.  2: nothing before it matters */
    for (;;) { /* until the blocks of the tiles before, which began before this one, have said it */
        if (back <= g && known < 2) {
            if (are_there(prefix)) {
                x = value_in(prefix);
                known = 2;
            } else if (are_there(group)) {
                x = value_in(group);
                known = HEADS && have_head(group) ? 2 : 1;
            }
        }
        uint32_t ends = __ballot_sync(WARP_ALL, known == 2);
        uint32_t there = __ballot_sync(WARP_ALL, known != 0);
        uint32_t from = last_lane(ends), needed = WARP_ALL << from;
        if (ends && (there & needed) == needed) return fold_lanes<OP>(a, x, from);
        if (back <= g && known < 2) {
            look(a.prefixes, word - back, prefix);
            if (!known) look(a.groups, word - back, group);
        }
    }
}

/* Called by one warp: says what the tile comes to, unless that is known, and finds what lies before
 * it. */
template <int OP, int HEADS>
static __device__ inline value before_tile(const struct scan_args &a, uint64_t tile, value total,
                                           bool head, bool known)
{
    const uint64_t row = tile / a.row_tiles, t = tile - row * a.row_tiles;
    const uint64_t g = t / SCAN_GROUP, word = row * a.row_groups + g;
    const uint32_t i = (uint32_t)(t % SCAN_GROUP);
    const uint64_t back = 32 - lane_id();
    struct words mine = {}, prefix = {}, group = {};
    if (!known && lane_id() == 0) publish(a.tiles, tile, total, head);

    /* All are asked for at once: the way to the second level of the cache is long. */
    if (lane_id() < i) look(a.tiles, tile - i + lane_id(), mine);
    if (back <= g) look(a.prefixes, word - back, prefix);
    if (back <= g) look(a.groups, word - back, group);
    while (lane_id() < i && !are_there(mine)) look(a.tiles, tile - i + lane_id(), mine);
    value x = lane_id() < i ? value_in(mine) : neutral<OP>(a);
    uint32_t heads = HEADS ? __ballot_sync(WARP_ALL, lane_id() < i && have_head(mine)) : 0;
    value within = fold_lanes<OP>(a, x, last_lane(heads));

    const bool last = i == SCAN_GROUP - 1;
    value sum = HEADS && head ? total : combine<OP>(a, within, total);
    const bool any = HEADS && (head || heads);
    if (last && lane_id() == 0) publish(a.groups, word, sum, any);
    value before = value_of_bits(a.first);
    if (g) before = look_back<OP, HEADS>(a, g, word, back, prefix, group);
    if (last && lane_id() == 0)
        publish(a.prefixes, word, any ? sum : combine<OP>(a, before, sum), false);
    return HEADS && heads ? within : combine<OP>(a, before, within);
}

#endif
