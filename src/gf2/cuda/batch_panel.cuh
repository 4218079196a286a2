/*
 * gf2/cuda/batch_panel.cuh - one warp eliminates up to 32 columns of a matrix, one word per row;
 * tables then give the update of each row.
 *
 * Rows have positions, which are swapped like the rows in an elimination; the rows stay in place:
 *
 *     positions   0 ...          rank ...          rank + 64 ...         rows
 *                 pivot rows     the window        rows outside
 *
 * A warp has the window's words in registers, two rows per lane, and processes one pivot after the
 * other without a barrier.  If a column has no one in the window, the entire block searches
 * outside: a row's current bit there is the parity of some of the bits that it had before the
 * panel.  Each row of the window records which original pivot rows have been added to it.  The
 * update of any other row follows from the pivot columns in which it has a one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_BATCH_PANEL_CUH
#define ECHI_GF2_CUDA_BATCH_PANEL_CUH

#include "gf2/cuda/batch.h"
#include "gf2/cuda/word.cuh"

#define NOWHERE 0xffffffffu

/* ---- Warp operations, also for GPUs without such instructions ---- */

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

static __device__ inline uint32_t warp_xor(uint32_t x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
    for (int step = 16; step; step /= 2) x ^= __shfl_xor_sync(WARP_ALL, x, step);
    return x;
#else
    return __reduce_xor_sync(WARP_ALL, x);
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

/* The rows of a panel; the lists cover all rows. */
struct panel_rows {
    const uint32_t *words;  /* a row's bits in the columns of the panel */
    uint32_t *row_at;       /* the row at each position */
    uint32_t *pivot_column; /* at each position below the rank */
    uint32_t rows, base;    /* base: rank before the panel */
    uint32_t columns;       /* of the panel: number of columns to search for pivots */
    uint32_t first_column;  /* its number */
    uint32_t max_found;
};

/* A row of the window: its word, and the pivot rows that were added to it.  While it is free, open
 * is all ones and key is its position after base and the lane; for a pivot row, key is its number
 * and column. */
struct window_row {
    uint32_t word, sum, open, key;
};

struct window {
    struct window_row row[2];
    uint32_t column, found;
};

static __device__ inline bool is_pivot_row(const struct window_row &r)
{
    return !r.open && r.key != NOWHERE;
}

/* row_at is not modified until the window closes: row i of a lane is at position 32 i + lane. */
static __device__ inline void window_open(struct window &w, const struct panel_rows &p)
{
    w.column = w.found = 0;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t at = lane_id() + 32 * i;
        const bool there = at < p.rows - p.base;
        w.row[i].word = there ? p.words[p.row_at[p.base + at]] : 0;
        w.row[i].sum = 0;
        w.row[i].open = there ? 0xffffffffu : 0;
        w.row[i].key = there ? at << 5 | lane_id() : NOWHERE;
    }
}

/* Pivot number `found`, of the current column, is (word, sum); key identifies its row or, if it
 * comes from outside, the row whose place it takes.  The row at the pivot's place goes to `at`. */
static __device__ inline void window_take(struct window &w, struct batch_panel *panel, uint32_t key,
                                          uint32_t at, uint32_t word, uint32_t sum)
{
    const uint32_t bit = 1u << w.column, first = w.found << 5 | lane_id();
#pragma unroll
    for (int i = 0; i < 2; i++) {
        struct window_row &r = w.row[i];
        const bool is = r.open && r.key == key, adds = (r.word & bit) != 0;
        if (r.open && r.key == first) r.key = at << 5 | lane_id();
        if (adds) {
            r.word ^= word;
            r.sum ^= sum;
        }
        if (is) {
            r.word = word;
            r.sum = sum;
            r.open = 0;
            r.key = w.found | w.column << 5;
            panel->chosen[w.found] = sum;
        }
    }
    w.found++;
    w.column++;
}

/* Processes column after column until all are done, and then returns 0; or until a column has no
 * pivot in the window and there are rows outside: then returns the columns to add up in those. */
static __device__ inline uint32_t window_go(struct window &w, const struct panel_rows &p,
                                            struct batch_panel *panel)
{
    const bool all_inside = p.rows - p.base <= BATCH_WINDOW;
    while (w.column < p.columns && w.found < p.max_found) {
        const struct window_row &r0 = w.row[0], &r1 = w.row[1];
        const uint32_t bit = 1u << w.column;
        const uint32_t key0 = r0.word & r0.open & bit ? r0.key : NOWHERE;
        const uint32_t key1 = r1.word & r1.open & bit ? r1.key : NOWHERE;
        const uint32_t mine = min(key0, key1), best = warp_min(mine);
        if (best != NOWHERE) {
            const bool first = key0 <= key1;
            const uint32_t word = __shfl_sync(WARP_ALL, first ? r0.word : r1.word, best & 31);
            const uint32_t sum = __shfl_sync(WARP_ALL, first ? r0.sum : r1.sum, best & 31);
            window_take(w, panel, best, best >> 5, word, sum | 1u << w.found);
            continue;
        }
        if (!all_inside) {
            uint32_t columns = 0;
#pragma unroll
            for (int i = 0; i < 2; i++)
                if (is_pivot_row(w.row[i]) && (w.row[i].word & bit))
                    columns |= 1u << (w.row[i].key >> 5);
            return warp_or(columns) | bit;
        }
        w.column++;
    }
    return 0;
}

/* The row at position `at` after base, outside, is the pivot: it is exchanged with a row of the
 * window. */
static __device__ inline void window_fetch(struct window &w, const struct panel_rows &p,
                                           struct batch_panel *panel, uint32_t at)
{
    uint32_t word = p.words[p.row_at[p.base + at]], more = 0, sum = 0, key = NOWHERE;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const struct window_row &r = w.row[i];
        if (is_pivot_row(r) && (word >> (r.key >> 5) & 1)) {
            more ^= r.word;
            sum ^= r.sum;
        }
    }
    word ^= warp_xor(more);
    sum = warp_xor(sum) | 1u << w.found;
    __syncwarp(WARP_ALL); /* all lanes have read which row it is */
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const struct window_row &r = w.row[i];
        if (!r.open || r.key != (w.found << 5 | lane_id())) continue;
        const uint32_t place = p.base + lane_id() + 32 * i, row = p.row_at[place];
        p.row_at[place] = p.row_at[p.base + at];
        p.row_at[p.base + at] = row;
        key = r.key;
    }
    window_take(w, panel, warp_min(key), w.found, word, sum);
}

static __device__ inline void window_close(const struct window &w, const struct panel_rows &p,
                                           struct batch_panel *panel)
{
    uint32_t row[2];
#pragma unroll
    for (int i = 0; i < 2; i++)
        row[i] = w.row[i].key != NOWHERE ? p.row_at[p.base + lane_id() + 32 * i] : 0;
    panel->by_column[lane_id()] = 0;
    __syncwarp(WARP_ALL); /* all lanes have read, and are 0 */
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const struct window_row &r = w.row[i];
        if (r.key == NOWHERE) continue;
        const uint32_t number = r.key & 31, column = r.key >> 5;
        p.row_at[p.base + (r.open ? r.key >> 5 : number)] = row[i];
        if (r.open) continue;
        p.pivot_column[p.base + number] = p.first_column + column;
        panel->sums[number] = r.sum;
        panel->by_column[column] = r.sum;
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

/* Called by all threads after a barrier that follows the writes of p.words and p.row_at; ends with
 * a barrier that follows the panel's. */
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
            __syncwarp(WARP_ALL); /* all lanes have read the result */
            if (lane_id() == 0) {
                panel->query = query;
                panel->best = NOWHERE;
            }
            if (!query) window_close(w, p, panel);
        }
        __syncthreads(); /* all threads have read the query */
        if (!panel->query) return;
        seek_outside(p, panel);
        __syncthreads(); /* all threads have answered */
        sought = true;
    }
}

/* ---- Updates of rows ---- */

/* Makes tables from a row's word to its update; needs a barrier before (p's panel is complete) and
 * after. */
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

/* The pivot rows to add to a non-pivot row. */
static __device__ inline uint32_t sum_of_word(const uint32_t tables[BATCH_GROUPS][BATCH_ENTRIES],
                                              uint32_t word)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t g = 0; g < BATCH_GROUPS; g++)
        sum ^= tables[g][word >> (g * BATCH_GROUP) & (BATCH_ENTRIES - 1)];
    return sum;
}

/* The pivot rows to add to pivot number t. */
static __device__ inline uint32_t sum_of_pivot(const struct batch_panel *panel, uint32_t t,
                                               bool reduced)
{
    return (reduced ? panel->sums[t] : panel->chosen[t]) ^ 1u << t;
}

#endif
