/*
 * cuda/histogram_global.cuh - counters in memory, which the L2 cache adds to; those of frequent
 * values on the chip.
 *
 *     sample of the elements --> tag[hash], the values that came first
 *     element --map--> counter --- tag[hash] is it: hot[hash] + 1        at the end --> counts
 *                              --- a warp agrees:   counts + 32
 *                              --- else:            counts + 1
 *
 * Additions to one address go one after the other, some hundred million a second: a value that is
 * frequent enough to wait for itself is also frequent enough to be in a sample, and then its block
 * counts it in shared memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_HISTOGRAM_GLOBAL_CUH
#define ECHI_CUDA_HISTOGRAM_GLOBAL_CUH

#include "histogram_common.cuh"

enum { HOT = 1 << HISTOGRAM_HOT_BITS };
static const uint32_t NO_TAG = 0xffffffffu;

/* The counter of element i, ECHI_NO_SLOT of none. */
static __device__ inline uint64_t counter_at(const struct histogram_args &a, uint64_t i)
{
    const ukey u = ((const ukey *)a.in)[i];
    uint64_t slot = a.in_y ? slot_pair_64(&a.x, &a.y, u, ((const ukey *)a.in_y)[i])
                           : slot_any_64(&a.x, (const ukey *)a.edges, u);
    if (slot == ECHI_NO_SLOT || a.channels == 1) return slot;
    return slot + i % a.channels * a.stride;
}

static __device__ inline uint32_t hash_of(uint64_t counter)
{
    return ((uint32_t)counter * 2654435761u) >> (32 - HISTOGRAM_HOT_BITS);
}

static __device__ inline void count_global(const struct histogram_args &a, const uint32_t *tag,
                                           uint32_t *hot, uint64_t counter)
{
    const uint64_t first = __shfl_sync(WARP_ALL, (unsigned long long)counter, 0);
    const bool agree = __all_sync(WARP_ALL, counter == first);
    if (counter == ECHI_NO_SLOT) return;
    if (agree) {
        if (lane_id() == 0) add_count(a.counts, counter, 32);
        return;
    }
    const uint32_t h = hash_of(counter);
    if (tag[h] == counter && counter != NO_TAG)
        atomicAdd(&hot[h], 1u);
    else
        add_count(a.counts, counter, 1);
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_MOVE_THREADS)
    histogram_global(const __grid_constant__ struct histogram_args a)
{
    __shared__ uint32_t tag[HOT], hot[HOT];
    for (uint32_t h = threadIdx.x; h < HOT; h += blockDim.x) {
        tag[h] = NO_TAG;
        hot[h] = 0;
    }
    check_edges(a);
    __syncthreads(); /* no tag is taken */

    /* Elements all over the array, of each block others; who comes first keeps a tag. */
    const uint64_t gap = a.n / HOT;
    for (uint32_t s = threadIdx.x; gap && s < HOT; s += blockDim.x) {
        uint64_t counter = counter_at(a, s * gap + blockIdx.x % gap);
        if (counter < NO_TAG) atomicCAS(&tag[hash_of(counter)], NO_TAG, (uint32_t)counter);
    }
    __syncthreads(); /* the tags are taken */

    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t warp_first = thread - lane_id(); /* all lanes take as many turns */
    for (uint64_t i = thread, w = warp_first; w < a.n; i += LOADS * threads, w += LOADS * threads) {
        uint64_t counter[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            counter[j] = i + j * threads < a.n ? counter_at(a, i + j * threads) : ECHI_NO_SLOT;
#pragma unroll
        for (int j = 0; j < LOADS; j++) count_global(a, tag, hot, counter[j]);
    }
    __syncthreads(); /* every element of the block is counted */

    for (uint32_t h = threadIdx.x; h < HOT; h += blockDim.x)
        if (hot[h]) add_count(a.counts, tag[h], hot[h]);
}

#endif
