/*
 * gf2/cuda/look.cuh - operations that only read matrices over GF(2): count of ones, comparison,
 * columns with a one below the rank.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_LOOK_CUH
#define ECHI_GF2_CUDA_LOOK_CUH

#include "gf2/cuda/map.cuh"

/* ---- Sums over all words ---- */

static __device__ inline uint64_t warp_sum_u64(uint64_t x)
{
#pragma unroll
    for (int step = 16; step; step /= 2)
        x += __shfl_xor_sync(WARP_ALL, (unsigned long long)x, step);
    return x;
}

/* The block's sum is added to the total; the last block gets the total and resets it. */
static __device__ inline bool join_total(struct gf2_total *total, uint64_t mine, uint64_t *sum)
{
    __shared__ uint64_t sums[GF2_THREADS / 32];
    mine = warp_sum_u64(mine);
    if (lane_id() == 0) sums[threadIdx.x / 32] = mine;
    __syncthreads(); /* the sums of all warps are written */
    if (threadIdx.x != 0) return false;
    mine = 0;
    for (int i = 0; i < GF2_THREADS / 32; i++) mine += sums[i];
    if (mine) atomicAdd((unsigned long long *)&total->sum, (unsigned long long)mine);
    if (add_acq_rel(&total->done, 1) != gridDim.x - 1) return false;
    *sum = load_relaxed_u64(&total->sum);
    store_relaxed_u64(&total->sum, 0);
    store_relaxed(&total->done, 0);
    return true;
}

template <bool EQUAL> static __device__ inline void look_words(const struct gf2_args &a)
{
    uint64_t mine = 0, sum;
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        const struct place p = place_of(a, tile, GF2_LOOK);
        if (p.unit >= a.units) continue;
        const uint64_t mask = columns_below(a.a.cols, p.unit);
#pragma unroll 8
        for (int k = 0; k < GF2_LOOK; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step;
            if (row >= a.rows) continue;
            uint64_t word = word_at(a.a, row, p.unit);
            if (EQUAL) word ^= word_at(a.b, row, p.unit);
            mine += EQUAL ? (word & mask) != 0 : __popcll(word & mask);
        }
    }
    if (!join_total(a.total, mine, &sum)) return;
    if (EQUAL)
        *a.bytes = sum == 0;
    else
        *a.count = sum;
}

/* ---- Rows beyond the rank ---- */

/* Into a.mask: the columns of a in which a row beyond the rank has a one. */
static __device__ inline void look_below(const struct gf2_args &a)
{
    const uint32_t rank = *a.rank;
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        const struct place p = place_of(a, tile, GF2_LOOK);
        uint64_t seen = 0;
        if (p.unit >= a.units) continue;
#pragma unroll 8
        for (int k = 0; k < GF2_LOOK; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step;
            if (row >= rank && row < a.rows) seen |= word_at(a.a, row, p.unit);
        }
        seen &= columns_below(a.a.cols, p.unit);
        if (seen) atomicOr((unsigned long long *)&a.mask[p.unit], (unsigned long long)seen);
    }
}

/* Into a.first: for each column the first row beyond the rank with a one; 2^32 - 1: none. */
static __device__ inline void look_first(const struct gf2_args &a)
{
    const uint32_t rank = *a.rank;
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        const struct place p = place_of(a, tile, GF2_LOOK);
        if (p.unit >= a.units) continue;
        uint64_t wanted = columns_below(a.a.cols, p.unit);
        for (int k = 0; k < GF2_LOOK; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step;
            if (row < rank || row >= a.rows) continue;
            uint64_t found = word_at(a.a, row, p.unit) & wanted;
            wanted &= ~found;
            for (; found; found &= found - 1)
                atomicMin(&a.first[p.unit * 64 + __ffsll((long long)found) - 1], (uint32_t)row);
        }
    }
}

static __device__ inline void write_solvable(const struct gf2_args &a)
{
    const uint64_t step = (uint64_t)gridDim.x * GF2_THREADS;
    for (uint64_t j = (uint64_t)blockIdx.x * GF2_THREADS + threadIdx.x; j < a.a.cols; j += step)
        a.bytes[j] = !(a.mask[j / 64] >> (j & 63) & 1);
}

#endif
