/*
 * gf2/cuda/batch_lanes.cuh - matrices of at most 32 rows: a lane has one row in registers, 8, 16 or
 * 32 lanes per matrix; pivots are processed one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_BATCH_LANES_CUH
#define ECHI_GF2_CUDA_BATCH_LANES_CUH

#include "cuda/device/data_error.cuh"
#include "gf2/cuda/batch.h"
#include "gf2/cuda/word.cuh"

/* A lane's row, and its position among the rows of its matrix. */
template <int WORDS> struct lane_row {
    uint32_t v[WORDS];
    uint32_t b;            /* 0 or 1 */
    uint32_t pivot, place; /* of a pivot row: its column, and its number */
    uint32_t rank, row;    /* rank of the matrix; index of the row */
    uint32_t first, lanes; /* the matrix's first lane, and all its lanes as bits from 0 on */
    bool taken;            /* it is a pivot row */
};

template <int WORDS>
static __device__ inline uint32_t lane_word(const uint32_t (&v)[WORDS], uint32_t at)
{
    uint32_t word = v[0];
#pragma unroll
    for (int w = 1; w < WORDS; w++)
        if (at == w) word = v[w];
    return word;
}

/* The lanes of the matrix for which `says` is true. */
template <int WORDS>
static __device__ inline uint32_t lanes_that(const struct lane_row<WORDS> &l, bool says)
{
    return __ballot_sync(WARP_ALL, says) >> l.first & l.lanes;
}

/* Applies the pivot of a column. has: the lane's row has a one there; from: the free rows that have
 * one; 0: no row, or enough pivots.  The rows stay in place. */
template <int WORDS>
static __device__ inline void take_pivot(const struct gf2_batch_args &a, struct lane_row<WORDS> &l,
                                         bool has, uint32_t from, uint32_t column)
{
    const uint32_t pivot = from ? (uint32_t)__ffs((int)from) - 1 : l.row;
    const bool is = from && l.row == pivot;
    const bool adds = from && has && !is && (a.reduced || !l.taken);
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const uint32_t p = __shfl_sync(WARP_ALL, l.v[w], l.first + pivot);
        if (adds) l.v[w] ^= p;
    }
    if (a.b) {
        const uint32_t bs = lanes_that(l, l.b);
        if (adds) l.b ^= bs >> pivot & 1;
    }
    if (is) {
        l.taken = true;
        l.place = l.rank;
        l.pivot = column;
    }
    l.rank += from != 0;
}

/* Swaps the row of that pivot with the one at its place, if the order of rows matters. */
template <int WORDS>
static __device__ inline void swap_pivot(struct lane_row<WORDS> &l, uint32_t from)
{
    const uint32_t pivot = from ? (uint32_t)__ffs((int)from) - 1 : l.row;
    const uint32_t to = from ? l.rank - 1 : l.row;
    const uint32_t other = l.row == to ? pivot : l.row == pivot ? to : l.row;
    const uint32_t column = __shfl_sync(WARP_ALL, l.pivot, l.first + pivot);
#pragma unroll
    for (int w = 0; w < WORDS; w++) l.v[w] = __shfl_sync(WARP_ALL, l.v[w], l.first + other);
    l.b = __shfl_sync(WARP_ALL, l.b, l.first + other);
    if (l.row == to) l.pivot = column;
    l.taken = l.row < l.rank;
    l.place = l.row;
}

/* Whether this column of the order is valid; seen: the columns before it. */
template <int WORDS>
static __device__ inline bool good_column(const struct gf2_batch_args &a, uint32_t (&seen)[WORDS],
                                          uint32_t column, uint64_t where, bool says)
{
    const uint32_t bit = 1u << (column & 31);
    if (column >= a.cols) {
        if (says) report_error(a.data_error, ECHI_ORDER_TOO_LARGE, where);
        return false;
    }
    if (lane_word<WORDS>(seen, column / 32) & bit) {
        if (says) report_error(a.data_error, ECHI_ORDER_TWICE, where);
        return false;
    }
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        if (w == column / 32) seen[w] |= bit;
    return true;
}

template <int WORDS>
static __device__ inline void eliminate_lanes(const struct gf2_batch_args &a,
                                              struct lane_row<WORDS> &l, uint64_t matrix,
                                              bool there)
{
    const bool stops = a.b && !a.out && !a.rank && !a.pivots; /* ends when b is decided */
    /* The reduced form does not depend on the choice of pivot rows. */
    const uint32_t least = a.rows < a.cols ? a.rows : a.cols;
    const bool any = !a.out || (a.reduced && a.columns == a.cols && a.max_rank == least);
    uint32_t seen[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) seen[w] = 0;
    for (uint32_t c = 0; c < a.columns; c++) {
        uint32_t column = c;
        bool good = there;
        if (a.order && there) {
            const uint64_t where = matrix * a.columns + c;
            column = a.order[where];
            good = good_column<WORDS>(a, seen, column, where, l.row == 0);
        }
        const bool has = good && (lane_word<WORDS>(l.v, column / 32) >> (column & 31) & 1);
        uint32_t from = lanes_that(l, has && !l.taken);
        if (l.rank >= a.max_rank) from = 0;
        if (__any_sync(WARP_ALL, from != 0)) {
            take_pivot<WORDS>(a, l, has, from, column);
            if (!any) swap_pivot<WORDS>(l, from);
        }
        bool done = l.rank >= a.max_rank;
        if (stops) done |= !lanes_that(l, l.b && !l.taken);
        if (!a.order && __all_sync(WARP_ALL, done)) break; /* an order is checked completely */
    }
}

template <int WORDS>
static __device__ inline void write_lanes_solution(const struct gf2_batch_args &a,
                                                   const struct lane_row<WORDS> &l, uint64_t matrix,
                                                   bool there)
{
    const bool solvable = !lanes_that(l, l.b && !l.taken);
    const uint32_t words = (a.cols + 63) / 64;
    uint32_t x[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        x[w] = 0;
        if (solvable && l.b && l.taken && l.pivot / 32 == w) x[w] = 1u << (l.pivot & 31);
        for (uint32_t step = 1; step < 32; step *= 2) {
            const uint32_t other = __shfl_xor_sync(WARP_ALL, x[w], step);
            if (l.lanes >> step & 1) x[w] |= other;
        }
    }
    if (!there) return;
    for (uint32_t i = l.row; i < words; i += (uint32_t)__popc(l.lanes)) {
        const uint32_t low = lane_word<WORDS>(x, 2 * i);
        const uint32_t high = 2 * i + 1 < WORDS ? lane_word<WORDS>(x, 2 * i + 1) : 0;
        a.x[matrix * words + i] = low | (uint64_t)high << 32;
    }
    if (l.row == 0) a.solvable[matrix] = solvable;
}

/* The number of lanes per matrix: the smallest power of two that is not less than its rows. */
template <int WORDS>
static __device__ inline void eliminate_in_lanes(const struct gf2_batch_args &a)
{
    const uint32_t lanes = a.rows <= 8 ? 8 : a.rows <= 16 ? 16 : 32;
    const uint64_t each = BATCH_LANE_THREADS / lanes, least = a.rows < a.cols ? a.rows : a.cols;
    for (uint64_t first = blockIdx.x * each; first < a.count; first += gridDim.x * each) {
        const uint64_t matrix = first + threadIdx.x / lanes;
        struct lane_row<WORDS> l;
        l.row = threadIdx.x & (lanes - 1);
        l.first = lane_id() - l.row;
        l.lanes = lanes == 32 ? WARP_ALL : (1u << lanes) - 1;
        l.rank = l.pivot = l.place = l.b = 0;
        l.taken = false;
        const bool there = matrix < a.count, has_row = there && l.row < a.rows;
        const uint64_t at = matrix * a.step + l.row * a.stride;
#pragma unroll
        for (int w = 0; w < WORDS; w += 2) {
            const uint64_t word = has_row && w * 32 < a.cols ? a.a[at + w / 2] : 0;
            l.v[w] = (uint32_t)word;
            if (w + 1 < WORDS) l.v[w + 1] = (uint32_t)(word >> 32);
        }
        if (a.b && has_row) l.b = a.b[matrix] >> l.row & 1;
        eliminate_lanes<WORDS>(a, l, matrix, there);
        if (a.out) {
            const uint32_t others = lanes_that(l, has_row && !l.taken);
            const uint32_t before = (uint32_t)__popc(others & ((1u << l.row) - 1));
            const uint32_t to = l.taken ? l.place : l.rank + before;
            uint64_t *out = a.out + matrix * a.step + to * a.stride;
            __syncwarp(WARP_ALL); /* all rows are read */
#pragma unroll
            for (int w = 0; w < WORDS; w += 2)
                if (has_row && w * 32 < a.cols)
                    store_masked(&out[w / 2],
                                 l.v[w] | (w + 1 < WORDS ? (uint64_t)l.v[w + 1] << 32 : 0),
                                 columns_below(a.cols, w / 2));
        }
        if (a.rank && there && l.row == 0) a.rank[matrix] = l.rank;
        if (a.pivots && there && l.taken) a.pivots[matrix * least + l.place] = l.pivot;
        if (a.b) write_lanes_solution<WORDS>(a, l, matrix, there);
    }
}

#endif
