/*
 * sort/cuda/short_bins.cuh - a block sorts a group of few 16-bit keys without positions by bins.
 *
 *     range     the minimum and the maximum of the keys
 *     count     the range is divided into bins of at most 16 values each
 *     place     keys are placed by bin, in any order within a bin
 *     rank      a key's rank is its bin's start plus the number of smaller keys in the bin, which
 *               is found by comparisons; in a bin with many keys, its values are counted
 *
 * This is a short chain of dependent steps, while a radix sort of two digits takes two longer ones.
 * The loops are hardly unrolled, and keys are loaded again for each step: if few groups are sorted,
 * most of the time is that of instructions that are executed for the first time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SHORT_BINS_CUH
#define ECHI_SORT_CUDA_SHORT_BINS_CUH

#include "sort/cuda/bins.cuh"

enum {
    HALVES_MANY = 64, /* keys in a bin; more are not compared */
    HALVES_LOADS = 4  /* of a thread, in flight together */
};

template <int WARPS, int ITEMS> struct halves_shared {
    enum {
        THREADS = WARPS * 32,
        BINS_LOG = WARPS == 32 ? 13 : 12,
        VALUES_LOG = 16 - BINS_LOG,                          /* of a bin, at most */
        MANY = bins_shared<WARPS, ITEMS>::TILE / HALVES_MANY /* bins with many keys, at most */
    };
    struct bins_shared<WARPS, ITEMS> b;
    uint32_t counts[MANY << VALUES_LOG >> 1]; /* 16 bits each */
    static_assert((int)bins_shared<WARPS, ITEMS>::BINS == 1 << BINS_LOG, "16 or 32 warps");
};

/* The bins of the range. */
struct halves_range {
    uint32_t low, shift;
    bool clustered; /* many keys of a warp are in the same bin */
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

/* The places of a bin's keys, after all keys are placed: its counter is its end. */
static __device__ inline uint2 halves_places(const uint16_t *end, uint32_t bin)
{
    return make_uint2(bin ? end[bin - 1] : 0, end[bin]);
}

/* Counts the values of bins with many keys, and sums them up. */
template <int WARPS, int ITEMS>
static __device__ inline void halves_count(struct halves_shared<WARPS, ITEMS> &s,
                                           const struct halves_range &r, uint32_t n)
{
    typedef struct halves_shared<WARPS, ITEMS> shared;
    enum { VALUES_LOG = shared::VALUES_LOG };
    for (uint32_t i = threadIdx.x; i < sizeof s.counts / 4; i += shared::THREADS) s.counts[i] = 0;
    __syncthreads(); /* the counters are zero */
#pragma unroll 1
    for (uint32_t from = 0; from < n; from += shared::THREADS) {
        const uint32_t p = from + threadIdx.x, e = p < n ? s.b.keys[p] : r.low;
        const uint2 places = halves_places((const uint16_t *)s.b.bins, halves_bin(r, e));
        const bool over = p < n && places.y - places.x > (uint32_t)HALVES_MANY;
        halves_add(s.counts, halves_counter<VALUES_LOG>(r, places.x, e), over, r.clustered);
    }
    __syncthreads(); /* the values are counted */
    if (threadIdx.x < (uint32_t)shared::MANY) {
        uint16_t *counts = (uint16_t *)s.counts + (threadIdx.x << VALUES_LOG);
        uint32_t sum = 0;
#pragma unroll 1
        for (uint32_t v = 0; v < 1u << VALUES_LOG; v++) {
            const uint32_t count = counts[v];
            counts[v] = (uint16_t)sum;
            sum += count;
        }
    }
    __syncthreads(); /* the counters are the ranks of the first keys in the bins */
}

/* Finds the range of the keys; afterwards the bins are clear. */
template <int WARPS, int ITEMS>
static __device__ inline struct halves_range halves_find(const struct sort_common &a,
                                                         struct halves_shared<WARPS, ITEMS> &s)
{
    typedef struct halves_shared<WARPS, ITEMS> shared;
    enum { SAME = 4, BINS_LOG = shared::BINS_LOG };
    const ukey *in = (const ukey *)a.keys_in;
    const uint32_t n = (uint32_t)a.n;
    ukey low = (ukey)~0u, high = 0;
    uint32_t first = ~0u; /* the thread's first key */
#pragma unroll 1
    for (uint32_t from = threadIdx.x; from < n; from += HALVES_LOADS * shared::THREADS) {
        ukey key[HALVES_LOADS];
#pragma unroll
        for (int k = 0; k < HALVES_LOADS; k++) key[k] = in[min(from + k * shared::THREADS, n - 1)];
#pragma unroll
        for (int k = 0; k < HALVES_LOADS; k++) {
            const ukey e = order_encode(a.order, key[k]);
            low = key_min(low, e);
            high = key_max(high, e);
            if (k == 0 && first == ~0u) first = e;
        }
    }
    bins_range(s.b, low, high);
    const uint32_t bits = 32 - (uint32_t)__clz((int)(high - low));
    struct halves_range r = { low, bits > BINS_LOG ? bits - BINS_LOG : 0, false };
    const uint32_t same = __match_any_sync(WARP_ALL, first == ~0u ? first : halves_bin(r, first));
    r.clustered = __any_sync(WARP_ALL, first != ~0u && __popc(same) >= SAME);
    return r;
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
    const ukey *in = (const ukey *)a.keys_in;
    ukey *out = (ukey *)a.keys_out;
    const struct halves_range r = halves_find(a, s);
#pragma unroll 1
    for (uint32_t from = 0; from < n; from += shared::THREADS) {
        const uint32_t p = from + threadIdx.x;
        const uint32_t e = p < n ? order_encode(a.order, in[p]) : r.low;
        halves_add(s.b.bins, halves_bin(r, e), p < n, r.clustered);
    }
    __syncthreads(); /* every key is counted */
    const bool many = bins_begin<WARPS, ITEMS, true>(s.b) > HALVES_MANY && r.shift;
#pragma unroll 1
    for (uint32_t from = 0; from < n; from += shared::THREADS) {
        const uint32_t p = from + threadIdx.x;
        const uint32_t e = p < n ? order_encode(a.order, in[p]) : r.low;
        const uint32_t at = halves_add(s.b.bins, halves_bin(r, e), p < n, r.clustered);
        if (p < n) s.b.keys[at] = (ukey)e;
    }
    __syncthreads(); /* the keys are placed by bin, and all threads have read the input */
    if (many) halves_count(s, r, n);
#pragma unroll 1
    for (uint32_t from = 0; from < n; from += shared::THREADS) {
        const uint32_t p = from + threadIdx.x, e = p < n ? s.b.keys[p] : r.low;
        const uint2 places = halves_places((const uint16_t *)s.b.bins, halves_bin(r, e));
        const bool over = many && p < n && places.y - places.x > (uint32_t)HALVES_MANY;
        uint32_t rank = r.shift ? places.x : p;
        if (many)
            rank += halves_add(s.counts, halves_counter<shared::VALUES_LOG>(r, places.x, e), over,
                               r.clustered);
        if (r.shift && !over)
#pragma unroll 2
            for (uint32_t q = places.x; q < places.y; q++) {
                const uint32_t other = s.b.keys[q];
                rank += other < e || (other == e && q < p);
            }
        if (p < n) out[rank] = order_decode(a.order, (ukey)e);
    }
}

#endif
