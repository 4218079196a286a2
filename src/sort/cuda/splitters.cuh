/*
 * sort/cuda/splitters.cuh - the first pass of low_memory into bins between splitters, which are
 * keys of a sample, if the first digits are not even.
 *
 *     first bits    | 0     | 1         | 2 | 3              |
 *     splitters     |     . |   .     . |   |  .    . .      |
 *     bins           0    12 3  45  6 7  8   9 10 ...               odd: keys equal to a splitter
 *
 * The sample is taken by sort_pages_look (look.cuh).  The first bits of a key have an entry with
 * the splitters among which it is searched.  A tile finds the bins of its keys before they are
 * ranked, so that the pass itself contains little code for this.
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
/* The bin of a key. */
static __device__ inline uint32_t splitters_bin(const struct sort_splitters &c,
                                                const struct sort_common &a, ukey e)
{
#if VAL_BYTES
    e = order_merge(a.order, e);
#else
    (void)a;
#endif
#if SORT_SPLITS(KEY_BYTES, VAL_BYTES)
    if (!c.count) return (uint32_t)(e >> (KEY_BITS - SORT_DIGIT_BITS));
    const uint32_t entry = c.entry[e >> (KEY_BITS - SORT_SPLITTER_BITS)];
    uint32_t first = entry & 0xff, n = entry >> 8;
    const uint32_t end = first + n;
    while (n) { /* the first of them that is not less */
        const uint32_t half = n / 2;
        const bool less = (ukey)c.key[first + half] < e;
        first += less ? half + 1 : 0;
        n = less ? n - half - 1 : half;
    }
    return 2 * first + (first < end && (ukey)c.key[first] == e);
#else
    (void)c;
    return (uint32_t)(e >> (KEY_BITS - SORT_DIGIT_BITS));
#endif
}

/* ---- Counts ---- */

/* Counts only these bins.  A thread counts the most frequent key in a register: additions to one
 * counter are serialised. */
static __device__ inline void count_first_digit(const struct sort_passes_args &a,
                                                struct sort_splitters &c, uint32_t *bins)
{
    const ukey *keys = (const ukey *)a.common.keys_in;
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t i = threadIdx.x; i < sizeof c / 4; i += blockDim.x)
        ((uint32_t *)&c)[i] = ((const uint32_t *)a.pages.splitters)[i];
    rank_clear(bins, SORT_BINS);
    __syncthreads(); /* the counters are clear, and the splitters are loaded */
    const uint32_t top = c.frequent;
    const struct key_vectors v = key_vectors_of(keys, a.common.n);
    uint32_t tops = 0;
#pragma unroll 1
    for (uint64_t i = thread; i < v.count; i += threads) {
        union key_vector load;
        load.vector = v.body[i];
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS; k++) {
            const uint32_t bin =
                splitters_bin(c, a.common, order_encode(a.common.order, load.key[k]));
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
            atomicAdd(
                &bins[splitters_bin(c, a.common, order_encode(a.common.order, keys[ends[k]]))], 1);
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
    const bool split = c.count != 0, one = split && bin % 2; /* all keys of the bin are equal */
    if (__syncthreads_or(!one && count > a.pages.most)) return false;
    if (bin < SORT_BINS) {
        const uint64_t start = state->base[a.common.passes - 1][0][bin];
        uint32_t top = KEY_BITS - SORT_DIGIT_BITS;
        if (split && bin > 1 && bin / 2 < c.count)
            top = 64 - __clzll((long long)(c.key[bin / 2 - 1] ^ c.key[bin / 2]));
        else if (split)
            top = KEY_BITS;
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
    if (split || c.ordered) p->active |= SORT_ACTIVE_BALLOTS;
    p->source = SORT_IN;
    p->target = SORT_OUT;
    state->finish = 0;
    a.pages.state->buckets = SORT_BINS;
    return true;
}

/* Like sort_histogram, but only the bins of the first digit.  If one is too large, nothing is
 * planned. */
extern "C" __global__ void __launch_bounds__(SORT_HISTOGRAM_THREADS)
    sort_histogram_first(const __grid_constant__ struct sort_passes_args a)
{
    __shared__ uint32_t bins[SORT_BINS];
    __shared__ struct sort_splitters splitters;
    __shared__ struct passes_plan_shared s;
    wait_for_earlier();
    if (!a.pages.splitters->count && !a.pages.splitters->even) return;
    clear_passes(a);
    count_first_digit(a, splitters, bins);
    if (!count_ends(a, s)) return;
    const uint64_t count = plan_bin(a, s, a.common.passes - 1);
    const bool planned = plan_first_digit(a, splitters, count);
    if (threadIdx.x != 0) return;
    a.counts->finished = 0;
    a.pages.splitters->planned = planned;
}

#if SORT_SPLITS(KEY_BYTES, VAL_BYTES)
/* ---- A tile ---- */

/* In addition, if bins are those of struct sort_splitters: the bin of each key of the tile, in
 * the order of the input, and by rank. */
struct splitters_shared {
    struct sort_splitters splitters;
    uint8_t bin[TILE], sorted[TILE];
};

/* It follows other shared data. */
template <typename shared> static __device__ inline struct splitters_shared &splitters_of(shared &s)
{
    return *(struct splitters_shared *)((unsigned char *)&s + (sizeof s + 15) / 16 * 16);
}
static_assert(sizeof(struct splitters_shared) + 15 <= SORT_SPLITTERS_SHARED_BYTES(TILE),
              "the host gives less shared memory than the kernel uses");

/* Finds the bins of a tile's keys, whose loads follow or precede these ones. */
static __device__ inline void splitters_find(const struct sort_passes_args &a,
                                             struct splitters_shared &f, uint64_t at, uint32_t here)
{
    const ukey *in = (const ukey *)a.common.keys_in + at;
    for (uint32_t i = threadIdx.x; i < sizeof f.splitters / 4; i += THREADS)
        ((uint32_t *)&f.splitters)[i] = ((const uint32_t *)a.pages.splitters)[i];
    __syncthreads(); /* the splitters are loaded */
#pragma unroll 2
    for (uint32_t i = threadIdx.x; i < here; i += THREADS)
        f.bin[i] =
            (uint8_t)splitters_bin(f.splitters, a.common, order_encode(a.common.order, in[i]));
    __syncthreads(); /* the bins are known */
}
#endif
#endif

#endif
