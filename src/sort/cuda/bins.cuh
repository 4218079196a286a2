/*
 * sort/cuda/bins.cuh - ranks the keys of a block by dividing their range into bins.
 *
 *     range     the minimum and the maximum of the keys
 *     count     the range is divided into bins, several per key; every key is counted in its bin
 *     place     keys are placed by bin, in any order within a bin; a thread then processes the
 *               keys at its positions, so that adjacent threads have keys of the same bins
 *     rank      a key's rank is its bin's start plus the number of smaller keys in the bin, which
 *               is found by comparisons
 *
 * This is a short chain of dependent steps, while a radix sort needs as many for each digit.  If
 * too many keys share a bin and are not equal, keys without values are all sorted by a bitonic
 * network (cuda/device/block_network.cuh).  With values, such bins are divided again, into about
 * two bins per key, starting at the first bit in which their keys differ.  Equal keys are ranked by
 * their input positions or, if they are indistinguishable, by their places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_BINS_CUH
#define ECHI_SORT_CUDA_BINS_CUH

#include "cuda/device/block_network.cuh"
#include "cuda/device/block_range.cuh"
#include "sort/cuda/block.cuh"

enum { BINS_MOST = SORT_BINS_MOST }; /* keys in a bin; a bin with more is overfull */

template <int WARPS, int ITEMS> struct bins_shared {
    enum { BINS = WARPS * 32 * SORT_BINS_EACH, TILE = WARPS * 32 * ITEMS };
    uint32_t bins[BINS / 2 + 4]; /* two per word: their counts, then their starts; and an end */
    ukey low[WARPS], high[WARPS];
    uint32_t sums[WARPS], most[WARPS];
    uint32_t differ[TILE / BINS_MOST]; /* in how many bits the keys of the bin that begins here
                                          differ */
    ukey keys[TILE];
#if SORT_ORIGINS
    uint16_t origin[TILE]; /* input position of the key */
#endif
};

/* The value by which keys are compared: the requested bits, in a form that is the same for equal
 * keys. */
static __device__ inline ukey sort_value(const struct sort_common &a, ukey e)
{
#if VAL_BYTES
    if (a.plain) return e;
    e = order_merge(a.order, e);
    return (ukey)(e >> a.begin_bit) &
           (ukey)((ukey) ~(ukey)0 >> (KEY_BITS - a.end_bit + a.begin_bit));
#else
    (void)a;
    return e;
#endif
}

/* The range of a block's values, given the range of each thread's values.  Afterwards the bins are
 * clear. */
template <int WARPS, int ITEMS>
static __device__ inline void bins_range(struct bins_shared<WARPS, ITEMS> &s, ukey &low, ukey &high)
{
    ((uint4 *)s.bins)[threadIdx.x] = make_uint4(0, 0, 0, 0);
    block_range(s.low, s.high, low, high);
}

/* Converts the counts of the bins to their starts; returns the maximum count, if MOST. */
template <int WARPS, int ITEMS, bool MOST>
static __device__ inline uint32_t bins_begin(struct bins_shared<WARPS, ITEMS> &s)
{
    static_assert(SORT_BINS_EACH == 8, "a thread's bins are a vector");
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    uint4 w = ((const uint4 *)s.bins)[threadIdx.x];
    const uint32_t both = w.x + w.y + w.z + w.w; /* no sum exceeds 16 bits */
    const uint32_t mine = (both & 0xffff) + (both >> 16), inclusive = warp_scan(mine);
    uint32_t most = 0;
    if (MOST)
        most = warp_max(max(max(max(w.x >> 16, w.y >> 16), max(w.z >> 16, w.w >> 16)),
                            max(max(w.x & 0xffff, w.y & 0xffff), max(w.z & 0xffff, w.w & 0xffff))));
    if (lane == 31) {
        s.sums[warp] = inclusive;
        if (MOST) s.most[warp] = most;
    }
    __syncthreads(); /* the sums of all warps are written */
    if (MOST) most = warp_max(s.most[lane < WARPS ? lane : 0]);
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
    __syncthreads(); /* the starts of all bins are written */
    return most;
}

/* Adds one to a bin and returns its previous value. */
static __device__ inline uint32_t bins_add(uint32_t *bins, uint32_t bin)
{
    const uint32_t half = bin % 2 * 16;
    return atomicAdd(&bins[bin / 2], 1u << half) >> half & 0xffff;
}

/* Puts a key at its rank among the bins. */
template <int WARPS, int ITEMS>
static __device__ inline void bins_put(struct bins_shared<WARPS, ITEMS> &s, uint32_t slot,
                                       const struct block_keys<ITEMS> &k, int i, bool tie)
{
    s.keys[slot] = k.key[i];
#if SORT_ORIGINS
    if (tie) s.origin[slot] = (uint16_t)k.origin[i];
#else
    (void)tie;
#endif
}

/* The i-th place of this thread among keys that are placed by bin: a large bin is shared by many
 * threads. */
template <int WARPS> static __device__ inline uint32_t bins_mine(int i)
{
    return threadIdx.x + WARPS * 32 * i;
}

/* Loads the keys at this thread's places.  From then on, shared memory has the values by which they
 * are compared. */
template <int WARPS, int ITEMS>
static __device__ inline void bins_take(const struct sort_common &a,
                                        struct bins_shared<WARPS, ITEMS> &s, uint32_t n, int items,
                                        bool tie, struct block_keys<ITEMS> &k)
{
    __syncthreads(); /* the keys are placed by bin */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        const uint32_t p = bins_mine<WARPS>(i);
        if (p >= n) continue;
        k.key[i] = s.keys[p];
#if SORT_ORIGINS
        if (tie) k.origin[i] = s.origin[p];
#else
        (void)tie;
#endif
    }
#if VAL_BYTES
    if (a.plain) return;
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        const uint32_t p = bins_mine<WARPS>(i);
        if (p < n) s.keys[p] = sort_value(a, k.key[i]);
    }
    __syncthreads(); /* they can be compared */
#else
    (void)a;
#endif
}

/* The rank of this thread's key i among the keys in [first, end). */
template <int WARPS, int ITEMS>
static __device__ inline uint32_t
bins_compare(const struct sort_common &a, const struct bins_shared<WARPS, ITEMS> &s, uint32_t first,
             uint32_t end, const struct block_keys<ITEMS> &k, int i, bool tie)
{
    const ukey value = sort_value(a, k.key[i]);
    uint32_t rank = first, mine = bins_mine<WARPS>(i);
#if SORT_ORIGINS
    if (tie) mine = k.origin[i];
#endif
    for (uint32_t q = first; q < end; q++) {
        uint32_t from = q;
#if SORT_ORIGINS
        if (tie) from = s.origin[q];
#endif
#if KEY_BYTES == 4
        if (((uint64_t)s.keys[q] << 32 | from) < ((uint64_t)value << 32 | mine)) rank++;
#else
        const ukey other = s.keys[q];
        if (other < value || (other == value && from < mine)) rank++;
#endif
    }
    return rank;
}

#if SORT_ORIGINS
/* The maximum number of bits in which the keys of each overfull bin differ from its first key.
 * `some` is this lane's part.  If the keys of all lanes are in one bin, one lane updates it for the
 * warp. */
template <int WARPS, int ITEMS>
static __device__ inline void bins_differ(struct bins_shared<WARPS, ITEMS> &s, bool overfull,
                                          uint32_t first, uint32_t bits)
{
    const uint32_t one = __shfl_sync(WARP_ALL, first, 0);
    if (__all_sync(WARP_ALL, overfull && first == one)) {
        bits = warp_max(bits);
        if (lane_id()) return;
    }
    if (overfull && bits) atomicMax(&s.differ[first / BINS_MOST], bits);
}

/* Counts the keys of overfull bins again, in more bins; equal keys by their input positions, so
 * that few are left in a bin.  Before the call, place i of this thread is in the bin [bounds[i] &
 * 0xffff, bounds[i] >> 16); afterwards likewise, with the thread's own key. */
template <int WARPS, int ITEMS>
static __device__ inline void
bins_refine(const struct sort_common &a, struct bins_shared<WARPS, ITEMS> &s, uint32_t n, int items,
            struct block_keys<ITEMS> &k, uint32_t (&bounds)[ITEMS])
{
    typedef struct bins_shared<WARPS, ITEMS> shared;
    const uint16_t *begin = (const uint16_t *)s.bins;
    const uint32_t n_bits = 32 - __clz((int)(n - 1));
    const uint32_t spread = 31 - __clz((int)shared::BINS) - n_bits; /* 2^this bins per key */
    uint32_t slot[ITEMS], bin[ITEMS], left = 0;
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        slot[i] = bins_mine<WARPS>(i);
        if (slot[i] < n && (bounds[i] >> 16) - (bounds[i] & 0xffff) > BINS_MOST) left |= 1u << i;
    }
    while (__syncthreads_or(left != 0)) { /* all threads are done with the bins */
        ((uint4 *)s.bins)[threadIdx.x] = make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (left >> i & 1 && slot[i] == (bounds[i] & 0xffff)) {
                s.keys[slot[i]] = sort_value(a, k.key[i]);
                s.differ[slot[i] / BINS_MOST] = 0; /* no two overfull bins share it */
            }
        __syncthreads(); /* each overfull bin has its first key here; the bins are clear */
        if (__any_sync(WARP_ALL, left != 0))
#pragma unroll
            for (int i = 0; i < ITEMS && i < items; i++) {
                const uint32_t first = bounds[i] & 0xffff;
                ukey differ = 0;
                if (left >> i & 1) differ = sort_value(a, k.key[i]) ^ s.keys[first];
                bins_differ(s, left >> i & 1, first,
                            64 - (uint32_t)__clzll((long long)(uint64_t)differ));
            }
        __syncthreads(); /* the number of differing bits is known */
        const uint32_t cut = left;
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (cut >> i & 1) {
                const uint32_t first = bounds[i] & 0xffff, count = (bounds[i] >> 16) - first;
                const uint32_t differ = s.differ[first / BINS_MOST];
                ukey by = k.origin[i];
                if (differ)
                    by = sort_value(a, k.key[i]);
                else
                    left &= ~(1u << i);
                const uint32_t bits = differ ? differ : n_bits;
                const uint32_t digit_bits = min(bits, 31 - __clz((int)count) + spread);
                const uint32_t digit = (uint32_t)(by >> (bits - digit_bits));
                bin[i] = (first << spread) + (digit & ((1u << digit_bits) - 1));
                slot[i] = bins_add(s.bins, bin[i]);
            }
        __syncthreads(); /* every key is counted */
        bins_begin<WARPS, ITEMS, false>(s);
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (cut >> i & 1) {
                const uint32_t before = bounds[i] & 0xffff, at = begin[bin[i]];
                const uint32_t first = before + at - begin[before << spread];
                const uint32_t end = first + begin[bin[i] + 1] - at;
                slot[i] += first;
                bounds[i] = first | end << 16;
                if (end - first <= BINS_MOST) left &= ~(1u << i);
            }
    }
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (bins_mine<WARPS>(i) < n) {
            bins_put(s, slot[i], k, i, true);
            s.bins[slot[i]] = bounds[i];
        }
    bins_take(a, s, n, items, true, k);
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (bins_mine<WARPS>(i) < n) bounds[i] = s.bins[bins_mine<WARPS>(i)];
}
#endif

#if !SORT_ORIGINS && KEY_BYTES >= 4
/* Sorts all keys, given those of this thread's slots, with a network, and returns those of its
 * places.  Returns false, and does nothing, if the keys of each overfull bin are equal. */
template <int WARPS, int ITEMS, int STEP>
static __device__ inline bool bins_network(struct bins_shared<WARPS, ITEMS> &s, uint32_t n,
                                           uint32_t mine, int items, ukey low, uint32_t shift,
                                           struct block_keys<ITEMS> &k, uint32_t (&slot)[ITEMS])
{
    const uint16_t *begin = (const uint16_t *)s.bins;
    const uint32_t log = max(32 - __clz((int)(n - 1)), (int)network_window<ukey>::RUN_LOG);
    uint32_t needs = 0;
    bool differ = false;
    __syncthreads(); /* the keys are placed by bin */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + STEP * i < n) {
            const uint32_t bin = (uint32_t)((k.key[i] - low) >> shift);
            const uint32_t first = begin[bin], end = begin[bin + 1];
            if (end - first <= BINS_MOST) continue;
            differ |= k.key[i] != s.keys[first];
            needs |= network_needs<ukey>(first, end);
        }
    if (!__syncthreads_or(differ)) return false; /* all threads have read the keys */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + STEP * i < n) s.keys[network_place<ukey>(slot[i])] = k.key[i];
    for (uint32_t p = n + threadIdx.x; p < 1u << log; p += WARPS * 32)
        s.keys[network_place<ukey>(p)] = (ukey) ~(ukey)0;
    block_network(s.keys, log, needs);
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        slot[i] = bins_mine<WARPS>(i);
        if (slot[i] < n) k.key[i] = s.keys[network_place<ukey>(slot[i])];
    }
    return true;
}
#endif

/* A thread holds the keys of positions mine + STEP i and exchanges them for those at bins_mine();
 * slot[i] becomes the rank of key i.  Returns false, and does nothing, if too many keys share a bin
 * and OVERFULL is not set. tie: equal keys keep the order of their places; otherwise their order is
 * arbitrary. */
template <int WARPS, int ITEMS, int STEP, bool OVERFULL>
static __device__ inline bool bins_rank(const struct sort_common &a,
                                        struct bins_shared<WARPS, ITEMS> &s, uint32_t n,
                                        uint32_t mine, int items, bool tie, ukey low, ukey high,
                                        struct block_keys<ITEMS> &k, uint32_t (&slot)[ITEMS])
{
    enum { BINS_LOG = WARPS == 32 ? 13 : WARPS == 16 ? 12 : 11 };
    static_assert((int)bins_shared<WARPS, ITEMS>::BINS == 1 << BINS_LOG, "8, 16 or 32 warps");
    static_assert(!OVERFULL || !SORT_ORIGINS || ITEMS <= SORT_BINS_EACH / 2,
                  "there are two bins a key, a word each");
    const uint32_t range_bits = 64 - __clzll((long long)(uint64_t)(ukey)(high - low));
    const uint32_t shift = range_bits > BINS_LOG ? range_bits - BINS_LOG : 0;
    const uint16_t *begin = (const uint16_t *)s.bins;
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + STEP * i < n)
            slot[i] = bins_add(s.bins, (uint32_t)((sort_value(a, k.key[i]) - low) >> shift));
    bool many = false; /* the results of the additions show it too, but need registers in large
                          blocks */
    if (OVERFULL)
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (mine + STEP * i < n) many |= slot[i] >= BINS_MOST;
    many = __syncthreads_or(many); /* every key is counted */
    const uint32_t most = bins_begin<WARPS, ITEMS, !OVERFULL>(s);
    if (!OVERFULL) many = most > BINS_MOST;
    const bool alike = !tie && !shift; /* keys of a bin are equal, and any order is correct */
    const bool overfull = many && !alike;
    if (overfull && !OVERFULL) return false;
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + STEP * i < n) {
            slot[i] += begin[(uint32_t)((sort_value(a, k.key[i]) - low) >> shift)];
            bins_put(s, slot[i], k, i, tie);
        }
#if !SORT_ORIGINS && KEY_BYTES >= 4
    if (OVERFULL && overfull &&
        bins_network<WARPS, ITEMS, STEP>(s, n, mine, items, low, shift, k, slot))
        return true;
#endif
    bins_take(a, s, n, items, tie, k);
    uint32_t bounds[ITEMS]; /* start and end of the bin at this thread's place */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        slot[i] = bins_mine<WARPS>(i);
        if (slot[i] >= n || alike) continue;
        const uint32_t bin = (uint32_t)((sort_value(a, k.key[i]) - low) >> shift);
        const uint32_t first = begin[bin], end = begin[bin + 1];
        if (OVERFULL && overfull)
            bounds[i] = first | end << 16;
        else
            slot[i] = bins_compare(a, s, first, end, k, i, tie);
    }
    if (OVERFULL && overfull) {
#if SORT_ORIGINS
        bins_refine(a, s, n, items, k, bounds);
#endif
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++) {
            if (slot[i] >= n) continue;
            const uint32_t first = bounds[i] & 0xffff, end = bounds[i] >> 16;
            if (SORT_ORIGINS || end - first <= BINS_MOST) /* otherwise equal, in any order */
                slot[i] = bins_compare(a, s, first, end, k, i, tie);
        }
    }
    __syncthreads(); /* all threads have read the keys by bin */
    return true;
}

#endif
