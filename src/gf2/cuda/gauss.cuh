/*
 * gf2/cuda/gauss.cuh - plain elimination: for each column one kernel finds the pivot, and another
 * adds its row to the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_GAUSS_CUH
#define ECHI_GF2_CUDA_GAUSS_CUH

#include "gf2/cuda/echelon.h"

/* The valid bits of word w. */
static __device__ inline uint64_t own_bits(const struct gf2_echelon_args &a, uint64_t w)
{
    return w + 1 == a.words ? a.last_mask : ~(uint64_t)0;
}

extern "C" __global__ void __launch_bounds__(GF2_GAUSS_THREADS)
    gf2_find(const __grid_constant__ struct gf2_echelon_args a)
{
    __shared__ unsigned long long found;
    struct gf2_state &state = *a.state;
    const uint64_t rank = state.rank, word = a.column / 64;
    if (threadIdx.x == 0) found = a.rows;
    __syncthreads();
    for (uint64_t base = rank; rank < a.limit && base < a.rows; base += GF2_GAUSS_THREADS) {
        const uint64_t row = base + threadIdx.x;
        const bool one = row < a.rows && (a.a[row * a.stride + word] >> a.column % 64 & 1);
        if (one) atomicMin(&found, (unsigned long long)row);
        if (__syncthreads_or(one)) break;
    }
    __syncthreads();
    const uint64_t pivot = found;
    const bool there = pivot < a.rows;
    if (there && pivot != rank)
        for (uint64_t w = word + threadIdx.x; w < a.words; w += GF2_GAUSS_THREADS) {
            uint64_t *x = a.a + rank * a.stride + w, *y = a.a + pivot * a.stride + w;
            const uint64_t change = (*x ^ *y) & own_bits(a, w);
            *x ^= change;
            *y ^= change;
        }
    if (threadIdx.x) return;
    state.count = there;
    state.first = (uint32_t)rank;
    if (!there) return;
    if (a.rows_from) {
        const uint32_t from = a.rows_from[rank];
        a.rows_from[rank] = a.rows_from[pivot];
        a.rows_from[pivot] = from;
    }
    if (a.pivots) a.pivots[rank] = a.column;
    *a.rank = state.rank = (uint32_t)rank + 1;
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_add(const __grid_constant__ struct gf2_echelon_args a)
{
    const uint64_t pivot = a.state->first, word = a.column / 64;
    if (!a.state->count) return;
    const uint64_t *from = a.a + pivot * a.stride;
    const uint64_t warps = gridDim.x * (uint64_t)(GF2_THREADS / 32);
    uint64_t row = (a.reduced ? 0 : pivot + 1) + blockIdx.x * (GF2_THREADS / 32) + threadIdx.x / 32;
    for (; row < a.rows; row += warps) { /* one row per warp */
        uint64_t *to = a.a + row * a.stride;
        const bool one = row != pivot && (to[word] >> a.column % 64 & 1);
        __syncwarp(); /* all lanes have read the bit that is overwritten */
        if (!one) continue;
        for (uint64_t w = word + threadIdx.x % 32; w < a.words; w += 32)
            to[w] ^= from[w] & own_bits(a, w);
    }
}

#endif
