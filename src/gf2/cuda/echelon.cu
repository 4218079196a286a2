/*
 * gf2/cuda/echelon.cu - echelon forms over GF(2) on the GPU, device code.
 *
 * For eight panels of 64 columns two kernels, if all pivots are in the next rows, and gf2_apply:
 *
 *     gf2_window       the pivots, and B^-1 of the pivot rows               window.cuh
 *     gf2_window_rows  the pivot rows of the other columns, into slots
 *
 * For each of the panels that are left one kernel, and two after every eight panels:
 *
 *     gf2_step    the panel's columns of all rows, brought up to date; the last block to do so
 *                 finds the pivots, and the sums that their rows are  step.cuh, panel.cuh
 *     gf2_rows    the pivot rows, updated as far as possible, into slots; other rows move
 *     gf2_apply   adds the rows of the slots to all rows               apply.cuh
 *
 * So a row of the matrix is read and written once per 512 columns.  Until then, the value of a row
 * is the row in place plus the slots' rows that `left` selects.  A pivot row's own place is zero,
 * and `left` selects its slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include "gf2/cuda/apply.cuh"
#include "gf2/cuda/step.cuh"
#include "gf2/cuda/window.cuh"

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_begin(const __grid_constant__ struct gf2_echelon_args a)
{
    const uint64_t thread = blockIdx.x * (uint64_t)GF2_THREADS + threadIdx.x;
    if (thread < GF2_SLOTS * sizeof(struct gf2_state) / sizeof(uint64_t))
        ((uint64_t *)a.state)[thread] = 0;
    if (thread == 0) {
        a.join->rest = 0;
        a.join->done = a.join->done_before = 0;
        *a.rank = 0;
    }
    if (a.rows_from && thread < a.rows) a.rows_from[thread] = (uint32_t)thread;
}

/* The first blocks have rows, the others a word of the pivot rows of the panel before. */
extern "C" __global__ void __launch_bounds__(GF2_PANEL_THREADS)
    gf2_step(const __grid_constant__ struct gf2_echelon_args a)
{
    __shared__ union step_shared s;
    wait_for_earlier();
    if (a.panel < a.join->done_before) return;
    const uint32_t slot = a.panel % GF2_SLOTS;
    if (blockIdx.x >= a.strips) {
        const uint32_t other =
            blockIdx.x - a.strips; /* of the words of the slots but the panel's */
        const uint64_t w = a.panel - slot + other + (other >= slot);
        if (!a.state[slot - 1].count) return;
        rows_fetch(a, w, slot - 1, s.strip.rows);
        rows_tables(a, w, slot - 1, s.strip.rows);
        rows_make(a, slot - 1, s.strip.rows);
        rows_store(a, w, slot - 1, s.strip.rows);
        return;
    }
    const struct gf2_state &before = a.state[slot ? slot - 1 : GF2_SLOTS - 1];
    if (!step_strip(a, before, s.strip)) return;
    if (slot && before.count) rows_store(a, a.panel, slot - 1, s.strip.rows);
    const uint64_t rest = load_relaxed_u64(&a.join->rest);
    __syncthreads(); /* all threads have read rest, and the rows in shared memory */
    if (threadIdx.x == 0) {
        store_relaxed_u64(&a.join->rest, 0);
        store_relaxed(&a.join->done, 0);
    }
    panel_find(a, before, rest, s.panel);
}

/* The first blocks have a word of the pivot rows, the others rows. */
extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_rows(const __grid_constant__ struct gf2_echelon_args a)
{
    __shared__ struct rows_shared s;
    wait_for_earlier();
    if (a.panel < a.join->done_before) return;
    const uint32_t slot = a.panel % GF2_SLOTS;
    if (blockIdx.x >= a.strips) {
        const uint64_t row = (blockIdx.x - a.strips) * (uint64_t)GF2_THREADS + threadIdx.x;
        if (row < a.rows) note_left(a, a.state[slot], slot, row);
        return;
    }
    const uint64_t w = a.panel - slot + blockIdx.x;
    const bool own = blockIdx.x < GF2_SLOTS; /* only the last panel is left */
    for (uint32_t x = own ? slot : 0; x <= slot; x++) {
        if (!a.state[x].count) continue;
        rows_fetch(a, w, x, s);
        if (own)
            rows_tables(a, w, slot, s);
        else
            __syncthreads(); /* the rows of rows_fetch() are there */
        rows_make(a, x, s);
        rows_store(a, w, x, s);
    }
}
