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

/* The i-th group of a class that begins at `first` of the list. */
static __device__ inline struct group group_of(const struct sort_groups &g, uint64_t first,
                                               uint64_t i)
{
    return group_at(g, g.list ? (uint64_t)g.list[first + i] : i);
}

/* The number of groups of a class, and the first of them in the list. */
static __device__ inline uint64_t class_count(const struct sort_groups &g, uint32_t c,
                                              uint64_t *first)
{
    *first = g.state ? g.state->first[c] : 0;
    if (g.state) return g.state->counts[c];
    return c == g.row_class ? g.groups : 0;
}

#endif
