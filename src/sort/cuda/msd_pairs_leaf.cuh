/*
 * sort/cuda/msd_pairs_leaf.cuh - stable sort of a leaf of keys with values, a segment that fits in
 * a block.
 *
 *     order     one word per key: as many of its bits as fit, from the highest one that differs
 *               in the leaf, above its position.  No two words are equal, so that any sort of them
 *               is stable
 *     sort      into bins by counting the first bits of words, then windows of 16 in registers, as
 *               in msd_leaf.cuh; few different keys are divided by their positions
 *     mend      if not all bits fit, adjacent keys with equal word bits may be in the wrong order:
 *               the thread at the first key of such a group sorts it by whole keys
 *     fetch     values, and keys if the words do not contain all of their bits, are loaded by
 *               position through shared memory
 *
 *         order      | key bits | position |   sorted: p-th is
 *         keys out   p-th = keys[position]     values out   p-th = values[position]
 *
 * A leaf with overfull bins, or with long groups to mend, is sorted digit by digit, as in
 * block.cuh, by a separate kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_PAIRS_LEAF_CUH
#define ECHI_SORT_CUDA_MSD_PAIRS_LEAF_CUH

#include "cuda/device/block_range.cuh"
#include "sort/cuda/block.cuh"
#include "sort/cuda/leaf_windows.cuh"
#include "sort/cuda/msd_pairs.cuh"

#define LEAF_STAGED (PAIRS_STAGED && VAL_BYTES <= 8)

enum {
    LEAF_WARPS = LEAF_THREADS / 32,
    LEAF_ITEMS = MSD_LEAF / LEAF_THREADS,
    LEAF_BINS_LOG = (int)MSD_LEAF > (int)SORT_PAIRS_LEAF ? 13 : 12, /* about one key each */
    LEAF_WORDS = 1 << LEAF_BINS_LOG,
    LEAF_SCAN_WARPS = LEAF_WARPS >= 16 ? 16 : 8,
    LEAF_SCAN_STEPS = LEAF_WORDS / LEAF_SCAN_WARPS / 128,
    LEAF_MENDS = 64 /* maximum number of steps of a thread for its groups */
};
static_assert(LEAF_SCAN_STEPS >= 1 && LEAF_WARPS >= LEAF_SCAN_WARPS && LEAF_WARPS <= 32,
              "the scan of the bins is made for 8 or 16 warps");
static_assert(MSD_LEAF % LEAF_THREADS == 0 && MSD_LEAF % WINDOW == 0,
              "a leaf is made of items and of windows");

struct pairs_leaf_shared {
    uint32_t order[MSD_LEAF];
    union {
        uint32_t bins[LEAF_WORDS];
        ukey keys[MSD_LEAF];
#if LEAF_STAGED
    };
    uval values[MSD_LEAF];
#else
#if VAL_BYTES <= 8
        uval values[MSD_LEAF];
#endif
    };
#endif
    ukey low[LEAF_WARPS], high[LEAF_WARPS];
    uint32_t sums[LEAF_WARPS], most[LEAF_WARPS];
};
static_assert(sizeof(struct pairs_leaf_shared) <=
                      SORT_PAIRS_LEAF_SHARED_BYTES(MSD_LEAF, KEY_BYTES, VAL_BYTES, PAIRS_STAGED) &&
                  sizeof(struct block_shared<LEAF_WARPS, LEAF_ITEMS>) <=
                      SORT_PAIRS_LEAF_SHARED_BYTES(MSD_LEAF, KEY_BYTES, VAL_BYTES, PAIRS_STAGED),
              "the host gives less shared memory than the kernel uses");

/* ---- Bins ---- */

/* Where the counter of a bin is.  The bins of adjacent positions of few different keys are a power
 * of two apart; their counters are in different banks.  Groups of four bins stay together. */
static __device__ inline uint32_t leaf_counter(uint32_t bin)
{
    return bin ^ ((bin >> 6 ^ bin >> 9) & 7) << 2;
}

/* Converts the counts of the bins to their starts; returns the maximum count. */
static __device__ inline uint32_t leaf_begins(struct pairs_leaf_shared &s)
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    const uint32_t first = (warp * (LEAF_SCAN_STEPS * 32) + lane) * 4;
    uint4 word[LEAF_SCAN_STEPS];
    uint32_t before[LEAF_SCAN_STEPS], sum = 0, most = 0;
    if (warp < LEAF_SCAN_WARPS)
#pragma unroll
        for (int j = 0; j < LEAF_SCAN_STEPS; j++) {
            const uint4 w = word[j] = *(const uint4 *)(s.bins + leaf_counter(first + j * 128));
            const uint32_t mine = w.x + w.y + w.z + w.w, inclusive = warp_scan(mine);
            before[j] = sum + inclusive - mine;
            sum += __shfl_sync(WARP_ALL, inclusive, 31);
            most = max(most, max(max(w.x, w.y), max(w.z, w.w)));
        }
    most = warp_max(most);
    if (lane == 0) {
        s.sums[warp] = sum;
        s.most[warp] = most;
    }
    __syncthreads(); /* the sums of all warps are written */
    most = warp_max(s.most[lane < LEAF_WARPS ? lane : 0]);
    sum = warp_sum(lane < warp ? s.sums[lane] : 0);
    if (warp < LEAF_SCAN_WARPS)
#pragma unroll
        for (int j = 0; j < LEAF_SCAN_STEPS; j++) {
            uint4 w = word[j];
            w.x = sum + before[j];
            w.y = w.x + word[j].x;
            w.z = w.y + word[j].y;
            w.w = w.z + word[j].z;
            *(uint4 *)(s.bins + leaf_counter(first + j * 128)) = w;
        }
    __syncthreads(); /* the starts of all bins are written */
    return most;
}

/* ---- Order ---- */

/* How a leaf's words are composed. */
struct leaf_order {
    ukey low;
    uint32_t position_bits; /* low bits of a word */
    uint32_t shift;         /* right shift of (key - low) that makes it fit in the word */
    uint32_t bin_shift;     /* right shift of a word to its bin */
};

/* The word of a key at this position. */
static __device__ inline uint32_t leaf_word_of(const struct leaf_order &o, ukey key,
                                               uint32_t position)
{
    return (uint32_t)((ukey)(key - o.low) >> o.shift) << o.position_bits | position;
}

static __device__ inline struct leaf_order leaf_order_of(ukey low, ukey high, uint32_t count)
{
    const uint32_t range_bits = 64 - __clzll((long long)(uint64_t)(ukey)(high - low));
    struct leaf_order o;
    o.low = low;
    o.position_bits = 32 - __clz((int)(count - 1));
    const uint32_t room = 32 - o.position_bits;
    o.shift = range_bits > room ? range_bits - room : 0;
    const uint32_t bits = min(range_bits, room) + o.position_bits;
    o.bin_shift = bits > LEAF_BINS_LOG ? bits - LEAF_BINS_LOG : 0;
    return o;
}

/* Sorts the words of a leaf's keys; returns false if they are skewed. */
static __device__ inline bool leaf_sort(struct pairs_leaf_shared &s, uint32_t count,
                                        const struct leaf_order &o, const ukey (&key)[LEAF_ITEMS])
{
    const uint32_t me = threadIdx.x;
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (me + i * LEAF_THREADS < count) {
            const uint32_t word = leaf_word_of(o, key[i], me + i * LEAF_THREADS);
            atomicAdd(&s.bins[leaf_counter(word >> o.bin_shift)], 1);
        }
    __syncthreads(); /* every key is counted */
    const uint32_t most = leaf_begins(s);
    const uint32_t rounds = most < 2 ? 0 : (most - 2) / (WINDOW / 2) + 2;
    if (rounds > LEAF_ROUNDS) return false;
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (me + i * LEAF_THREADS < count) {
            const uint32_t word = leaf_word_of(o, key[i], me + i * LEAF_THREADS);
            const uint32_t at = leaf_counter(word >> o.bin_shift);
            s.order[leaf_place(atomicAdd(&s.bins[at], 1))] = word;
        }
    /* The last window is padded with words that stay at the end. */
    const uint32_t fill = (count + WINDOW - 1) / WINDOW * WINDOW;
    if (count + me < fill) s.order[leaf_place(count + me)] = ~0u;
    __syncthreads(); /* the words are placed by bin */
    windows_sort<LEAF_THREADS>(s.order, count, rounds);
    return true;
}

/* Sorts the group of words with the same key bits that begins at p; returns the number of steps.
 * The next group may be sorted concurrently: that moves its words, but does not change their key
 * bits. */
static __device__ inline uint32_t leaf_mend_group(const struct sort_common &a,
                                                  struct pairs_leaf_shared &s, uint32_t count,
                                                  const struct leaf_order &o, uint32_t p)
{
    const uint32_t mask = (1u << o.position_bits) - 1, top = s.order[leaf_place(p)] & ~mask;
    uint32_t steps = 0;
    for (uint32_t q = p + 1; q < count && steps < LEAF_MENDS; q++) {
        const uint32_t word = load_shared(&s.order[leaf_place(q)]);
        if ((word & ~mask) != top) break;
        const ukey key = pairs_key(a, SORT_TMP, s.keys[word & mask]);
        uint32_t r = q;
        for (; r > p; r--, steps++) {
            const uint32_t below = s.order[leaf_place(r - 1)];
            if (pairs_key(a, SORT_TMP, s.keys[below & mask]) <= key) break;
            store_shared(&s.order[leaf_place(r)], below);
        }
        store_shared(&s.order[leaf_place(r)], word);
    }
    return steps;
}

/* Sorts words with the same key bits by their keys, which are in s.keys; returns false if that
 * would take too long. */
static __device__ inline bool leaf_mend(const struct sort_common &a, struct pairs_leaf_shared &s,
                                        uint32_t count, const struct leaf_order &o)
{
    uint32_t heads = 0, steps = 0; /* a bit per item: a group begins there */
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++) {
        const uint32_t p = threadIdx.x + i * LEAF_THREADS;
        if (p + 1 >= count) continue;
        const uint32_t word = s.order[leaf_place(p)];
        const bool joins = (word ^ s.order[leaf_place(p + 1)]) >> o.position_bits == 0;
        const bool joined = p && (word ^ s.order[leaf_place(p - 1)]) >> o.position_bits == 0;
        if (joins && !joined) heads |= 1u << i;
    }
    __syncthreads(); /* all threads have read their neighbours */
    for (; heads; heads &= heads - 1)
        steps +=
            leaf_mend_group(a, s, count, o, threadIdx.x + (__ffs((int)heads) - 1) * LEAF_THREADS);
    return !__syncthreads_or(steps >= LEAF_MENDS); /* also: every group is in order */
}

/* ---- A leaf from and to memory ---- */

#if PAIRS_PACKED
static __device__ inline const uint2 *leaf_packed(const struct sort_common &a,
                                                  const struct sort_leaf &leaf)
{
    return (const uint2 *)a.keys_tmp + leaf.begin;
}

/* Loads keys, and moves the values next to them to where leaf_write() reads them, few at once: with
 * more loads in flight, registers are spilled. */
static __device__ inline void leaf_load_packed(const struct sort_common &a,
                                               struct pairs_leaf_shared &s,
                                               const struct sort_leaf &leaf,
                                               ukey (&key)[LEAF_ITEMS])
{
    enum { STEP = 4 };
    const uint2 *in = leaf_packed(a, leaf) + threadIdx.x;
    const uint32_t here = leaf.count > threadIdx.x ? leaf.count - threadIdx.x : 0;
#pragma unroll
    for (uint32_t i = 0; i < LEAF_ITEMS; i += STEP) {
        uint2 pair[STEP];
#pragma unroll
        for (uint32_t j = 0; j < STEP; j++)
            pair[j] = (i + j) * LEAF_THREADS < here ? in[(i + j) * LEAF_THREADS] : make_uint2(0, 0);
#pragma unroll
        for (uint32_t j = 0; j < STEP; j++) {
            key[i + j] = pair[j].x;
            s.values[threadIdx.x + (i + j) * LEAF_THREADS] = pair[j].y;
        }
        __syncwarp(); /* keeps the following loads here */
    }
}
#endif

/* A key and a value of a leaf as they are stored, by position. */
static __device__ inline ukey leaf_key(const struct sort_common &a, const struct sort_leaf &leaf,
                                       uint32_t p)
{
#if PAIRS_PACKED
    if (leaf.source == SORT_PACKED) return leaf_packed(a, leaf)[p].x;
#endif
    return keys_of(a, leaf.source)[leaf.begin + p];
}

static __device__ inline uval leaf_value(const struct sort_common &a, const struct sort_leaf &leaf,
                                         uint32_t p)
{
#if PAIRS_PACKED
    if (leaf.source == SORT_PACKED) return leaf_packed(a, leaf)[p].y;
#endif
    return values_of(a, leaf.source)[leaf.begin + p];
}

/* Loads the compared parts of a leaf's keys, key i of a thread from position me + i * LEAF_THREADS,
 * and finds their range; afterwards the bins are clear. */
template <int PACKED>
static __device__ inline void leaf_load(const struct sort_common &a, struct pairs_leaf_shared &s,
                                        const struct sort_leaf &leaf, ukey (&key)[LEAF_ITEMS],
                                        ukey &low, ukey &high)
{
    const ukey *in = keys_of(a, leaf.source) + leaf.begin;
    const uint32_t me = threadIdx.x;
#if PAIRS_PACKED
    if (PACKED)
        leaf_load_packed(a, s, leaf, key);
    else
#endif
#pragma unroll
        for (int i = 0; i < LEAF_ITEMS; i++)
            key[i] = me + i * LEAF_THREADS < leaf.count ? in[me + i * LEAF_THREADS] : (ukey)0;
    for (uint32_t w = me; w < LEAF_WORDS / 4; w += LEAF_THREADS)
        ((uint4 *)s.bins)[w] = make_uint4(0, 0, 0, 0);
    pairs_compared(a, leaf.source, key);
    low = (ukey) ~(ukey)0;
    high = 0;
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (me + i * LEAF_THREADS < leaf.count) {
            low = key[i] < low ? key[i] : low;
            high = key[i] > high ? key[i] : high;
        }
    block_range(s.low, s.high, low, high);
}

/* Loads the leaf's keys to shared memory, by position.  They are read again, because the registers
 * were needed until here. */
template <int PACKED>
static __device__ inline void leaf_keep_keys(const struct sort_common &a,
                                             struct pairs_leaf_shared &s,
                                             const struct sort_leaf &leaf)
{
    const ukey *in = keys_of(a, leaf.source) + leaf.begin;
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++) {
        const uint32_t p = threadIdx.x + i * LEAF_THREADS;
        if (p < leaf.count)
            s.keys[p] = PACKED ? leaf_key(a, leaf, p) : msd_load(a, leaf.source, in[p]);
    }
    __syncthreads(); /* the keys are written */
}

#if VAL_BYTES <= 8
static __device__ inline bool leaf_makes(const struct sort_common &a, const struct sort_leaf &leaf)
{
    return VAL_BYTES <= 8 && leaf.source == SORT_IN && a.index;
}

/* The index of the element at this position of a leaf. */
static __device__ inline uval leaf_index(const struct sort_leaf &leaf, uint32_t position)
{
    return (uval)(uint32_t)(leaf.begin - (uint32_t)leaf.low + position);
}
#endif

/* Starts to load the values, by position: complete after copy_wait<0>().  Packed values are loaded
 * already. */
template <int PACKED>
static __device__ inline void leaf_values_ask(const struct sort_common &a,
                                              struct pairs_leaf_shared &s,
                                              const struct sort_leaf &leaf)
{
#if LEAF_STAGED
    const uval *in = values_of(a, leaf.source) + leaf.begin;
    if (!PACKED && !leaf_makes(a, leaf))
        for (uint32_t p = threadIdx.x; p < leaf.count; p += LEAF_THREADS)
            copy_async_of<VAL_BYTES>(&s.values[p], in + p);
    copy_commit();
#endif
}

template <int SAME> static __device__ inline ukey leaf_decode(const struct sort_common &a, ukey e)
{
    return SAME ? e : order_decode(a.order, e);
}

/* Writes the leaf in the order of s.order; SAME: keys need no decoding. */
template <int SAME, int PACKED>
static __device__ inline void leaf_write(const struct sort_common &a, struct pairs_leaf_shared &s,
                                         const struct sort_leaf &leaf, const struct leaf_order &o,
                                         bool fetch)
{
    const uint32_t mask = (1u << o.position_bits) - 1;
    ukey *out = (ukey *)a.keys_out + leaf.begin;
    uval *values_out = (uval *)a.values_out + leaf.begin;
#if VAL_BYTES <= 8
    const bool makes = !PACKED && leaf_makes(a, leaf);
#endif
#if LEAF_STAGED
    copy_wait<0>();
    __syncthreads(); /* the values are written */
#pragma unroll 4
    for (uint32_t p = threadIdx.x; p < leaf.count; p += LEAF_THREADS) {
        const uint32_t word = s.order[leaf_place(p)], position = word & mask;
        if (!a.discard_keys)
            out[p] = leaf_decode<SAME>(a, fetch ? s.keys[position]
                                                : (ukey)(o.low + (word >> o.position_bits)));
        values_out[p] = makes ? leaf_index(leaf, position) : s.values[position];
    }
#else
    const uval *in = values_of(a, leaf.source) + leaf.begin;
    uint32_t position[LEAF_ITEMS];
    uval value[LEAF_ITEMS];
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++) {
        const uint32_t p = threadIdx.x + i * LEAF_THREADS;
        if (p >= leaf.count) continue;
        const uint32_t word = s.order[leaf_place(p)];
        position[i] = word & mask;
        if (!a.discard_keys)
            out[p] = leaf_decode<SAME>(a, fetch ? s.keys[position[i]]
                                                : (ukey)(o.low + (word >> o.position_bits)));
#if VAL_BYTES <= 8
        value[i] = makes ? leaf_index(leaf, position[i]) : in[p];
#else
        value[i] = in[position[i]];
#endif
    }
    __syncthreads(); /* all threads have read their keys; in position: their values */
#if VAL_BYTES <= 8
    if (!makes) {
#pragma unroll
        for (int i = 0; i < LEAF_ITEMS; i++)
            if (threadIdx.x + i * LEAF_THREADS < leaf.count)
                s.values[threadIdx.x + i * LEAF_THREADS] = value[i];
        __syncthreads(); /* the values are written */
#pragma unroll
        for (int i = 0; i < LEAF_ITEMS; i++)
            if (threadIdx.x + i * LEAF_THREADS < leaf.count) value[i] = s.values[position[i]];
    }
#endif
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (threadIdx.x + i * LEAF_THREADS < leaf.count)
            values_out[threadIdx.x + i * LEAF_THREADS] = value[i];
#endif
}

/* Writes `count` pairs from their buffer to the output, at the same positions or in reverse; each
 * block writes its share of pieces. */
static __device__ inline void pairs_copy(const struct sort_common &a, uint32_t source,
                                         uint64_t begin, uint64_t count, uint32_t origin,
                                         bool reverse, uint32_t block, uint32_t blocks)
{
    const ukey *in = keys_of(a, source) + begin;
    const uval *values = values_of(a, source) + begin;
    ukey *out = (ukey *)a.keys_out + begin;
    uval *values_out = (uval *)a.values_out + begin;
    const bool move_keys = !a.discard_keys && (in != out || source != SORT_IN);
    const bool make = source == SORT_IN && a.index, move_values = make || values != values_out;
    for (uint64_t from = (uint64_t)block * MSD_LEAF; from < count;
         from += (uint64_t)blocks * MSD_LEAF) {
        const uint64_t end = min(count, from + MSD_LEAF);
        if (move_keys)
#pragma unroll 4
            for (uint64_t i = from + threadIdx.x; i < end; i += LEAF_THREADS)
                out[reverse ? count - 1 - i : i] =
                    source == SORT_IN ? in[i] : order_decode(a.order, in[i]);
        if (!move_values) continue;
#if VAL_BYTES <= 8
        if (make)
#pragma unroll 4
            for (uint64_t i = from + threadIdx.x; i < end; i += LEAF_THREADS)
                values_out[reverse ? count - 1 - i : i] = (uval)(uint32_t)(begin + i - origin);
        else
#endif
#pragma unroll 4
            for (uint64_t i = from + threadIdx.x; i < end; i += LEAF_THREADS)
                values_out[reverse ? count - 1 - i : i] = values[i];
    }
}

/* The same for a leaf, from its buffer. */
static __device__ inline void leaf_copy(const struct sort_common &a, const struct sort_leaf &leaf)
{
    for (uint32_t p = threadIdx.x; p < leaf.count; p += LEAF_THREADS) {
        if (!a.discard_keys)
            ((ukey *)a.keys_out)[leaf.begin + p] = order_decode(a.order, leaf_key(a, leaf, p));
        ((uval *)a.values_out)[leaf.begin + p] = leaf_value(a, leaf, p);
    }
}

/* ---- Kernels ---- */

#define LEAF_RESIDENT                                                                              \
    (LEAF_BLOCKS * LEAF_THREADS <= MULTIPROCESSOR_THREADS                                          \
         ? (int)LEAF_BLOCKS                                                                        \
         : (int)MULTIPROCESSOR_THREADS / (int)LEAF_THREADS)

/* Whether merging has changed no key of a leaf, according to their range. */
static __device__ inline bool leaf_exact(const struct sort_common &a, ukey low, ukey high)
{
    const ukey flip = (ukey)a.order.flip, zero = (ukey)(a.order.zero + a.order.merge);
    const ukey first = flip ? (ukey)~high : low, last = flip ? (ukey)~low : high;
    if (a.plain) return true;
    if (a.end_bit - a.begin_bit != (int)KEY_BITS || last >= (ukey)a.order.last) return false;
    return !a.order.merge || zero < first || zero > last;
}

template <int PACKED>
static __device__ inline bool leaf_finish(const struct sort_common &a, struct pairs_leaf_shared &s,
                                          const struct sort_leaf &leaf)
{
    ukey key[LEAF_ITEMS], low, high;
    leaf_load<PACKED>(a, s, leaf, key, low, high);
    if (low == high) {
        if (PACKED)
            leaf_copy(a, leaf);
        else
            pairs_copy(a, leaf.source, leaf.begin, leaf.count, (uint32_t)leaf.low, false, 0, 1);
        return true;
    }
    leaf_values_ask<PACKED>(a, s, leaf);
    const struct leaf_order o = leaf_order_of(low, high, leaf.count);
    if (!leaf_sort(s, leaf.count, o, key)) return false;
    /* Whether the words do not contain all bits of the keys. */
    const bool fetch = o.shift || !leaf_exact(a, low, high);
    if (fetch && (o.shift || !a.discard_keys)) leaf_keep_keys<PACKED>(a, s, leaf);
    if (o.shift && !leaf_mend(a, s, leaf.count, o)) return false;
    if (a.same)
        leaf_write<1, PACKED>(a, s, leaf, o, fetch);
    else
        leaf_write<0, PACKED>(a, s, leaf, o, fetch);
    return true;
}

extern "C" __global__ void __launch_bounds__(LEAF_THREADS, LEAF_RESIDENT)
    sort_pairs_leaf(const __grid_constant__ msd_args a)
{
    struct pairs_leaf_shared &s = *(struct pairs_leaf_shared *)shared_bytes;
    wait_for_earlier();
    if (msd_ordered(a)) {
        if (!msd_copied(a))
            pairs_copy(a.common, SORT_IN, 0, a.common.n, 0, a.lists.msd->seen & SORT_SEEN_FALL,
                       blockIdx.x, gridDim.x);
        return;
    }
    const uint32_t leaves = a.lists.msd->leaves;
    const uint32_t first = PAIRS_PACKED && a.lists.msd->packed_tiles ? a.lists.msd->first_leaf : 0;
    for (uint32_t i = first + blockIdx.x; i < leaves; i += gridDim.x) {
        const bool done = leaf_finish<0>(a.common, s, a.lists.leaves[i]);
        if (!done && threadIdx.x == 0)
            a.lists.skewed_leaves[atomicAdd(&a.lists.msd->skewed_leaves, 1)] = i;
#if LEAF_STAGED
        copy_wait<0>(); /* also if the leaf is left to the other kernel */
#endif
        __syncthreads(); /* shared memory may be written again */
    }
}

/* Leaves of skewed keys: sorted by the bits that differ, digit by digit. */
extern "C" __global__ void __launch_bounds__(LEAF_THREADS, LEAF_RESIDENT)
    sort_pairs_skewed_leaf(const __grid_constant__ msd_args a)
{
    struct pairs_leaf_shared &s = *(struct pairs_leaf_shared *)shared_bytes;
    struct block_shared<LEAF_WARPS, LEAF_ITEMS> &b =
        *(struct block_shared<LEAF_WARPS, LEAF_ITEMS> *)shared_bytes;
    wait_for_earlier();
    const uint32_t leaves = a.lists.msd->skewed_leaves;
    for (uint32_t i = blockIdx.x; i < leaves; i += gridDim.x) {
        const struct sort_leaf leaf = a.lists.leaves[a.lists.skewed_leaves[i]];
        if (PAIRS_PACKED && leaf.source == SORT_UNPACKS) continue;
        ukey *out = (ukey *)a.common.keys_out + leaf.begin;
        uval *values_out = (uval *)a.common.values_out + leaf.begin;
        const int items = (int)((leaf.count - 1) / LEAF_THREADS + 1);
        const uint32_t mine = threadIdx.x / 32 * (32 * items) + lane_id();
        struct block_keys<LEAF_ITEMS> k;
        ukey differ = 0;
        const ukey first = pairs_key(a.common, leaf.source, leaf_key(a.common, leaf, 0));
#pragma unroll
        for (int j = 0; j < LEAF_ITEMS; j++) {
            const uint32_t at = mine + 32 * j;
            k.origin[j] = at;
            k.key[j] = 0;
            if (j < items && at < leaf.count) {
                k.key[j] = msd_load(a.common, leaf.source, leaf_key(a.common, leaf, at));
                differ |= pairs_key(a.common, SORT_TMP, k.key[j]) ^ first;
            }
        }
        ukey none = 0;
        block_range(s.low, s.high, none, differ); /* only the highest bit of the maximum is used */
        struct sort_common digits = a.common;
        digits.n = leaf.count;
        digits.end_bit =
            a.common.end_bit - (__clzll((long long)(uint64_t)differ) - (64 - (int)KEY_BITS));
        __syncthreads(); /* all threads have read what the counters overwrite */
        for (int pass = 0; digits.begin_bit + pass * SORT_DIGIT_BITS < digits.end_bit; pass++)
            block_pass<LEAF_WARPS, LEAF_ITEMS>(digits, b, pass, mine, items, k);
        uval value[LEAF_ITEMS];
#pragma unroll
        for (int j = 0; j < LEAF_ITEMS; j++)
            if (j < items && mine + 32 * j < leaf.count) {
#if VAL_BYTES <= 8
                if (leaf.source == SORT_IN && a.common.index)
                    value[j] = leaf_index(leaf, k.origin[j]);
                else
#endif
                    value[j] = leaf_value(a.common, leaf, k.origin[j]);
            }
        __syncthreads(); /* in position: all threads have read */
#pragma unroll
        for (int j = 0; j < LEAF_ITEMS; j++)
            if (j < items && mine + 32 * j < leaf.count) {
                if (!a.common.discard_keys)
                    out[mine + 32 * j] = order_decode(a.common.order, k.key[j]);
                values_out[mine + 32 * j] = value[j];
            }
        __syncthreads(); /* shared memory may be written again */
    }
}

#endif
