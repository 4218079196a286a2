/*
 * cuda/sort_bins.cuh - ranks the keys that a block holds, by cutting their range into bins.
 *
 *     range     the least and the greatest key
 *     count     the range is cut into bins, several for each key; every key is counted
 *     place     a key's place is its bin's, in whatever order keys come
 *     rank      ... and in its bin as many places on as keys there are less, found by comparing
 *
 * A chain of few steps, where a radix sort has as many for each digit.  Keys that crowd in few bins
 * are left to that.  Equal keys are ranked by where they came from, or, where nobody can tell them
 * apart, by place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SORT_BINS_CUH
#define ECHI_CUDA_SORT_BINS_CUH

#include "block_range.cuh"
#include "sort_block.cuh"

enum { BINS_MOST = 32 /* keys in a bin; beyond, digit by digit is faster */ };

template <int WARPS, int ITEMS> struct bins_shared {
    enum { BINS = WARPS * 32 * SORT_BINS_EACH, TILE = WARPS * 32 * ITEMS };
    uint32_t bins[BINS / 2 + 4]; /* two a word: their counts, then where they begin; and an end */
    ukey low[WARPS], high[WARPS];
    uint32_t sums[WARPS], most[WARPS];
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
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    ((uint4 *)s.bins)[threadIdx.x] = make_uint4(0, 0, 0, 0);
    warp_range(low, high);
    if (lane == 0) {
        s.low[warp] = low;
        s.high[warp] = high;
    }
    __syncthreads(); /* the ranges of all warps are there; the bins are clear */
    low = s.low[lane < WARPS ? lane : 0];
    high = s.high[lane < WARPS ? lane : 0];
    warp_range(low, high);
}

/* Turns the counts of the bins into where each begins; returns the greatest count. */
template <int WARPS, int ITEMS>
static __device__ inline uint32_t bins_begin(struct bins_shared<WARPS, ITEMS> &s, uint32_t n)
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
    if (threadIdx.x == 0) s.bins[bins_shared<WARPS, ITEMS>::BINS / 2] = n;
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
    __syncthreads(); /* every bin says where it begins */
    return most;
}

/* slot[i] becomes the rank of my key i, that of position mine + 32 i.  False: nothing was done,
 * since too many keys share a bin.  tie: equal keys stay in order; else slots are of any order. */
template <int WARPS, int ITEMS>
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
        if (mine + 32 * i < n) {
            const uint32_t bin = (uint32_t)((sort_value(a, k.key[i]) - low) >> shift);
            const uint32_t half = bin % 2 * 16;
            slot[i] = atomicAdd(&s.bins[bin / 2], 1u << half) >> half & 0xffff;
        }
    __syncthreads();                   /* every key is counted */
    const bool alike = !tie && !shift; /* keys of a bin are equal, and any order does */
    if (bins_begin(s, n) > BINS_MOST && !alike) return false;
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + 32 * i < n) {
            const ukey value = sort_value(a, k.key[i]);
            slot[i] += begin[(uint32_t)((value - low) >> shift)];
            s.keys[slot[i]] = value;
#if SORT_PLACES
            if (tie) s.place[slot[i]] = (uint16_t)(mine + 32 * i);
#endif
        }
    __syncthreads(); /* the keys lie by bins */
    if (!alike)
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (mine + 32 * i < n) {
                const ukey value = sort_value(a, k.key[i]);
                const uint32_t bin = (uint32_t)((value - low) >> shift), end = begin[bin + 1];
                uint32_t rank = begin[bin];
                for (uint32_t q = rank; q < end; q++) {
                    const ukey other = s.keys[q];
                    bool before = q < slot[i];
#if SORT_PLACES
                    if (tie && other == value) before = s.place[q] < mine + 32 * i;
#endif
                    if (other < value || (other == value && before)) rank++;
                }
                slot[i] = rank;
            }
    __syncthreads(); /* everyone has read the keys by bins */
    return true;
}

#endif
