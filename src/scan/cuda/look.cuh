/*
 * scan/cuda/look.cuh - the exclusive prefix of a tile: decoupled look-back (Merrill and Garland,
 * 2016) over the tiles of its group of 32, and one prefix for all preceding groups, which a
 * dedicated block adds up.
 *
 *     tiles     |T T T ... T|T T T ... T|T T ...     each publishes its total (aggregate)
 *     prefixes              P           P            inclusive prefix at the end of each group
 *
 *     exclusive prefix of a tile = P of the groups before + (T + T + ... of its group, before it)
 *     P                          = P before + (T + ... + T of the group)
 *
 * Each sum goes from left to right, in whatever order the terms are published.  A descriptor is
 * written once: 32 bits of the value, bit 32 set if it is valid, bit 33 if it contains a flag; a
 * value of 64 bits takes two words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_LOOK_CUH
#define ECHI_SCAN_CUDA_LOOK_CUH

#include "scan/cuda/line.cuh"

enum { PARTS = sizeof(value) / 4 };

static __device__ inline uint64_t word_of(value x, bool flag, int part)
{
    return (uint64_t)(flag ? 3 : 1) << 32 | (uint32_t)(value_bits(x) >> 32 * part);
}

static __device__ inline void publish(uint64_t *words, uint64_t i, value x, bool flag)
{
#pragma unroll
    for (int p = 0; p < PARTS; p++) store_relaxed_u64(words + i * PARTS + p, word_of(x, flag, p));
}

struct words {
    uint64_t word[PARTS];
};

static __device__ inline void look(const uint64_t *words, uint64_t i, struct words &w)
{
#pragma unroll
    for (int p = 0; p < PARTS; p++) w.word[p] = load_relaxed_u64(words + i * PARTS + p);
}

/* Waits for all words, one after the other.  Each lane waits for its own, without synchronising the
 * warp, so that a scheduler that runs blocks in turn sees that this block only waits. */
static __device__ inline void await(const uint64_t *words, uint64_t i, struct words &w)
{
#pragma unroll
    for (int p = 0; p < PARTS; p++)
        while (!(w.word[p] >> 32)) w.word[p] = load_relaxed_u64(words + i * PARTS + p);
}

static __device__ inline bool has_flag(const struct words &w)
{
    return w.word[0] >> 33 & 1;
}

static __device__ inline value value_in(const struct words &w)
{
    uint64_t bits = (uint32_t)w.word[0];
    if (PARTS == 2) bits |= w.word[PARTS - 1] << 32;
    return value_of_bits(bits);
}

/* Combines all lanes' x from lane `from` on, from left to right. */
template <int OP>
static __device__ inline value fold_lanes(const struct scan_args &a, value x, uint32_t from)
{
    if (lane_id() < from) x = neutral<OP>(a);
    value sum = neutral<OP>(a);
#pragma unroll 8 /* one register per shuffle in flight; a block has few registers */
    for (int lane = 0; lane < 32; lane++) sum = combine<OP>(a, sum, lane_at(x, lane));
    return sum;
}

/* ---- A tile ---- */

/* The position of a tile. */
struct place {
    uint64_t tile, row; /* tile: over all rows, NO_TILE: none */
    uint64_t in_row;    /* index of the tile in its row */
};

#define NO_TILE (~(uint64_t)0)

static __device__ inline void keep_place(const struct scan_args &a, struct place &p, uint64_t tile)
{
    const bool any = tile < a.rows * a.row_tiles;
    p.tile = any ? tile : NO_TILE;
    p.row = any && a.rows > 1 ? tile / a.row_tiles : 0;
    p.in_row = tile - p.row * a.row_tiles;
}

/* Called by one warp: the exclusive prefix of the tile.  It loads the descriptors only now: a round
 * earlier too few would be valid, and the repeated loads would arrive later. */
template <int OP, int SEGMENTED>
static __device__ inline value before_tile(const struct scan_args &a, const struct place &p)
{
    const uint32_t i = (uint32_t)p.in_row % SCAN_GROUP;
    const uint64_t g = p.in_row / SCAN_GROUP;
    struct words mine = {}, prefix = {};
    /* All descriptors are loaded at once, and then polled until the blocks of the preceding tiles,
     * which began before this one, have published them. */
    if (lane_id() < i) look(a.tiles, p.tile - i + lane_id(), mine);
    if (g) look(a.prefixes, p.row * a.row_groups + g - 1, prefix);
    if (lane_id() < i) await(a.tiles, p.tile - i + lane_id(), mine);
    if (g) await(a.prefixes, p.row * a.row_groups + g - 1, prefix);
    __syncwarp(); /* all lanes have their descriptors */
    value x = lane_id() < i ? value_in(mine) : neutral<OP>(a);
    uint32_t flags = SEGMENTED ? __ballot_sync(WARP_ALL, lane_id() < i && has_flag(mine)) : 0;
    value within = fold_lanes<OP>(a, x, last_lane(flags));
    if (SEGMENTED && flags) return within;
    return combine<OP>(a, g ? value_in(prefix) : value_of_bits(a.first), within);
}

/* ---- The groups ---- */

/* Prefixes that the warps of a block exchange: like tile status descriptors, but the upper half is
 * the number of the group, truncated, plus 1. */
struct prefix_ring {
    uint64_t word[2 * SCAN_WARPS * PARTS];
};

static __device__ inline uint64_t *ring_slot(struct prefix_ring &s, uint64_t g)
{
    return s.word + g % (2 * SCAN_WARPS) * PARTS;
}

static __device__ inline value await_prefix(struct prefix_ring &s, uint64_t g)
{
    struct words w;
#pragma unroll
    for (int p = 0; p < PARTS; p++) do
            w.word[p] = load_shared_u64(ring_slot(s, g) + p);
        while ((uint32_t)(w.word[p] >> 32) != (uint32_t)(g + 1));
    return value_in(w);
}

static __device__ inline void store_prefix(struct prefix_ring &s, uint64_t g, value x)
{
#pragma unroll
    for (int p = 0; p < PARTS; p++)
        store_shared_u64(ring_slot(s, g) + p, (g + 1) << 32 | (uint32_t)(value_bits(x) >> 32 * p));
}

/* The block that adds up the groups, except each row's last: the warps take turns. */
template <int OP, int SEGMENTED>
static __device__ inline void add_groups(const struct scan_args &a, struct prefix_ring &s)
{
    const uint64_t each = a.row_groups - 1, all = a.rows * each;
    for (uint32_t i = threadIdx.x; i < 2 * SCAN_WARPS * PARTS; i += SCAN_WARPS * 32) s.word[i] = 0;
    __syncthreads(); /* the ring is clear */
    for (uint64_t n = warp_id(); n < all; n += SCAN_WARPS) {
        const uint64_t row = a.rows == 1 ? 0 : n / each, g = n - row * each;
        const uint64_t tile = row * a.row_tiles + g * SCAN_GROUP;
        struct words w;
        look(a.tiles, tile + lane_id(), w);
        await(a.tiles, tile + lane_id(), w);
        __syncwarp(); /* all tiles of the group have published their totals */
        uint32_t flags = SEGMENTED ? __ballot_sync(WARP_ALL, has_flag(w)) : 0;
        value sum = fold_lanes<OP>(a, value_in(w), last_lane(flags));
        value before = value_of_bits(a.first);
        /* Each warp waits for the previous one, so that none is two rounds ahead of another. */
        if (n) before = await_prefix(s, n - 1);
        if (g == 0) before = value_of_bits(a.first);
        if (!(SEGMENTED && flags)) sum = combine<OP>(a, before, sum);
        __syncwarp(); /* all lanes have read it */
        if (lane_id() == 0) {
            store_prefix(s, n, sum);
            publish(a.prefixes, row * a.row_groups + g, sum, false);
        }
    }
}

#endif
