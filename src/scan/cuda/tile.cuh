/*
 * scan/cuda/tile.cuh - arrays, and rows longer than a tile, by persistent blocks, with look-back.
 *
 * A block processes tile after tile; in each round it works on several of them:
 *
 *     fetch     one tile is copied to a stage, one of several in shared memory
 *     sum       the tile fetched a round before: the totals of its lines
 *     publish   the tile summed a round before: its total, so that later blocks can continue
 *     look      the tile to be written in the next round: its exclusive prefix
 *     write     the oldest tile, which frees its stage
 *
 * Eight warps fetch, sum and write, each thread its own vectors; one publishes; one computes the
 * exclusive prefix and takes the next tile.  One barrier ends the round.  Several rounds pass
 * between the publication of a tile's total and the use of its exclusive prefix, so that the
 * preceding tiles have time to publish their totals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_TILE_CUH
#define ECHI_SCAN_CUDA_TILE_CUH

#include "scan/cuda/look.cuh"
#include "scan/cuda/stage.cuh"

enum { PLACES = 16 }; /* rounds; at least SCAN_STAGES + 2 */

struct tile_shared {
    struct place places[PLACES];          /* of the tiles fetched in the last rounds */
    value totals[2][SCAN_LINES];          /* of a tile's lines, from the last flag on, or all */
    uint32_t any_flag[2][SCAN_LINES];     /* the line has a flag */
    value lines[SCAN_STAGES][SCAN_LINES]; /* prefix of each line in its tile */
    uint32_t flagged[SCAN_STAGES];        /* lines that have flags */
    value before[2];                      /* exclusive prefix of the tile */
    uint64_t ticket;
    uint32_t last; /* this block is the last one */
    struct prefix_ring ring;
};

/* ---- The work of each of eight warps on a tile ---- */

template <int OP, int SEGMENTED>
static __device__ inline void fetch_tile(const struct scan_args &a, const struct scan_row &row,
                                         const struct place &p, int stage)
{
    const uint64_t at = position(p);
    uint4 *to = stage_vector(stage);
    if (tile_loaded_whole(a, row, p.in_row * TILE)) {
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) fetch_whole(a, row, at + k * LINE, to + k * SCAN_WARP);
    } else {
#pragma unroll 1
        for (int k = 0; k < SCAN_SLOTS; k++)
            fetch_vector(a, row, at + k * LINE, to + k * SCAN_WARP);
    }
    if (!has_flags<OP, SEGMENTED>(a) || lane_id() >= LINE_FLAGS) return;
    uint32_t *flags = stage_flags(a, stage) + lane_id();
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        const uint64_t word = (at - lane_id() * VECTOR + k * LINE) / 32 + lane_id();
        uint32_t *to_word = flags + k * LINE_FLAGS;
        if (word * 32 >= a.columns)
            *to_word = 0;
        else
            fetch_word(to_word, a.flags + word);
    }
}

template <int OP, int SEGMENTED>
static __device__ inline void sum_tile(const struct scan_args &a, struct tile_shared &s, int stage,
                                       int parity)
{
    const int first = threadIdx.x / 32 * SCAN_SLOTS; /* this warp's first line */
    struct line_part part;
    value x[SCAN_SLOTS];
    if (SEGMENTED) __syncwarp(); /* the other lanes' copies are complete, too */
    take_part<OP, SEGMENTED>(a, stage, part);
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++)
        x[k] = vector_total<OP, SEGMENTED>(a, part.v[k], part.flags[k]);
    if (!has_flags<OP, SEGMENTED>(a)) {
        value total = lines_total<OP>(a, x);
        if (lane_id() < SCAN_SLOTS) s.totals[parity][first + lane_id()] = total;
    } else {
        uint32_t from[SCAN_SLOTS];
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            uint32_t with_flag = __ballot_sync(WARP_ALL, part.flags[k] != 0);
            from[k] = last_lane(with_flag & (lanes_below() | 1u << lane_id()));
            if (lane_id() == 31) s.any_flag[parity][first + k] = with_flag;
        }
        lines_scan<OP>(a, x, from);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++)
            if (lane_id() == 31) s.totals[parity][first + k] = x[k];
    }
}

template <int OP, int SEGMENTED>
static __device__ inline void write_tile(const struct scan_args &a, const struct tile_shared &s,
                                         const struct scan_row &row, const struct place &p,
                                         int stage, value before, struct line_part &part)
{
    const uint64_t at = position(p);
    const int first = threadIdx.x / 32 * SCAN_SLOTS;
    uint32_t below[SCAN_SLOTS];
    value x[SCAN_SLOTS];
    lines_before<OP, SEGMENTED>(a, part, x, below);
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        value line = s.lines[stage][first + k];
        if (!SEGMENTED || !(s.flagged[stage] & ((1u << (first + k)) - 1)))
            line = combine<OP>(a, before, line);
        if (!SEGMENTED || !below[k]) x[k] = combine<OP>(a, line, x[k]);
    }
    finish_part<OP, SEGMENTED>(a, row, at, part, x, tile_stored_whole(a, row, p.in_row * TILE));
}

/* ---- The work of one warp ---- */

/* Publishes a tile's total, and stores the prefix of each of its lines. */
template <int OP, int SEGMENTED>
static __device__ inline void publish_tile(const struct scan_args &a, struct tile_shared &s,
                                           const struct place &p, int stage, int parity)
{
    const value x = s.totals[parity][lane_id()];
    const uint32_t flagged = has_flags<OP, SEGMENTED>(a)
                                 ? __ballot_sync(WARP_ALL, s.any_flag[parity][lane_id()] != 0)
                                 : 0;
    value sum = lines_sum<OP, SEGMENTED>(a, x, flagged);
    if (lane_id() == 31) publish(a.tiles, p.tile, sum, flagged != 0);
    sum = lane_up(sum, 1);
    s.lines[stage][lane_id()] = lane_id() ? sum : neutral<OP>(a);
    if (SEGMENTED && lane_id() == 0) s.flagged[stage] = flagged;
}

static __device__ inline uint64_t take_tile(const struct scan_args &a)
{
    return atomicAdd((unsigned long long *)&a.counters[0], 1) - a.servers;
}

/* ---- The block ---- */

template <int OP, int SEGMENTED> static __device__ inline void scan_tiles(const struct scan_args &a)
{
    __shared__ struct tile_shared s;
    wait_for_earlier();
    /* Blocks may begin in any order, and take tiles dynamically: preceding tiles are therefore in
     * progress. */
    if (threadIdx.x == 0) s.ticket = atomicAdd((unsigned long long *)&a.counters[0], 1);
    __syncthreads(); /* the ticket is known */
    if (s.ticket < a.servers) {
        add_groups<OP, SEGMENTED>(a, s.ring);
        leave_zeros(a, s.last);
        return;
    }
    const bool more = a.rows * a.row_tiles > gridDim.x - a.servers;
    const uint32_t warp = warp_id();
    const int stages = (int)a.stages;
    const struct scan_row first = row_of<SEGMENTED>(a, 0);
    uint64_t next = NO_TILE; /* by lane 0 of the warp that looks back */
    if (threadIdx.x == 0) keep_place(a, s.places[0], s.ticket - a.servers);
    if (threadIdx.x == 32 * (SCAN_WORKERS + 1) && more) next = take_tile(a);
    __syncthreads(); /* the first tile is known */

    /* A tile is identified by the round that fetches it. */
    for (int round = 0, stage = 0;; round++, stage = stage + 1 == stages ? 0 : stage + 1) {
        const struct place &fetched = s.places[round % PLACES];
        const struct place &written = s.places[(round - stages) & (PLACES - 1)];
        const bool writes = round >= stages;
        const int before = stage ? stage - 1 : stages - 1, two = before ? before - 1 : stages - 1;
        if (writes && written.tile == NO_TILE) break;
        if (warp < SCAN_WORKERS) {
            struct line_part part;
            if (writes) take_part<OP, SEGMENTED>(a, stage, part);
            if (fetched.tile != NO_TILE)
                fetch_tile<OP, SEGMENTED>(a, row_at(a, first, fetched.row), fetched, stage);
            fetch_commit();
            if (writes)
                write_tile<OP, SEGMENTED>(a, s, row_at(a, first, written.row), written, stage,
                                          s.before[round & 1], part);
            fetch_wait();
            if (round >= SCAN_AHEAD && s.places[(round - SCAN_AHEAD) % PLACES].tile != NO_TILE)
                sum_tile<OP, SEGMENTED>(a, s, before, round & 1);
        } else if (warp == SCAN_WORKERS) {
            const struct place &p = s.places[(round - SCAN_AHEAD - 1) & (PLACES - 1)];
            if (round > SCAN_AHEAD && p.tile != NO_TILE)
                publish_tile<OP, SEGMENTED>(a, s, p, two, (round - 1) & 1);
        } else {
            const struct place &p = s.places[(round + 1 - stages) & (PLACES - 1)];
            if (round + 1 >= stages && p.tile != NO_TILE) {
                value x = before_tile<OP, SEGMENTED>(a, p);
                if (lane_id() == 0) s.before[(round + 1) & 1] = x;
            }
            if (lane_id() == 0) {
                keep_place(a, s.places[(round + 1) % PLACES], next);
                if (next < a.rows * a.row_tiles) next = take_tile(a); /* known in the next round */
            }
        }
        __syncthreads(); /* the round is over */
    }
    leave_zeros(a, s.last);
}

#endif
