/*
 * scan/cuda/stage.cuh - tiles in shared memory: stages of 32 lines, then the flags of all stages;
 * eight warps have four lines each, and a lane one vector of each line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_STAGE_CUH
#define ECHI_SCAN_CUDA_STAGE_CUH

#include "scan/cuda/line.cuh"
#include "scan/cuda/look.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

enum {
    LINE_FLAGS = VECTOR,                   /* number of words of a line's flags */
    STAGE_FLAGS = SCAN_LINES * LINE_FLAGS, /* of a tile's flags, after the elements of all stages */
    STAGE_VECTORS = SCAN_LINES * SCAN_WARP
};

static __device__ inline struct scan_row row_at(const struct scan_args &a,
                                                const struct scan_row &first, uint64_t i)
{
    struct scan_row row = first;
    row.in += i * a.columns;
    row.out += i * a.columns;
    return row;
}

/* The position of this thread's first vector of a tile. */
static __device__ inline uint64_t position(const struct place &p)
{
    return p.in_row * TILE + threadIdx.x / 32 * (SCAN_SLOTS * LINE) + lane_id() * VECTOR;
}

static __device__ inline uint4 *stage_vector(int stage)
{
    return (uint4 *)shared_bytes + stage * STAGE_VECTORS +
           threadIdx.x / 32 * (SCAN_SLOTS * SCAN_WARP) + lane_id();
}

/* The flags of this warp's first line. */
static __device__ inline uint32_t *stage_flags(const struct scan_args &a, int stage)
{
    uint32_t *flags = (uint32_t *)((uint4 *)shared_bytes + a.stages * STAGE_VECTORS);
    return flags + stage * STAGE_FLAGS + threadIdx.x / 32 * (SCAN_SLOTS * LINE_FLAGS);
}

/* OTHER has one kernel for scans with and without segments. */
template <int OP, int SEGMENTED> static __device__ inline bool has_flags(const struct scan_args &a)
{
    return SEGMENTED && (OP != OTHER || a.flags);
}

/* Loads a thread's part of a tile from a stage. */
template <int OP, int SEGMENTED>
static __device__ inline void take_part(const struct scan_args &a, int stage, struct line_part &x)
{
    const uint4 *from = stage_vector(stage);
    const uint32_t *flags = stage_flags(a, stage) + lane_id() * VECTOR / 32;
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        x.v[k].all = from[k * SCAN_WARP];
        if (a.backward) reverse(x.v[k]);
        x.flags[k] = 0;
        if (has_flags<OP, SEGMENTED>(a))
            x.flags[k] = flags[k * LINE_FLAGS] >> lane_id() * VECTOR % 32 & ((1u << VECTOR) - 1);
    }
    drop_nan<OP>(a, x.v);
    if (SEGMENTED) __syncwarp(); /* lanes read each other's flags */
}

/* The last block to finish clears the descriptors for the next kernel. A thread of the last warp,
 * which writes no results, counts the blocks: its order of accesses waits for no store. */
static __device__ inline void leave_zeros(const struct scan_args &a, uint32_t &last)
{
    if (!a.words) return;
    __syncthreads(); /* this block has finished its reads */
    if (threadIdx.x == blockDim.x - 1)
        last = add_acq_rel((uint32_t *)&a.counters[1], 1) == gridDim.x - 1;
    __syncthreads(); /* it is known which block is the last */
    if (!last) return;
#pragma unroll 1
    for (uint64_t i = threadIdx.x; i < a.words; i += blockDim.x) a.counters[i] = 0;
}

#endif
