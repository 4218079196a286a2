/*
 * cuda/gf2_batch_panel.cuh - up to 32 columns of a matrix, a word a row, are eliminated by one warp,
 * and what is to be added to each row is found from tables.
 *
 * Rows have positions, which are swapped as elimination swaps rows; the rows stay where they are:
 *
 *     positions   0 ...          rank ...          rank + 64 ...         rows
 *                 pivot rows     the window        rows outside
 *
 * A warp has the window's bits in registers, a column of 64 rows a lane, and takes one pivot after
 * the other without a barrier.  A column without a one in the window is sought outside by the whole
 * block: what a row has there by now is the parity of some of the bits that it had before the panel.
 * Of each row of the window is known which pivot rows, as they were before, have been added to it.
 * What is to be added to any other row follows from the columns of pivots that it has a one in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_GF2_BATCH_PANEL_CUH
#define ECHI_CUDA_GF2_BATCH_PANEL_CUH

#include "gf2_batch.h"
#include "gf2_word.cuh"

#define NOWHERE 0xffffffffu

/* ---- Warps, also where they have no such instructions ---- */

static __device__ inline uint32_t warp_min(uint32_t x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
    for (int step = 16; step; step /= 2) x = min(x, __shfl_xor_sync(WARP_ALL, x, step));
    return x;
#else
    return __reduce_min_sync(WARP_ALL, x);
#endif
}

static __device__ inline uint32_t warp_or(uint32_t x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
    for (int step = 16; step; step /= 2) x |= __shfl_xor_sync(WARP_ALL, x, step);
    return x;
#else
    return __reduce_or_sync(WARP_ALL, x);
#endif
}

/* ---- The window ---- */

/* What a panel works on; lists are of all rows. */
struct panel_rows {
    const uint32_t *words;  /* a row's bits in the columns of the panel */
    uint32_t *row_at;       /* which row is at a position */
    uint32_t *pivot_column; /* at each position below the rank */
    uint32_t rows, base;    /* base: rank before the panel */
    uint32_t columns;       /* of the panel, in which pivots are sought */
    uint32_t first_column;  /* its number */
    uint32_t max_found;
};

/* The window's bits turned: lane c has column c of 64 rows.  In sums lane t has which rows pivot row
 * t was added to, itself among them; lanes 0 to 5 have in index the bits of where rows were before.
 * Pivot row t is row t. */
struct window {
    uint64_t bits, sums, index;
    uint32_t pivot_column; /* of pivot row `lane` */
    uint32_t column, found;
};

static __device__ inline uint64_t turn_rows_of_window(uint32_t low, uint32_t high)
{
    return turn_warp(low) | (uint64_t)turn_warp(high) << 32;
}

static __device__ inline void window_open(struct window &w, const struct panel_rows &p)
{
    uint32_t word[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t at = lane_id() + 32 * i;
        word[i] = at < p.rows - p.base ? p.words[p.row_at[p.base + at]] : 0;
    }
    w.bits = turn_rows_of_window(word[0], word[1]);
    w.index = turn_rows_of_window(lane_id(), lane_id() + 32);
    w.sums = 0;
    w.pivot_column = w.column = w.found = 0;
    __syncwarp(WARP_ALL); /* all have read which rows they are */
}

/* Two rows change places, of which a lane's one is `bit` in the first. */
static __device__ inline uint64_t swap_rows(uint64_t x, bool bit, uint64_t first, uint64_t second)
{
    return ((x & second) != 0) != bit ? x ^ first ^ second : x;
}

/* Row `pivot`, a bit, is the pivot of the present column, of which all rows are in x. */
static __device__ inline void window_take(struct window &w, struct batch_panel *panel, uint64_t x,
                                          uint64_t pivot)
{
    const uint64_t place = 1u << w.found, others = x ^ pivot;
    const bool in_bits = w.bits & pivot, in_index = w.index & pivot;
    bool in_sums = w.sums & pivot;
    const uint32_t chosen = __ballot_sync(WARP_ALL, in_sums) | 1u << w.found;
    if (lane_id() == 0) panel->chosen[w.found] = chosen;
    if (in_bits) w.bits ^= others;
    if (in_sums) w.sums ^= others;
    if (lane_id() == w.found) {
        w.sums = x;
        in_sums = true;
        w.pivot_column = w.column;
    }
    w.bits = swap_rows(w.bits, in_bits, pivot, place);
    w.sums = swap_rows(w.sums, in_sums, pivot, place);
    w.index = swap_rows(w.index, in_index, pivot, place);
    w.found++;
    w.column++;
}

static __device__ inline uint64_t window_column(const struct window &w)
{
    return __shfl_sync(WARP_ALL, (unsigned long long)w.bits, w.column);
}

/* Goes on from column to column until all are done, which it tells by 0, or until one has no pivot
 * in the window, and there are rows outside: the columns to add up in those. */
static __device__ inline uint32_t window_go(struct window &w, const struct panel_rows &p,
                                            struct batch_panel *panel)
{
    const bool all_inside = p.rows - p.base <= BATCH_WINDOW;
    while (w.column < p.columns && w.found < p.max_found) {
        const uint32_t pivots = (1u << w.found) - 1;
        const uint64_t x = window_column(w), open = x & ~(uint64_t)pivots;
        if (open) {
            window_take(w, panel, x, open & (0 - open));
            continue;
        }
        if (!all_inside) {
            const bool adds = (uint32_t)x & pivots & 1u << lane_id();
            return warp_or(adds ? 1u << w.pivot_column : 0) | 1u << w.column;
        }
        w.column++;
    }
    return 0;
}

/* The row at position `at` after base, outside, is the pivot: it changes places with the window's
 * first row that is none. */
static __device__ inline void window_fetch(struct window &w, const struct panel_rows &p,
                                           struct batch_panel *panel, uint32_t at)
{
    const uint32_t word = p.words[p.row_at[p.base + at]];
    const uint64_t place = 1u << w.found;
    const uint32_t adds = __ballot_sync(WARP_ALL, lane_id() < w.found &&
                                                      (word >> w.pivot_column & 1));
    const uint32_t bit = (word >> lane_id() ^ (uint32_t)__popc((uint32_t)w.bits & adds)) & 1;
    const uint32_t sum = (uint32_t)__popc((uint32_t)w.sums & adds) & 1;
    const uint32_t first = __ballot_sync(WARP_ALL, (w.index & place) != 0) & (BATCH_WINDOW - 1);
    __syncwarp(WARP_ALL); /* all have read which row it is */
    if (lane_id() == 0) {
        const uint32_t row = p.row_at[p.base + first];
        p.row_at[p.base + first] = p.row_at[p.base + at];
        p.row_at[p.base + at] = row;
    }
    w.bits = bit ? w.bits | place : w.bits & ~place;
    w.sums = sum ? w.sums | place : w.sums & ~place;
    window_take(w, panel, window_column(w), place);
}

static __device__ inline void window_close(const struct window &w, const struct panel_rows &p,
                                           struct batch_panel *panel)
{
    const uint32_t sum = turn_warp((uint32_t)w.sums);
    uint32_t row[2];
    row[0] = turn_warp((uint32_t)w.index);
    row[1] = turn_warp((uint32_t)(w.index >> 32));
    panel->by_column[lane_id()] = 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (lane_id() + 32 * i < p.rows - p.base) row[i] = p.row_at[p.base + row[i]];
    __syncwarp(WARP_ALL); /* all are read, and 0 */
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (lane_id() + 32 * i < p.rows - p.base) p.row_at[p.base + lane_id() + 32 * i] = row[i];
    if (lane_id() < w.found) {
        p.pivot_column[p.base + lane_id()] = p.first_column + w.pivot_column;
        panel->sums[lane_id()] = sum;
        panel->by_column[w.pivot_column] = sum;
    }
    if (lane_id() == 0) {
        panel->found = w.found;
        panel->b = 0;
    }
}

/* ---- The panel ---- */

/* The first position outside of the window whose row has an odd number of ones in columns. */
static __device__ inline void seek_outside(const struct panel_rows &p, struct batch_panel *panel)
{
    const uint32_t left = p.rows - p.base;
    uint32_t best = NOWHERE;
    for (uint32_t at = BATCH_WINDOW + threadIdx.x; at < left && best == NOWHERE; at += blockDim.x)
        if (__popc(p.words[p.row_at[p.base + at]] & panel->query) & 1) best = at;
    best = warp_min(best);
    if (lane_id() == 0 && best != NOWHERE) atomicMin(&panel->best, best);
}

/* All threads, after a barrier behind which p.words and p.row_at are there; ends with one behind
 * which the panel is. */
static __device__ inline void panel_eliminate(const struct panel_rows &p, struct batch_panel *panel)
{
    const bool leads = threadIdx.x < 32;
    struct window w;
    bool sought = false;
    if (leads) window_open(w, p);
    for (;;) {
        if (leads) {
            if (sought) {
                const uint32_t best = panel->best;
                if (best == NOWHERE)
                    w.column++;
                else
                    window_fetch(w, p, panel, best);
            }
            const uint32_t query = window_go(w, p, panel);
            __syncwarp(WARP_ALL); /* all have read what was found */
            if (lane_id() == 0) {
                panel->query = query;
                panel->best = NOWHERE;
            }
            if (!query) window_close(w, p, panel);
        }
        __syncthreads(); /* everyone knows the question */
        if (!panel->query) return;
        seek_outside(p, panel);
        __syncthreads(); /* everyone has answered */
        sought = true;
    }
}

/* ---- What is added to rows ---- */

/* Tables of what a row's word says: after a barrier that p's panel is there, before another. */
static __device__ inline void make_sum_tables(const struct batch_panel *panel,
                                              uint32_t tables[BATCH_GROUPS][BATCH_ENTRIES])
{
    for (uint32_t i = threadIdx.x; i < BATCH_GROUPS * BATCH_ENTRIES; i += blockDim.x) {
        const uint32_t group = i / BATCH_ENTRIES, entry = i % BATCH_ENTRIES;
        uint32_t sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < BATCH_GROUP; k++) {
            const uint32_t column = group * BATCH_GROUP + k;
            if ((entry >> k & 1) && column < BATCH_PANEL) sum ^= panel->by_column[column];
        }
        tables[group][entry] = sum;
    }
}

/* The pivot rows to add to a row that is none. */
static __device__ inline uint32_t sum_of_word(const uint32_t tables[BATCH_GROUPS][BATCH_ENTRIES],
                                              uint32_t word)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t g = 0; g < BATCH_GROUPS; g++)
        sum ^= tables[g][word >> (g * BATCH_GROUP) & (BATCH_ENTRIES - 1)];
    return sum;
}

/* ... and to pivot number t. */
static __device__ inline uint32_t sum_of_pivot(const struct batch_panel *panel, uint32_t t,
                                               bool reduced)
{
    return (reduced ? panel->sums[t] : panel->chosen[t]) ^ 1u << t;
}

#endif
