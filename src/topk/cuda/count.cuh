/*
 * topk/cuda/count.cuh - device code: a block selects from keys of 8 or 16 bits by counting them.
 *
 *     count     bins of the leading bits, then of the other bits of one bin: the key of rank k
 *     collect   elements with a lower key, in any order; of those with this key, the first ones
 *     sort      words of 32 bits: a key, then its position
 *
 * Counters in shared memory take 26 keys per cycle, whatever the distribution is, and the second
 * and the third read of the keys are served by the L1 cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_CUDA_COUNT_CUH
#define ECHI_TOPK_CUDA_COUNT_CUH

#include "cuda/device/vectors.cuh"
#include "topk/cuda/narrow.cuh"

/* Adjacent keys in aligned vectors, the first and the last of which may be incomplete. */
template <typename key> struct count_keys {
    enum { KEYS = vector_of<key>::KEYS, AT_ONCE = 4 };
    const struct topk_args &a;
    const key *from;  /* of the first vector */
    uint32_t skip, n; /* keys before the first one; keys */

    __device__ inline uint32_t vectors(void) const
    {
        return (skip + n + KEYS - 1) / KEYS;
    }
    /* Loads vector v; the result has a bit for each of its keys. */
    __device__ inline uint32_t load(uint32_t v, vector_of<key> &x) const
    {
        const int32_t at = (int32_t)(v * KEYS) - (int32_t)skip, end = (int32_t)n;
        uint32_t here = 0;
        if (at >= 0 && at + KEYS <= end) {
            x.vector = ((const uint4 *)from)[v];
            return (1u << KEYS) - 1;
        }
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const bool in = at + j >= 0 && at + j < end;
            x.of[j] = in ? from[v * KEYS + (uint32_t)j] : (key)0;
            here |= (uint32_t)in << j;
        }
        return here;
    }
    /* Calls f with each key. */
    template <typename call> __device__ inline void each(const call &f) const
    {
        for (uint32_t first = threadIdx.x; first < vectors(); first += AT_ONCE * blockDim.x) {
            vector_of<key> x[AT_ONCE];
            uint32_t here[AT_ONCE];
#pragma unroll
            for (uint32_t u = 0; u < AT_ONCE; u++)
                here[u] =
                    first + u * blockDim.x < vectors() ? load(first + u * blockDim.x, x[u]) : 0;
#pragma unroll
            for (uint32_t u = 0; u < AT_ONCE; u++)
#pragma unroll
                for (int j = 0; j < KEYS; j++)
                    if (here[u] >> j & 1) f(key_of(a, x[u].of[j]));
        }
    }
};

template <typename key>
static __device__ inline count_keys<key> count_keys_of(const struct topk_args &a, uint64_t first,
                                                       uint32_t n)
{
    const key *in = (const key *)a.in + first;
    const uint32_t skip = (uint32_t)((uintptr_t)in / sizeof(key)) % count_keys<key>::KEYS;
    return { a, in - skip, skip, n };
}

/* Where the elements of a vector begin that have this bit, in all threads of the block; total
 * becomes their number. */
static __device__ inline uint32_t block_places(uint32_t bits, uint32_t *sums, uint32_t &total)
{
    const uint32_t mine = __popc(bits), sum = warp_scan(mine);
    uint32_t at = sum - mine;
    total = 0;
    if (lane_id() == 31) sums[threadIdx.x / 32] = sum;
    __syncthreads(); /* the sums of warps are written */
    for (uint32_t w = 0; w < blockDim.x / 32; w++) {
        if (w == threadIdx.x / 32) at += total;
        total += sums[w];
    }
    __syncthreads(); /* all threads have read */
    return at;
}

/* Passes to put(place, key, i) the keys less than `end`, with places counted by *slots, and the
 * first `need` keys that are equal to `tie`, with the places from ties_at on.  *slots is visible to
 * all threads, which all call this. */
template <typename key, typename call>
static __device__ inline void count_collect(const count_keys<key> &from, ekey end, ekey tie,
                                            uint32_t need, uint32_t *slots, uint32_t ties_at,
                                            uint32_t *sums, const call &put)
{
    enum { KEYS = vector_of<key>::KEYS };
    const uint32_t vectors = from.vectors();
    for (uint32_t first = 0; first < vectors; first += blockDim.x) {
        const uint32_t v = first + threadIdx.x;
        vector_of<key> x;
        const uint32_t here = v < vectors ? from.load(v, x) : 0;
        uint32_t less = 0, equal = 0, total;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const ekey e = here >> j & 1 ? key_of(from.a, x.of[j]) : WORST;
            less |= (uint32_t)(e < end) << j;
            equal |= (uint32_t)(e == tie) << j;
        }
        if (__any_sync(WARP_ALL, less != 0)) {
            const uint32_t sum = warp_scan(__popc(less));
            uint32_t at = lane_id() == 31 ? atomicAdd(slots, sum) : 0;
            at = __shfl_sync(WARP_ALL, at, 31) + sum - __popc(less);
            for (; less; less &= less - 1) {
                const uint32_t i = v * KEYS + (uint32_t)__ffs((int)less) - 1;
                put(at++, key_of(from.a, from.from[i]), i - from.skip);
            }
        }
        if (need == 0) continue; /* the same in all threads */
        uint32_t at = block_places(equal, sums, total);
        for (; equal && at < need; equal &= equal - 1)
            put(ties_at + at++, tie, v * KEYS + (uint32_t)__ffs((int)equal) - 1 - from.skip);
        ties_at += min(total, need);
        need -= min(total, need);
    }
}

/* ---- A group of a block ---- */

/* Words of 32 bits: positions have the bits below the key. */
template <typename key> struct count_word {
    enum { BITS = 32 - 8 * sizeof(key) };
    static __device__ inline uint32_t of(ekey e, uint32_t position)
    {
        return e << BITS | position;
    }
    static __device__ inline uint32_t position(uint32_t w)
    {
        return w & ((1u << BITS) - 1);
    }
};

/* Sorts 2^log words, at least 128; a thread has four. Runs of a warp are merged as in
 * block_network(): the first step compares the words of two runs in opposite directions. */
static __device__ inline void count_sort(uint32_t *words, uint32_t log)
{
    union four {
        uint4 vector;
        few<uint32_t, 4> some;
    } x, y;
    const uint32_t me = threadIdx.x, all = (1u << log) / 4;
    const bool works = me < all; /* whole warps */
    uint4 *vectors = (uint4 *)words;
    __syncthreads(); /* all words are written */
    if (works) {
        x.vector = vectors[me];
        few_sort<32>(x.some);
    }
    for (uint32_t run = 64; run <= all; run *= 2) {
        for (uint32_t step = run / 2; step >= 32; step /= 2) {
            const bool first = step == run / 2, upper = me & step;
            __syncthreads(); /* all threads have read */
            if (works) vectors[me] = x.vector;
            __syncthreads(); /* all threads have written */
            if (!works) continue;
            y.vector = vectors[first ? me ^ (run - 1) : me ^ step];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const uint32_t other = first ? y.some.of[3 - j] : y.some.of[j];
                x.some.of[j] = upper ? max(x.some.of[j], other) : min(x.some.of[j], other);
            }
        }
        if (works) few_run<64, 0>::sort(x.some, lane_id());
    }
    __syncthreads(); /* all threads have read */
    if (works) vectors[me] = x.vector;
    __syncthreads(); /* the words are sorted */
}

/* Sorts `count` words; room for as many as a power of two, at least 128. */
static __device__ inline void count_sort_words(uint32_t *words, uint32_t count)
{
    const uint32_t log = max(bit_length(count - 1), (uint32_t)7);
    for (uint32_t i = count + threadIdx.x; i < 1u << log; i += blockDim.x) words[i] = ~0u;
    count_sort(words, log);
}

/* Writes the k best of up to TOPK_FEW words; by the first warp. */
template <typename key>
static __device__ inline void count_write_some(const struct topk_args &a, const struct group &group,
                                               const uint32_t *words, uint32_t count)
{
    few<uint32_t, 2> w;
    few<word, 2> best;
    if (threadIdx.x >= 32) return;
#pragma unroll
    for (uint32_t j = 0; j < 2; j++) {
        const uint32_t i = 2 * lane_id() + j;
        w.of[j] = i < count ? words[i] : ~0u;
    }
    few_sort<32>(w);
#pragma unroll
    for (int j = 0; j < 2; j++) best.of[j] = count_word<key>::position(w.of[j]);
    write_few<32>(a, group, best);
}

template <typename key>
static __device__ inline void count_write(const struct topk_args &a, const struct group &group,
                                          uint32_t *words, uint32_t count)
{
    const uint32_t k = (uint32_t)group.k;
    if (count <= TOPK_FEW) {
        count_write_some<key>(a, group, words, count);
        return;
    }
    count_sort_words(words, count);
    if (!a.sorted) {
        for (uint32_t i = threadIdx.x; i < k; i += blockDim.x)
            words[i] = count_word<key>::position(words[i]);
        count_sort_words(words, k);
    }
    for (uint32_t i = threadIdx.x; i < k; i += blockDim.x)
        write_result(a, group, i, count_word<key>::position(words[i]));
}

template <typename key>
static __device__ inline void count_select(const struct topk_args &a, struct narrow_shared &s,
                                           const struct group &group)
{
    const uint32_t k = (uint32_t)group.k, room = topk_count_room(k);
    const count_keys<key> keys = count_keys_of<key>(a, group.begin, (uint32_t)group.n);
    uint32_t *words = (uint32_t *)shared_bytes;
    if (threadIdx.x == 0) s.slots = 0;
    interval<ekey> found = { 0, (ekey)(key) ~(key)0, 0, (uint32_t)group.n };
    if (group.n > room)
        found = block_narrow(s, keys, found.low, found.high, k, room, a.bins_log);
    else
        __syncthreads();                                 /* the counter is zero */
    const bool ties = found.below + found.within > room; /* then the interval is one key */
    const uint32_t count = ties ? k : found.below + found.within;
    count_collect(keys, ties ? found.low : found.high + 1, found.low, ties ? k - found.below : 0,
                  &s.slots, found.below, s.sums,
                  [&](uint32_t at, ekey e, uint32_t i) { words[at] = count_word<key>::of(e, i); });
    __syncthreads(); /* all words are written */
    count_write<key>(a, group, words, count);
    __syncthreads(); /* all threads have read the words */
}

template <typename key> static __device__ inline void count_groups(const struct topk_args &a)
{
    __shared__ struct narrow_shared s;
    wait_for_earlier();
    const uint64_t count = chip_groups(a);
    for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
        const struct group group = chip_group(a, i);
        if (group.k) count_select<key>(a, s, group);
    }
}

#endif
