/*
 * direct/cuda/real.cuh - device code that the kernels of direct solvers share: the type of this
 * instance, and the first maximum of an array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_CUDA_REAL_CUH
#define ECHI_DIRECT_CUDA_REAL_CUH

#include "direct/cuda/common.h"
#include "cuda/device/instance.cuh"
#include "cuda/device/warp.cuh"

#if KEY_BITS == 64
typedef double real;
#else
typedef float real;
#endif

enum { LEAF = ECHI_DIRECT_LEAF, PITCH = LEAF + 1 /* of a tile in shared memory */ };

static __device__ inline uint32_t at_most(uint64_t n, uint32_t most)
{
    return n < most ? (uint32_t)n : most;
}

static __device__ inline real size_of(real x)
{
    return x < 0 ? -x : x;
}

static __device__ inline real root(real x)
{
#if KEY_BITS == 64
    return __dsqrt_rn(x);
#else
    return __fsqrt_rn(x);
#endif
}

/* The maximum of several elements and its first place; NaN is ignored. */
struct __align__(2 * sizeof(real)) peak
{
    real size;
    uint32_t place; /* A is square: more than 2^32 rows would not fit in memory */
};

static __device__ inline struct peak no_peak(uint32_t begin)
{
    struct peak p;
    p.size = -1;
    p.place = begin;
    return p;
}

/* Updates the maximum; places must ascend. */
static __device__ inline void update_peak(struct peak &p, real x, uint32_t place)
{
    const real here = size_of(x);
    if (here > p.size) {
        p.size = here;
        p.place = place;
    }
}

static __device__ inline struct peak warp_peak(struct peak p)
{
#pragma unroll
    for (int step = 16; step; step /= 2) {
        const real size = __shfl_xor_sync(WARP_ALL, p.size, step);
        const uint32_t place = __shfl_xor_sync(WARP_ALL, p.place, step);
        if (size > p.size || (size == p.size && place < p.place)) {
            p.size = size;
            p.place = place;
        }
    }
    return p;
}

/* Over all 1024 threads of a block; `peaks` is shared memory that may be reused after the next
 * barrier. */
static __device__ inline struct peak block_peak(struct peak p, struct peak peaks[32])
{
    p = warp_peak(p);
    if (lane_id() == 0) peaks[threadIdx.x / 32] = p;
    __syncthreads(); /* the maxima of all warps are written */
    return warp_peak(peaks[lane_id()]);
}

/* Numbers blocks in the order in which they begin, so that a block only waits for blocks that
 * run. */
static __device__ inline uint32_t take_ticket(struct direct_state *state, uint32_t *shared)
{
    if (threadIdx.x == 0) *shared = atomicAdd(&state->ticket, 1);
    __syncthreads(); /* the ticket is drawn */
    return *shared;
}

#endif
