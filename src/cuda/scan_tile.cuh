/*
 * cuda/scan_tile.cuh - the scan of a tile by a block, and of short rows by warps.
 *
 *     load      all of the tile, a warp's lines next to each other
 *     up        each line; the lines' totals meet in shared memory
 *     before    one warp says what the tile comes to, and looks back
 *     down      each line is scanned again, from what lies before it, and written
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SCAN_TILE_CUH
#define ECHI_CUDA_SCAN_TILE_CUH

#include "scan_line.cuh"
#include "scan_look.cuh"

struct tile_shared {
    value totals[SCAN_LINES]; /* of each line: from its last head on, or all */
    uint32_t cut[SCAN_LINES]; /* it has a head */
    value before;             /* the tile */
    uint64_t tile;
    uint32_t last; /* no block but this one is left */
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
static __device__ inline value fold_lines(const struct scan_args &a, const struct tile_shared &s,
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

template <int OP, int HEADS> static __device__ inline void scan_tile(const struct scan_args &a)
{
    __shared__ struct tile_shared s;
    /* Tiles are taken in the order in which blocks begin, so that those before are under way. */
    if (threadIdx.x == 0) s.tile = atomicAdd((unsigned long long *)&a.counters[0], 1);
    __syncthreads(); /* the tile is known */
    const uint64_t tile = s.tile, i = tile / a.row_tiles;
    const struct scan_row row = row_of(a, i);
    const int first = threadIdx.x / 32 * SCAN_SLOTS; /* my warp's first line */
    const uint64_t at = (tile - i * a.row_tiles) * TILE + first * LINE + lane_id() * VECTOR;

    union vector v[SCAN_SLOTS];
    uint32_t heads[SCAN_SLOTS], cut_lanes[SCAN_SLOTS];
    value lanes[SCAN_SLOTS]; /* those before mine in the line */
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) load_vector(a, row, at + k * LINE, v[k]);
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        heads[k] = HEADS ? heads_of(a, at + k * LINE) : 0;
        cut_lanes[k] = HEADS ? __ballot_sync(WARP_ALL, heads[k] != 0) : 0;
        uint32_t from = last_lane(cut_lanes[k] & (lanes_below() | 1u << lane_id()));
        value x = vector_total<OP, HEADS>(a, v[k], heads[k]);
        x = lanes_scan<OP>(a, x, from);
        lanes[k] = lane_up(x, 1);
        if (lane_id() == 0) lanes[k] = neutral<OP>(a);
        if (lane_id() == 31) s.totals[first + k] = x;
        if (HEADS && lane_id() == 31) s.cut[first + k] = cut_lanes[k];
    }
    __syncthreads(); /* the lines' totals are there */

    bool cut;
    if (threadIdx.x < 32) {
        value total = fold_lines<OP, HEADS>(a, s, SCAN_LINES, cut);
        value before = before_tile<OP, HEADS>(a, tile, total, cut);
        if (lane_id() == 0) s.before = before;
    }
    value prefix = fold_lines<OP, HEADS>(a, s, first, cut);
    __syncthreads(); /* what lies before the tile is known */
    count_done(a, s);
    const value before = s.before;
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        value line = HEADS && cut ? prefix : combine<OP>(a, before, prefix);
        bool below = HEADS && cut_lanes[k] & lanes_below();
        value mine = below ? lanes[k] : combine<OP>(a, line, lanes[k]);
        finish_vector<OP, HEADS>(a, row, at + k * LINE, v[k], heads[k], mine);
        bool cuts = HEADS && s.cut[first + k];
        prefix = cuts ? s.totals[first + k] : combine<OP>(a, prefix, s.totals[first + k]);
        cut |= cuts;
    }
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
