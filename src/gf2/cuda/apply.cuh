/*
 * gf2/cuda/apply.cuh - updates all rows by the rows of all slots: a += left right.
 *
 * gf2_apply: a block has 1024 columns of the slots' rows in shared memory, the maximum for 64 KiB.
 * A warp processes 64 rows at a time, whose bits of `left` stay in registers, and loops over the
 * columns.  The counts of a product come from one or two mma.sync; their parities are produced at
 * the bit positions of a. gf2_apply_tables does the same with the method of the four Russians.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_APPLY_CUH
#define ECHI_GF2_CUDA_APPLY_CUH

#include "gf2/cuda/bits.cuh"
#include "gf2/cuda/echelon.h"
#include "gf2/cuda/tables.cuh"
#include "cuda/device/ptx_async.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* That of the last panel. */
static __device__ inline const struct gf2_state &last_state(const struct gf2_echelon_args &a)
{
    return a.state[a.panel % GF2_SLOTS];
}

/* The slots that have rows, as a bit mask; the panel is the last one. */
static __device__ inline uint32_t used_slots(const struct gf2_echelon_args &a)
{
    uint32_t used = 0;
    for (uint32_t x = 0; x <= a.panel % GF2_SLOTS; x++)
        used |= (uint32_t)(last_state(a).slots[x] != 0) << x;
    return used;
}

/* Whether a launch between gf2_window and gf2_step has nothing to do. */
static __device__ inline bool is_needless(const struct gf2_echelon_args &a)
{
    const uint32_t first = a.panel / GF2_SLOTS * GF2_SLOTS;
    return a.partial && a.join->done_before - first - 1 >= GF2_SLOTS - 1;
}

static __device__ inline uint32_t first_row(const struct gf2_echelon_args &a)
{
    return a.reduced ? 0 : last_state(a).begin;
}

#if GF2_MMA
enum { APPLY_GROUPS = GF2_APPLY_WORDS / 4, APPLY_TILES = 4 };

/* Loads 64 rows of `left` from `row` on, for all slots, as left operands. */
static __device__ inline void apply_load(const struct gf2_echelon_args &a, uint32_t used,
                                         uint64_t first, uint64_t row,
                                         uint32_t (&left)[2][APPLY_TILES][4])
{
    const uint32_t *words = (const uint32_t *)a.left;
    const uint32_t g = lane_id() / 4, t = lane_id() % 4;
#pragma unroll
    for (int step = 0; step < 2; step++)
#pragma unroll
        for (int m = 0; m < APPLY_TILES; m++)
#pragma unroll
            for (int part = 0; part < 4; part++) {
                const uint64_t at = row + 16 * m + 8 * (part % 2) + g;
                const uint32_t slot = 4 * step + 2 * (part / 2) + t / 2;
                const bool there = (used >> slot & 1) && at >= first && at < a.rows;
                left[step][m][part] = there ? words[((uint64_t)slot * a.rows + at) * 2 + t % 2] : 0;
            }
}

/* A round of 16 columns: the next bit of each byte of 64 rows, two tiles at a time. */
static __device__ inline void apply_round(const uint32_t (&left)[2][APPLY_TILES][4], uint4 low,
                                          uint4 high, bool two, uint32_t (&bits)[2 * APPLY_TILES])
{
    const uint32_t b[2][2][2] = { { { low.x, low.y }, { low.z, low.w } },
                                  { { high.x, high.y }, { high.z, high.w } } };
#pragma unroll
    for (int pair = 0; pair < APPLY_TILES; pair += 2) {
        int32_t count[2][2][4];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int n = 0; n < 2; n++) mma_and_zero(count[m][n], left[0][pair + m], b[0][n]);
        if (two)
#pragma unroll
            for (int m = 0; m < 2; m++)
#pragma unroll
                for (int n = 0; n < 2; n++) mma_and(count[m][n], left[1][pair + m], b[1][n]);
#pragma unroll
        for (int h = 0; h < 4; h++) {
            const int m = h / 2, c = h % 2 * 2;
            const uint32_t next = gf2_parities_small(count[m][0][c], count[m][0][c + 1],
                                                     count[m][1][c], count[m][1][c + 1]);
            bits[2 * pair + h] = gf2_append(bits[2 * pair + h], next);
        }
    }
}

/* 16 rounds: the update of four words of 64 rows. */
static __device__ inline void apply_product(const uint32_t (&left)[2][APPLY_TILES][4],
                                            const uint4 *right, bool two,
                                            uint64_t (&word)[2 * APPLY_TILES])
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        uint32_t bits[2 * APPLY_TILES];
#pragma unroll
        for (int h = 0; h < 2 * APPLY_TILES; h++) bits[h] = 0;
#pragma unroll 2
        for (int r = 8 * half; r < 8 * half + 8; r++) {
            const uint4 low = right[r * 32 + lane_id()];
            const uint4 high = two ? right[512 + r * 32 + lane_id()] : make_uint4(0, 0, 0, 0);
            apply_round(left, low, high, two, bits);
        }
#pragma unroll
        for (int h = 0; h < 2 * APPLY_TILES; h++)
            word[h] = half ? word[h] | (uint64_t)bits[h] << 32 : bits[h];
    }
}

static __device__ inline void apply_tile(const struct gf2_echelon_args &a, uint32_t used,
                                         uint64_t first, uint64_t row, uint64_t group)
{
    uint32_t left[2][APPLY_TILES][4];
    const uint32_t g = lane_id() / 4, t = lane_id() % 4;
    const uint32_t low = first > row ? (uint32_t)(first - row) : 0;
    apply_load(a, used, first, row, left);
    for (uint32_t i = 0; i < APPLY_GROUPS; i++) {
        const uint64_t column = 4 * (group + i) + t;
        if (4 * (group + i) >= a.words) break;
        const uint32_t high = column < a.words ? (uint32_t)min(a.rows - row, (uint64_t)64) : 0;
        uint64_t word[2 * APPLY_TILES];
        apply_product(left, (const uint4 *)shared_bytes + i * 1024, used >> 4, word);
        uint64_t *at = a.a + (row + g) * a.stride + column;
#pragma unroll
        for (uint32_t h = 0; h < 2 * APPLY_TILES; h++)
            if (8 * h + g >= low && 8 * h + g < high) word[h] ^= at[8 * h * a.stride];
#pragma unroll
        for (uint32_t h = 0; h < 2 * APPLY_TILES; h++)
            if (8 * h + g >= low && 8 * h + g < high) at[8 * h * a.stride] = word[h];
    }
}
#endif

extern "C" __global__ void __launch_bounds__(GF2_THREADS, 2)
    gf2_apply(const __grid_constant__ struct gf2_echelon_args a)
{
    wait_for_earlier();
#if GF2_MMA
    if (is_needless(a)) return;
    const uint32_t used = used_slots(a), first = first_row(a);
    const uint64_t begin = a.panel / GF2_SLOTS * 2; /* the first group of four words */
    const uint64_t groups = ((uint64_t)a.words + 3) / 4 - begin;
    const uint32_t strips = (uint32_t)((groups + APPLY_GROUPS - 1) / APPLY_GROUPS);
    const uint64_t group = begin + (uint64_t)(blockIdx.x % strips) * APPLY_GROUPS;
    const uint64_t row = (uint64_t)(blockIdx.x / strips) * a.apply_rows;
    const uint64_t end = min(row + a.apply_rows, (uint64_t)a.rows);
    if (!used || end <= first) return;
    const uint4 *from = (const uint4 *)a.packed + group * 1024;
    const uint64_t there = begin + groups - group;
    const uint32_t pieces = (uint32_t)min(there, (uint64_t)APPLY_GROUPS) * 1024;
    for (uint32_t i = threadIdx.x; i < pieces; i += GF2_THREADS)
        if ((used >> 4) || i % 1024 < 512) copy_async_16((uint4 *)shared_bytes + i, from + i);
    copy_commit();
    copy_wait<0>();
    __syncthreads();
    for (uint64_t at = row + threadIdx.x / 32 * 64; at < end; at += GF2_THREADS / 32 * 64)
        if (at + 64 > first) apply_tile(a, used, first, at, group);
#endif
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_apply_tables(const __grid_constant__ struct gf2_echelon_args a)
{
    __shared__ struct tables_shared s;
    wait_for_earlier();
    if (is_needless(a)) return;
    const uint64_t begin = a.panel / GF2_SLOTS * GF2_SLOTS;
    const uint32_t strips = (uint32_t)((a.words - begin + TABLES_WORDS - 1) / TABLES_WORDS);
    const uint64_t word = blockIdx.x % strips * (uint64_t)TABLES_WORDS;
    const uint64_t row = (uint64_t)(blockIdx.x / strips) * GF2_TABLE_ROWS;
    struct gf2_factors f;
    f.x = a.left;
    f.x_row = 1;
    f.x_word = a.rows;
    f.y = a.right + begin * GF2_DEPTH;
    f.y_row = 1;
    f.y_word = GF2_DEPTH;
    f.depth = 64 * (uint64_t)(a.panel % GF2_SLOTS + 1);
    f.out = a.a + begin;
    f.out_stride = a.stride;
    f.first = first_row(a);
    f.rows = a.rows;
    f.words = a.words - begin;
    f.last_mask = a.last_mask;
    f.add = 1;
    if (!used_slots(a) || row + GF2_TABLE_ROWS <= f.first) return;
    tables_multiply(f, row, word, last_state(a).slots, s);
}

#endif
