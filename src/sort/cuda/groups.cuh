/*
 * sort/cuda/groups.cuh - device code: where a group is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_GROUPS_CUH
#define ECHI_SORT_CUDA_GROUPS_CUH

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

#endif
