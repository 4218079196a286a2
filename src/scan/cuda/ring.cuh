/*
 * scan/cuda/ring.cuh - scans of large arrays, forward, with look-back, on GPUs with bulk
 * asynchronous copies (TMA, sm_90): one persistent block per multiprocessor with specialised warps.
 *
 *     load     takes the next tile when a stage of the ring is free, and starts its copy
 *     sum      four warps, each every fourth tile: the totals of lines; publishes the tile's total
 *     group    publishes a group's total, if this block has the group's last tile
 *     look     two warps, in turn: the exclusive prefix of the tile, from the totals of its group,
 *              and the groups since the tile that this warp processed last
 *     write    eight warps: scan their lines in registers, which frees the stage; wait, and write
 *
 * The warps synchronise at barriers in shared memory, one of each kind per stage, or two for two
 * rounds of a stage; there is no barrier for the entire block.  Few tiles are in flight at a time:
 * the ring holds the tiles that wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_RING_CUH
#define ECHI_SCAN_CUDA_RING_CUH

#include "scan/cuda/stage.cuh"

enum {
    FIRST_SUMMER = SCAN_WORKERS,
    FIRST_LOOKER = FIRST_SUMMER + SCAN_RING_SUMMERS,
    GROUPER = FIRST_LOOKER + SCAN_RING_LOOKERS,
    LOADER = GROUPER + 1
};

struct ring_shared {
    uint64_t full[SCAN_RING_STAGES];       /* the tile is loaded */
    uint64_t empty[SCAN_RING_STAGES];      /* all warps have read it */
    uint64_t summed[2 * SCAN_RING_STAGES]; /* the totals of lines, and their flags, are known */
    uint64_t ready[2 * SCAN_RING_STAGES];  /* the exclusive prefix of the tile is known, too */
    /* Several warps read these after barriers of several kinds: load_shared_u64(). */
    uint64_t tile[2 * SCAN_RING_STAGES];       /* NO_TILE: the end */
    uint64_t before[2 * SCAN_RING_STAGES];     /* bits of the tile's exclusive prefix */
    uint64_t flagged[SCAN_RING_STAGES];        /* lines that have flags */
    value lines[SCAN_RING_STAGES][SCAN_LINES]; /* prefix of each line in its tile */
    uint32_t last;                             /* this block is the last one */
};

static_assert(sizeof(struct ring_shared) <=
                  SCAN_RING_SHARED + SCAN_RING_VALUES * (int)sizeof(value),
              "the host leaves less room");

/* The stage and phase of the block's k-th tile. */
struct turn {
    uint32_t stage, half; /* k % stages; k / stages, even or odd */
    uint32_t parity;      /* of the phase of values that are kept for two rounds */
};

static __device__ inline void skip(const struct scan_args &a, struct turn &t, uint32_t by)
{
    t.stage += by;
    if (t.stage < a.stages) return;
    t.stage -= a.stages;
    t.parity ^= t.half;
    t.half ^= 1;
}

/* The slot of values that are kept for two rounds. */
static __device__ inline uint32_t slot(const struct turn &t)
{
    return t.stage + t.half * SCAN_RING_STAGES;
}

static __device__ inline void wait(uint64_t *barrier, uint32_t parity)
{
    while (!mbarrier_try_wait(barrier, parity)) continue;
}

/* ---- Load ---- */

template <int SEGMENTED>
static __device__ inline void load_tile(const struct scan_args &a, struct ring_shared &s,
                                        const struct scan_row &row, uint64_t at, uint32_t stage)
{
    uint4 *to = (uint4 *)shared_bytes + stage * STAGE_VECTORS;
    uint32_t *flags =
        (uint32_t *)((uint4 *)shared_bytes + a.stages * STAGE_VECTORS) + stage * STAGE_FLAGS;
    uint32_t bytes = SCAN_TILE_BYTES, flags_bytes = SEGMENTED ? STAGE_FLAGS * 4 : 0;
    if (row.n - at < TILE) { /* the end of the row, padded with zeros */
        bytes = (uint32_t)(row.n - at) / VECTOR * 16;
        flags_bytes = 0;
        for (uint32_t i = bytes / 16 + lane_id(); i < STAGE_VECTORS; i += 32) {
            union vector v;
            load_elements(a, row, at + i * VECTOR, v);
            to[i] = v.all;
        }
        for (uint32_t i = lane_id(); SEGMENTED && i < STAGE_FLAGS; i += 32)
            flags[i] = at + i * 32 < row.n ? a.flags[at / 32 + i] : 0;
        copy_bulk_fence();
        __syncwarp(); /* all lanes have stored it */
    }
    if (lane_id() == 0) {
        mbarrier_arrive_expect(&s.full[stage], bytes + flags_bytes);
        if (bytes) copy_bulk_once(to, row.in + at, bytes, &s.full[stage]);
        if (flags_bytes) copy_bulk_once(flags, a.flags + at / 32, flags_bytes, &s.full[stage]);
    }
}

static __device__ inline uint64_t ring_ticket(const struct scan_args &a)
{
    return atomicAdd((unsigned long long *)&a.counters[0], 1);
}

/* The first tickets of a block, in the lanes. One thread takes them, because they must ascend with
 * the lane: the warps that look back only advance, and the first ticket past the last tile is the
 * end. The atomics of the lanes of a warp have no defined order. */
static __device__ inline uint64_t first_tickets(const struct scan_args &a)
{
    unsigned long long ticket[SCAN_RING_AHEAD] = {};
    uint64_t mine = 0;
    if (lane_id() == 0) {
#pragma unroll
        for (int i = 0; i < SCAN_RING_AHEAD; i++) ticket[i] = ring_ticket(a);
    }
#pragma unroll
    for (int i = 0; i < SCAN_RING_AHEAD; i++) {
        const uint64_t given = __shfl_sync(WARP_ALL, ticket[i], 0);
        if ((int)lane_id() == i) mine = given;
    }
    return mine;
}

/* All warps that take turns must see the end. */
template <int SEGMENTED>
static __device__ inline void load_tiles(const struct scan_args &a, struct ring_shared &s)
{
    const struct scan_row row = row_of<SEGMENTED>(a, 0);
    struct turn t = {}, arrived = {}, written = {};
    uint64_t early = first_tickets(a), tile = NO_TILE;
    int ends = 0;
    for (uint64_t k = 0; ends < SCAN_RING_SUMMERS; k++, skip(a, t, 1)) {
        if (k >= SCAN_RING_AHEAD) {
            wait(&s.full[arrived.stage], arrived.half);
            skip(a, arrived, 1);
        }
        if (k > a.stages) { /* then the stage is free as soon as the ticket is known */
            wait(&s.ready[slot(written)], written.parity);
            skip(a, written, 1);
        }
        if (k < SCAN_RING_AHEAD) {
            tile = __shfl_sync(WARP_ALL, (unsigned long long)early, (int)k);
        } else if (ends == 0) {
            if (lane_id() == 0) early = ring_ticket(a);
            tile = __shfl_sync(WARP_ALL, (unsigned long long)early, 0);
        }
        if (ends || tile >= a.row_tiles) tile = NO_TILE;
        if (k >= a.stages) wait(&s.empty[t.stage], t.half ^ 1);
        if (lane_id() == 0) store_shared_u64(&s.tile[slot(t)], tile);
        if (tile != NO_TILE) {
            load_tile<SEGMENTED>(a, s, row, tile * TILE, t.stage);
        } else {
            if (lane_id() == 0) mbarrier_arrive(&s.full[t.stage]);
            ends++;
        }
    }
}

/* ---- Sum ---- */

/* The totals of lines: lane r has line r's. */
template <int OP>
static __device__ inline value sum_lines(const struct scan_args &a, uint32_t stage)
{
    const uint4 *from = (const uint4 *)shared_bytes + stage * STAGE_VECTORS + lane_id();
    value x[SCAN_LINES / SCAN_SLOTS];
#pragma unroll
    for (int r = 0; r < SCAN_LINES; r += SCAN_SLOTS) {
        union vector v[SCAN_SLOTS];
        value line[SCAN_SLOTS];
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) v[k].all = from[(r + k) * SCAN_WARP];
        drop_nan<OP>(a, v);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) line[k] = vector_total<OP, 0>(a, v[k], 0);
        x[r / SCAN_SLOTS] = lines_fold<OP, SCAN_SLOTS>(a, line, 1);
    }
    return lines_fold<OP, SCAN_LINES / SCAN_SLOTS>(a, x, SCAN_SLOTS);
}

/* The total of a line from its last flag on, if it has one. */
template <int OP>
static __device__ inline value sum_flagged_lines(const struct scan_args &a, uint32_t stage,
                                                 uint32_t &flagged)
{
    const uint4 *from = (const uint4 *)shared_bytes + stage * STAGE_VECTORS + lane_id();
    const uint32_t *flags = (const uint32_t *)((uint4 *)shared_bytes + a.stages * STAGE_VECTORS) +
                            stage * STAGE_FLAGS + lane_id() * VECTOR / 32;
    value total = neutral<OP>(a);
    flagged = 0;
    for (int r = 0; r < SCAN_LINES; r += SCAN_SLOTS) {
        union vector v[SCAN_SLOTS];
        value x[SCAN_SLOTS];
        uint32_t first[SCAN_SLOTS];
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) v[k].all = from[(r + k) * SCAN_WARP];
        drop_nan<OP>(a, v);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            uint32_t bits = flags[(r + k) * LINE_FLAGS] >> lane_id() * VECTOR % 32;
            bits &= (1u << VECTOR) - 1;
            uint32_t with_flag = __ballot_sync(WARP_ALL, bits != 0);
            x[k] = vector_total<OP, 1>(a, v[k], bits);
            first[k] = last_lane(with_flag & (lanes_below() | 1u << lane_id()));
            if (with_flag) flagged |= 1u << (r + k);
        }
        lines_scan<OP>(a, x, first);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            value line = lane_at(x[k], 31);
            if ((int)lane_id() == r + k) total = line;
        }
    }
    return total;
}

template <int OP, int SEGMENTED>
static __device__ inline void sum_tiles(const struct scan_args &a, struct ring_shared &s,
                                        uint32_t which)
{
    struct turn t = {};
    for (skip(a, t, which);; skip(a, t, SCAN_RING_SUMMERS)) {
        uint32_t flagged = 0;
        wait(&s.full[t.stage], t.half);
        const uint64_t tile = load_shared_u64(&s.tile[slot(t)]);
        if (tile != NO_TILE) {
            value x =
                SEGMENTED ? sum_flagged_lines<OP>(a, t.stage, flagged) : sum_lines<OP>(a, t.stage);
            value sum = lines_sum<OP, SEGMENTED>(a, x, flagged);
            if (lane_id() == 31) publish(a.tiles, tile, sum, flagged != 0);
            sum = lane_up(sum, 1);
            s.lines[t.stage][lane_id()] = lane_id() ? sum : neutral<OP>(a);
            if (SEGMENTED && lane_id() == 0) store_shared_u64(&s.flagged[t.stage], flagged);
        }
        __syncwarp(); /* the totals of lines are written */
        if (lane_id() == 0) mbarrier_arrive(&s.summed[slot(t)]);
        if (tile == NO_TILE) return;
    }
}

/* ---- Group ---- */

template <int OP, int SEGMENTED>
static __device__ inline void sum_groups(const struct scan_args &a, struct ring_shared &s)
{
    for (struct turn t = {};; skip(a, t, 1)) {
        wait(&s.full[t.stage], t.half);
        const uint64_t tile = load_shared_u64(&s.tile[slot(t)]);
        if (tile == NO_TILE) return;
        __syncwarp(); /* all lanes have read the tile */
        if (lane_id() == 0) mbarrier_arrive(&s.empty[t.stage]);
        if (tile % SCAN_GROUP != SCAN_GROUP - 1 || tile + 1 == a.row_tiles) continue;
        const uint64_t word = tile - (SCAN_GROUP - 1) + lane_id();
        struct words w;
        look(a.tiles, word, w);
        await(a.tiles, word, w);
        __syncwarp(); /* all lanes have their descriptors */
        uint32_t flags = SEGMENTED ? __ballot_sync(WARP_ALL, has_flag(w)) : 0;
        value sum = fold_lanes<OP>(a, value_in(w), last_lane(flags));
        if (lane_id() == 0) publish(a.prefixes, tile / SCAN_GROUP, sum, flags != 0);
    }
}

/* ---- Look ---- */

/* Advances prefix from one group to a later one, given the totals of the groups between in the
 * lanes. */
template <int OP, int SEGMENTED>
static __device__ inline value add_sums(const struct scan_args &a, value prefix,
                                        const struct words &w, int groups)
{
    const value x = value_in(w);
    const uint32_t flags = SEGMENTED ? __ballot_sync(WARP_ALL, has_flag(w)) : 0;
    for (int i = 0; i < groups; i++) {
        value sum = lane_at(x, i);
        prefix = SEGMENTED && flags >> i & 1 ? sum : combine<OP>(a, prefix, sum);
    }
    return prefix;
}

template <int OP, int SEGMENTED>
static __device__ inline void look_back(const struct scan_args &a, struct ring_shared &s,
                                        uint32_t which)
{
    value prefix = value_of_bits(a.first); /* the prefix of group `group` */
    uint64_t group = 0;
    struct turn t = {};
    for (skip(a, t, which);; skip(a, t, SCAN_RING_LOOKERS)) {
        wait(&s.summed[slot(t)], t.parity);
        const uint64_t tile = load_shared_u64(&s.tile[slot(t)]), g = tile / SCAN_GROUP;
        if (tile == NO_TILE) return;
        const uint32_t i = (uint32_t)tile % SCAN_GROUP;
        struct words mine = {}, sums = {};
        if (lane_id() < i) look(a.tiles, tile - i + lane_id(), mine);
        if (group + lane_id() < g) look(a.prefixes, group + lane_id(), sums);
        if (lane_id() < i) await(a.tiles, tile - i + lane_id(), mine);
        __syncwarp(); /* all lanes have their descriptors */
        uint32_t flags = SEGMENTED ? __ballot_sync(WARP_ALL, lane_id() < i && has_flag(mine)) : 0;
        value x = lane_id() < i ? value_in(mine) : neutral<OP>(a);
        value within = fold_lanes<OP>(a, x, last_lane(flags));
        while (group < g) {
            const int some = (int)min(g - group, (uint64_t)32);
            if ((int)lane_id() < some) await(a.prefixes, group + lane_id(), sums);
            __syncwarp(); /* all lanes have these, too */
            prefix = add_sums<OP, SEGMENTED>(a, prefix, sums, some);
            group += some;
            if (group + lane_id() < g) look(a.prefixes, group + lane_id(), sums);
        }
        if (lane_id() == 0) {
            value before = SEGMENTED && flags ? within : combine<OP>(a, prefix, within);
            store_shared_u64(&s.before[slot(t)], value_bits(before));
            mbarrier_arrive(&s.ready[slot(t)]);
        }
    }
}

/* ---- Write ---- */

template <int OP, int SEGMENTED>
static __device__ inline void write_tiles(const struct scan_args &a, const struct scan_args &args,
                                          struct ring_shared &s)
{
    const uint32_t mine = threadIdx.x / 32 * SCAN_SLOTS; /* this warp's first line */
    const struct scan_row row = row_of<SEGMENTED>(a, 0);
    for (struct turn t = {};; skip(a, t, 1)) {
        struct line_part part;
        value x[SCAN_SLOTS], lines[SCAN_SLOTS];
        uint32_t below[SCAN_SLOTS];
        wait(&s.summed[slot(t)], t.parity);
        const uint64_t tile = load_shared_u64(&s.tile[slot(t)]);
        if (tile == NO_TILE) return;
        take_part<OP, SEGMENTED>(a, (int)t.stage, part);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) lines[k] = s.lines[t.stage][mine + k];
        const uint32_t flagged = SEGMENTED ? (uint32_t)load_shared_u64(&s.flagged[t.stage]) : 0;
        __syncwarp(); /* all lanes have their vectors */
        if (lane_id() == 0) mbarrier_arrive(&s.empty[t.stage]);
        lines_before<OP, SEGMENTED>(a, part, x, below);
        wait(&s.ready[slot(t)], t.parity);
        const value before = value_of_bits(load_shared_u64(&s.before[slot(t)]));
        const struct place place = { tile, 0, tile };
        const uint64_t begin = tile * TILE, at = position(place);
        const bool whole =
            begin >= row.begin && begin + TILE <= row.end && (uintptr_t)row.out % 16 == 0;
        uint4 *to = (uint4 *)(row.out + at);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            union {
                uint4 all;
                uout e[VECTOR];
            } u;
            value line = lines[k];
            if (!SEGMENTED || !(flagged & ((1u << (mine + k)) - 1)))
                line = combine<OP>(a, before, line);
            line = SEGMENTED && below[k] ? x[k] : combine<OP>(a, line, x[k]);
            forget_elements(part.v[k]);
            if (whole) { /* the results are too large to stay in a cache */
                vector_results<OP, SEGMENTED>(a, part.v[k], part.flags[k], line, u.e);
                __stcs(to + k * SCAN_WARP, u.all);
            } else {
                finish_called<OP, SEGMENTED>(args, row, at + k * LINE, part.v[k].all, part.flags[k],
                                             line);
            }
        }
    }
}

/* ---- The block ---- */

template <int OP, int SEGMENTED>
static __device__ inline void scan_ring(const struct scan_args &args)
{
    struct scan_args a = args;
    a.backward = 0; /* a constant for the compiler */
    __shared__ struct ring_shared s;
    const uint32_t warp = warp_id();
    for (uint32_t i = threadIdx.x; i < SCAN_RING_STAGES; i += SCAN_RING_WARPS * 32) {
        mbarrier_init(&s.full[i], 1);
        mbarrier_init(&s.empty[i], SCAN_WORKERS + 1);
        for (uint32_t half = 0; half < 2; half++) {
            mbarrier_init(&s.summed[i + half * SCAN_RING_STAGES], 1);
            mbarrier_init(&s.ready[i + half * SCAN_RING_STAGES], 1);
        }
    }
    wait_for_earlier();
    __syncthreads(); /* the barriers are initialised */
    if (warp < FIRST_SUMMER)
        write_tiles<OP, SEGMENTED>(a, args, s);
    else if (warp < FIRST_LOOKER)
        sum_tiles<OP, SEGMENTED>(a, s, warp - FIRST_SUMMER);
    else if (warp < GROUPER)
        look_back<OP, SEGMENTED>(a, s, warp - FIRST_LOOKER);
    else if (warp == GROUPER)
        sum_groups<OP, SEGMENTED>(a, s);
    else
        load_tiles<SEGMENTED>(a, s);
    leave_zeros(a, s.last);
}

#endif
