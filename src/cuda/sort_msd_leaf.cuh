/*
 * cuda/sort_msd_leaf.cuh - sorts a leaf, keys that a block can hold, in shared memory.
 *
 *     bins      the range of the keys is cut into bins, about one key each; every key is counted
 *     place     a key's place is its bin's, in whatever order keys come
 *     windows   each thread sorts a window of keys in registers by a network, then the windows that
 *               lie across those, and so on: a bin of c keys touches (c - 2) / (half a window) + 2
 *               halves at most, and is sorted after as many rounds
 *
 *         keys      | a b | c d | e f | g h |
 *         round 0   |  sorted   |  sorted   |
 *         round 1         |  sorted   |
 *
 * Nearly always two rounds suffice.  A leaf whose keys crowd in few bins is left to a kernel of its
 * own, so that this one has the registers: that sorts the crowded bins first, each by a network of
 * as many keys, by a warp or by the block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SORT_MSD_LEAF_CUH
#define ECHI_CUDA_SORT_MSD_LEAF_CUH

#include "block_range.cuh"
#include "sort_msd.cuh"

enum {
    LEAF_THREADS = SORT_LEAF_THREADS,
    LEAF_WARPS = LEAF_THREADS / 32,
    LEAF_ITEMS = SORT_LEAF_THREAD_BYTES / KEY_BYTES,
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    LEAF_BINS_LOG = SORT_LEAF_FEW_BINS_LOG, /* shared memory has no room for more */
#else
    LEAF_BINS_LOG = SORT_LEAF_BINS_LOG,
#endif
    LEAF_BINS = 1 << LEAF_BINS_LOG,
    LEAF_SCAN_WARPS = LEAF_WARPS >= 16 ? 16 : 8,
    LEAF_SCAN_STEPS = LEAF_BINS / LEAF_SCAN_WARPS / 128,
    WINDOW = 64 / KEY_BYTES, /* keys */
    WINDOW_VECTORS = 4,
    LEAF_ROUNDS = 16, /* at most; leaves that need more are crowded */
    LEAF_FEW_ROUNDS = 8,
    LEAF_FEW = WINDOW / 2 * (LEAF_FEW_ROUNDS - 2) + 2, /* keys of a bin that so many rounds sort */
    LEAF_WARP_SORTS = 256 /* keys of a bin, at most, that a warp sorts */
};
static_assert(LEAF_SCAN_STEPS % 2 == 0 && LEAF_WARPS >= LEAF_SCAN_WARPS && LEAF_WARPS <= 32,
              "the scan of the bins is made for 8 or 16 warps, two steps at a time");
static_assert(LEAF_ITEMS % WINDOW == 0, "a leaf is made of windows");
static_assert(MSD_LEAF < 1 << 16, "two sums of keys share a word");

struct leaf_crowd {
    uint16_t begin, count;
};

struct leaf_shared {
    ukey keys[MSD_LEAF];
    uint32_t bins[LEAF_BINS];
    ukey low[LEAF_WARPS], high[LEAF_WARPS];
    uint32_t sums[LEAF_WARPS], most[LEAF_WARPS];
    uint32_t crowds;
    struct leaf_crowd crowd[MSD_LEAF / LEAF_FEW];
};
static_assert(sizeof(struct leaf_shared) <= SORT_LEAF_SHARED_BYTES(LEAF_BINS_LOG),
              "the host gives less shared memory than the kernel uses");

/* Where in shared memory key p lies: 16 bytes change places within their 64 so that neighbouring
 * threads, which read windows of 64 bytes, use all banks. */
static __device__ inline uint32_t leaf_place(uint32_t p)
{
    return p ^ (p >> 3 & 3 * (16 / KEY_BYTES));
}

/* Turns the counts of the bins into where each begins; returns the greatest count. */
static __device__ inline uint32_t bins_offsets(struct leaf_shared &s)
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    uint4 *bins = (uint4 *)s.bins + warp * (LEAF_SCAN_STEPS * 32) + lane;
    uint4 word[LEAF_SCAN_STEPS];
    uint32_t before[LEAF_SCAN_STEPS], sum = 0, most = 0;
    if (warp < LEAF_SCAN_WARPS)
#pragma unroll
        for (int j = 0; j < LEAF_SCAN_STEPS; j += 2) {
            const uint4 v = word[j] = bins[j * 32], w = word[j + 1] = bins[(j + 1) * 32];
            const uint32_t mine = v.x + v.y + v.z + v.w + ((w.x + w.y + w.z + w.w) << 16);
            const uint32_t inclusive = warp_scan(mine), exclusive = inclusive - mine;
            const uint32_t all = __shfl_sync(WARP_ALL, inclusive, 31);
            before[j] = sum + (exclusive & 0xffff);
            sum += all & 0xffff;
            before[j + 1] = sum + (exclusive >> 16);
            sum += all >> 16;
            most = max(most, max(max(v.x, v.y), max(v.z, v.w)));
            most = max(most, max(max(w.x, w.y), max(w.z, w.w)));
        }
    most = warp_max(most);
    if (lane == 0) {
        s.sums[warp] = sum;
        s.most[warp] = most;
    }
    __syncthreads(); /* the sums of all warps are there */
    most = warp_max(s.most[lane < LEAF_WARPS ? lane : 0]);
    sum = warp_sum(lane < warp ? s.sums[lane] : 0);
    if (warp < LEAF_SCAN_WARPS)
#pragma unroll
        for (int j = 0; j < LEAF_SCAN_STEPS; j++) {
            const uint4 w = word[j];
            const uint32_t x = sum + before[j], y = x + w.x, z = y + w.y;
            bins[j * 32] = make_uint4(x, y, z, z + w.z);
        }
    __syncthreads(); /* every bin says where it begins */
    return most;
}

/* Sorts the window of keys that begins at p, a multiple of half a window; MERGE: of which each half
 * is sorted. */
template <int MERGE> static __device__ inline void window_sort(ukey *keys, uint32_t p)
{
    union {
        uint4 vector[WINDOW_VECTORS];
        ukey key[WINDOW];
    } w;
    enum { EACH = WINDOW / WINDOW_VECTORS };
#pragma unroll
    for (int j = 0; j < WINDOW_VECTORS; j++)
        w.vector[j] = *(const uint4 *)&keys[leaf_place(p + j * EACH)];
#define COMPARE(i, j)                                                                              \
    {                                                                                              \
        const ukey x = w.key[i], y = w.key[j];                                                     \
        w.key[i] = key_min(x, y);                                                                  \
        w.key[j] = key_max(x, y);                                                                  \
    }
    if (MERGE) {
#if KEY_BYTES == 4
#define MERGE_16
#include "../sort_network.def"
#undef MERGE_16
#else
#define MERGE_8
#include "../sort_network.def"
#undef MERGE_8
#endif
    } else {
#if KEY_BYTES == 4
#define NETWORK_16
#include "../sort_network.def"
#undef NETWORK_16
#else
#define NETWORK_8
#include "../sort_network.def"
#undef NETWORK_8
#endif
    }
#undef COMPARE
#pragma unroll
    for (int j = 0; j < WINDOW_VECTORS; j++)
        *(uint4 *)&keys[leaf_place(p + j * EACH)] = w.vector[j];
}

/* Sorts keys of which the bins are in order; what lies past the last window is not touched.  A
 * window across two has a half of each, so that after the first round halves are merged. */
static __device__ inline void windows_sort(struct leaf_shared &s, uint32_t count, uint32_t rounds)
{
    const uint32_t windows = (count - 1) / WINDOW + 1;
    if (rounds == 0) return;
    for (uint32_t w = threadIdx.x; w < windows; w += LEAF_THREADS)
        window_sort<0>(s.keys, w * WINDOW);
    __syncthreads(); /* the windows are sorted */
    for (uint32_t round = 1; round < rounds; round++) {
        const uint32_t across = round & 1;
        for (uint32_t w = threadIdx.x; w < windows - across; w += LEAF_THREADS)
            window_sort<1>(s.keys, w * WINDOW + across * (WINDOW / 2));
        __syncthreads(); /* the next round's windows lie across these */
    }
}

/* Places the keys by bins in shared memory; returns the greatest count of a bin, 1 where all keys
 * of each are equal. */
static __device__ inline uint32_t leaf_place_keys(struct leaf_shared &s, uint32_t count,
                                                  const ukey (&key)[LEAF_ITEMS], ukey low,
                                                  ukey high)
{
    const uint32_t me = threadIdx.x;
    const uint32_t range_bits = 64 - __clzll((long long)(uint64_t)(ukey)(high - low));
    const uint32_t shift = range_bits > LEAF_BINS_LOG ? range_bits - LEAF_BINS_LOG : 0;
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (me + i * LEAF_THREADS < count)
            atomicAdd(&s.bins[(uint32_t)((ukey)(key[i] - low) >> shift)], 1);
    __syncthreads(); /* every key is counted */
    const uint32_t most = bins_offsets(s);
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (me + i * LEAF_THREADS < count)
            s.keys[leaf_place(atomicAdd(&s.bins[(uint32_t)((ukey)(key[i] - low) >> shift)], 1))] =
                key[i];
    /* The last window is filled up by keys that stay where they are. */
    const uint32_t fill = (count + WINDOW - 1) / WINDOW * WINDOW;
    if (count + me < fill) s.keys[leaf_place(count + me)] = (ukey) ~(ukey)0;
    __syncthreads(); /* the keys lie by bins */
    return shift ? most : 1;
}

/* Loads a leaf's keys, key i of a thread that of position mine + i * step, and finds their range;
 * the bins are clear then. */
static __device__ inline void leaf_load(const struct sort_args &a, struct leaf_shared &s,
                                        const struct sort_leaf &leaf, uint32_t mine, uint32_t step,
                                        ukey (&key)[LEAF_ITEMS], ukey &low, ukey &high)
{
    const ukey *in = keys_of(a, leaf.source) + leaf.begin;
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        key[i] = mine + i * step < leaf.count ? in[mine + i * step] : (ukey)0;
    for (uint32_t w = threadIdx.x; w < LEAF_BINS / 4; w += LEAF_THREADS)
        ((uint4 *)s.bins)[w] = make_uint4(0, 0, 0, 0);
    if (leaf.source == SORT_IN && !order_plain(a.order))
#pragma unroll
        for (int i = 0; i < LEAF_ITEMS; i++) key[i] = order_encode(a.order, key[i]);
    low = (ukey) ~(ukey)0;
    high = 0;
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (mine + i * step < leaf.count) {
            low = key_min(low, key[i]);
            high = key_max(high, key[i]);
        }
    block_range(s.low, s.high, low, high);
}

/* The whole array, from its input to its output, in parts of a leaf's size. */
static __device__ inline void leaf_copy_all(const struct sort_args &a)
{
    const ukey *in = (const ukey *)a.keys_in;
    ukey *out = (ukey *)a.keys_out;
    const bool reverse = a.msd->seen & SORT_SEEN_FALL;
    if (!reverse && in == out) return;
    for (uint64_t from = (uint64_t)blockIdx.x * MSD_LEAF; from < a.n;
         from += (uint64_t)gridDim.x * MSD_LEAF) {
        const uint64_t mine = from + threadIdx.x;
        ukey key[LEAF_ITEMS];
#pragma unroll
        for (int i = 0; i < LEAF_ITEMS; i++)
            if (mine + i * LEAF_THREADS < a.n) key[i] = in[mine + i * LEAF_THREADS];
#pragma unroll
        for (int i = 0; i < LEAF_ITEMS; i++) {
            const uint64_t at = mine + i * LEAF_THREADS;
            if (at < a.n) out[reverse ? a.n - 1 - at : at] = key[i];
        }
    }
}

/* Writes the sorted keys.  From item to item a place moves by a multiple of 64, so that only its
 * parity changes what leaf_place() adds. */
template <int DECODE>
static __device__ inline void leaf_store(const struct sort_args &a, const struct leaf_shared &s,
                                         ukey *out, uint32_t count)
{
    static_assert(LEAF_THREADS % 64 == 0, "places move by multiples of 64");
    const uint32_t me = threadIdx.x;
    const uint32_t place[] = { leaf_place(me), leaf_place(me + LEAF_THREADS) - LEAF_THREADS };
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (me + i * LEAF_THREADS < count) {
            const ukey e = s.keys[place[i & 1] + i * LEAF_THREADS];
            out[me + i * LEAF_THREADS] = DECODE ? order_decode(a.order, e) : e;
        }
}

#define LEAF_RESIDENT                                                                              \
    (SORT_LEAF_BLOCKS * SORT_LEAF_THREADS <= MULTIPROCESSOR_THREADS                                \
         ? (int)SORT_LEAF_BLOCKS                                                                   \
         : (int)MULTIPROCESSOR_THREADS / (int)SORT_LEAF_THREADS)

extern "C" __global__ void __launch_bounds__(SORT_LEAF_THREADS, LEAF_RESIDENT)
    sort_msd_leaf(const __grid_constant__ struct sort_args a)
{
    struct leaf_shared &s = *(struct leaf_shared *)shared_bytes;
    wait_for_earlier();
    if (msd_ordered(a)) {
        leaf_copy_all(a);
        return;
    }
    const uint32_t me = threadIdx.x, leaves = a.msd->leaves;
    for (uint32_t i = blockIdx.x; i < leaves; i += gridDim.x) {
        const struct sort_leaf leaf = a.leaves[i];
        ukey *out = (ukey *)a.keys_out + leaf.begin;
        ukey key[LEAF_ITEMS], low, high;
        leaf_load(a, s, leaf, me, LEAF_THREADS, key, low, high);
        if (low == high) { /* in place too, everyone has read */
            low = order_decode(a.order, low);
            for (uint32_t p = me; p < leaf.count; p += LEAF_THREADS) out[p] = low;
        } else {
            const uint32_t most = leaf_place_keys(s, leaf.count, key, low, high);
            const uint32_t rounds = most < 2 ? 0 : (most - 2) / (WINDOW / 2) + 2;
            if (rounds <= LEAF_ROUNDS) {
                windows_sort(s, leaf.count, rounds);
                if (order_plain(a.order))
                    leaf_store<0>(a, s, out, leaf.count);
                else
                    leaf_store<1>(a, s, out, leaf.count);
            } else if (me == 0) {
                a.crowded[atomicAdd(&a.msd->crowded, 1)] = i;
            }
        }
        __syncthreads(); /* everything may be written again */
    }
}

/* ---- Leaves whose keys crowd in few bins ---- */

/* Sorts the keys of [begin, begin + count) by a bitonic network of which every comparator puts the
 * greater key last, so that those with what lies beyond the end can be left out.  By a block, or by
 * each warp for itself. */
template <int BLOCK>
static __device__ inline void bitonic_sort(ukey *keys, uint32_t begin, uint32_t count)
{
    const uint32_t me = BLOCK ? threadIdx.x : lane_id(), threads = BLOCK ? LEAF_THREADS : 32;
    for (uint32_t log = 0; 1u << log < count; log++) { /* of 2^(log + 1) keys */
        const uint32_t mirror = (2u << log) - 1, pairs = ((count + mirror) & ~mirror) / 2;
        for (uint32_t k = log, step = 1u << log; step; k--, step /= 2) {
            for (uint32_t pair = me; pair < pairs; pair += threads) {
                const uint32_t low = (pair >> k << (k + 1)) + (pair & (step - 1));
                const uint32_t high = k == log ? low ^ mirror : low + step;
                if (high >= count) continue;
                ukey *x = &keys[leaf_place(begin + low)], *y = &keys[leaf_place(begin + high)];
                const ukey a = *x, b = *y;
                if (a > b) {
                    *x = b;
                    *y = a;
                }
            }
            if (BLOCK)
                __syncthreads(); /* the next step compares others */
            else
                __syncwarp(); /* the same */
        }
    }
}

/* Sorts the bins of more keys than the windows are to sort. */
static __device__ inline void bins_sort(struct leaf_shared &s)
{
    const uint32_t me = threadIdx.x;
    if (me == 0) s.crowds = 0;
    __syncthreads(); /* the list is empty */
    for (uint32_t bin = me; bin < LEAF_BINS; bin += LEAF_THREADS) {
        const uint32_t begin = bin ? s.bins[bin - 1] : 0, count = s.bins[bin] - begin;
        if (count <= LEAF_FEW) continue;
        const struct leaf_crowd crowd = { (uint16_t)begin, (uint16_t)count };
        s.crowd[atomicAdd(&s.crowds, 1)] = crowd;
    }
    __syncthreads(); /* the list is there */
    for (uint32_t i = me / 32; i < s.crowds; i += LEAF_WARPS)
        if (s.crowd[i].count <= LEAF_WARP_SORTS)
            bitonic_sort<0>(s.keys, s.crowd[i].begin, s.crowd[i].count);
    for (uint32_t i = 0; i < s.crowds; i++)
        if (s.crowd[i].count > LEAF_WARP_SORTS)
            bitonic_sort<1>(s.keys, s.crowd[i].begin, s.crowd[i].count);
    __syncthreads(); /* the bins are sorted */
}

extern "C" __global__ void __launch_bounds__(SORT_LEAF_THREADS, LEAF_RESIDENT)
    sort_msd_crowded(const __grid_constant__ struct sort_args a)
{
    struct leaf_shared &s = *(struct leaf_shared *)shared_bytes;
    wait_for_earlier();
    const uint32_t leaves = a.msd->crowded;
    for (uint32_t i = blockIdx.x; i < leaves; i += gridDim.x) {
        const struct sort_leaf leaf = a.leaves[a.crowded[i]];
        ukey key[LEAF_ITEMS], low, high;
        leaf_load(a, s, leaf, threadIdx.x, LEAF_THREADS, key, low, high);
        leaf_place_keys(s, leaf.count, key, low, high); /* then bins say where each ends */
        bins_sort(s);
        windows_sort(s, leaf.count, LEAF_FEW_ROUNDS);
        leaf_store<1>(a, s, (ukey *)a.keys_out + leaf.begin, leaf.count);
        __syncthreads(); /* everything may be written again */
    }
}

#endif
