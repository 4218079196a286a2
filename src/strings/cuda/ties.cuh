/*
 * strings/cuda/ties.cuh - device code: finds strings in ties, from the marks of strings that are in
 * no tie with the one before.
 *
 *     heads      1 0 0 1 1 0 1        bits of a word, the lowest one first
 *     after      0 0 1 1 0 1 1        those of the next strings
 *     begins     x . . . x . .        heads & ~after
 *     ends       . . x . . x .        ~heads & after
 *     members    x x x . x x .        ~(heads & after)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_STRINGS_CUDA_TIES_CUH
#define ECHI_STRINGS_CUDA_TIES_CUH

#include "select/cuda/tile.cuh"
#include "strings/cuda/common.h"

static __device__ inline uint64_t grid_first(void)
{
    return (uint64_t)blockIdx.x * STRINGS_THREADS + threadIdx.x;
}

static __device__ inline uint64_t grid_step(void)
{
    return (uint64_t)gridDim.x * STRINGS_THREADS;
}

static __device__ inline uint64_t warp_min(uint64_t x)
{
#pragma unroll
    for (int step = 16; step; step /= 2)
        x = min(x, (uint64_t)__shfl_xor_sync(WARP_ALL, (unsigned long long)x, step));
    return x;
}

/* The marks of the strings that follow those of a word. */
static __device__ inline uint32_t marks_after(const struct strings_args &a, uint64_t word,
                                              uint32_t heads)
{
    const uint32_t next = word + 1 < a.head_words ? a.heads[word + 1] : 1;
    return heads >> 1 | next << 31;
}

struct ties_shared {
    uint32_t sums[WARPS];
    uint64_t before;
};

/* The number of items before the warp, of which it has `own`; total receives that of the tile. */
static __device__ inline uint64_t ties_ranks(struct ties_shared &s, uint64_t *words, uint32_t own,
                                             uint32_t *total, uint64_t n)
{
    const uint64_t tile = blockIdx.x;
    if (lane_id() == 0) s.sums[threadIdx.x / 32] = own;
    __syncthreads(); /* every warp has its sum */
    const uint32_t below = warps_before(s.sums, total);
    if (threadIdx.x < 32) {
        if (lane_id() == 0) publish_tile(words, tile, *total);
        const uint64_t before = place_tile(words, tile, *total, n);
        if (lane_id() == 0) s.before = before;
    }
    __syncthreads(); /* the ranks of the tile are known */
    return s.before + below;
}

/* A string in a tie, and which lanes of its word are in one. */
struct member {
    uint64_t tie;
    uint32_t members, begins;
    bool here, head;
};

/* before: the ties that begin before the word. */
static __device__ inline struct member member_of(uint32_t heads, uint32_t after, uint64_t before)
{
    struct member m;
    m.begins = heads & ~after;
    m.members = ~(heads & after);
    m.here = m.members >> lane_id() & 1;
    m.head = heads >> lane_id() & 1;
    m.tie = before + __popc(m.begins & (lanes_below() | 1u << lane_id())) - 1;
    return m;
}

#endif
