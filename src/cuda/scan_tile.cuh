/*
 * cuda/scan_tile.cuh - the scan of a tile by a block, and of short rows by warps.
 *
 *     up        the tile is loaded, a warp's lines next to each other, and each line scanned; the
 *               lines' totals meet in shared memory
 *     before    one warp says what the tile comes to, and looks back
 *     down      each line is scanned again, from what lies before it, and written
 *
 * A tile cannot end before all those before it are loaded, and of some hundred loads the slowest
 * sets the pace.  So in a large array a block first goes up a tile `lead` further on, and says what
 * that comes to: its own was said long ago, and lies in the second level of the cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SCAN_TILE_CUH
#define ECHI_CUDA_SCAN_TILE_CUH

#include "scan_line.cuh"
#include "scan_look.cuh"

/* The lines of a tile. */
struct tile_lines {
    value totals[SCAN_LINES]; /* of each: from its last head on, or all */
    uint32_t cut[SCAN_LINES]; /* it has a head */
};

struct tile_shared {
    struct tile_lines ahead, own;
    value before; /* the tile */
    uint64_t tile;
    uint32_t last; /* no block but this one is left */
};

/* What a thread keeps of a tile. */
struct tile_part {
    union vector v[SCAN_SLOTS];
    uint32_t heads[SCAN_SLOTS], cut_lanes[SCAN_SLOTS];
    value lanes[SCAN_SLOTS]; /* those before mine in the line */
};

static __device__ inline struct scan_row row_of(const struct scan_args &a, uint64_t i)
{
    struct scan_row row = { (const ukey *)a.in + i * a.columns, (uout *)a.out + i * a.columns,
                            a.columns, 0, a.columns };
    if (!a.offsets) return row;
    uint64_t begin = min(a.offsets[0], a.columns), end = min(a.offsets[a.segments], a.columns);
    if (end < begin) end = begin; /* scan_heads_offsets complains */
    row.begin = a.backward ? row.n - end : begin;
    row.end = a.backward ? row.n - begin : end;
    return row;
}

/* The bits of a vector's heads. */
static __device__ inline uint32_t heads_of(const struct scan_args &a, uint64_t at)
{
    if (at >= a.columns) return 0;
    return a.heads[at / 32] >> at % 32 & ((1u << VECTOR) - 1);
}

/* The lines before line `end` of the tile. */
template <int OP, int HEADS>
static __device__ inline value fold_lines(const struct scan_args &a, const struct tile_lines &s,
                                          int end, bool &cut)
{
    value sum = neutral<OP>(a);
    cut = false;
    for (int r = 0; r < end; r++) {
        sum = HEADS && s.cut[r] ? s.totals[r] : combine<OP>(a, sum, s.totals[r]);
        if (HEADS) cut |= s.cut[r] != 0;
    }
    return sum;
}

/* The last block to come here leaves zeros for the next kernel. */
static __device__ inline void count_done(const struct scan_args &a, struct tile_shared &s)
{
    if (!a.words || threadIdx.x) return;
    __threadfence(); /* what this block looked at, it has seen */
    uint64_t tiles = a.rows * a.row_tiles;
    s.last = atomicAdd((unsigned long long *)&a.counters[1], 1) == tiles - 1;
    __threadfence(); /* and so have the others */
}

static __device__ inline void clear_words(const struct scan_args &a, const struct tile_shared &s)
{
    if (!a.words) return;
    __syncthreads(); /* it is known which block is the last */
    if (!s.last) return;
    for (uint64_t i = threadIdx.x; i < a.words; i += SCAN_THREADS) a.counters[i] = 0;
}

/* Where my first vector of a tile is. */
static __device__ inline uint64_t place_of(const struct scan_args &a, uint64_t tile, uint64_t row)
{
    return (tile - row * a.row_tiles) * TILE + threadIdx.x / 32 * (SCAN_SLOTS * LINE) +
           lane_id() * VECTOR;
}

/* Loads a tile and says what its lines come to. */
template <int OP, int HEADS>
static __device__ inline void tile_up(const struct scan_args &a, uint64_t tile,
                                      struct tile_lines &lines, struct tile_part &x)
{
    const uint64_t i = tile / a.row_tiles, at = place_of(a, tile, i);
    const struct scan_row row = row_of(a, i);
    const int first = threadIdx.x / 32 * SCAN_SLOTS; /* my warp's first line */
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) load_vector(a, row, at + k * LINE, x.v[k]);
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        x.heads[k] = HEADS ? heads_of(a, at + k * LINE) : 0;
        x.cut_lanes[k] = HEADS ? __ballot_sync(WARP_ALL, x.heads[k] != 0) : 0;
        uint32_t from = last_lane(x.cut_lanes[k] & (lanes_below() | 1u << lane_id()));
        value sum = vector_total<OP, HEADS>(a, x.v[k], x.heads[k]);
        sum = lanes_scan<OP>(a, sum, from);
        x.lanes[k] = lane_up(sum, 1);
        if (lane_id() == 0) x.lanes[k] = neutral<OP>(a);
        if (lane_id() == 31) lines.totals[first + k] = sum;
        if (HEADS && lane_id() == 31) lines.cut[first + k] = x.cut_lanes[k];
    }
}

/* Called by one warp. */
template <int OP, int HEADS>
static __device__ inline value tile_total(const struct scan_args &a, const struct tile_lines &lines,
                                          bool &cut)
{
    uint32_t cuts = HEADS ? __ballot_sync(WARP_ALL, lines.cut[lane_id()] != 0) : 0;
    cut = cuts != 0;
    return fold_lanes<OP>(a, lines.totals[lane_id()], last_lane(cuts));
}

template <int OP, int HEADS>
static __device__ inline void tile_down(const struct scan_args &a, uint64_t tile,
                                        const struct tile_shared &s, const struct tile_part &x,
                                        value prefix, bool cut)
{
    const uint64_t i = tile / a.row_tiles, at = place_of(a, tile, i);
    const struct scan_row row = row_of(a, i);
    const int first = threadIdx.x / 32 * SCAN_SLOTS;
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        value line = HEADS && cut ? prefix : combine<OP>(a, s.before, prefix);
        bool below = HEADS && x.cut_lanes[k] & lanes_below();
        value mine = below ? x.lanes[k] : combine<OP>(a, line, x.lanes[k]);
        finish_vector<OP, HEADS>(a, row, at + k * LINE, x.v[k], x.heads[k], mine);
        value total = s.own.totals[first + k];
        bool cuts = HEADS && s.own.cut[first + k];
        prefix = cuts ? total : combine<OP>(a, prefix, total);
        cut |= cuts;
    }
}

template <int OP, int HEADS> static __device__ inline void scan_tile(const struct scan_args &a)
{
    __shared__ struct tile_shared s;
    struct tile_part x;
    /* Tiles are taken in the order in which blocks begin, so that those before are under way. */
    if (threadIdx.x == 0) s.tile = atomicAdd((unsigned long long *)&a.counters[0], 1);
    __syncthreads(); /* the tile is known */
    const uint64_t tile = s.tile;
    const bool ahead = a.lead && a.rows * a.row_tiles - tile > a.lead;
    if (ahead) tile_up<OP, HEADS>(a, tile + a.lead, s.ahead, x);
    tile_up<OP, HEADS>(a, tile, s.own, x);
    __syncthreads(); /* the lines' totals are there */

    bool cut;
    const bool known = a.lead && tile >= a.lead; /* a block before has said it */
    if (threadIdx.x < 32) {
        value total = tile_total<OP, HEADS>(a, s.own, cut);
        value before = before_tile<OP, HEADS>(a, tile, total, cut, known);
        if (lane_id() == 0) s.before = before;
    } else if (ahead && threadIdx.x < 64) {
        value total = tile_total<OP, HEADS>(a, s.ahead, cut);
        if (lane_id() == 0) publish_ahead(a.tiles, tile + a.lead, total, cut);
    } else if (known && threadIdx.x == 64) {
        await_reader(a.tiles, tile); /* in place, what it has not read must not be written */
    }
    value prefix = fold_lines<OP, HEADS>(a, s.own, threadIdx.x / 32 * SCAN_SLOTS, cut);
    __syncthreads(); /* what lies before the tile is known */
    count_done(a, s);
    tile_down<OP, HEADS>(a, tile, s, x, prefix, cut);
    clear_words(a, s);
}

/* ---- Rows of at most a tile ---- */

/* A row that fills less than a line: a.lanes lanes have one each, SCAN_SLOTS times over. */
template <int OP>
static __device__ inline void scan_few_lanes(const struct scan_args &a, uint64_t warp)
{
    const uint32_t mine = lane_id() & (a.lanes - 1), rows = 32 / a.lanes;
    const uint64_t at = mine * VECTOR;
    const uint64_t first = warp * SCAN_SLOTS * rows + lane_id() / a.lanes;
    union vector v[SCAN_SLOTS];
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        struct scan_row row = row_of(a, first + k * rows);
        if (first + k * rows >= a.rows) row.n = 0;
        load_vector(a, row, at, v[k]);
    }
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        struct scan_row row = row_of(a, first + k * rows);
        value x = lanes_scan<OP>(a, vector_total<OP, 0>(a, v[k], 0), lane_id() - mine);
        x = lane_up(x, 1);
        if (mine == 0) x = neutral<OP>(a);
        x = combine<OP>(a, value_of_bits(a.first), x);
        if (first + k * rows < a.rows) finish_vector<OP, 0>(a, row, at, v[k], 0, x);
    }
}

/* A row of several lines: one warp has it, SCAN_SLOTS lines at a time. */
template <int OP>
static __device__ inline void scan_lines(const struct scan_args &a, uint64_t warp)
{
    if (warp >= a.rows) return;
    const struct scan_row row = row_of(a, warp);
    value prefix = neutral<OP>(a);
    for (uint64_t at = lane_id() * VECTOR; at - lane_id() * VECTOR < row.n;
         at += SCAN_SLOTS * LINE) {
        union vector v[SCAN_SLOTS];
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) load_vector(a, row, at + k * LINE, v[k]);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            value x = lanes_scan<OP>(a, vector_total<OP, 0>(a, v[k], 0), 0);
            value total = lane_at(x, 31);
            x = lane_up(x, 1);
            if (lane_id() == 0) x = neutral<OP>(a);
            x = combine<OP>(a, combine<OP>(a, value_of_bits(a.first), prefix), x);
            finish_vector<OP, 0>(a, row, at + k * LINE, v[k], 0, x);
            prefix = combine<OP>(a, prefix, total);
        }
    }
}

template <int OP> static __device__ inline void scan_rows(const struct scan_args &a)
{
    const uint64_t warp = (uint64_t)blockIdx.x * (SCAN_THREADS / 32) + threadIdx.x / 32;
    if (a.lanes == 32)
        scan_lines<OP>(a, warp);
    else
        scan_few_lanes<OP>(a, warp);
}

#endif
