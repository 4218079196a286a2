/*
 * gf2/cuda/echelon.cu - echelon forms over GF(2) on the GPU, device code.
 *
 * For each panel of 64 columns three kernels:
 *
 *     gf2_strip   the panel's columns of all rows, brought up to date; before that, each row's
 *                 multipliers for the last panel's pivots: its own bits there
 *     gf2_panel   one block: the pivots, and the combinations of their rows        panel.cuh
 *     gf2_rows    the pivot rows, updated as far as possible, into a slot; other rows move
 *
 * After every eight panels gf2_apply runs (apply.cuh), so a row of the matrix is read and written
 * once per 512 columns.  Until then, the value of a row is the row in place plus the slots' rows
 * that `left` selects.  A pivot row's own place is zero, and `left` selects its slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include "gf2/cuda/apply.cuh"
#include "gf2/cuda/bits.cuh"
#include "gf2/cuda/echelon.h"
#include "gf2/cuda/gauss.cuh"
#include "gf2/cuda/panel.cuh"

enum { NIBBLES = 16, SLOT_TABLE = NIBBLES * 16 /* of 64 rows: combinations of four each */ };

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_begin(const __grid_constant__ struct gf2_echelon_args a)
{
    const uint64_t thread = blockIdx.x * (uint64_t)GF2_THREADS + threadIdx.x;
    if (thread < sizeof(struct gf2_state) / sizeof(uint64_t)) ((uint64_t *)a.state)[thread] = 0;
    if (thread == 0) *a.rank = 0;
    if (a.rows_from && thread < a.rows) a.rows_from[thread] = (uint32_t)thread;
}

/* ---- Linear combinations from tables of four rows ---- */

static __device__ inline void make_tables(uint64_t *tables, const uint64_t *rows, uint32_t entries)
{
    for (uint32_t x = threadIdx.x; x < entries; x += GF2_THREADS) {
        uint64_t sum = 0;
#pragma unroll
        for (uint32_t bit = 0; bit < 4; bit++)
            if (x >> bit & 1) sum ^= rows[x / 16 * 4 + bit];
        tables[x] = sum;
    }
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

/* ---- The panel's columns ---- */

/* The multipliers of a row for the last panel's pivots. */
static __device__ inline void note_left(const struct gf2_echelon_args &a, uint32_t slot,
                                        uint64_t row)
{
    const struct gf2_state &state = *a.state;
    const uint64_t pivots = state.slots[slot], first = state.first;
    if (!pivots || (row >= first && row < first + state.count)) return; /* known already */
    if (!a.reduced && row < state.begin) return;
    a.left[(uint64_t)slot * a.rows + row] = a.reduced || row >= first ? a.strip[row] & pivots : 0;
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_strip(const __grid_constant__ struct gf2_echelon_args a)
{
    __shared__ uint64_t rows[GF2_DEPTH], tables[GF2_SLOTS * SLOT_TABLE];
    __shared__ unsigned long long rest;
    wait_for_earlier();
    struct gf2_state &state = *a.state;
    const uint32_t slots = a.panel ? (a.panel - 1) % GF2_SLOTS + 1 : 0, rank = state.rank;
    const uint64_t row = blockIdx.x * (uint64_t)GF2_THREADS + threadIdx.x;
    const bool next = !a.last && rank < a.limit;
    if (slots && row < a.rows) note_left(a, slots - 1, row);
    if (!next) return;
    const uint64_t *right = a.right + (uint64_t)a.panel * GF2_DEPTH;
    for (uint32_t x = threadIdx.x; x < 64 * slots; x += GF2_THREADS)
        rows[x] = state.slots[x / 64] ? right[x] : 0;
    if (threadIdx.x == 0) rest = 0;
    __syncthreads();
    make_tables(tables, rows, slots * SLOT_TABLE);
    __syncthreads();
    uint64_t word = 0;
    if (row < a.rows && (a.reduced || row >= rank)) {
        word = a.a[row * a.stride + a.panel] & own_bits(a, a.panel);
        for (uint32_t x = 0; x < slots; x++)
            if (state.slots[x])
                word ^=
                    look_up<NIBBLES>(tables + x * SLOT_TABLE, a.left[(uint64_t)x * a.rows + row]);
        a.strip[row] = word;
    }
    const uint64_t columns = a.columns - 64 * (uint64_t)a.panel;
    if (columns < 64) word &= ((uint64_t)1 << columns) - 1;
    if (row < (uint64_t)rank + GF2_WINDOW) word = 0;
    for (int step = 16; step; step /= 2)
        word |= __shfl_xor_sync(WARP_ALL, (unsigned long long)word, step);
    if (lane_id() == 0 && word) atomicOr(&rest, (unsigned long long)word);
    __syncthreads();
    if (threadIdx.x == 0 && (rest & ~load_relaxed_u64(&state.rest)))
        atomicOr((unsigned long long *)&state.rest, rest);
}

/* ---- The pivot rows ---- */

/* Packs one word of the rows, bit by bit, as right operands. */
static __device__ inline void pack(const struct gf2_echelon_args &a, uint64_t w, uint32_t slot,
                                   const uint64_t *rows)
{
    const uint32_t warp = threadIdx.x / 32;
    const uint64_t low = rows[lane_id()], high = rows[32 + lane_id()];
    uint32_t mine = 0;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t bit = 8 * warp + i;
        const uint32_t first = __ballot_sync(WARP_ALL, low >> bit & 1);
        const uint32_t second = __ballot_sync(WARP_ALL, high >> bit & 1);
        if (lane_id() / 2 == i) mine = lane_id() % 2 ? second : first;
    }
    if (lane_id() >= 16) return;
    const uint32_t q = slot % 4 * 2 + lane_id() % 2;
    const uint64_t chunk = w / 4 * 2 + slot / 4;
    a.packed[chunk * GF2_CHUNK_WORDS +
             gf2_column_place((uint32_t)(w % 4), 8 * warp + lane_id() / 2, q)] = mine;
}

/* A block processes one word of all of them. */
extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_rows(const __grid_constant__ struct gf2_echelon_args a)
{
    __shared__ uint64_t rows[GF2_DEPTH + 64], tables[(GF2_SLOTS + 1) * SLOT_TABLE], made[64];
    wait_for_earlier();
    const struct gf2_state &state = *a.state;
    const uint32_t count = state.count, moves = state.moves, slot = a.panel % GF2_SLOTS;
    const uint32_t thread = threadIdx.x, i = thread % 64;
    const uint64_t w = a.panel - slot + blockIdx.x, mask = own_bits(a, w);
    if (!count) return;
    uint64_t *column = a.a + w, moved = 0;
    for (uint32_t x = thread; x < 64 * slot; x += GF2_THREADS)
        rows[x] = state.slots[x / 64] ? a.right[w * GF2_DEPTH + x] : 0;
    if (thread < 64)
        rows[64 * slot + i] = i < count ? column[state.from[i] * a.stride] & mask : 0;
    else if (thread < 128 && i < moves)
        moved = column[state.source[i] * a.stride] & mask;
    __syncthreads();
    make_tables(tables, rows, (slot + 1) * SLOT_TABLE);
    if (thread >= 64 && thread < 128 && i < moves) {
        uint64_t *to = column + state.target[i] * a.stride;
        *to = ~mask ? (*to & ~mask) | moved : moved;
    } else if (thread < 64 && i < count) {
        uint64_t *to = column + (uint64_t)(state.first + i) * a.stride;
        *to = ~mask ? *to & ~mask : 0;
    }
    __syncthreads();
    const uint32_t j = thread / 4, part = thread % 4;
    uint64_t sum = 0;
    for (uint32_t x = 0; x <= slot; x++)
        if (x == slot || state.slots[x]) {
            const uint64_t bits = state.sum[j][x == slot ? (uint32_t)GF2_SLOTS : x];
            sum ^= look_up<NIBBLES / 4>(tables + x * SLOT_TABLE + part * 64, bits >> 16 * part);
        }
    sum ^= __shfl_xor_sync(WARP_ALL, (unsigned long long)sum, 1);
    sum ^= __shfl_xor_sync(WARP_ALL, (unsigned long long)sum, 2);
    if (part == 0) {
        made[j] = sum; /* empty for a column without a pivot */
        a.right[w * GF2_DEPTH + 64 * slot + j] = sum;
    }
    if (!a.packed) return;
    __syncthreads();
    pack(a, w, slot, made);
}
