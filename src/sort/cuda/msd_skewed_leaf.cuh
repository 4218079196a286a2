/*
 * sort/cuda/msd_skewed_leaf.cuh - sorts leaves whose keys are too skewed for bins of equal width
 * (msd_leaf.cuh).
 *
 *     bins     a key is cut at a bit: each value of the upper part has bins by the length of the
 *              lower part (lengths.cuh)
 *     merge    if such a bin has too many different keys too: a merge sort, whose time does not
 *              depend on the keys (cuda/device/block_merge.cuh)
 *
 * The cut is the highest bit below which many keys of a sample have zeros.  So keys that consist of
 * two numbers are divided by both.  A second attempt takes the bit below which most have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_SKEWED_LEAF_CUH
#define ECHI_SORT_CUDA_MSD_SKEWED_LEAF_CUH

#include "cuda/device/block_merge.cuh"
#include "sort/cuda/lengths.cuh"
#include "sort/cuda/msd_leaf.cuh"

enum {
    SKEWED_LEAF_THREADS = SORT_SKEWED_LEAF_THREADS,
    SKEWED_LEAF_WARPS = SKEWED_LEAF_THREADS / 32,
    SKEWED_LEAF_BINS = 8, /* of a thread */
    SKEWED_LEAF_EACH = 8  /* bins of a value of the upper part, at least */
};
static_assert(LEAF_BINS / SKEWED_LEAF_BINS % 32 == 0 &&
                  LEAF_BINS / SKEWED_LEAF_BINS <= SKEWED_LEAF_THREADS,
              "warps add up all bins");

template <int RUNS> struct skewed_leaf_shared {
    enum { EACH = merge_window<RUNS>::KEYS, KEYS = SKEWED_LEAF_THREADS * EACH };
    ukey keys[KEYS];
    uint32_t bins[LEAF_BINS];
    ukey low[SKEWED_LEAF_WARPS], high[SKEWED_LEAF_WARPS];
    uint32_t sums[SKEWED_LEAF_WARPS];
    uint32_t rounds, cut;
};
static_assert(sizeof(struct skewed_leaf_shared<1>) <= SORT_SKEWED_LEAF_SHARED_BYTES(0) &&
                  sizeof(struct skewed_leaf_shared<2>) <= SORT_SKEWED_LEAF_SHARED_BYTES(1),
              "the host gives less shared memory than the kernel uses");
static_assert((int)skewed_leaf_shared<1>::KEYS == (int)msd_leaf_shared<LEAF_ITEMS>::KEYS,
              "both kernels sort the same leaves");

/* Bins of keys that agree from bit `top` up. */
struct skewed_leaf_bins {
    ukey mask;  /* of the bits below top */
    ukey first; /* the minimum key without its lower part */
    struct length_map map;
};

static __device__ inline uint32_t skewed_leaf_bin(const struct skewed_leaf_bins &b, ukey e)
{
    return length_map_digit(b.map, (e & b.mask) - b.first);
}

/* The highest bit, at most `top`, below which many sampled keys have zeros; or the one below which
 * most of them have.  By a warp. */
static __device__ inline uint32_t skewed_leaf_cut(const struct sort_common &a,
                                                  const struct sort_leaf &leaf, uint32_t top,
                                                  bool highest)
{
    const ukey *in = keys_of(a, leaf.source) + leaf.begin;
    const uint32_t step = leaf.count / 64 + 1;
    uint32_t cut = top, most = 0;
    ukey set[2];
#pragma unroll
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t at = min((2 * lane_id() + k) * step, leaf.count - 1);
        const ukey e = msd_load(a, leaf.source, in[at]);
        set[k] = e | e << 1 | e << 2 | e << 3; /* bit i: one of the bits i - 3 ... i is set */
    }
    for (uint32_t bit = top; bit > SORT_DIGIT_BITS; bit--) {
        const uint32_t one = __ballot_sync(WARP_ALL, set[0] >> (bit - 1) & 1);
        const uint32_t two = __ballot_sync(WARP_ALL, set[1] >> (bit - 1) & 1);
        const uint32_t zeros = 64 - __popc(one) - __popc(two);
        if (zeros <= most || (highest && zeros < SORT_ZEROS_MANY(64))) continue;
        most = zeros;
        cut = bit;
        if (highest) break;
    }
    return cut;
}

/* Chooses the bins of keys in [low, high], which are cut at s.cut; false if there are too many. */
template <int RUNS>
static __device__ inline bool skewed_leaf_choose(const struct skewed_leaf_shared<RUNS> &s, ukey low,
                                                 ukey high, struct skewed_leaf_bins &b)
{
    const uint32_t cut = s.cut;
    b.mask = (ukey)bits_mask(bits_of(low ^ high));
    b.first = low & b.mask & ~(ukey)bits_mask(cut);
    const ukey uppers = cut < KEY_BITS ? ((high & b.mask) - b.first) >> cut : (ukey)0;
    if (uppers >= LEAF_BINS / SKEWED_LEAF_EACH) return false;
    b.map = length_map_of(cut, LEAF_BINS / ((uint32_t)uppers + 1));
    return true;
}

/* Converts the counts of the bins to their starts, and sets s.rounds like leaf_begins().  Bins of
 * one key are in order. */
template <int RUNS>
static __device__ inline void skewed_leaf_begins(struct skewed_leaf_shared<RUNS> &s,
                                                 const struct skewed_leaf_bins &b)
{
    enum { THREADS = LEAF_BINS / SKEWED_LEAF_BINS };
    const uint32_t me = threadIdx.x, warp = me / 32, lane = lane_id();
    uint32_t count[SKEWED_LEAF_BINS] = {}, sum = 0;
    uint32_t *mine = s.bins + me * SKEWED_LEAF_BINS;
    if (me < THREADS)
#pragma unroll
        for (int j = 0; j < SKEWED_LEAF_BINS; j++) sum += count[j] = mine[j];
    const uint32_t inclusive = warp_scan(sum);
    if (lane == 31) s.sums[warp] = inclusive;
    __syncthreads(); /* the sums of all warps are written */
    uint32_t at = inclusive - sum + warp_sum(lane < warp ? s.sums[lane] : 0);
    if (me < THREADS)
#pragma unroll
        for (int j = 0; j < SKEWED_LEAF_BINS; j++) {
            mine[j] = at;
            if (count[j] > WINDOW / 2 + 1 &&
                (b.map.skip || (me * SKEWED_LEAF_BINS + j) % b.map.each >= 2u << b.map.kept)) {
                const uint32_t halves = bin_halves(at, count[j]);
                if (halves > 2) atomicMax(&s.rounds, halves);
            }
            at += count[j];
        }
    __syncthreads(); /* the starts of all bins are written */
}

/* Sorts the leaf in s.keys by bins; false if it is left to a merge sort. */
template <int RUNS>
static __device__ inline bool skewed_leaf_by_bins(const struct sort_common &a,
                                                  const struct sort_leaf &leaf,
                                                  struct skewed_leaf_shared<RUNS> &s,
                                                  const ukey (&key)[skewed_leaf_shared<RUNS>::EACH])
{
    enum { EACH = skewed_leaf_shared<RUNS>::EACH };
    const uint32_t me = threadIdx.x;
    ukey low = (ukey) ~(ukey)0, high = 0;
    struct skewed_leaf_bins b = {};
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (me + i * SKEWED_LEAF_THREADS < leaf.count) {
            low = key_min(low, key[i]);
            high = key_max(high, key[i]);
        }
    block_range(s.low, s.high, low, high);
    const uint32_t top = bits_of(low ^ high);
    uint32_t rounds = LEAF_ROUNDS + 1;
    for (int attempt = 0; rounds > LEAF_ROUNDS; attempt++) {
        if (attempt == 2) return false;
        if (me < 32) {
            const uint32_t cut = skewed_leaf_cut(a, leaf, attempt ? s.cut - 1 : top, attempt == 0);
            __syncwarp(); /* all lanes have read the last cut */
            if (me == 0) s.cut = cut;
        }
        for (uint32_t w = me; w < LEAF_BINS; w += SKEWED_LEAF_THREADS) s.bins[w] = 0;
        if (me == 0) s.rounds = 2;
        __syncthreads(); /* the cut is written, and the bins are clear */
        if (!skewed_leaf_choose(s, low, high, b)) return false;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (me + i * SKEWED_LEAF_THREADS < leaf.count)
                atomicAdd(&s.bins[skewed_leaf_bin(b, key[i])], 1);
        __syncthreads(); /* every key is counted */
        skewed_leaf_begins(s, b);
        rounds = s.rounds;
        __syncthreads(); /* all threads have read the rounds */
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (me + i * SKEWED_LEAF_THREADS < leaf.count)
            s.keys[leaf_place(atomicAdd(&s.bins[skewed_leaf_bin(b, key[i])], 1))] = key[i];
    /* The last window is padded with keys that stay at the end. */
    const uint32_t fill = (leaf.count + WINDOW - 1) / WINDOW * WINDOW;
    if (leaf.count + me < fill) s.keys[leaf_place(leaf.count + me)] = (ukey) ~(ukey)0;
    __syncthreads(); /* the keys are placed by bin */
    windows_sort<SKEWED_LEAF_THREADS>(s.keys, leaf.count, rounds);
    return true;
}

/* RUNS: 1, and 2 if leaves are large. */
template <int RUNS> static __device__ inline void skewed_leaf_sort_all(const msd_args &a)
{
    enum { EACH = skewed_leaf_shared<RUNS>::EACH };
    struct skewed_leaf_shared<RUNS> &s = *(struct skewed_leaf_shared<RUNS> *)shared_bytes;
    wait_for_earlier();
    const uint32_t me = threadIdx.x, leaves = a.lists.msd->skewed_leaves;
    for (uint32_t l = blockIdx.x; l < leaves; l += gridDim.x) {
        const struct sort_leaf leaf = a.lists.leaves[a.lists.skewed_leaves[l]];
        const ukey *in = keys_of(a.common, leaf.source) + leaf.begin;
        ukey *out = (ukey *)a.common.keys_out + leaf.begin;
        ukey key[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const uint32_t p = me + i * SKEWED_LEAF_THREADS;
            key[i] = p < leaf.count ? msd_load(a.common, leaf.source, in[p]) : (ukey)0;
        }
        if (!skewed_leaf_by_bins(a.common, leaf, s, key)) {
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const uint32_t p = me + i * SKEWED_LEAF_THREADS;
                if (p < leaf.count) s.keys[leaf_place(p)] = key[i];
            }
            block_merge<RUNS>(s.keys, leaf.count);
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const uint32_t p = me + i * SKEWED_LEAF_THREADS;
            if (p < leaf.count) out[p] = order_decode(a.common.order, s.keys[leaf_place(p)]);
        }
        __syncthreads(); /* shared memory may be written again */
    }
}

extern "C" __global__ void __launch_bounds__(SORT_SKEWED_LEAF_THREADS,
                                             RESIDENT_OF(SORT_SKEWED_LEAF_THREADS,
                                                         SORT_SKEWED_LEAF_BLOCKS))
    sort_msd_skewed_leaf(const __grid_constant__ msd_args a)
{
    skewed_leaf_sort_all<1>(a);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
extern "C" __global__ void __launch_bounds__(SORT_SKEWED_LEAF_THREADS,
                                             RESIDENT_OF(SORT_SKEWED_LEAF_THREADS,
                                                         SORT_SKEWED_LEAF_BLOCKS))
    sort_msd_skewed_leaf_large(const __grid_constant__ msd_args a)
{
    skewed_leaf_sort_all<2>(a);
}
#endif

#endif
