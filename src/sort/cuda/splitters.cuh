/*
 * sort/cuda/splitters.cuh - the first pass of low_memory into bins between splitters, which are
 * keys of a sample, if the first digits are not even.
 *
 *     splitters     |     .   .     .       .    . .      |
 *     bins          |  0  | 1 |  2  |   3   |  4 |5|   6  |
 *
 * The sample is taken by sort_pages_look (look.cuh).  Keys are searched in a tree in shared memory,
 * whose levels are adjacent, so that the lanes of a warp seldom need different words of a bank.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SPLITTERS_CUH
#define ECHI_SORT_CUDA_SPLITTERS_CUH

#include "sort/cuda/passes.cuh"

/* Whether bins are those of struct sort_splitters. */
static __device__ inline bool splitters_pass(const struct sort_pass &p)
{
    return p.active & SORT_ACTIVE_SPLITTERS;
}

#if KEY_BYTES >= 4
/* ---- Trees ---- */

/* The splitter at node i of a tree, which begins at node 1: the middle one of those that are left
 * there. */
static __device__ inline uint32_t splitters_at(uint32_t i)
{
    const uint32_t level = 31 - (uint32_t)__clz((int)i);
    return ((2 * (i - (1u << level)) + 1) << (SORT_DIGIT_BITS - 1 - level)) - 1;
}

/* Makes the tree of sorted splitters, whose number is in tree[0]; other threads read it after a
 * barrier. */
template <typename type>
static __device__ inline void splitters_load(ukey *tree, const type *splitters, uint32_t count)
{
    const uint32_t i = threadIdx.x;
    if (i < SORT_BINS) tree[i] = i ? (ukey)splitters[splitters_at(i)] : (ukey)count;
}

/* The number of splitters that are not greater than the key. */
static __device__ inline uint32_t splitters_bin(const ukey *tree, const struct sort_common &a,
                                                ukey e)
{
    uint32_t i = 1;
#if VAL_BYTES
    e = order_merge(a.order, e);
#else
    (void)a;
#endif
#pragma unroll
    for (int level = 0; level < SORT_DIGIT_BITS; level++) i = 2 * i + (tree[i] <= e);
    return min(i - SORT_BINS, (uint32_t)tree[0]);
}

/* The minimum key of a bin, and the maximum key. */
static __device__ inline ukey splitters_low(const struct sort_splitters &c, uint32_t bin)
{
    return bin ? (ukey)c.key[bin - 1] : (ukey)0;
}

static __device__ inline ukey splitters_high(const struct sort_splitters &c, uint32_t bin)
{
    return bin < c.count ? (ukey)(c.key[bin] - 1) : (ukey) ~(ukey)0;
}

/* The bin of a key in the first pass. */
static __device__ inline uint32_t first_bin(const ukey *tree, const struct sort_common &a, ukey e)
{
    if (SORT_SPLITS(KEY_BYTES, VAL_BYTES) && tree[0]) return splitters_bin(tree, a, e);
#if VAL_BYTES
    e = order_merge(a.order, e);
#endif
    return (uint32_t)(e >> (KEY_BITS - SORT_DIGIT_BITS));
}

/* ---- Counts ---- */

/* Counts only these bins.  A thread counts the most frequent key in a register: additions to one
 * counter are serialised. */
static __device__ inline void count_first_digit(const struct sort_passes_args &a, ukey *tree,
                                                uint32_t *bins)
{
    const ukey *keys = (const ukey *)a.common.keys_in;
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    splitters_load(tree, a.pages.splitters->key, a.pages.splitters->count);
    rank_clear(bins, SORT_BINS);
    __syncthreads(); /* the counters are clear, and the splitters are loaded */
    const uint32_t top = a.pages.splitters->frequent;
    const struct key_vectors v = key_vectors_of(keys, a.common.n);
    uint32_t tops = 0;
#pragma unroll 1
    for (uint64_t i = thread; i < v.count; i += threads) {
        union key_vector load;
        load.vector = v.body[i];
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS; k++) {
            const uint32_t bin =
                first_bin(tree, a.common, order_encode(a.common.order, load.key[k]));
            if (bin == top)
                tops++;
            else
                atomicAdd(&bins[bin], 1);
        }
    }
    const uint64_t ends[] = { thread, v.tail + thread }, stops[] = { v.head, a.common.n };
#pragma unroll 1
    for (int k = 0; k < 2; k++)
        if (ends[k] < stops[k])
            atomicAdd(&bins[first_bin(tree, a.common, order_encode(a.common.order, keys[ends[k]]))],
                      1);
    if (tops) atomicAdd(&bins[top], tops);
    __syncthreads(); /* every key of the block is counted */
    for (uint32_t bin = threadIdx.x; bin < SORT_BINS; bin += blockDim.x)
        if (bins[bin])
            atomicAdd((unsigned long long *)&a.counts->histogram[a.common.passes - 1][bin],
                      bins[bin]);
}

/* If no bin of the first digit is too large to be sorted afterwards, plans its pass only, from the
 * input to the output, and returns true. */
static __device__ inline bool plan_first_digit(const struct sort_passes_args &a,
                                               const struct sort_splitters &c, uint64_t count)
{
    struct sort_state *state = a.state;
    const uint32_t bin = threadIdx.x;
    const bool split = c.count != 0;
    const ukey low = splitters_low(c, bin % SORT_BINS), high = splitters_high(c, bin % SORT_BINS);
    const bool one = split && low == high; /* all keys of the bin are equal */
    if (__syncthreads_or(!one && count > a.pages.most)) return false;
    if (bin < SORT_BINS) {
        const uint64_t start = state->base[a.common.passes - 1][0][bin];
        const uint32_t top = split ? bits_of(low ^ high) : (uint32_t)(KEY_BITS - SORT_DIGIT_BITS);
        a.pages.state->start[bin] = start;
        a.pages.state->end[bin] = one ? start : start + count;
        a.pages.state->top[bin] = top;
    }
    if (bin != 0) return true;
#pragma unroll 1
    for (int pass = 0; pass < a.common.passes; pass++) state->pass[pass] = {};
    struct sort_pass *p = &state->pass[a.common.passes - 1];
    p->first = p->last = 1;
    p->active = SORT_ACTIVE;
    p->active |= split ? SORT_ACTIVE_SPLITTERS : SORT_ACTIVE_DIRECT;
    if (c.ballots || c.ordered) p->active |= SORT_ACTIVE_BALLOTS;
    p->source = SORT_IN;
    p->target = SORT_OUT;
    state->finish = 0;
    a.pages.state->buckets = SORT_BINS;
    return true;
}

/* Like sort_histogram, but only the bins of the first digit.  If one is too large, or none are
 * wanted, nothing is planned. */
extern "C" __global__ void __launch_bounds__(SORT_HISTOGRAM_THREADS)
    sort_histogram_first(const __grid_constant__ struct sort_passes_args a)
{
    __shared__ uint32_t bins[SORT_BINS];
    __shared__ ukey tree[SORT_BINS];
    __shared__ struct passes_plan_shared s;
    wait_for_earlier();
    clear_passes(a);
    if (!a.pages.splitters->count && !a.pages.splitters->even) return;
    count_first_digit(a, tree, bins);
    if (!count_ends(a, s)) return;
    const uint64_t count = plan_bin(a, s, a.common.passes - 1);
    const bool planned = plan_first_digit(a, *a.pages.splitters, count);
    if (threadIdx.x != 0) return;
    a.counts->finished = 0;
    a.pages.splitters->planned = planned;
}

#if SORT_SPLITS(KEY_BYTES, VAL_BYTES)
/* ---- A tile ---- */

/* In addition, if bins are between splitters: the bin of each key of the tile, in the order of the
 * input, and by rank. */
struct splitters_shared {
    ukey tree[SORT_BINS];
    uint8_t bin[TILE], sorted[TILE];
};

/* It follows other shared data. */
template <typename shared> static __device__ inline struct splitters_shared &splitters_of(shared &s)
{
    return *(struct splitters_shared *)((unsigned char *)&s + (sizeof s + 15) / 16 * 16);
}
static_assert(sizeof(struct splitters_shared) + 15 <= SORT_SPLITTERS_SHARED_BYTES(TILE, KEY_BYTES),
              "the host gives less shared memory than the kernel uses");
#endif
#endif

#endif
