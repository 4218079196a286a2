/*
 * scan/cuda/rows.cuh - rows of at most a tile: one per warp, or one per group of lanes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_ROWS_CUH
#define ECHI_SCAN_CUDA_ROWS_CUH

#include "scan/cuda/line.cuh"

/* Rows shorter than a line: a.lanes lanes have one row each, SCAN_SLOTS times. */
template <int OP>
static __device__ inline void scan_partial_lines(const struct scan_args &a, uint64_t warp)
{
    const uint32_t mine = lane_id() & (a.lanes - 1), rows = 32 / a.lanes;
    const uint64_t at = mine * VECTOR;
    const uint64_t first = warp * SCAN_SLOTS * rows + lane_id() / a.lanes;
    union vector v[SCAN_SLOTS];
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        struct scan_row row = row_of<0>(a, first + k * rows);
        if (first + k * rows >= a.rows) row.n = 0;
        load_vector(a, row, at, v[k]);
    }
    order_vectors(a, v);
    drop_nan<OP>(a, v);
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        struct scan_row row = row_of<0>(a, first + k * rows);
        value x = lanes_scan<OP>(a, vector_total<OP, 0>(a, v[k], 0), lane_id() - mine);
        x = lane_up(x, 1);
        if (mine == 0) x = neutral<OP>(a);
        x = combine<OP>(a, value_of_bits(a.first), x);
        if (first + k * rows < a.rows) finish_vector<OP, 0>(a, row, at, v[k], 0, x);
    }
}

/* A row of several lines: one warp processes it, SCAN_SLOTS lines at a time. */
template <int OP> static __device__ inline void scan_lines(const struct scan_args &a, uint64_t warp)
{
    if (warp >= a.rows) return;
    const struct scan_row row = row_of<0>(a, warp);
    value prefix = neutral<OP>(a);
    for (uint64_t at = lane_id() * VECTOR; at - lane_id() * VECTOR < row.n;
         at += SCAN_SLOTS * LINE) {
        union vector v[SCAN_SLOTS];
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) load_vector(a, row, at + k * LINE, v[k]);
        order_vectors(a, v);
        drop_nan<OP>(a, v);
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

/* Both with the same code, for scans that are limited by instructions, or rare. */
template <int OP>
static __device__ inline void scan_any_lines(const struct scan_args &a, uint64_t warp)
{
    const bool partial = a.lanes < 32;
    const uint32_t mine = lane_id() & (a.lanes - 1), rows = partial ? 32 / a.lanes : 0;
    const uint32_t line = partial ? 0 : LINE;
    const uint64_t first = partial ? warp * SCAN_SLOTS * rows + lane_id() / a.lanes : warp;
    value prefix = neutral<OP>(a); /* of a row of several lines */
    for (uint64_t begin = 0; begin < a.columns; begin += SCAN_SLOTS * LINE) {
        const uint64_t at = begin + mine * VECTOR;
        union vector v[SCAN_SLOTS];
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            struct scan_row row = row_of<0>(a, first + k * rows);
            if (first + k * rows >= a.rows) row.n = 0;
            load_vector(a, row, at + k * line, v[k]);
        }
        order_vectors(a, v);
        drop_nan<OP>(a, v);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            struct scan_row row = row_of<0>(a, first + k * rows);
            value x = lanes_scan<OP>(a, vector_total<OP, 0>(a, v[k], 0), lane_id() - mine);
            value total = lane_at(x, 31);
            x = lane_up(x, 1);
            if (mine == 0) x = neutral<OP>(a);
            x = combine<OP>(a, combine<OP>(a, value_of_bits(a.first), prefix), x);
            if (first + k * rows < a.rows) finish_vector<OP, 0>(a, row, at + k * line, v[k], 0, x);
            if (!partial) prefix = combine<OP>(a, prefix, total);
        }
    }
}

template <int OP> static __device__ inline void scan_rows(const struct scan_args &a)
{
    const uint64_t warp = (uint64_t)blockIdx.x * (SCAN_THREADS / 32) + threadIdx.x / 32;
    wait_for_earlier();
    if (KEY_BITS <= 16 || OP != SUM)
        scan_any_lines<OP>(a, warp);
    else if (a.lanes == 32)
        scan_lines<OP>(a, warp);
    else
        scan_partial_lines<OP>(a, warp);
}

#endif
