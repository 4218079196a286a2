/*
 * merge/cuda/split.cuh - the boundaries of tiles in a and b: how many of the elements before a tile
 * are from a.
 *
 *     few tiles    a warp per boundary, in the whole arrays, by the blocks that merge
 *     more         eight lanes per boundary: the first step looks near the line on which it is if
 *                  the keys of both arrays have similar distributions
 *     many         a thread per boundary, between those of 32 tiles:
 *
 *                  a few lanes of each warp    | begin                    end |    in both arrays
 *                  lanes                         | | | | | | | | | | | | | | |     between them
 *
 * The accesses of a search in the whole arrays are at random places: for 2^30 elements they would
 * take as long as a tenth of the merge.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_SPLIT_CUH
#define ECHI_MERGE_CUDA_SPLIT_CUH

#include "cuda/device/merge_path.cuh"
#include "cuda/device/warp.cuh"
#include "merge/cuda/common.h"

enum {
    SPLIT_WARPS = MERGE_THREADS / 32,
    SPLIT_LANES = 4,  /* of the searches whose interval is the whole arrays */
    SPLIT_NEAR = 255, /* of a boundary from its expected place, usually at most */
    SPLIT_LANES_MORE = 8,
    SPLIT_FIRST = 1024 /* elements: the smallest distance from the line of the first step */
};

/* The number of elements before a tile. */
static __device__ inline uint64_t begin_of(const struct merge_args &a, uint64_t tile)
{
    return tile < a.tiles ? tile * a.tile : a.n_a + a.n_b;
}

/* How many of them are from a; by a warp. */
static __device__ inline uint64_t split_of(const struct merge_args &a, uint64_t tile)
{
    return merge_path_warp(a.order, (const ukey *)a.keys[0], a.n_a, (const ukey *)a.keys[1], a.n_b,
                           begin_of(a, tile));
}

/* Whether element i of a precedes the element of b that a search for `diagonal` compares with it.
 */
static __device__ inline bool precedes(const struct merge_args &a, uint64_t diagonal, uint64_t i)
{
    return merge_form(a.order, ((const ukey *)a.keys[0])[i]) <=
           merge_form(a.order, ((const ukey *)a.keys[1])[diagonal - 1 - i]);
}

/* ---- Eight lanes per boundary ---- */

/* Where comparison k = 0 ... 7 of the first step is: the distances from the line grow. */
static __device__ inline uint64_t split_near(uint64_t low, uint64_t high, uint64_t line, uint32_t k)
{
    const uint64_t far = (uint64_t)SPLIT_FIRST << 2 * (k < 4 ? 3 - k : k - 4);
    const uint64_t at = k >= 4 ? line + far : line > far ? line - far : 0;
    return min(max(at, low), high - 1);
}

/* The boundary before `diagonal`, for each eight lanes.  All lanes of the warp call it. */
static __device__ inline uint64_t split_by_lanes(const struct merge_args &a, uint64_t diagonal)
{
    enum { LANES = SPLIT_LANES_MORE };
    const uint32_t lane = lane_id() % LANES, shift = lane_id() - lane, all = (1u << LANES) - 1;
    const double part = (double)a.n_a / (double)(a.n_a + a.n_b);
    const uint64_t line = (uint64_t)((double)diagonal * part);
    uint64_t low = diagonal > a.n_b ? diagonal - a.n_b : 0, high = min(diagonal, a.n_a);
    const bool open = low < high;
    const bool less = open && precedes(a, diagonal, split_near(low, high, line, lane));
    const uint32_t others = ~(__ballot_sync(WARP_ALL, less) >> shift) & all;
    const uint32_t found = others ? (uint32_t)__ffs((int)others) - 1 : (uint32_t)LANES;
    if (open) {
        const uint64_t from = low, to = high;
        if (found > 0) low = split_near(from, to, line, found - 1) + 1;
        if (found < LANES) high = split_near(from, to, line, found);
    }
    while (__any_sync(WARP_ALL, low < high)) {
        const uint64_t step = (high - low + LANES) / (LANES + 1), i = low + (lane + 1) * step - 1;
        const bool here = low < high && i < high && precedes(a, diagonal, i);
        const uint32_t others = ~(__ballot_sync(WARP_ALL, here) >> shift) & all;
        if (low >= high) continue; /* other lanes search */
        const uint32_t count = others ? (uint32_t)__ffs((int)others) - 1 : (uint32_t)LANES;
        const uint64_t end = low + (count + 1) * step - 1;
        low += count * step;
        if (count < LANES && end < high) high = end;
    }
    return low;
}

/* ---- A thread per boundary ---- */

/* 32 adjacent boundaries: `from` of the elements before diagonal `begin` are from a, and `to` of
 * those before diagonal `end`. */
struct split_range {
    uint64_t begin, end, from, to;
};

/* The boundary of the lane.  If the keys of both arrays have similar distributions, it is near the
 * line between both ends, so that the search reads few sectors. */
static __device__ inline uint64_t split_between(const struct merge_args &a,
                                                const struct split_range &r, uint64_t diagonal)
{
    const uint64_t most_b = r.end - r.to; /* of the elements before it, from b */
    uint64_t low = max(r.from, diagonal > most_b ? diagonal - most_b : 0);
    uint64_t high = min(r.to, diagonal - (r.begin - r.from));
    if (low >= high) return low;
    const uint64_t line = r.from + (r.to - r.from) * lane_id() / 32;
    const uint64_t before = max(line, low + SPLIT_NEAR) - SPLIT_NEAR;
    const uint64_t after = min(line + SPLIT_NEAR, high - 1);
    const bool first = before < high && precedes(a, diagonal, before);
    const bool last = after >= low && precedes(a, diagonal, after);
    if (first)
        low = before + 1;
    else if (before < high)
        high = before;
    if (last)
        low = max(low, after + 1);
    else if (after >= low)
        high = min(high, after);
    while (low < high) {
        const uint64_t i = low + (high - low) / 2;
        if (precedes(a, diagonal, i))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

/* A thread per boundary: a few lanes of each warp find where its 32 boundaries begin. */
static __device__ inline void split_by_block(const struct merge_args &a, uint64_t first,
                                             uint64_t *begins)
{
    const uint32_t warp = warp_id();
    const uint64_t mine = first + 32 * warp, t = mine + lane_id();
    const bool last = warp == SPLIT_WARPS - 1; /* it also finds the end of its boundaries */
    struct split_range r = { begin_of(a, mine), begin_of(a, mine + 32), 0, 0 };
    const uint64_t found = merge_path_lanes<SPLIT_LANES>(
        a.order, (const ukey *)a.keys[0], a.n_a, (const ukey *)a.keys[1], a.n_b,
        lane_id() < SPLIT_LANES ? r.begin : r.end, lane_id() < (last ? 2 : 1) * SPLIT_LANES);
    __syncthreads(); /* all threads have read the previous begins */
    if (lane_id() == 0) begins[warp] = found;
    if (last && lane_id() == SPLIT_LANES) begins[SPLIT_WARPS] = found;
    __syncthreads(); /* all begins are known */
    r.from = begins[warp];
    r.to = begins[warp + 1];
    if (t <= a.tiles) a.splits[t] = split_between(a, r, begin_of(a, t));
}

#endif
