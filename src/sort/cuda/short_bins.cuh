/*
 * sort/cuda/short_bins.cuh - a block sorts a group of few 16-bit keys without positions by bins.
 *
 *     range     the minimum and the maximum of the keys
 *     count     the range is divided into bins of at most 8 values each
 *     place     keys are placed by bin, in any order within a bin
 *     rank      a key's rank is its bin's start plus the number of smaller keys in the bin, which
 *               is found by comparisons; in a bin with many keys, its values are counted
 *
 * This is a short chain of dependent steps, while a radix sort of two digits takes two longer ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SHORT_BINS_CUH
#define ECHI_SORT_CUDA_SHORT_BINS_CUH

#include "sort/cuda/bins.cuh"

enum {
    HALVES_MANY = 64, /* keys in a bin; more are not compared */
    HALVES_UNROLL = 4 /* keys of a thread that are ranked together */
};

template <int WARPS, int ITEMS> struct halves_shared {
    enum {
        BINS_LOG = WARPS == 32 ? 13 : 12,
        VALUES_LOG = 16 - BINS_LOG, /* of a bin, at most */
        COUNTERS = bins_shared<WARPS, ITEMS>::TILE / HALVES_MANY << VALUES_LOG
    };
    struct bins_shared<WARPS, ITEMS> b;
    uint32_t counts[COUNTERS / 2]; /* 16 bits each */
    static_assert((int)bins_shared<WARPS, ITEMS>::BINS == 1 << BINS_LOG, "16 or 32 warps");
};

/* The bins of the range. */
struct halves_range {
    uint32_t low, shift;
    bool one; /* all keys are equal */
};

static __device__ inline uint32_t halves_bin(const struct halves_range &r, uint32_t e)
{
    return (e - r.low) >> r.shift;
}

/* Adds one to the lane's counter and returns its previous value, plus the number of lower lanes
 * with the same one; 0 if it does not exist.  All lanes of the warp take part.  clustered: many of
 * them have the same counter, and their additions would be serialised. */
static __device__ inline uint32_t halves_add(uint32_t *counts, uint32_t at, bool exists,
                                             bool clustered)
{
    if (!clustered) return exists ? bins_add(counts, at) : 0;
    const uint32_t same = __match_any_sync(WARP_ALL, exists ? at : ~0u), half = at % 2 * 16;
    const int first = __ffs((int)same) - 1;
    uint32_t before = 0;
    if (exists && (int)lane_id() == first)
        before = atomicAdd(&counts[at / 2], (uint32_t)__popc(same) << half) >> half & 0xffff;
    before = __shfl_sync(WARP_ALL, before, first);
    return exists ? before + (uint32_t)__popc(same & ((1u << lane_id()) - 1)) : 0;
}

/* The counter of a key in a bin with many keys, which begins at place `first`.  No other bin uses
 * the counters. */
template <int VALUES_LOG>
static __device__ inline uint32_t halves_counter(const struct halves_range &r, uint32_t first,
                                                 uint32_t e)
{
    return (first / HALVES_MANY << VALUES_LOG) + ((e - r.low) & ((1u << r.shift) - 1));
}

/* The rank of the key at place p. */
template <int WARPS, int ITEMS>
static __device__ inline uint32_t halves_rank(struct halves_shared<WARPS, ITEMS> &s,
                                              const struct halves_range &r, uint32_t p, bool exists,
                                              bool many, bool clustered)
{
    enum { VALUES_LOG = halves_shared<WARPS, ITEMS>::VALUES_LOG };
    const uint16_t *begin = (const uint16_t *)s.b.bins;
    const uint32_t e = exists ? s.b.keys[p] : r.low, bin = halves_bin(r, e);
    const uint32_t first = begin[bin], end = begin[bin + 1];
    const bool over = exists && end - first > (uint32_t)HALVES_MANY;
    uint32_t rank = first;
    if (many)
        rank += halves_add(s.counts, halves_counter<VALUES_LOG>(r, first, e), over, clustered);
    if (!exists || over) return rank;
    for (uint32_t q = first; q < end; q++) {
        const uint32_t other = s.b.keys[q];
        rank += other < e || (other == e && q < p);
    }
    return rank;
}

/* Counts the values of bins with many keys, and sums them up. */
template <int WARPS, int ITEMS>
static __device__ inline void halves_count(struct halves_shared<WARPS, ITEMS> &s,
                                           const struct halves_range &r, uint32_t n, bool clustered)
{
    enum { VALUES_LOG = halves_shared<WARPS, ITEMS>::VALUES_LOG };
    const uint16_t *begin = (const uint16_t *)s.b.bins;
#pragma unroll 1
    for (uint32_t from = 0; from < n; from += WARPS * 32) {
        const uint32_t p = from + threadIdx.x, e = p < n ? s.b.keys[p] : r.low;
        const uint32_t bin = halves_bin(r, e), first = begin[bin];
        const bool over = p < n && begin[bin + 1] - first > (uint32_t)HALVES_MANY;
        halves_add(s.counts, halves_counter<VALUES_LOG>(r, first, e), over, clustered);
    }
    __syncthreads(); /* the values are counted */
    if (threadIdx.x < (uint32_t)bins_shared<WARPS, ITEMS>::TILE / HALVES_MANY) {
        uint16_t *counts = (uint16_t *)s.counts + (threadIdx.x << VALUES_LOG);
        uint32_t sum = 0;
        for (uint32_t v = 0; v < 1u << VALUES_LOG; v++) {
            const uint32_t count = counts[v];
            counts[v] = (uint16_t)sum;
            sum += count;
        }
    }
    __syncthreads(); /* the counters are the ranks of the first keys in the bins */
}

/* Loads the thread's keys, and encodes them; finds the range of all keys, and clears. */
template <int WARPS, int ITEMS>
static __device__ inline struct halves_range
halves_load(const struct sort_common &a, struct halves_shared<WARPS, ITEMS> &s, ukey (&key)[ITEMS])
{
    enum { BINS_LOG = halves_shared<WARPS, ITEMS>::BINS_LOG };
    const ukey *in = (const ukey *)a.keys_in;
    ukey low = (ukey)~0u, high = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t p = threadIdx.x + i * WARPS * 32;
        key[i] = p < a.n ? in[p] : (ukey)0;
    }
    for (uint32_t i = threadIdx.x; i < sizeof s.counts / 4; i += WARPS * 32) s.counts[i] = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (threadIdx.x + i * WARPS * 32 >= a.n) break;
        key[i] = order_encode(a.order, key[i]);
        low = key_min(low, key[i]);
        high = key_max(high, key[i]);
    }
    bins_range(s.b, low, high);
    const uint32_t bits = 32 - (uint32_t)__clz((int)(high - low));
    return { low, bits > BINS_LOG ? bits - BINS_LOG : 0, low == high };
}

/* Whether many of the warp's first keys are in the same bin; e: ~0 if there is none. */
static __device__ inline bool halves_clustered(const struct halves_range &r, uint32_t e)
{
    enum { SAME = 4 };
    const uint32_t same = __match_any_sync(WARP_ALL, e == ~0u ? e : halves_bin(r, e));
    return __any_sync(WARP_ALL, e != ~0u && __popc(same) >= SAME);
}

/* Sorts a.n keys, at most ITEMS per thread. */
template <int WARPS, int ITEMS>
static __device__ inline void halves_sort(const struct sort_common &a)
{
    typedef struct halves_shared<WARPS, ITEMS> shared;
    shared &s = *(shared *)shared_bytes;
    static_assert(sizeof s <= (WARPS == 32 ? SORT_COUNTED_WIDE_BYTES : SORT_COUNTED_BYTES / 2),
                  "the host gives less shared memory than the kernel uses");
    const uint32_t n = (uint32_t)a.n;
    const uint16_t *begin = (const uint16_t *)s.b.bins;
    ukey key[ITEMS];
    uint32_t slot[ITEMS];
    bool many = false;
    ukey *out = (ukey *)a.keys_out;
    const struct halves_range r = halves_load(a, s, key);
    if (r.one) {
        for (uint32_t p = threadIdx.x; p < n; p += WARPS * 32)
            out[p] = order_decode(a.order, (ukey)r.low);
        return;
    }
    const bool clustered = halves_clustered(r, threadIdx.x < n ? key[0] : ~0u);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (i * WARPS * 32 >= n) break;
        const bool exists = threadIdx.x + i * WARPS * 32 < n;
        slot[i] = halves_add(s.b.bins, halves_bin(r, key[i]), exists, clustered);
        many |= slot[i] >= HALVES_MANY;
    }
    many = __syncthreads_or(many) && r.shift; /* every key is counted */
    bins_begin<WARPS, ITEMS, false>(s.b);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (threadIdx.x + i * WARPS * 32 >= n) break;
        s.b.keys[begin[halves_bin(r, key[i])] + slot[i]] = key[i];
    }
    __syncthreads(); /* the keys are placed by bin */
    if (many) halves_count(s, r, n, clustered);
#pragma unroll 1
    for (uint32_t from = threadIdx.x; from - threadIdx.x < n; from += HALVES_UNROLL * WARPS * 32)
#pragma unroll
        for (int i = 0; i < HALVES_UNROLL; i++) {
            const uint32_t p = from + i * WARPS * 32;
            if (p - threadIdx.x >= n) break;
            const uint32_t rank = r.shift ? halves_rank(s, r, p, p < n, many, clustered) : p;
            if (p < n) out[rank] = order_decode(a.order, s.b.keys[p]);
        }
}
#endif
