/*
 * histogram/cuda/global.cuh - counters in global memory, updated by atomics in the L2 cache; the
 * counters of frequent values in shared memory.
 *
 *     sample of the elements --> tag[hash], the first value with each hash
 *     element --map--> counter --- equal to tag[hash]: hot[hash] + 1        at the end --> counts
 *                              --- otherwise: one atomic for all lanes of a warp with this counter
 *
 * Additions to one address are serialised, at some hundred million per second. A value that is
 * frequent enough for this to matter is also frequent enough to be in a sample, and its block then
 * counts it in shared memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_CUDA_GLOBAL_CUH
#define ECHI_HISTOGRAM_CUDA_GLOBAL_CUH

#include "histogram/cuda/common.cuh"

enum { HOT = 1 << HISTOGRAM_HOT_BITS, GLOBAL_LOADS = 2 };

enum { GLOBAL_BLOCKS = MULTIPROCESSOR_THREADS / HISTOGRAM_MOVE_THREADS };
static const uint32_t NO_TAG = 0xffffffffu;

/* The counter of element i, whose key is u, or of the pair u, v; ECHI_NO_SLOT if it is not
 * counted. */
static __device__ inline uint64_t counter_of(const struct histogram_args &a, uint64_t i, ukey u,
                                             ukey v)
{
    uint64_t slot =
        a.in_y ? slot_pair_64(&a.x, &a.y, u, v) : slot_any_64(&a.x, (const ukey *)a.edges, u);
    if (slot == ECHI_NO_SLOT || a.channels == 1) return slot;
    return slot + i % a.channels * a.stride;
}

/* Not inlined, because several elements are loaded at a time and the code of every map is long. */
static __device__ __noinline__ uint64_t counter_called(const struct histogram_args &a, uint64_t i,
                                                       ukey u, ukey v)
{
    return counter_of(a, i, u, v);
}

static __device__ inline uint64_t counter_at(const struct histogram_args &a, uint64_t i)
{
    return counter_of(a, i, ((const ukey *)a.in)[i], a.in_y ? ((const ukey *)a.in_y)[i] : (ukey)0);
}

static __device__ inline uint32_t hash_of(uint64_t counter)
{
    return ((uint32_t)counter * 2654435761u) >> (32 - HISTOGRAM_HOT_BITS);
}

/* All lanes call this. Lanes with the same counter as the first remaining lane add together,
 * once. */
template <typename T>
static __device__ inline void count_global(const struct histogram_args &a, const uint32_t *tag,
                                           uint32_t *hot, T counter)
{
    const uint32_t h = hash_of(counter);
    const bool counted = counter != (T)ECHI_NO_SLOT;
    const bool is_hot = counted && counter != (T)NO_TAG && tag[h] == counter;
    const uint32_t cold = __ballot_sync(WARP_ALL, counted && !is_hot);
    if (is_hot) atomicAdd(&hot[h], 1u);
    if (cold == 0) return;
    const int leader = __ffs(cold) - 1;
    const T first = __shfl_sync(WARP_ALL, counter, leader);
    const bool agrees = counted && !is_hot && counter == first;
    const uint32_t peers = __ballot_sync(WARP_ALL, agrees);
    if (agrees ? (int)lane_id() == leader : counted && !is_hot)
        add_count(a.counts, counter, agrees ? __popc(peers) : 1);
}

static __device__ inline void begin_global(const struct histogram_args &a, uint32_t *tag,
                                           uint32_t *hot)
{
    for (uint32_t h = threadIdx.x; h < HOT; h += blockDim.x) {
        tag[h] = NO_TAG;
        hot[h] = 0;
    }
    check_edges(a);
    __syncthreads(); /* all tags are empty */

    /* Samples from the whole array, different ones in each block; the first value of a hash keeps
     * the tag. */
    const uint64_t gap = a.n / HOT;
    for (uint32_t s = threadIdx.x; gap && s < HOT; s += blockDim.x) {
        uint64_t counter = counter_at(a, s * gap + blockIdx.x % gap);
        if (counter < NO_TAG) atomicCAS(&tag[hash_of(counter)], NO_TAG, (uint32_t)counter);
    }
    __syncthreads(); /* the tags are set */
}

static __device__ inline void end_global(const struct histogram_args &a, const uint32_t *tag,
                                         const uint32_t *hot)
{
    __syncthreads(); /* every element of the block is counted */
    for (uint32_t h = threadIdx.x; h < HOT; h += blockDim.x)
        if (hot[h]) add_count(a.counts, tag[h], hot[h]);
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_MOVE_THREADS)
    histogram_global(const __grid_constant__ struct histogram_args a)
{
    __shared__ uint32_t tag[HOT], hot[HOT];
    begin_global(a, tag, hot);
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t warp_first = (uint64_t)blockIdx.x * blockDim.x + 32 * warp_id();
    for (uint64_t w = warp_first; w < a.n; w += LOADS * threads) { /* uniform count */
        const uint64_t i = w + lane_id();
        ukey u[LOADS] = {}, v[LOADS] = {};
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * threads < a.n) {
                u[j] = ((const ukey *)a.in)[i + j * threads];
                if (a.in_y) v[j] = ((const ukey *)a.in_y)[i + j * threads];
            }
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            uint64_t counter = ECHI_NO_SLOT;
            if (i + j * threads < a.n) counter = counter_called(a, i + j * threads, u[j], v[j]);
            count_global(a, tag, hot, (unsigned long long)counter);
        }
    }
    end_global(a, tag, hot);
}

/* One channel, bin width a power of two: so few instructions that memory bandwidth is the limit. */
extern "C" __global__ void __launch_bounds__(HISTOGRAM_MOVE_THREADS, GLOBAL_BLOCKS)
    histogram_shift(const __grid_constant__ struct histogram_args a)
{
    __shared__ uint32_t tag[HOT], hot[HOT];
    begin_global(a, tag, hot);
    const struct body b = body_of(a.in, a.n);
    const uint4 *vectors = (const uint4 *)(b.in + b.head);
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t i = thread; i - lane_id() < b.vectors; i += GLOBAL_LOADS * threads) {
        union keys load[GLOBAL_LOADS];
#pragma unroll
        for (int j = 0; j < GLOBAL_LOADS; j++)
            if (i + j * threads < b.vectors) load[j].vector = __ldcs(&vectors[i + j * threads]);
#pragma unroll
        for (int j = 0; j < GLOBAL_LOADS; j++) {
            const bool there = i + j * threads < b.vectors;
#pragma unroll
            for (int k = 0; k < VECTOR; k++)
                count_global(a, tag, hot, there ? slot_shift_32(&a.x, load[j].key[k]) : NO_SLOT);
        }
    }
    const uint64_t ends = b.head + (a.n - b.tail);
    if (thread - lane_id() < ends) {
        uint64_t at = thread < b.head ? thread : b.tail + (thread - b.head);
        count_global(a, tag, hot, thread < ends ? slot_shift_32(&a.x, b.in[at]) : NO_SLOT);
    }
    end_global(a, tag, hot);
}

#endif
