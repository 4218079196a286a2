/*
 * topk/cuda/narrow.cuh - device code: a block finds an interval of keys that contains the key of a
 * given rank.
 *
 *     interval   the smallest and the largest key
 *     count      the interval has at most 2^bins_log bins, each of a power of two keys
 *     narrow     the bin with the rank becomes the interval, until it is one key, or there are so
 *                few elements up to its end that they can be sorted
 *
 * The bins adapt to the keys, so that common leading bits do not cost a pass.  Radix selection and
 * its adaptive form: RadiK (arXiv 2501.14336), AIR top-k (SC 2023).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_CUDA_NARROW_CUH
#define ECHI_TOPK_CUDA_NARROW_CUH

#include "topk/cuda/warp.cuh"

/* Shared memory; counts of 32 bits suffice for up to 2^32 - 1 elements. */
struct narrow_shared {
    uint32_t bins[1 << TOPK_BINS_LOG];
    uint32_t sums[TOPK_THREADS / 32];
    uint32_t bin, before, within;
    ekey lows[TOPK_THREADS / 32], highs[TOPK_THREADS / 32];
    uint32_t slots; /* candidates */
};

template <typename key> struct interval {
    key low, high;
    uint32_t below, within; /* elements less than low, and in the interval */
};

static __device__ inline uint32_t bit_length(uint32_t x)
{
    return 32 - (uint32_t)__clz((int)x);
}

static __device__ inline uint32_t bit_length(uint64_t x)
{
    return 64 - (uint32_t)__clzll((long long)x);
}

/* Finds the bin with the rank, counted from 1. */
static __device__ inline void find_bin(struct narrow_shared &s, uint32_t bins, uint32_t rank)
{
    const uint32_t each = (bins + blockDim.x - 1) / blockDim.x, first = threadIdx.x * each;
    uint32_t sum = 0;
    for (uint32_t b = first; b < min(first + each, bins); b++) sum += s.bins[b];
    uint32_t start = warp_scan(sum);
    if (lane_id() == 31) s.sums[threadIdx.x / 32] = start;
    start -= sum;
    __syncthreads(); /* the sums of warps are written */
    for (uint32_t w = 0; w < threadIdx.x / 32; w++) start += s.sums[w];
    if (start < rank && rank - start <= sum) {
        uint32_t b = first;
        for (; rank - start > s.bins[b]; b++) start += s.bins[b];
        s.bin = b;
        s.before = start;
        s.within = s.bins[b];
    }
    __syncthreads(); /* the bin is known */
}

/* Narrows [low, high], which contains the key of this rank of those that from.each(f) passes to f,
 * in all threads; keys outside do not count.  The result has one key, or there are at most `room`
 * keys up to its end.  All threads call this. */
template <typename key, typename source>
static __device__ inline interval<key> block_narrow(struct narrow_shared &s, const source &from,
                                                    key low, key high, uint32_t rank, uint32_t room,
                                                    uint32_t bins_log)
{
    interval<key> found = { low, high, 0, 0 };
    uint32_t shift;
    do {
        const key span = found.high - found.low;
        const uint32_t bits = bit_length(span);
        shift = bits > bins_log ? bits - bins_log : 0;
        const uint32_t bins = (uint32_t)(span >> shift) + 1;
        for (uint32_t b = threadIdx.x; b < bins; b += blockDim.x) s.bins[b] = 0;
        __syncthreads(); /* the bins are zero */
        from.each([&](key e) {
            const key offset = e - found.low;
            if (offset <= span) atomicAdd(&s.bins[(uint32_t)(offset >> shift)], 1);
        });
        __syncthreads(); /* all keys are counted */
        find_bin(s, bins, rank - found.below);
        found.low += (key)s.bin << shift;
        const key width = ((key)1 << shift) - 1;
        if (found.high - found.low > width) found.high = found.low + width;
        found.below += s.before;
        found.within = s.within;
    } while (shift && found.low != found.high && found.below + found.within > room);
    return found;
}

/* The smallest and the largest of the keys of all threads, which all call this.  It is also a
 * barrier for earlier writes to shared memory. */
static __device__ inline void block_range(struct narrow_shared &s, ekey &low, ekey &high)
{
    low = lanes_min<32>(low);
    high = lanes_max<32>(high);
    if (lane_id() == 0) {
        s.lows[threadIdx.x / 32] = low;
        s.highs[threadIdx.x / 32] = high;
    }
    __syncthreads(); /* the ranges of warps are written */
    for (uint32_t w = 0; w < blockDim.x / 32; w++) {
        low = min(low, s.lows[w]);
        high = max(high, s.highs[w]);
    }
}

/* Which elements are candidates: keys less than `key`, and those equal to it up to a position. */
struct limit {
    ekey key;
    uint32_t position;
};

/* Words that at(i) returns for i < n. */
template <typename function> struct indexed_words {
    const function &at;
    uint32_t n;
    template <typename call> __device__ inline void each(const call &f) const
    {
        enum { EACH = 8 };
        for (uint64_t first = threadIdx.x; first < n; first += EACH * blockDim.x) {
            word w[EACH];
#pragma unroll
            for (uint32_t v = 0; v < EACH; v++)
                if (first + v * blockDim.x < n) w[v] = at((uint32_t)first + v * blockDim.x);
#pragma unroll
            for (uint32_t v = 0; v < EACH; v++)
                if (first + v * blockDim.x < n) f(w[v]);
        }
    }
};

/* Their keys, and the positions of one key. */
template <typename words> struct keys_of {
    const words &from;
    template <typename call> __device__ inline void each(const call &f) const
    {
        from.each([&](word w) { f(word_key(w)); });
    }
};

template <typename words> struct positions_of {
    const words &from;
    ekey key;
    template <typename call> __device__ inline void each(const call &f) const
    {
        const ekey wanted = key;
        from.each([&](word w) {
            if (word_key(w) == wanted) f((uint64_t)word_position(w));
        });
    }
};

/* Finds a limit that at least k and at most `room` of the words do not exceed; room is at least k.
 * Keys are in [low, high].  All threads call this. */
template <typename words>
static __device__ inline struct limit block_limit(struct narrow_shared &s, const words &from,
                                                  ekey low, ekey high, uint32_t k, uint32_t room,
                                                  uint32_t bins_log)
{
    struct limit limit = { WORST, ~0u };
    const keys_of<words> keys = { from };
    const interval<ekey> found = block_narrow(s, keys, low, high, k, room, bins_log);
    limit.key = found.high;
    if (found.below + found.within <= room) return limit;
    const positions_of<words> positions = { from, found.high };
    limit.position = (uint32_t)block_narrow(s, positions, (uint64_t)0, (uint64_t)~0u,
                                            k - found.below, 0, bins_log)
                         .high;
    return limit;
}

static __device__ inline bool within_limit(const struct limit &limit, word w)
{
    const ekey e = word_key(w);
    return e < limit.key || (e == limit.key && word_position(w) <= limit.position);
}

/* Collects the words within the limit in shared memory and returns their number, which may exceed
 * the `room` that are stored.  s.slots is 0 before and after.  All threads call this. */
template <typename words>
static __device__ inline uint32_t block_collect(struct narrow_shared &s, const words &from,
                                                const struct limit &limit, word *to, uint32_t room)
{
    uint32_t mine = 0;
    from.each([&](word w) { mine += within_limit(limit, w); });
    const uint32_t sum = warp_scan(mine);
    uint32_t at = 0;
    if (lane_id() == 31 && sum) at = atomicAdd(&s.slots, sum);
    at = __shfl_sync(WARP_ALL, at, 31) + sum - mine;
    if (mine)
        from.each([&](word w) {
            if (!within_limit(limit, w)) return;
            if (at < room) to[network_place<word>(at)] = w;
            at++;
        });
    __syncthreads(); /* all candidates are written */
    const uint32_t count = s.slots;
    __syncthreads(); /* all threads have read */
    if (threadIdx.x == 0) s.slots = 0;
    return count;
}

/* The sum of counts[first ... end - 1], or a number that is at least `need`. */
static __device__ inline uint64_t count_before(const uint32_t *counts, uint64_t first, uint64_t end,
                                               uint64_t need, uint64_t *sums)
{
    uint64_t all = 0;
    for (; first < end && all < need; first += blockDim.x) {
        const uint64_t i = first + threadIdx.x;
        const uint64_t sum = warp_scan_u64(i < end ? (uint64_t)counts[i] : 0);
        if (lane_id() == 31) sums[threadIdx.x / 32] = sum;
        __syncthreads(); /* the sums are written */
        for (uint32_t w = 0; w < blockDim.x / 32; w++) all += sums[w];
        __syncthreads(); /* all threads have read */
    }
    return all;
}

/* ---- The result ---- */

/* Few candidates: by the first warp. */
static __device__ inline void write_some(const struct topk_args &a, const struct group &group,
                                         const word *words, uint32_t count)
{
    few<word, 2> w;
    if (threadIdx.x >= 32) return;
#pragma unroll
    for (uint32_t j = 0; j < 2; j++) {
        const uint32_t i = 2 * lane_id() + j;
        w.of[j] = i < count ? words[network_place<word>(i)] : ~(word)0;
    }
    few_sort<32>(w);
    write_few<32>(a, group, w);
}

/* Sorts 2^log words, of which `count` are used. */
template <typename number>
static __device__ inline void sort_words(number *words, uint32_t count, uint32_t log)
{
    for (uint32_t i = count + threadIdx.x; i < 1u << log; i += blockDim.x)
        words[network_place<number>(i)] = ~(number)0;
    block_network(words, log, ~0u);
}

/* Writes the k best of the candidates, of which there are at least k and at most topk_room(k). */
static __device__ inline void write_best(const struct topk_args &a, const struct group &group,
                                         word *words, uint32_t count)
{
    const uint32_t k = (uint32_t)group.k;
    if (count <= TOPK_FEW) {
        write_some(a, group, words, count);
        return;
    }
    uint32_t log = max(bit_length(count - 1), (uint32_t)network_window<word>::RUN_LOG);
    sort_words(words, count, log);
    if (!a.sorted) {
        for (uint32_t i = threadIdx.x; i < k; i += blockDim.x)
            words[network_place<word>(i)] = word_position(words[network_place<word>(i)]);
        log = max(bit_length(k - 1), (uint32_t)network_window<word>::RUN_LOG);
        sort_words(words, k, log);
    }
    for (uint32_t i = threadIdx.x; i < k; i += blockDim.x)
        write_result(a, group, i, word_position(words[network_place<word>(i)]));
}

#endif
