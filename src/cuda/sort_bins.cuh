/*
 * cuda/sort_bins.cuh - ranks the keys that a block holds, by cutting their range into bins.
 *
 *     range     the least and the greatest key
 *     count     the range is cut into bins, several for each key; every key is counted
 *     place     a key's place is its bin's, in whatever order keys come
 *     rank      ... and in its bin as many places on as keys there are less, found by comparing
 *
 * A chain of few steps, where a radix sort has as many for each digit.  Bins of too many keys to
 * compare are cut into bins of their own, by the range of their keys, and those again, where the
 * block has the registers; what crowds then is left to a radix sort.  Equal keys are ranked by
 * where they came from, or, where nobody can tell them apart, by place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SORT_BINS_CUH
#define ECHI_CUDA_SORT_BINS_CUH

#include "block_range.cuh"
#include "sort_block.cuh"

enum {
    BINS_MOST = SORT_BINS_MOST, /* keys in a bin; beyond, it is cut */
    BINS_LEVELS = 6
};

#if KEY_BYTES == 8
typedef unsigned long long atomic_key;
#else
typedef uint32_t atomic_key; /* of keys that are not ranked by bins, none */
#endif

template <int WARPS, int ITEMS> struct bins_shared {
    enum { BINS = WARPS * 32 * SORT_BINS_EACH, TILE = WARPS * 32 * ITEMS };
    uint32_t bins[BINS / 2 + 4]; /* two a word: their counts, then where they begin; and an end */
    ukey low[WARPS], high[WARPS];
    uint32_t sums[WARPS], most[WARPS];
    ukey least[TILE / BINS_MOST], greatest[TILE / BINS_MOST]; /* of the bin that begins there */
    ukey keys[TILE];
#if SORT_PLACES
    uint16_t place[TILE]; /* where the key came from */
#endif
};

/* What keys are compared by: the bits asked for, of forms that equal keys share. */
static __device__ inline ukey sort_value(const struct sort_args &a, ukey e)
{
#if VAL_BYTES
    e = order_merge(a.order, e);
    return (ukey)(e >> a.begin_bit) &
           (ukey)((ukey) ~(ukey)0 >> (KEY_BITS - a.end_bit + a.begin_bit));
#else
    (void)a;
    return e;
#endif
}

/* The range of a block's values, of which the caller has found its own part; the bins are clear
 * then. */
template <int WARPS, int ITEMS>
static __device__ inline void bins_range(struct bins_shared<WARPS, ITEMS> &s, ukey &low, ukey &high)
{
    ((uint4 *)s.bins)[threadIdx.x] = make_uint4(0, 0, 0, 0);
    block_range(s.low, s.high, low, high);
}

/* Turns the counts of the bins into where each begins; returns the greatest count. */
template <int WARPS, int ITEMS>
static __device__ inline uint32_t bins_begin(struct bins_shared<WARPS, ITEMS> &s)
{
    static_assert(SORT_BINS_EACH == 8, "a thread's bins are a vector");
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    uint4 w = ((const uint4 *)s.bins)[threadIdx.x];
    const uint32_t both = w.x + w.y + w.z + w.w; /* no sum exceeds 16 bits */
    const uint32_t mine = (both & 0xffff) + (both >> 16), inclusive = warp_scan(mine);
    uint32_t most = max(max(max(w.x >> 16, w.y >> 16), max(w.z >> 16, w.w >> 16)),
                        max(max(w.x & 0xffff, w.y & 0xffff), max(w.z & 0xffff, w.w & 0xffff)));
    most = warp_max(most);
    if (lane == 31) {
        s.sums[warp] = inclusive;
        s.most[warp] = most;
    }
    __syncthreads(); /* the sums of all warps are there */
    most = warp_max(s.most[lane < WARPS ? lane : 0]);
    uint32_t at = warp_sum(lane < warp ? s.sums[lane] : 0) + inclusive - mine;
    uint32_t *word[] = { &w.x, &w.y, &w.z, &w.w };
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t counts = *word[k], second = at + (counts & 0xffff);
        *word[k] = at | second << 16;
        at = second + (counts >> 16);
    }
    ((uint4 *)s.bins)[threadIdx.x] = w;
    if (threadIdx.x == WARPS * 32 - 1) s.bins[bins_shared<WARPS, ITEMS>::BINS / 2] = at;
    __syncthreads(); /* every bin says where it begins */
    return most;
}

/* Adds one to a bin and returns what it was. */
static __device__ inline uint32_t bins_add(uint32_t *bins, uint32_t bin)
{
    const uint32_t half = bin % 2 * 16;
    return atomicAdd(&bins[bin / 2], 1u << half) >> half & 0xffff;
}

template <int WARPS, int ITEMS>
static __device__ inline void bins_place(struct bins_shared<WARPS, ITEMS> &s, uint32_t slot,
                                         ukey value, uint32_t from, bool tie)
{
    s.keys[slot] = value;
#if SORT_PLACES
    if (tie) s.place[slot] = (uint16_t)from;
#endif
}

/* The rank of a key among those in [first, end), of which it is that in the slot. */
template <int WARPS, int ITEMS>
static __device__ inline uint32_t bins_compare(const struct bins_shared<WARPS, ITEMS> &s,
                                               uint32_t first, uint32_t end, uint32_t slot,
                                               ukey value, uint32_t from, bool tie)
{
    uint32_t rank = first;
    for (uint32_t q = first; q < end; q++) {
        const ukey other = s.keys[q];
        bool before = q < slot;
#if SORT_PLACES
        if (tie && other == value) before = s.place[q] < from;
#endif
        if (other < value || (other == value && before)) rank++;
    }
    return rank;
}

/* How a crowded bin [first, end) is cut: its bins begin at base. */
struct bins_cut {
    uint32_t first, end, base, shift;
    ukey least, greatest;
};

template <int WARPS, int ITEMS>
static __device__ inline struct bins_cut bins_cut_of(const struct bins_shared<WARPS, ITEMS> &s,
                                                     uint32_t crowd, uint32_t n)
{
    const uint32_t spread = n <= bins_shared<WARPS, ITEMS>::BINS / 2; /* two bins a key */
    struct bins_cut c;
    c.first = crowd & 0xffff;
    c.end = crowd >> 16;
    c.base = c.first << spread;
    c.least = s.least[c.first / BINS_MOST]; /* no two crowded bins begin in the same so many */
    c.greatest = s.greatest[c.first / BINS_MOST];
    const uint32_t range_bits = 64 - __clzll((long long)(uint64_t)(ukey)(c.greatest - c.least));
    const uint32_t bins_log = 31 - __clz((int)((c.end - c.first) << spread));
    c.shift = range_bits > bins_log ? range_bits - bins_log : 0;
    return c;
}

/* Ranks the keys of crowded bins, level by level: bit i of left for key i, which is in the bin
 * crowd[i], its first place and its end.  A bin of equal keys is ranked as it lies, or cut by where
 * they came from. */
template <int WARPS, int ITEMS>
static __device__ inline bool
bins_refine(const struct sort_args &a, struct bins_shared<WARPS, ITEMS> &s, uint32_t n,
            uint32_t mine, int items, bool tie, const struct block_keys<ITEMS> &k, uint32_t left,
            uint32_t (&crowd)[ITEMS], uint32_t (&slot)[ITEMS])
{
    const uint16_t *begin = (const uint16_t *)s.bins;
    uint32_t by_place = 0, cut = 0;
    for (int level = 0; level < BINS_LEVELS; level++) {
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (left >> i & 1 && slot[i] == (crowd[i] & 0xffff)) {
                const ukey by = by_place >> i & 1 ? (ukey)(mine + 32 * i) : sort_value(a, k.key[i]);
                s.least[slot[i] / BINS_MOST] = s.greatest[slot[i] / BINS_MOST] = by;
            }
        __syncthreads(); /* a key of each crowded bin is there; everyone is done with the bins */
        ((uint4 *)s.bins)[threadIdx.x] = make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (left >> i & 1) {
                const uint32_t first = crowd[i] & 0xffff;
                ukey by = sort_value(a, k.key[i]), one = s.keys[first];
#if SORT_PLACES
                if (by_place >> i & 1) {
                    by = (ukey)(mine + 32 * i);
                    one = s.place[first];
                }
#endif
                if (by < one) atomicMin((atomic_key *)&s.least[first / BINS_MOST], by);
                if (by > one) atomicMax((atomic_key *)&s.greatest[first / BINS_MOST], by);
            }
        __syncthreads(); /* the ranges are known; the bins are clear */
        cut = 0;
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (left >> i & 1) {
                const struct bins_cut c = bins_cut_of(s, crowd[i], n);
                const ukey by = by_place >> i & 1 ? (ukey)(mine + 32 * i) : sort_value(a, k.key[i]);
                if (c.least != c.greatest) {
                    slot[i] = bins_add(s.bins, c.base + (uint32_t)((by - c.least) >> c.shift));
                    cut |= 1u << i;
                } else if (tie) {
                    by_place |= 1u << i;
                } else {
                    left &= ~(1u << i);
                }
            }
        __syncthreads(); /* every key is counted */
        bins_begin(s);
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (cut >> i & 1) {
                const struct bins_cut c = bins_cut_of(s, crowd[i], n);
                const ukey value = sort_value(a, k.key[i]);
                const ukey by = by_place >> i & 1 ? (ukey)(mine + 32 * i) : value;
                const uint32_t bin = c.base + (uint32_t)((by - c.least) >> c.shift);
                const uint32_t first = c.first + begin[bin] - begin[c.base];
                slot[i] += first;
                crowd[i] = first | (first + begin[bin + 1] - begin[bin]) << 16;
                bins_place(s, slot[i], value, mine + 32 * i, tie);
            }
        __syncthreads(); /* the keys lie by bins */
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (cut >> i & 1) {
                const uint32_t first = crowd[i] & 0xffff, end = crowd[i] >> 16;
                if (end - first > BINS_MOST) continue;
                slot[i] = bins_compare(s, first, end, slot[i], sort_value(a, k.key[i]),
                                       mine + 32 * i, tie);
                left &= ~(1u << i);
            }
        if (!__syncthreads_or(left != 0)) return true; /* and everyone has read the keys by bins */
    }
    return false;
}

/* slot[i] becomes the rank of my key i, that of position mine + 32 i.  False: too many keys share a
 * bin, which is cut only where REFINE is.  tie: equal keys stay in order; else they are ranked in
 * any. */
template <int WARPS, int ITEMS, bool REFINE>
static __device__ inline bool bins_rank(const struct sort_args &a,
                                        struct bins_shared<WARPS, ITEMS> &s, uint32_t n,
                                        uint32_t mine, int items, bool tie, ukey low, ukey high,
                                        const struct block_keys<ITEMS> &k, uint32_t (&slot)[ITEMS])
{
    enum { BINS_LOG = WARPS == 32 ? 13 : WARPS == 16 ? 12 : 11 };
    static_assert((int)bins_shared<WARPS, ITEMS>::BINS == 1 << BINS_LOG, "8, 16 or 32 warps");
    const uint32_t range_bits = 64 - __clzll((long long)(uint64_t)(ukey)(high - low));
    const uint32_t shift = range_bits > BINS_LOG ? range_bits - BINS_LOG : 0;
    const uint16_t *begin = (const uint16_t *)s.bins;
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + 32 * i < n)
            slot[i] = bins_add(s.bins, (uint32_t)((sort_value(a, k.key[i]) - low) >> shift));
    __syncthreads();                   /* every key is counted */
    const bool alike = !tie && !shift; /* keys of a bin are equal, and any order does */
    const bool crowded = bins_begin(s) > BINS_MOST && !alike;
    if (crowded && !REFINE) return false;
    static_assert(!REFINE || ITEMS <= SORT_BINS_EACH, "each key can have a bin");
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + 32 * i < n) {
            const ukey value = sort_value(a, k.key[i]);
            slot[i] += begin[(uint32_t)((value - low) >> shift)];
            bins_place(s, slot[i], value, mine + 32 * i, tie);
        }
    __syncthreads(); /* the keys lie by bins */
    uint32_t left = 0, crowd[ITEMS];
    if (!alike)
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (mine + 32 * i < n) {
                const ukey value = sort_value(a, k.key[i]);
                const uint32_t bin = (uint32_t)((value - low) >> shift);
                const uint32_t first = begin[bin], end = begin[bin + 1];
                if (!REFINE || end - first <= BINS_MOST) {
                    slot[i] = bins_compare(s, first, end, slot[i], value, mine + 32 * i, tie);
                } else {
                    crowd[i] = first | end << 16;
                    left |= 1u << i;
                }
            }
    if (REFINE && crowded) return bins_refine(a, s, n, mine, items, tie, k, left, crowd, slot);
    __syncthreads(); /* everyone has read the keys by bins */
    return true;
}

#endif
