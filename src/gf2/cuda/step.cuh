/*
 * gf2/cuda/step.cuh - the pivot rows of a panel, word by word, and the columns of the next panel.
 *
 *     rows_make    the words of the pivot rows of slot x: each is a sum of rows of earlier slots
 *                  and of original rows, from tables of the sums of four rows
 *     rows_store   ... into the slot, and the rows that move
 *     step_strip   the columns of the panel in all rows.  The pivot rows of the panel before are
 *                  made by every block, but stored by the last one, when all have read them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_STEP_CUH
#define ECHI_GF2_CUDA_STEP_CUH

#include "gf2/cuda/bits.cuh"
#include "gf2/cuda/gauss.cuh"
#include "gf2/cuda/panel.cuh"

struct rows_shared {
    uint64_t tables[GF2_SLOTS][SLOT_TABLE]; /* of the slots */
    uint64_t own_table[SLOT_TABLE];         /* of the original rows */
    uint64_t own[64], moved[64], made[64];
    uint64_t rows[GF2_SLOTS][64];
};

struct strip_shared {
    struct rows_shared rows;
    uint64_t value[GF2_PANEL_THREADS];
    unsigned long long rest;
    uint32_t last;
};

union step_shared {
    struct strip_shared strip;
    struct panel_shared panel;
};

/* ---- The pivot rows ---- */

/* Loads the original rows of the pivots of slot x, and the rows that move, by the last threads of
 * the block. */
static __device__ inline void rows_fetch(const struct gf2_echelon_args &a, uint64_t w, uint32_t x,
                                         struct rows_shared &s)
{
    const struct gf2_state &state = a.state[x];
    const uint32_t thread = blockDim.x - 1 - threadIdx.x, i = thread % 64;
    const uint64_t mask = own_bits(a, w);
    const uint64_t *column = a.a + w;
    if (thread < 64)
        s.own[i] = i < state.count ? column[state.from[i] * a.stride] & mask : 0;
    else if (thread < 128)
        s.moved[i] = i < state.moves ? column[state.source[i] * a.stride] & mask : 0;
}

/* The tables of a word of the slots before slot x. */
static __device__ inline void rows_tables(const struct gf2_echelon_args &a, uint64_t w, uint32_t x,
                                          struct rows_shared &s)
{
    const uint64_t *right = a.right + w * GF2_DEPTH;
    for (uint32_t i = threadIdx.x; i < 64 * x; i += blockDim.x)
        s.rows[i / 64][i % 64] = a.state[x].slots[i / 64] ? right[i] : 0;
    __syncthreads(); /* the rows are available, those of rows_fetch(), too */
    for (uint32_t i = threadIdx.x; i < SLOT_TABLE * x; i += blockDim.x)
        s.tables[i / SLOT_TABLE][i % SLOT_TABLE] =
            table_entry(s.rows[i / SLOT_TABLE], i % SLOT_TABLE);
}

/* Makes the pivot rows of slot x, which has pivots, and their tables. */
static __device__ inline void rows_make(const struct gf2_echelon_args &a, uint32_t x,
                                        struct rows_shared &s)
{
    const struct gf2_state &state = a.state[x];
    const uint32_t thread = threadIdx.x, j = thread / 4 % 64, part = thread % 4;
    uint64_t bits[GF2_SLOTS];
    const uint64_t own_bits_of_sum = state.sum[j][GF2_SLOTS];
#pragma unroll
    for (uint32_t y = 0; y < GF2_SLOTS; y++)
        bits[y] = y < x && state.slots[y] ? state.sum[j][y] : 0;
    if (thread < SLOT_TABLE) s.own_table[thread] = table_entry(s.own, thread);
    __syncthreads(); /* all tables are there */
    if (thread < 256) {
        uint64_t sum = look_up<NIBBLES / 4>(s.own_table + part * 64, own_bits_of_sum >> 16 * part);
#pragma unroll
        for (uint32_t y = 0; y < GF2_SLOTS; y++)
            if (bits[y]) sum ^= look_up<NIBBLES / 4>(s.tables[y] + part * 64, bits[y] >> 16 * part);
        sum ^= __shfl_xor_sync(WARP_ALL, (unsigned long long)sum, 1);
        sum ^= __shfl_xor_sync(WARP_ALL, (unsigned long long)sum, 2);
        if (part == 0) s.made[j] = sum; /* empty for a column without a pivot */
    }
    __syncthreads(); /* the rows are made */
    if (thread < SLOT_TABLE) s.tables[x][thread] = table_entry(s.made, thread);
}

/* Packs one word of the rows, bit by bit, as right operands; by 8 warps. */
static __device__ inline void pack(const struct gf2_echelon_args &a, uint64_t w, uint32_t slot,
                                   uint32_t warp, const uint64_t *rows)
{
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

/* Stores what rows_make() has made. */
static __device__ inline void rows_store(const struct gf2_echelon_args &a, uint64_t w, uint32_t x,
                                         const struct rows_shared &s)
{
    const struct gf2_state &state = a.state[x];
    const uint32_t thread = threadIdx.x, i = thread % 64;
    const uint64_t mask = own_bits(a, w);
    uint64_t *column = a.a + w;
    if (thread < 64) {
        a.right[w * GF2_DEPTH + 64 * x + i] = s.made[i];
        if (i < state.count) {
            uint64_t *to = column + (uint64_t)(state.first + i) * a.stride;
            *to = ~mask ? *to & ~mask : 0;
        }
    } else if (thread < 128 && i < state.moves) {
        uint64_t *to = column + state.target[i] * a.stride;
        *to = ~mask ? (*to & ~mask) | s.moved[i] : s.moved[i];
    }
    if (a.packed && thread < 256) pack(a, w, x, thread / 32, s.made);
    __syncthreads(); /* the stores precede the loads of the next slot */
}

/* ---- The panel's columns ---- */

/* The multipliers of a row for the pivots of the last panel, in `slot`.  known: that of a pivot
 * row; word: of the row in the panel. */
static __device__ inline uint64_t left_of(const struct gf2_echelon_args &a,
                                          const struct gf2_state &state, uint32_t slot,
                                          uint64_t row, uint64_t known, uint64_t word, bool *is_new)
{
    const uint64_t pivots = state.slots[slot], first = state.first;
    *is_new =
        pivots && !(row >= first && row < first + state.count) && (a.reduced || row >= state.begin);
    if (!*is_new) return known;
    return a.reduced || row >= first ? word & pivots : 0;
}

static __device__ inline void note_left(const struct gf2_echelon_args &a,
                                        const struct gf2_state &state, uint32_t slot, uint64_t row)
{
    bool is_new;
    const uint64_t left = left_of(a, state, slot, row, 0, a.strip[row], &is_new);
    if (is_new) a.left[(uint64_t)slot * a.rows + row] = left;
}

/* What a thread reads of its row before the pivot rows are made. */
struct strip_row {
    uint64_t word, last;      /* in the panel, and in the panel before */
    uint64_t left[GF2_SLOTS]; /* multipliers */
};

static __device__ inline void strip_fetch(const struct gf2_echelon_args &a, uint32_t slots,
                                          uint64_t row, struct strip_row &r)
{
    const bool there = row < a.rows;
    r.word = there ? a.a[row * a.stride + a.panel] & own_bits(a, a.panel) : 0;
    r.last = there && slots ? a.strip[row] : 0;
#pragma unroll
    for (uint32_t x = 0; x < GF2_SLOTS; x++)
        r.left[x] = there && x < slots ? a.left[(uint64_t)x * a.rows + row] : 0;
}

/* The word of the panel in a row of base ..., where the pivot rows of the last panel and the rows
 * that move are not stored yet.  The rows of the slots are not added. */
static __device__ inline uint64_t strip_moved(const struct gf2_state &before, uint64_t base,
                                              uint64_t word, struct strip_shared &s)
{
    const uint64_t row = base + threadIdx.x, first = before.first;
    if (row >= first && row < first + before.count) word = 0;
    if (!before.moves) return word;
    s.value[threadIdx.x] = word;
    __syncthreads(); /* the rows that move replace others */
    if (threadIdx.x < before.moves) {
        const uint64_t target = before.target[threadIdx.x];
        if (target >= base && target < base + GF2_PANEL_THREADS)
            s.value[target - base] = s.rows.moved[threadIdx.x];
    }
    __syncthreads();
    return s.value[threadIdx.x];
}

/* Brings the rows from base on up to date; returns the word of the thread's row. */
static __device__ inline uint64_t strip_rows(const struct gf2_echelon_args &a,
                                             const struct gf2_state &before, bool made,
                                             uint64_t base, struct strip_row &r,
                                             struct strip_shared &s)
{
    const uint32_t slots = a.panel % GF2_SLOTS;
    const uint64_t row = base + threadIdx.x;
    bool is_new = false;
#pragma unroll
    for (uint32_t x = 0; x < GF2_SLOTS; x++)
        if (x + 1 == slots) r.left[x] = left_of(a, before, x, row, r.left[x], r.last, &is_new);
    if (is_new && row < a.rows) {
        const uint64_t left =
            a.reduced || row >= before.first ? r.last & before.slots[slots - 1] : 0;
        a.left[(uint64_t)(slots - 1) * a.rows + row] = left;
    }
    if (before.rank >= a.limit) return 0;
    uint64_t word = made ? strip_moved(before, base, r.word, s) : r.word;
    if (row >= a.rows || (!a.reduced && row < before.rank)) return 0;
#pragma unroll
    for (uint32_t x = 0; x < GF2_SLOTS; x++)
        if (x < slots && before.slots[x]) word ^= look_up<NIBBLES>(s.rows.tables[x], r.left[x]);
    a.strip[row] = word;
    return word;
}

/* Returns true in the last block that is done. */
static __device__ inline bool step_strip(const struct gf2_echelon_args &a,
                                         const struct gf2_state &before, struct strip_shared &s)
{
    const uint32_t slots = a.panel % GF2_SLOTS;
    const bool made = slots && before.count;
    const uint64_t columns = a.columns - 64 * (uint64_t)a.panel;
    const uint64_t within = columns < 64 ? ((uint64_t)1 << columns) - 1 : ~(uint64_t)0;
    const uint64_t window = (uint64_t)before.rank + GF2_WINDOW;
    uint64_t rest = 0, base = blockIdx.x * (uint64_t)GF2_PANEL_THREADS;
    struct strip_row r;
    strip_fetch(a, slots, base + threadIdx.x, r);
    if (made) rows_fetch(a, a.panel, slots - 1, s.rows);
    if (slots) rows_tables(a, a.panel, slots - 1, s.rows);
    if (made) rows_make(a, slots - 1, s.rows);
    if (threadIdx.x == 0) s.rest = 0;
    __syncthreads(); /* the tables are there */
    while (true) {
        const uint64_t word = strip_rows(a, before, made, base, r, s);
        if (base + threadIdx.x >= window) rest |= word & within;
        base += a.strips * (uint64_t)GF2_PANEL_THREADS;
        if (base >= a.rows) break;
        strip_fetch(a, slots, base + threadIdx.x, r);
    }
    rest = warp_or_u64(rest);
    if (lane_id() == 0 && rest) atomicOr(&s.rest, (unsigned long long)rest);
    __syncthreads(); /* the block is done */
    if (threadIdx.x == 0) {
        if (s.rest & ~load_relaxed_u64(&a.join->rest))
            atomicOr((unsigned long long *)&a.join->rest, s.rest);
        s.last = add_acq_rel(&a.join->done, 1) == a.strips - 1;
    }
    __syncthreads(); /* the last block reads what the others have written */
    return s.last;
}

#endif
