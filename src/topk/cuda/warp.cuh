/*
 * topk/cuda/warp.cuh - device code: some lanes of a warp select as many elements of a group, which
 * they read in chunks.
 *
 *     load      each lane has elements of the chunk in registers, and W minima of parts of them
 *     bound     the k-th smallest of these minima: at least k elements are not worse
 *     collect   elements that are not worse than this bound and than the k-th best so far: a little
 *               more than k, unless many elements are equal or the best ones are in few lanes; then
 *               the bound is narrowed by bisection
 *     merge     sorts them and merges them with the best so far
 *
 * Each lane has room for W candidates.  The bound depends on which lanes have the best elements,
 * not on the distribution of their keys, so that ascending or descending input takes no more time.
 * Faiss's WarpSelect (arXiv 1702.08734) also filters by the k-th best so far.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_CUDA_WARP_CUH
#define ECHI_TOPK_CUDA_WARP_CUH

#include "topk/cuda/group.cuh"

static __device__ inline uint32_t from_lane(uint32_t x, uint32_t lane)
{
    return __shfl_sync(WARP_ALL, x, (int)lane);
}

static __device__ inline uint64_t from_lane(uint64_t x, uint32_t lane)
{
    return __shfl_sync(WARP_ALL, (unsigned long long)x, (int)lane);
}

static __device__ inline network_u128 from_lane(network_u128 x, uint32_t lane)
{
    return (network_u128)from_lane((uint64_t)(x >> 32), lane) << 32 | from_lane((uint32_t)x, lane);
}

/* The smallest and the largest number of LANES lanes, in all of them. */
template <int LANES, typename number> static __device__ inline number lanes_min(number x)
{
#pragma unroll
    for (uint32_t step = 1; step < LANES; step *= 2) x = min(x, network_lane(x, step));
    return x;
}

template <int LANES, typename number> static __device__ inline number lanes_max(number x)
{
#pragma unroll
    for (uint32_t step = 1; step < LANES; step *= 2) x = max(x, network_lane(x, step));
    return x;
}

/* ---- Sorted numbers, some per lane ---- */

/* Number W * me + j of those of LANES lanes, of which this is lane me. */
template <typename number, int W> struct few {
    number of[W];
};

template <int LANES> static __device__ inline uint32_t my_lane(void)
{
    return lane_id() % LANES;
}

/* Compares the numbers at a distance; the smaller one is first where up is true for its number. */
template <int STEP, int RUN, typename number, int W>
static __device__ inline void few_step(few<number, W> &x, uint32_t me)
{
#pragma unroll
    for (int j = 0; j < W; j++) {
        const bool up = RUN < W ? !(j & RUN) : !(me & (RUN / W));
        if (STEP >= W) {
            const number y = network_lane(x.of[j], STEP / W);
            x.of[j] = network_keep(x.of[j], y, up == ((me & (STEP / W)) != 0));
        } else if (!(j & STEP)) {
            const number y = x.of[j], z = x.of[(j + STEP) % W];
            const number low = y < z ? y : z, high = y < z ? z : y;
            x.of[j] = up ? low : high;
            x.of[(j + STEP) % W] = up ? high : low;
        }
    }
}

/* The steps of one run of Batcher's bitonic sort.  RUN 0: the last one, all ascending. */
template <int STEP, int RUN> struct few_run {
    template <typename number, int W>
    static __device__ inline void sort(few<number, W> &x, uint32_t me)
    {
        few_step<STEP, RUN>(x, me);
        few_run<STEP / 2, RUN>::sort(x, me);
    }
};

template <int RUN> struct few_run<0, RUN> {
    template <typename number, int W> static __device__ inline void sort(few<number, W> &, uint32_t)
    {
    }
};

template <int RUN, int ALL> struct few_runs {
    template <typename number, int W>
    static __device__ inline void sort(few<number, W> &x, uint32_t me)
    {
        few_run<RUN / 2, RUN == ALL ? 0 : RUN>::sort(x, me);
        few_runs<RUN == ALL ? 0 : 2 * RUN, ALL>::sort(x, me);
    }
};

template <int ALL> struct few_runs<0, ALL> {
    template <typename number, int W> static __device__ inline void sort(few<number, W> &, uint32_t)
    {
    }
};

/* Sorts W * LANES numbers. */
template <int LANES, typename number, int W>
static __device__ inline void few_sort(few<number, W> &x)
{
    few_runs<2, W * LANES>::sort(x, my_lane<LANES>());
}

/* The smaller half of two sorted sequences, sorted. */
template <int LANES, typename number, int W>
static __device__ inline void few_merge(few<number, W> &x, const few<number, W> &y)
{
    const uint32_t other = lane_id() ^ (LANES - 1);
#pragma unroll
    for (int j = 0; j < W; j++) {
        const number z = from_lane(y.of[W - 1 - j], other);
        x.of[j] = z < x.of[j] ? z : x.of[j];
    }
    few_run<W * LANES / 2, 0>::sort(x, my_lane<LANES>());
}

/* The 32 smallest of the numbers of a block's threads, sorted, in the first warp.  shared: one per
 * thread.  All threads call this. */
template <typename number>
static __device__ inline number block_smallest(number mine, number *shared)
{
    const uint32_t warps = blockDim.x / 32, me = threadIdx.x / 32;
    few<number, 1> best = { { mine } };
    few_sort<32>(best);
    for (uint32_t step = 1; step < warps; step *= 2) {
        shared[threadIdx.x] = best.of[0];
        __syncthreads(); /* all have written */
        if (me % (2 * step) == 0 && me + step < warps) {
            const few<number, 1> other = { { shared[threadIdx.x + step * 32] } };
            few_merge<32>(best, other);
        }
        __syncthreads(); /* all have read */
    }
    return best.of[0];
}

/* Number i. */
template <int LANES, typename number, int W>
static __device__ inline number few_at(const few<number, W> &x, uint32_t i)
{
    const uint32_t lane = lane_id() - my_lane<LANES>() + i / W;
    number found = from_lane(x.of[0], lane);
#pragma unroll
    for (int j = 1; j < W; j++) {
        const number y = from_lane(x.of[j], lane);
        if (i % W == j) found = y;
    }
    return found;
}

/* ---- Chunks ---- */

/* Element v * LANES + me of a chunk; `left` elements remain from the lane's first one on. */
template <int LANES, int EACH, int W> struct chunk {
    ekey e[EACH];      /* split, or WORST after the end */
    few<ekey, W> best; /* of the elements with each v % W */
    uint32_t left;
};

template <int LANES, int EACH, typename key>
static __device__ inline void lane_keys(ukey (&u)[EACH], const key *in, uint32_t left)
{
#pragma unroll
    for (uint32_t v = 0; v < EACH; v++) u[v] = v * LANES < left ? in[v * LANES] : (key)0;
}

template <int LANES, int EACH, int W>
static __device__ inline chunk<LANES, EACH, W> chunk_load(const struct topk_args &a,
                                                          const struct group &group, uint64_t first)
{
    chunk<LANES, EACH, W> c;
    const uint64_t at = first + my_lane<LANES>();
    c.left = group.k && group.n > at ? (uint32_t)min(group.n - at, (uint64_t)LANES * EACH) : 0;
    ukey u[EACH];
#if KEY_BITS == 16
    if (a.key_bytes == 1)
        lane_keys<LANES>(u, (const uint8_t *)a.in + group.begin + at, c.left);
    else
#endif
        lane_keys<LANES>(u, (const ukey *)a.in + group.begin + at, c.left);
#pragma unroll
    for (int j = 0; j < W; j++) c.best.of[j] = WORST;
#pragma unroll
    for (uint32_t v = 0; v < EACH; v++) {
        c.e[v] = v * LANES < c.left ? split_key(a, u[v]) : WORST;
        c.best.of[v % W] = min(c.best.of[v % W], c.e[v]);
    }
    return c;
}

/* Appends the elements of the active groups that are not less than low and not greater than high,
 * in the order of their positions, and returns the new number of words, which may exceed those that
 * are stored. */
template <int LANES, int EACH, int W>
static __device__ inline uint32_t
chunk_collect(const struct topk_args &a, const chunk<LANES, EACH, W> &c, uint64_t first,
              bool active, ekey low, ekey high, word *words, uint32_t count)
{
    const uint32_t me = my_lane<LANES>(), base = lane_id() - me;
    const uint32_t group = LANES == 32 ? WARP_ALL : ((1u << LANES % 32) - 1) << base;
#pragma unroll
    for (uint32_t v = 0; v < EACH; v++) {
        const bool has = active && c.e[v] >= low && c.e[v] <= high && v * LANES < c.left;
        const uint32_t all = __ballot_sync(WARP_ALL, has);
        if (all == 0) continue;
        const uint32_t lanes = all & group, at = count + __popc(lanes & lanes_below());
        if (has && at < W * LANES)
            words[at] = word_of(merged_key(a, c.e[v]), (uint32_t)first + v * LANES + me);
        count += __popc(lanes);
    }
    return count;
}

/* The number of elements of the group that are not greater than high. */
template <int LANES, int EACH, int W>
static __device__ inline uint32_t chunk_count(const chunk<LANES, EACH, W> &c, ekey high)
{
    uint32_t count = 0;
#pragma unroll
    for (uint32_t v = 0; v < EACH; v++) count += c.e[v] <= high && v * LANES < c.left;
#pragma unroll
    for (uint32_t step = 1; step < LANES; step *= 2) count += network_lane(count, step);
    return count;
}

/* Collects at least the k best elements of the chunk, in the active groups, where more than W *
 * LANES are not greater than high, and returns their number, otherwise count. */
template <int LANES, int EACH, int W>
static __device__ inline uint32_t chunk_bisect(const struct topk_args &a, chunk<LANES, EACH, W> &c,
                                               uint64_t first, bool active, ekey high, uint32_t k,
                                               word *words, uint32_t count)
{
    ekey low = WORST;
    bool search = active;
    __syncwarp(); /* the words of the first attempt are written */
#pragma unroll
    for (uint32_t v = 0; v < EACH; v++) {
        if (v * LANES < c.left) c.e[v] = merged_key(a, c.e[v]);
        low = min(low, c.e[v]);
    }
    low = lanes_min<LANES>(low);
    high = merged_key(a, high);
    while (__any_sync(WARP_ALL, search && low < high)) {
        const ekey middle = low + (high - low) / 2;
        const uint32_t some = chunk_count(c, middle);
        if (!search || low >= high) continue;
        if (some < k) {
            low = middle + 1;
        } else {
            high = middle;
            search = some > W * LANES;
        }
    }
    const uint32_t less = chunk_collect(a, c, first, active && high, (ekey)0, high - 1, words, 0);
    const uint32_t all = chunk_collect(a, c, first, active, high, high, words, less);
    return active ? min(all, (uint32_t)W * LANES) : count;
}

/* Writes the first k of the sorted words. */
template <int LANES, int W>
static __device__ inline void write_few(const struct topk_args &a, const struct group &group,
                                        const few<word, W> &best)
{
    const uint32_t me = my_lane<LANES>(), k = (uint32_t)group.k;
    few<uint32_t, W> position;
#pragma unroll
    for (uint32_t j = 0; j < W; j++)
        position.of[j] = W * me + j < k ? word_position(best.of[j]) : ~0u;
    if (!a.sorted) few_sort<LANES>(position);
#pragma unroll
    for (uint32_t j = 0; j < W; j++)
        if (W * me + j < k) write_result(a, group, W * me + j, position.of[j]);
}

/* The first `count` words, and larger ones, sorted. */
template <int LANES, int W>
static __device__ inline few<word, W> sorted_words(const word *words, uint32_t count)
{
    few<word, W> w;
    __syncwarp(); /* the words are written */
#pragma unroll
    for (uint32_t j = 0; j < W; j++) {
        const uint32_t i = j * LANES + my_lane<LANES>();
        w.of[j] = i < count ? words[i] : ~(word)0;
    }
    __syncwarp(); /* and read */
    few_sort<LANES>(w);
    return w;
}

/* The elements of a chunk that are not worse than the k-th smallest minimum of a lane: their sorted
 * words, at least k, or all that are not greater than bound. */
template <int LANES, int EACH, int W>
static __device__ inline few<word, W> chunk_select(const struct topk_args &a,
                                                   chunk<LANES, EACH, W> &c, uint64_t first,
                                                   ekey bound, uint32_t k, word *words)
{
    few_sort<LANES>(c.best);
    const ekey high = min(equals_of(a, few_at<LANES>(c.best, k ? k - 1 : 0)).high, bound);
    uint32_t count = chunk_collect(a, c, first, true, (ekey)0, high, words, 0);
    const bool many = count > W * LANES;
    if (__any_sync(WARP_ALL, many)) count = chunk_bisect(a, c, first, many, high, k, words, count);
    return sorted_words<LANES, W>(words, count);
}

/* The largest key that is better than the k-th best; false: there is none. */
template <int LANES, int W>
static __device__ inline bool lower_bound(const struct topk_args &a, const few<word, W> &best,
                                          uint32_t k, ekey &bound)
{
    const struct equals worst = equals_of(a, word_key(few_at<LANES>(best, k - 1)));
    bound = worst.low - 1;
    return worst.low != 0;
}

/* Selects from one group per LANES lanes; k is at most 3 / 4 of LANES * W.  If LANES is less than
 * 32, the groups have at most one chunk.  words: W * LANES in shared memory. */
template <int LANES, int EACH, int W>
static __device__ inline void warp_select(const struct topk_args &a, const struct group &group,
                                          word *words)
{
    const uint32_t k = (uint32_t)group.k;
    chunk<LANES, EACH, W> c = chunk_load<LANES, EACH, W>(a, group, 0);
    few<word, W> best = chunk_select(a, c, 0, WORST, k, words);
    ekey bound; /* of the elements before the chunk, k are better than a greater one */
    if (LANES == 32 && group.n > EACH * LANES && lower_bound<LANES>(a, best, k, bound)) {
        for (uint64_t first = EACH * LANES; first < group.n; first += EACH * LANES) {
            c = chunk_load<LANES, EACH, W>(a, group, first);
            ekey low = c.best.of[0];
#pragma unroll
            for (int j = 1; j < W; j++) low = min(low, c.best.of[j]);
            if (!__any_sync(WARP_ALL, c.left && low <= bound)) continue;
            few_merge<LANES>(best, chunk_select(a, c, first, bound, k, words));
            if (!lower_bound<LANES>(a, best, k, bound)) break;
        }
    }
    write_few<LANES>(a, group, best);
}

#endif
