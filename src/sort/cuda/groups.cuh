/*
 * sort/cuda/groups.cuh - device code: where a group is; the first lists of an MSD radix sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_GROUPS_CUH
#define ECHI_SORT_CUDA_GROUPS_CUH

#include "cuda/device/data_error.cuh"
#include "cuda/device/segments.cuh"
#include "cuda/device/warp.cuh"
#include "sort/cuda/segments.h"

struct group {
    uint64_t in, out, n; /* position of the first element of the input, and of the output */
};

static __device__ inline struct group group_at(const struct sort_groups &g, uint64_t i)
{
    struct group group;
    if (!g.offsets) {
        group.in = i * g.in_row;
        group.out = i * g.out_row;
        group.n = g.cols;
        return group;
    }
    group.in = group.out = echi_index_at(g.offsets, g.index, i);
    group.n =
        (g.ends ? echi_index_at(g.ends, g.index, i) : echi_index_at(g.offsets, g.index, i + 1)) -
        group.in;
    return group;
}

/* The length of segment s, which begins at `in`; 0 if it is invalid, which is reported. */
static __device__ inline uint64_t group_length(const struct sort_groups &g, uint64_t s,
                                               uint64_t &in)
{
    const struct segments segments = { g.offsets, g.ends, g.index, g.n };
    struct segment segment = segment_at(segments, s);
    in = segment.begin;
    if (segment.n > (uint64_t)1 << 31) segment.error = ECHI_SEGMENT_TOO_LONG;
    if (!segment.error) return segment.n;
    report_error(g.data_error, (enum echi_data_error)segment.error, segment.where);
    if (g.state) atomicOr(&g.state->bad, 1);
    return 0;
}

/* The number of groups in a list, or of rows. */
static __device__ inline uint64_t list_count(const struct sort_groups &g, uint32_t list)
{
    return g.state ? min((uint64_t)g.state->counts[list], g.capacity[list]) : g.groups;
}

/* The i-th of them. */
static __device__ inline struct group list_group(const struct sort_groups &g, uint32_t list,
                                                 uint64_t i)
{
    return group_at(g, g.state ? (uint64_t)g.lists[list][i] : i);
}

/* The last block to finish leaves zeros for the next call. */
static __device__ inline void groups_reset(struct sort_groups_state &state)
{
    __syncthreads(); /* all threads have read the state */
    if (threadIdx.x) return;
    __threadfence(); /* the reads precede the increment */
    if (atomicAdd(&state.finished, 1) != gridDim.x - 1) return;
    __threadfence(); /* the writes follow the increments of all blocks */
    state = sort_groups_state{};
}

/* ---- Long groups ---- */

/* The keys of segment i agree in the bits from this one up; and ECHI_TOP_CUT. */
static __device__ inline uint32_t long_top(const struct sort_long &a, uint64_t i)
{
    return a.tops ? a.tops[i] : a.top;
}

static __device__ inline uint32_t long_tiles(const struct sort_long &a, uint32_t n)
{
    return n / a.tile + (n % a.tile != 0);
}

/* A group that fits in a block. */
static __device__ inline void long_add_leaf(const struct sort_long &a, const struct group &group)
{
    const uint32_t at = atomicAdd(&a.lists.msd->leaves, 1);
    struct sort_leaf leaf = {};
    leaf.begin = (uint32_t)(group.in - a.base);
    leaf.count = (uint32_t)group.n;
    leaf.source = SORT_IN;
    leaf.bits = SORT_LEAF_UNEVEN;
    leaf.low = a.global ? ~0u : leaf.begin;
    if (at < a.leaves) a.lists.leaves[at] = leaf;
}

/* A group that the first level divides: its number, and that of its first tile.  top: ECHI_TOP. */
static __device__ inline uint2 long_add_segment(const struct sort_long &a,
                                                const struct group &group, uint32_t top)
{
    const uint32_t at = atomicAdd(&a.lists.msd->segments[0], 1);
    struct sort_segment s = {};
    s.begin = (uint32_t)(group.in - a.base);
    s.prefix = a.global ? ~0u : s.begin;
    s.count = (uint32_t)group.n;
    s.first_tile = atomicAdd(&a.lists.msd->tiles[0], long_tiles(a, s.count));
    s.source = SORT_IN;
    s.bits = SORT_DIGIT_BITS;
    if (top >> ECHI_TOP_CUT) {
        s.shift = top & ((1 << ECHI_TOP_CUT) - 1);
        s.bits = top >> ECHI_TOP_CUT;
        s.known = SORT_BY_LENGTH;
    } else {
        s.shift = max(top, (uint32_t)SORT_DIGIT_BITS) - SORT_DIGIT_BITS;
    }
    if (at < a.segments) a.lists.segments[0][at] = s;
    return make_uint2(at, s.first_tile);
}

/* Adds the groups of the lanes that have one to the lists; by a warp, which clears the counts of
 * its segments and writes the map of their tiles. */
static __device__ inline void long_add(const struct sort_long &a, const struct group &group,
                                       bool here, uint32_t top)
{
    uint2 segment = make_uint2(0, 0);
    const bool divided = here && group.n > a.leaf;
    if (divided)
        segment = long_add_segment(a, group, top);
    else if (here)
        long_add_leaf(a, group);
    for (uint32_t left = __ballot_sync(WARP_ALL, divided); left; left &= left - 1) {
        const int lane = __ffs((int)left) - 1;
        const uint32_t at = __shfl_sync(WARP_ALL, segment.x, lane);
        const uint32_t tile = __shfl_sync(WARP_ALL, segment.y, lane);
        const uint32_t tiles = long_tiles(a, __shfl_sync(WARP_ALL, (uint32_t)group.n, lane));
        if (at >= a.segments || tile + tiles > a.tiles) continue; /* not with valid offsets */
        for (uint32_t b = lane_id(); b < SORT_MSD_ROW; b += 32)
            a.lists.counts[0][(uint64_t)at * SORT_MSD_ROW + b] = 0;
        for (uint32_t t = lane_id(); t < tiles; t += 32) a.lists.tile_of[0][tile + t] = at;
    }
}

#endif
