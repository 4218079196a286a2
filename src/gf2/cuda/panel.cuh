/*
 * gf2/cuda/panel.cuh - one block finds the pivots of 64 columns, and the combinations of rows that
 * their rows are.
 *
 *     top     the 64 rows from the rank on: they may have to move for pivots
 *     slots   up to 64 others, in their order: first the following rows, later rows that have ones
 *             in the remaining columns; all threads find them when the first warps' rows have no
 *             pivot
 *
 * A thread of the first four warps has one of these rows, of which two warps have the top.
 * Gauss-Jordan elimination: after the last column a pivot is the only one in its column among the
 * pivot rows, so a row's own bits are its multipliers.  For each column a warp offers its first row
 * with a one; after one barrier all threads know the first of these.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_PANEL_CUH
#define ECHI_GF2_CUDA_PANEL_CUH

#include "gf2/cuda/echelon.h"
#include "cuda/device/ptx_warps.cuh"
#include "cuda/device/warp.cuh"

enum { PANEL_WARPS = GF2_PANEL_THREADS / 32, PANEL_LOADS = 8, PANEL_LOOKS = 16, PANEL_ROWS = 128 };

static const uint32_t panel_none = 0xffffffffu;

/* ---- Sums from tables of four rows ---- */

enum { NIBBLES = 16, SLOT_TABLE = NIBBLES * 16 /* of 64 rows: sums of four each */ };

static __device__ inline uint64_t table_entry(const uint64_t *rows, uint32_t x)
{
    uint64_t sum = 0;
#pragma unroll
    for (uint32_t bit = 0; bit < 4; bit++)
        if (x >> bit & 1) sum ^= rows[x / 16 * 4 + bit];
    return sum;
}

/* Looks up COUNT of a slot's tables, from one on, with their bits. */
template <int COUNT>
static __device__ inline uint64_t look_up(const uint64_t *tables, uint64_t bits)
{
    uint64_t sum = 0;
#pragma unroll
    for (int i = 0; i < COUNT; i++) sum ^= tables[i * 16 + (bits >> 4 * i & 15)];
    return sum;
}

/* ---- The state of a panel ---- */

/* The row of a thread; offsets are relative to the rank. */
struct panel_row {
    uint64_t word;   /* the current value of the columns */
    uint64_t sum;    /* the original pivot rows that have been added */
    uint32_t source; /* original position of the row */
    uint32_t place;  /* its current place; none: it is a pivot row, or there is no row */
    uint32_t column; /* of its pivot, or none */
};

/* A row that a warp offers as the next pivot row. */
struct __align__(16) panel_offer
{
    uint64_t word, sum;
};

struct panel_shared {
    struct panel_offer offer[2][PANEL_ROWS / 32]; /* of two columns in turn */
    uint4 offered[2];                             /* their places, or none */
    uint64_t tables[8][256];                      /* the combination for each byte of a row */
    uint64_t value[64], sum[64];                  /* of pivots, by columns */
    uint64_t chosen[64];                          /* words of pivots when they were found */
    uint64_t top[64];                             /* initial words of the rows from the rank on */
    uint64_t left[GF2_SLOTS][64], moved[GF2_SLOTS][64];
    uint64_t list_word[64], found_word, pivot_columns;
    uint32_t list_row[64], found;    /* found: the first row with a one in the column */
    uint32_t source[64], column[64]; /* of pivots, by their numbers */
    uint32_t move_source[64], move_target[64];
    uint32_t counts[PANEL_LOADS][PANEL_WARPS];
    uint32_t lanes[PANEL_ROWS / 32]; /* lanes of a warp with pivots, or with rows that move */
    uint32_t listed, room;
    uint32_t complete; /* no row outside the first warps has ones left */
    uint32_t horizon;  /* otherwise: this holds up to here */
    uint32_t at, pivots, moves;
};

static __device__ inline uint32_t warp_least(uint32_t x)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_min_sync(WARP_ALL, x);
#else
    for (int step = 16; step; step /= 2) x = min(x, __shfl_xor_sync(WARP_ALL, x, step));
    return x;
#endif
}

static __device__ inline uint32_t warp_or(uint32_t x)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_or_sync(WARP_ALL, x);
#else
    for (int step = 16; step; step /= 2) x |= __shfl_xor_sync(WARP_ALL, x, step);
    return x;
#endif
}

/* Broadcasts the bits of the only lane whose value is not zero. */
static __device__ inline uint64_t warp_or_u64(uint64_t x)
{
    return (uint64_t)warp_or((uint32_t)(x >> 32)) << 32 | warp_or((uint32_t)x);
}

/* ---- The first warps ---- */

static __device__ inline void panel_load(const struct gf2_echelon_args &a, uint32_t rank,
                                         struct panel_shared &s, struct panel_row &r)
{
    const uint32_t offset = threadIdx.x;
    const bool there = offset < PANEL_ROWS && offset < a.rows - rank;
    r.word = there ? a.strip[(uint64_t)rank + offset] : 0;
    r.sum = 0;
    r.source = offset;
    r.place = there ? offset : panel_none;
    r.column = panel_none;
    if (offset < 64) s.top[offset] = r.word;
}

/* Offers the first row of each warp with a one in the column; returns the place of the first of
 * all, and which warp has it. */
static __device__ inline uint32_t panel_first(uint32_t column, struct panel_shared &s,
                                              const struct panel_row &r, uint32_t *warp)
{
    const uint32_t mine = r.word >> column & 1 ? r.place : panel_none, buffer = column & 1;
    if (threadIdx.x < PANEL_ROWS) {
        const uint32_t least = warp_least(mine), own = threadIdx.x / 32;
        if (mine == least && mine != panel_none) {
            s.offer[buffer][own].word = r.word;
            s.offer[buffer][own].sum = r.sum;
        }
        if (lane_id() == 0) ((uint32_t *)&s.offered[buffer])[own] = least;
    }
    /* The offers are available.  The other buffer is written next, when all have read it. */
    warps_sync(PANEL_ROWS);
    const uint4 places = s.offered[buffer];
    const uint32_t low = min(places.x, places.y), high = min(places.z, places.w);
    *warp = low < high ? places.y == low : 2 + (places.w == high);
    return min(low, high);
}

/* The pivot of a column: the first row, at offset `first`, is number k. */
static __device__ inline void panel_pivot(uint64_t *strip, uint32_t first, uint32_t column,
                                          uint32_t k, const struct panel_offer &offer,
                                          struct panel_shared &s, struct panel_row &r)
{
    const uint64_t sum = offer.sum ^ (uint64_t)1 << k;
    if (r.place == first) {
        s.chosen[k] = r.word;
        s.source[k] = r.source;
        s.column[k] = column;
        if (r.source >= 64) strip[r.source] = 0; /* later scans do not find it */
        r.sum = sum;
        r.column = column;
        r.place = panel_none;
        return;
    }
    if (r.word >> column & 1) {
        r.word ^= offer.word;
        r.sum ^= sum;
    }
    if (r.place == k) r.place = first;
}

/* From a column on, until the last column, or until a column for which other rows must be searched,
 * unless scanned: these have been searched already.  k pivots have been found, in the columns
 * `found`.  By the first warps. */
static __device__ inline void panel_columns(uint64_t *strip, uint32_t column, uint32_t end,
                                            uint32_t k, uint32_t most, uint64_t found, bool scanned,
                                            struct panel_shared &s, struct panel_row &r)
{
    const uint32_t horizon = s.complete ? panel_none : s.horizon;
    for (; column < end && k < most; column++, scanned = false) {
        uint32_t warp;
        const uint32_t first = panel_first(column, s, r, &warp);
        if (first > horizon && !scanned) break; /* a row outside the first warps may precede it */
        if (first == panel_none) continue;
        if (threadIdx.x < PANEL_ROWS)
            panel_pivot(strip, first, column, k, s.offer[column & 1][warp], s, r);
        found |= (uint64_t)1 << column;
        k++;
    }
    if (k == most) column = end;
    /* For the other threads: the current column, and the pivots. */
    const bool is_pivot = r.column != panel_none;
    if (threadIdx.x < PANEL_ROWS) {
        const uint32_t lanes = __ballot_sync(WARP_ALL, is_pivot);
        if (lane_id() == 0) s.lanes[threadIdx.x / 32] = lanes;
    }
    if (is_pivot) {
        s.value[r.column] = r.word;
        s.sum[r.column] = r.sum;
    }
    warps_sync(PANEL_ROWS); /* the lanes are available */
    if (threadIdx.x == 0) {
        s.pivot_columns = found;
        s.at = column;
        s.pivots = k;
        s.room = 64 - (uint32_t)(__popc(s.lanes[2]) + __popc(s.lanes[3]));
    }
}

/* The rows found by a scan take the slots without a pivot. */
static __device__ inline void panel_take(uint64_t pivots, struct panel_shared &s,
                                         struct panel_row &r)
{
    const uint32_t listed = s.listed;
    const bool extra = s.found != panel_none && (!listed || s.found > s.list_row[listed - 1]);
    if (threadIdx.x == 0) s.horizon = listed ? s.list_row[listed - 1] : 63;
    if (threadIdx.x >= 64 && threadIdx.x < PANEL_ROWS && r.column == panel_none) {
        const uint32_t before = threadIdx.x < 96 ? 0 : (uint32_t)__popc(~s.lanes[2]);
        const uint32_t i = before + (uint32_t)__popc(~s.lanes[threadIdx.x / 32] & lanes_below());
        const bool there = i < listed + extra;
        const uint64_t word = !there ? 0 : i < listed ? s.list_word[i] : s.found_word;
        r.word = word;
        r.sum = 0;
        r.source = r.place = !there ? panel_none : i < listed ? s.list_row[i] : s.found;
        for (uint64_t left = word & pivots; left; left &= left - 1) {
            const uint32_t column = (uint32_t)__ffsll((long long)left) - 1;
            r.word ^= s.value[column];
            r.sum ^= s.sum[column];
        }
    }
    __syncthreads(); /* the search reads the horizon, and writes values */
}

/* ---- All threads: rows beyond the top that have ones in the remaining columns ---- */

static __device__ inline uint64_t panel_reduce(const struct panel_shared &s, uint64_t word)
{
    uint64_t sum = word;
#pragma unroll
    for (int i = 0; i < 8; i++) sum ^= s.tables[i][word >> 8 * i & 255];
    return sum;
}

static __device__ inline void panel_tables(uint64_t pivots, struct panel_shared &s)
{
    for (uint32_t x = threadIdx.x; x < 8 * 256; x += GF2_PANEL_THREADS) {
        uint64_t sum = 0;
        for (uint32_t bit = 0; bit < 8; bit++) {
            const uint32_t column = x / 256 * 8 + bit;
            if ((x >> bit & 1) && (pivots >> column & 1)) sum ^= s.value[column];
        }
        s.tables[x / 256][x % 256] = sum;
    }
}

/* Lists the rows of one round that have ones left, in their order; true if further rounds are not
 * needed. */
static __device__ inline bool panel_list(struct panel_shared &s, uint64_t base,
                                         const uint64_t (&word)[PANEL_LOADS],
                                         const uint64_t (&rest)[PANEL_LOADS])
{
    const uint32_t warp = threadIdx.x / 32, column = s.at, most = s.room - 1;
#pragma unroll
    for (int j = 0; j < PANEL_LOADS; j++) {
        const uint32_t lanes = __ballot_sync(WARP_ALL, rest[j] != 0);
        if (lane_id() == 0) s.counts[j][warp] = (uint32_t)__popc(lanes);
        if (rest[j] >> column & 1)
            atomicMin(&s.found, (uint32_t)(base + j * GF2_PANEL_THREADS + threadIdx.x));
    }
    __syncthreads();
    uint32_t before = s.listed;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < PANEL_LOADS; j++) {
        const uint32_t lanes = __ballot_sync(WARP_ALL, rest[j] != 0);
        uint32_t at = before;
        for (uint32_t w = 0; w < PANEL_WARPS; w++) {
            if (w < warp) at += s.counts[j][w];
            before += s.counts[j][w];
        }
        at += (uint32_t)__popc(lanes & lanes_below());
        const uint32_t row = (uint32_t)(base + j * GF2_PANEL_THREADS + threadIdx.x);
        if (rest[j] && at < most) {
            s.list_row[at] = row;
            s.list_word[at] = word[j];
        }
        if (rest[j] && s.found == row) s.found_word = word[j];
    }
    const bool full = before > most;
    if (threadIdx.x == 0) {
        s.listed = full ? most : before;
        if (full) s.complete = 0;
    }
    __syncthreads();
    return full && s.found != panel_none;
}

/* Whether a row beyond the horizon has a one in the column.  A row's bit there, after the pivots
 * are added, is the parity of some of its bits. */
static __device__ inline bool panel_any(const uint64_t *strip, uint64_t rows, uint64_t pivots,
                                        struct panel_shared &s)
{
    const uint32_t lane = lane_id(), at = s.at;
    const bool low = (pivots >> lane & 1) && (s.value[lane] >> at & 1);
    const bool high = (pivots >> (32 + lane) & 1) && (s.value[32 + lane] >> at & 1);
    const uint64_t mask = (uint64_t)1 << at | (uint64_t)__ballot_sync(WARP_ALL, high) << 32 |
                          __ballot_sync(WARP_ALL, low);
    for (uint64_t base = (uint64_t)s.horizon + 1; base < rows;
         base += PANEL_LOOKS * GF2_PANEL_THREADS) {
        uint64_t word[PANEL_LOOKS];
#pragma unroll
        for (int j = 0; j < PANEL_LOOKS; j++) {
            const uint64_t row = base + j * GF2_PANEL_THREADS + threadIdx.x;
            word[j] = row < rows ? strip[row] : 0;
        }
        uint32_t odd = 0;
#pragma unroll
        for (int j = 0; j < PANEL_LOOKS; j++) odd |= (uint32_t)__popcll(word[j] & mask);
        if (__syncthreads_or(odd & 1)) return true;
    }
    return false;
}

/* Scans the rows beyond the top; `rows`: number of rows from the rank on. */
static __device__ inline void panel_scan(const uint64_t *strip, uint64_t rows, uint64_t pivots,
                                         uint64_t columns, struct panel_shared &s)
{
    if (threadIdx.x == 0) {
        s.listed = 0;
        s.found = panel_none;
        s.complete = 1;
    }
    panel_tables(pivots, s);
    __syncthreads();
    for (uint64_t base = 64; base < rows; base += PANEL_LOADS * GF2_PANEL_THREADS) {
        uint64_t word[PANEL_LOADS], rest[PANEL_LOADS], any = 0;
#pragma unroll
        for (int j = 0; j < PANEL_LOADS; j++) {
            const uint64_t row = base + j * GF2_PANEL_THREADS + threadIdx.x;
            word[j] = row < rows ? strip[row] : 0;
        }
#pragma unroll
        for (int j = 0; j < PANEL_LOADS; j++) {
            rest[j] = word[j] ? panel_reduce(s, word[j]) & columns : 0;
            any |= rest[j];
        }
        if (__syncthreads_or(any != 0) && panel_list(s, base, word, rest)) break;
    }
}

/* ---- Results for the other kernels ---- */

/* Rows that move to make space for pivots. */
static __device__ inline void panel_moves(struct panel_shared &s, const struct panel_row &r)
{
    const bool moves = threadIdx.x < 64 && r.place != panel_none && r.place != r.source;
    const uint32_t warp = threadIdx.x / 32;
    if (threadIdx.x < 64) {
        const uint32_t lanes = __ballot_sync(WARP_ALL, moves);
        if (lane_id() == 0) s.lanes[warp] = lanes;
    }
    __syncthreads(); /* the lanes are available */
    if (threadIdx.x == 0) s.moves = (uint32_t)(__popc(s.lanes[0]) + __popc(s.lanes[1]));
    if (moves) {
        const uint32_t before = warp ? (uint32_t)__popc(s.lanes[0]) : 0;
        const uint32_t i = before + (uint32_t)__popc(s.lanes[warp] & lanes_below());
        s.move_source[i] = r.source;
        s.move_target[i] = r.place;
    }
    __syncthreads(); /* the moves are available */
}

/* Moves the words of s.left and s.moved, and the sources of the rows. */
static __device__ inline void panel_move(const struct gf2_echelon_args &a,
                                         const struct gf2_state &before, uint32_t rank,
                                         uint32_t slot, uint64_t pivots, struct panel_shared &s)
{
    const uint32_t i = threadIdx.x % 64, x = threadIdx.x / 64, count = s.pivots, moves = s.moves;
    struct gf2_state &state = a.state[slot];
    const bool used = x < slot && before.slots[x];
    const uint64_t pivot_row = (uint64_t)rank + (i < count ? s.source[i] : 0);
    const uint64_t moved_row = (uint64_t)rank + (i < moves ? s.move_source[i] : 0);
    uint64_t *left = a.left + (uint64_t)x * a.rows;
    uint32_t from_pivot = 0, from_moved = 0;
    s.left[x][i] = used && i < count ? left[pivot_row] : 0;
    s.moved[x][i] = used && i < moves ? left[moved_row] : 0;
    if (x == 0 && a.rows_from) {
        if (i < count) from_pivot = a.rows_from[pivot_row];
        if (i < moves) from_moved = a.rows_from[moved_row];
    }
    __syncthreads();
    if (i < moves) {
        const uint64_t target = (uint64_t)rank + s.move_target[i];
        if (used) left[target] = s.moved[x][i];
        if (x == 0) {
            a.strip[target] = s.top[s.move_source[i]];
            if (a.rows_from) a.rows_from[target] = from_moved;
            state.source[i] = (uint32_t)moved_row;
            state.target[i] = (uint32_t)target;
        }
    }
    if (i < count) {
        const uint64_t own = a.reduced ? (uint64_t)1 << s.column[i] : s.chosen[i] & pivots;
        if (used || x == slot) left[(uint64_t)rank + i] = x == slot ? own : 0;
        if (x == 0) {
            if (a.rows_from) a.rows_from[(uint64_t)rank + i] = from_pivot;
            if (a.pivots) a.pivots[(uint64_t)rank + i] = 64 * a.panel + s.column[i];
            state.from[i] = (uint32_t)pivot_row;
        }
    }
    /* A pivot row is a sum of original rows, to each of which some updates have not been applied
     * yet. */
    for (uint32_t j = threadIdx.x; j < SLOT_TABLE * slot; j += GF2_PANEL_THREADS)
        s.tables[j / SLOT_TABLE][j % SLOT_TABLE] =
            table_entry(s.left[j / SLOT_TABLE], j % SLOT_TABLE);
    __syncthreads(); /* the tables are available */
    const bool sums = used && (pivots >> i & 1);
    const uint64_t sum = sums ? look_up<NIBBLES>(s.tables[x], s.sum[i]) : 0;
    state.sum[i][x] = sum;
    if (x == 0) state.sum[i][GF2_SLOTS] = pivots >> i & 1 ? s.sum[i] : 0;
}

/* The panel after that of `before`, by all threads of a block.  rest: the OR of its columns beyond
 * the window. */
static __device__ inline void panel_find(const struct gf2_echelon_args &a,
                                         const struct gf2_state &before, uint64_t rest,
                                         struct panel_shared &s)
{
    struct panel_row r;
    const uint32_t rank = before.rank, slot = a.panel % GF2_SLOTS;
    const uint64_t left = a.columns - 64 * (uint64_t)a.panel;
    const uint32_t end = left < 64 ? (uint32_t)left : 64;
    const uint64_t within = ~(uint64_t)0 >> (64 - end);
    const uint32_t most = min(a.limit - rank, 64u);
    struct gf2_state &state = a.state[slot];
    uint64_t *strip = a.strip + rank;
    bool scanned = false;
    if (threadIdx.x == 0) {
        s.at = 0;
        s.pivot_columns = 0;
        s.horizon = GF2_WINDOW - 1;
        s.pivots = s.moves = 0;
        s.complete = rest == 0;
    }
    panel_load(a, rank, s, r);
    /* The begin of the search is available.  Often a panel has no ones left. */
    const bool ones = __syncthreads_or((r.word & within) != 0) || rest;
    uint64_t pivots = 0; /* their columns */
    uint32_t at = 0, k = 0;
    while (most && ones) {
        if (warps_join(PANEL_ROWS)) panel_columns(strip, at, end, k, most, pivots, scanned, s, r);
        __syncthreads(); /* the result is available */
        at = s.at;
        k = s.pivots;
        pivots = s.pivot_columns;
        if (at == end) break;
        scanned = true;
        const bool any = panel_any(strip, a.rows - rank, pivots, s);
        __syncthreads(); /* the search writes only after this has been read */
        if (!any) continue;
        panel_scan(strip, a.rows - rank, pivots, within & ~(uint64_t)0 << s.at, s);
        __syncthreads(); /* the list is available */
        panel_take(pivots, s, r);
    }
    panel_moves(s, r);
    if (s.pivots) panel_move(a, before, rank, slot, pivots, s);
    if (threadIdx.x < GF2_SLOTS)
        state.slots[threadIdx.x] = threadIdx.x < slot    ? before.slots[threadIdx.x]
                                   : threadIdx.x == slot ? pivots
                                                         : 0;
    if (threadIdx.x) return;
    state.begin = slot ? before.begin : rank;
    state.first = rank;
    state.count = s.pivots;
    state.moves = s.moves;
    state.rank = rank + s.pivots;
    *a.rank = rank + s.pivots;
}

#endif
