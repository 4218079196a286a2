/*
 * sort/cuda/msd_leaf.cuh - sorts a leaf, a segment that fits in one block, in shared memory.
 *
 *     bins      the range of the keys is divided into bins of a few keys; every key is counted
 *     place     keys are placed by bin, in any order within a bin
 *     windows   are sorted in registers, then the windows that straddle them (leaf_windows.cuh)
 *
 * Nearly always two rounds suffice.  The range that the plan knows is good enough if the keys fill
 * it; otherwise the block finds their minimum and maximum.  A leaf whose keys are skewed even then
 * is left to a separate kernel (msd_skewed_leaf.cuh), so that this kernel keeps its registers.
 *
 * Leaves have one size or, for many keys, twice that size if shared memory is large enough.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_LEAF_CUH
#define ECHI_SORT_CUDA_MSD_LEAF_CUH

#include "cuda/device/block_range.cuh"
#include "sort/cuda/leaf_windows.cuh"

enum {
    LEAF_WARPS = LEAF_THREADS / 32,
    LEAF_ITEMS = SORT_LEAF_THREAD_BYTES / KEY_BYTES, /* keys per thread */
    LEAF_BINS_LOG = SORT_LEAF_BINS_LOG,
    LEAF_BINS = 1 << LEAF_BINS_LOG,
    LEAF_SCAN_STEPS = LEAF_BINS / LEAF_THREADS / 4,
    LEAF_GOOD_ROUNDS = 4 /* with more, the range of the keys is determined */
};
static_assert(LEAF_SCAN_STEPS == 2, "the scan of the bins adds up two vectors a thread at a time");
static_assert(LEAF_THREADS % 128 == 0, "places of a thread's keys move by multiples of 128");

template <int ITEMS> struct msd_leaf_shared {
    enum { KEYS = LEAF_THREADS * ITEMS };
    ukey keys[KEYS];
    uint32_t bins[LEAF_BINS];
    ukey low[LEAF_WARPS], high[LEAF_WARPS];
    uint32_t sums[LEAF_WARPS];
    uint32_t rounds, same;
};
static_assert(sizeof(struct msd_leaf_shared<LEAF_ITEMS>) <= SORT_LEAF_SHARED_BYTES(0) &&
                  sizeof(struct msd_leaf_shared<2 * LEAF_ITEMS>) <= SORT_LEAF_SHARED_BYTES(1),
              "the host gives less shared memory than the kernel uses");
static_assert(msd_leaf_shared<LEAF_ITEMS>::KEYS % WINDOW == 0, "a leaf is made of windows");
static_assert(msd_leaf_shared<2 * LEAF_ITEMS>::KEYS < 1 << 16, "two sums of keys share a word");

/* The number of half windows that the keys [begin, begin + count) touch. */
static __device__ inline uint32_t bin_halves(uint32_t begin, uint32_t count)
{
    return count < 2 ? 0 : (begin + count - 1) / (WINDOW / 2) - begin / (WINDOW / 2) + 1;
}

/* Converts the counts of the bins to their starts; s.rounds becomes the maximum number of half
 * windows that a bin touches, but at least two. */
template <int ITEMS> static __device__ inline void leaf_begins(struct msd_leaf_shared<ITEMS> &s)
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    uint4 *bins = (uint4 *)s.bins + warp * (LEAF_SCAN_STEPS * 32) + lane;
    const uint4 first = bins[0], second = bins[32];
    const uint32_t mine =
        first.x + first.y + first.z + first.w + ((second.x + second.y + second.z + second.w) << 16);
    const uint32_t inclusive = warp_scan(mine), exclusive = inclusive - mine;
    const uint32_t all = __shfl_sync(WARP_ALL, inclusive, 31);
    if (lane == 0) s.sums[warp] = (all & 0xffff) + (all >> 16);
    __syncthreads(); /* the sums of all warps are written */
    const uint32_t sum = warp_sum(lane < warp ? s.sums[lane] : 0);
#pragma unroll
    for (int j = 0; j < LEAF_SCAN_STEPS; j++) {
        const uint4 v = j ? second : first;
        const uint32_t x = sum + (j ? (all & 0xffff) + (exclusive >> 16) : exclusive & 0xffff);
        const uint32_t y = x + v.x, z = y + v.y, w = z + v.z;
        bins[j * 32] = make_uint4(x, y, z, w);
        if (max(max(v.x, v.y), max(v.z, v.w)) > WINDOW / 2 + 1) { /* rare */
            const uint32_t halves = max(max(bin_halves(x, v.x), bin_halves(y, v.y)),
                                        max(bin_halves(z, v.z), bin_halves(w, v.w)));
            if (halves > 2) atomicMax(&s.rounds, halves);
        }
    }
    __syncthreads(); /* the starts of all bins are written */
}

/* The bins of a leaf's keys, which are in low + [0, 2^bits). */
struct leaf_range {
    ukey low;
    uint32_t shift;
};

static __device__ inline uint32_t leaf_bin(const struct leaf_range &r, ukey e)
{
    return (uint32_t)((ukey)(e - r.low) >> r.shift);
}

static __device__ inline uint32_t leaf_shift(uint32_t bits)
{
    return bits > LEAF_BINS_LOG ? bits - LEAF_BINS_LOG : 0;
}

/* Loads a leaf's keys; key i of a thread is at position threadIdx.x + i * LEAF_THREADS. */
template <int ITEMS>
static __device__ inline void leaf_load(const struct sort_common &a, const struct sort_leaf &leaf,
                                        ukey (&key)[ITEMS])
{
    const ukey *in = keys_of(a, leaf.source) + leaf.begin;
    const uint32_t me = threadIdx.x;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        key[i] = me + i * LEAF_THREADS < leaf.count ? in[me + i * LEAF_THREADS] : (ukey)0;
    if (leaf.source == SORT_IN && !order_plain(a.order))
#pragma unroll
        for (int i = 0; i < ITEMS; i++) key[i] = order_encode(a.order, key[i]);
}

/* The range of the keys, and the number of low bits in which they agree with the first key, both
 * returned to all threads. */
template <int ITEMS>
static __device__ inline uint32_t leaf_find_range(struct msd_leaf_shared<ITEMS> &s, uint32_t count,
                                                  const ukey (&key)[ITEMS], ukey first, ukey &low,
                                                  ukey &high)
{
    ukey differ = 0;
    low = (ukey) ~(ukey)0;
    high = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (threadIdx.x + i * LEAF_THREADS < count) {
            low = key_min(low, key[i]);
            high = key_max(high, key[i]);
            differ |= key[i] ^ first;
        }
    const uint32_t same = differ ? __ffsll((long long)(uint64_t)differ) - 1 : KEY_BITS;
    if (threadIdx.x == 0) s.same = KEY_BITS;
    block_range(s.low, s.high, low, high); /* also: s.same is set */
    atomicMin(&s.same, same);
    __syncthreads(); /* all threads have compared */
    return s.same;
}

/* Counts the keys of each bin, and converts the counts to starts; s.rounds: leaf_begins(). */
template <int ITEMS>
static __device__ inline void leaf_count(struct msd_leaf_shared<ITEMS> &s, uint32_t count,
                                         const ukey (&key)[ITEMS], const struct leaf_range &range)
{
    const uint32_t me = threadIdx.x;
    for (uint32_t w = me; w < LEAF_BINS / 4; w += LEAF_THREADS)
        ((uint4 *)s.bins)[w] = make_uint4(0, 0, 0, 0);
    if (me == 0) s.rounds = 2;
    __syncthreads(); /* the bins are clear */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (me + i * LEAF_THREADS < count) atomicAdd(&s.bins[leaf_bin(range, key[i])], 1);
    __syncthreads(); /* every key is counted */
    leaf_begins(s);
}

/* Places the keys by bin in shared memory, at the starts of the bins. */
template <int ITEMS>
static __device__ inline void leaf_place_keys(struct msd_leaf_shared<ITEMS> &s, uint32_t count,
                                              const ukey (&key)[ITEMS],
                                              const struct leaf_range &range)
{
    const uint32_t me = threadIdx.x;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (me + i * LEAF_THREADS < count)
            s.keys[leaf_place(atomicAdd(&s.bins[leaf_bin(range, key[i])], 1))] = key[i];
    /* The last window is padded with keys that stay at the end. */
    const uint32_t fill = (count + WINDOW - 1) / WINDOW * WINDOW;
    if (count + me < fill) s.keys[leaf_place(count + me)] = (ukey) ~(ukey)0;
    __syncthreads(); /* the keys are placed by bin */
}

/* The entire array, from its input to its output, in units of a leaf's size. */
template <int ITEMS> static __device__ inline void leaf_copy_all(const msd_args &a)
{
    enum { KEYS = msd_leaf_shared<ITEMS>::KEYS, COPIES = 24 / KEY_BYTES };
    static_assert(ITEMS % COPIES == 0, "a thread copies a few keys at a time");
    const ukey *in = (const ukey *)a.common.keys_in;
    ukey *out = (ukey *)a.common.keys_out;
    const bool reverse = a.lists.msd->seen & SORT_SEEN_FALL;
    if (!reverse && in == out) return;
    for (uint64_t from = (uint64_t)blockIdx.x * KEYS; from < a.common.n;
         from += (uint64_t)gridDim.x * KEYS) {
#pragma unroll 1
        for (int k = 0; k < ITEMS; k += COPIES) {
            const uint64_t mine = from + threadIdx.x + k * LEAF_THREADS;
            ukey key[COPIES];
#pragma unroll
            for (int i = 0; i < COPIES; i++)
                if (mine + i * LEAF_THREADS < a.common.n) key[i] = in[mine + i * LEAF_THREADS];
#pragma unroll
            for (int i = 0; i < COPIES; i++) {
                const uint64_t at = mine + i * LEAF_THREADS;
                if (at < a.common.n) out[reverse ? a.common.n - 1 - at : at] = key[i];
            }
        }
    }
}

/* Writes the sorted keys. */
template <int DECODE, int ITEMS>
static __device__ inline void leaf_store(const struct sort_common &a,
                                         const struct msd_leaf_shared<ITEMS> &s, ukey *out,
                                         uint32_t count)
{
    const uint32_t me = threadIdx.x, place = leaf_place(me);
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (me + i * LEAF_THREADS < count) {
            const ukey e = s.keys[place + i * LEAF_THREADS];
            out[me + i * LEAF_THREADS] = DECODE ? order_decode(a.order, e) : e;
        }
}

static __device__ inline void leaf_fill(const struct sort_common &a, ukey *out, uint32_t count,
                                        ukey e)
{
    const ukey u = order_decode(a.order, e);
    for (uint32_t p = threadIdx.x; p < count; p += LEAF_THREADS) out[p] = u;
}

/* Sorts a leaf; returns false if it is left to msd_skewed_leaf.cuh. */
template <int ITEMS>
static __device__ inline bool leaf_sort(const struct sort_common &a,
                                        struct msd_leaf_shared<ITEMS> &s,
                                        const struct sort_leaf &leaf)
{
    ukey *out = (ukey *)a.keys_out + leaf.begin;
    const uint32_t bits = leaf.bits % (1 << SORT_LEAF_SAME);
    if (bits == 0) { /* no thread reads this key from shared memory */
        leaf_fill(a, out, leaf.count, (ukey)leaf.low);
        return true;
    }
    ukey key[ITEMS];
    leaf_load(a, leaf, key);
    struct leaf_range range = { (ukey)leaf.low, leaf_shift(bits) };
    bool even = bits != SORT_LEAF_UNEVEN;
    uint32_t same = leaf.bits >> SORT_LEAF_SAME; /* low bits that do not differ: a bin of no more
                                                    bits has one value */
    if (even) {
        leaf_count(s, leaf.count, key, range);
        even = range.shift <= same || s.rounds <= LEAF_GOOD_ROUNDS;
    }
    if (!even) {
        const ukey first = msd_load(a, leaf.source, keys_of(a, leaf.source)[leaf.begin]);
        ukey low, high;
        same = leaf_find_range(s, leaf.count, key, first, low, high); /* and all threads have read
                                                                         the rounds */
        const uint32_t shift = leaf_shift(64 - __clzll((long long)(uint64_t)(ukey)(high - low)));
        if (low == high) { /* in place too: all threads have read */
            leaf_fill(a, out, leaf.count, low);
            return true;
        }
        if (shift < range.shift && same < range.shift) {
            range.low = low;
            range.shift = shift;
            leaf_count(s, leaf.count, key, range);
        }
    }
    const uint32_t rounds = range.shift > same ? s.rounds : 0; /* bins of one value are sorted */
    if (rounds > LEAF_ROUNDS) return false;
    leaf_place_keys(s, leaf.count, key, range);
    windows_sort<LEAF_THREADS>(s.keys, leaf.count, rounds);
    if (order_plain(a.order))
        leaf_store<0>(a, s, out, leaf.count);
    else
        leaf_store<1>(a, s, out, leaf.count);
    return true;
}

template <int ITEMS> static __device__ inline void leaf_sort_all(const msd_args &a)
{
    struct msd_leaf_shared<ITEMS> &s = *(struct msd_leaf_shared<ITEMS> *)shared_bytes;
    wait_for_earlier();
    if (msd_ordered(a)) {
        if (!msd_copied(a)) leaf_copy_all<ITEMS>(a);
        return;
    }
    const uint32_t leaves = a.lists.msd->leaves;
    for (uint32_t i = blockIdx.x; i < leaves; i += gridDim.x) {
        if (!leaf_sort<ITEMS>(a.common, s, a.lists.leaves[i]) && threadIdx.x == 0)
            a.lists.skewed_leaves[atomicAdd(&a.lists.msd->skewed_leaves, 1)] = i;
        __syncthreads(); /* shared memory may be written again */
    }
}

/* ---- Kernels ---- */

#define RESIDENT_OF(threads, blocks)                                                               \
    ((blocks) * (threads) <= MULTIPROCESSOR_THREADS                                                \
         ? (int)(blocks)                                                                           \
         : (int)MULTIPROCESSOR_THREADS / (int)(threads))
#define LEAF_RESIDENT(blocks) RESIDENT_OF(SORT_LEAF_THREADS, blocks)

extern "C" __global__ void __launch_bounds__(SORT_LEAF_THREADS, LEAF_RESIDENT(SORT_LEAF_BLOCKS))
    sort_msd_leaf(const __grid_constant__ msd_args a)
{
    leaf_sort_all<LEAF_ITEMS>(a);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
extern "C" __global__ void __launch_bounds__(SORT_LEAF_THREADS,
                                             LEAF_RESIDENT(SORT_LEAF_LARGE_BLOCKS))
    sort_msd_leaf_large(const __grid_constant__ msd_args a)
{
    leaf_sort_all<2 * LEAF_ITEMS>(a);
}
#endif

#endif
