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
 * Nearly always two rounds suffice.  A leaf whose keys crowd in few bins is sorted digit by digit,
 * as sort_block.cuh does it, by a kernel of its own, so that this one has the registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SORT_MSD_LEAF_CUH
#define ECHI_CUDA_SORT_MSD_LEAF_CUH

#include "block_range.cuh"
#include "sort_block.cuh"
#include "sort_msd.cuh"

enum {
    LEAF_THREADS = SORT_LEAF_THREADS,
    LEAF_WARPS = LEAF_THREADS / 32,
    LEAF_ITEMS = SORT_LEAF_THREAD_BYTES / KEY_BYTES,
    LEAF_WORDS = (1 << SORT_LEAF_BINS_LOG) / 2, /* two bins a word */
    LEAF_SCAN_WARPS = LEAF_WARPS >= 16 ? 16 : 8,
    LEAF_SCAN_STEPS = LEAF_WORDS / LEAF_SCAN_WARPS / 128,
    WINDOW = 64 / KEY_BYTES, /* keys */
    WINDOW_VECTORS = 4,
    LEAF_ROUNDS = 16 /* at most; beyond, digit by digit is faster */
};
static_assert(LEAF_SCAN_STEPS >= 1 && LEAF_WARPS >= LEAF_SCAN_WARPS && LEAF_WARPS <= 32,
              "the scan of the bins is made for 8 or 16 warps");
static_assert(LEAF_ITEMS % WINDOW == 0, "a leaf is made of windows");

struct leaf_shared {
    ukey keys[MSD_LEAF];
    uint32_t bins[LEAF_WORDS];
    ukey low[LEAF_WARPS], high[LEAF_WARPS];
    uint32_t sums[LEAF_WARPS], most[LEAF_WARPS];
};
static_assert(sizeof(struct leaf_shared) <= SORT_LEAF_SHARED_BYTES &&
                  sizeof(struct block_shared<LEAF_WARPS, LEAF_ITEMS>) <= SORT_LEAF_SHARED_BYTES,
              "the host gives less shared memory than the kernel uses");

/* Where in shared memory key p lies: 16 bytes change places within their 64 so that neighbouring
 * threads, which read windows of 64 bytes, use all banks. */
static __device__ inline uint32_t leaf_place(uint32_t p)
{
    return p ^ (p >> 3 & 3 * (16 / KEY_BYTES));
}

static __device__ inline void block_range(struct leaf_shared &s, ukey &low, ukey &high)
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id() < LEAF_WARPS ? lane_id() : 0;
    warp_range(low, high);
    if (lane_id() == 0) {
        s.low[warp] = low;
        s.high[warp] = high;
    }
    __syncthreads(); /* the ranges of all warps are there; the bins are clear */
    low = s.low[lane];
    high = s.high[lane];
    warp_range(low, high);
}

/* Adds one to a bin of 16 bits and returns what it was. */
static __device__ inline uint32_t bin_add(uint32_t *bins, uint32_t bin)
{
    const uint32_t half = bin % 2 * 16;
    return atomicAdd(&bins[bin / 2], 1u << half) >> half & 0xffff;
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
        for (int j = 0; j < LEAF_SCAN_STEPS; j++) {
            const uint4 w = word[j] = bins[j * 32];
            const uint32_t both = w.x + w.y + w.z + w.w; /* no sum exceeds 16 bits */
            const uint32_t mine = (both & 0xffff) + (both >> 16), inclusive = warp_scan(mine);
            before[j] = sum + inclusive - mine;
            sum += __shfl_sync(WARP_ALL, inclusive, 31);
            most = max(most, max(max(w.x >> 16, w.y >> 16), max(w.z >> 16, w.w >> 16)));
            most = max(most, max(max(w.x & 0xffff, w.y & 0xffff), max(w.z & 0xffff, w.w & 0xffff)));
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
            uint32_t at = sum + before[j];
            uint32_t *w[] = { &word[j].x, &word[j].y, &word[j].z, &word[j].w };
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const uint32_t counts = *w[k], second = at + (counts & 0xffff);
                *w[k] = at | second << 16;
                at = second + (counts >> 16);
            }
            bins[j * 32] = word[j];
        }
    __syncthreads(); /* every bin says where it begins */
    return most;
}

/* Sorts the window of keys that begins at p, a multiple of half a window. */
static __device__ inline void window_sort(ukey *keys, uint32_t p)
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
#if KEY_BYTES == 4
#define NETWORK_16
#include "../sort_network.def"
#undef NETWORK_16
#else
#define NETWORK_8
#include "../sort_network.def"
#undef NETWORK_8
#endif
#undef COMPARE
#pragma unroll
    for (int j = 0; j < WINDOW_VECTORS; j++)
        *(uint4 *)&keys[leaf_place(p + j * EACH)] = w.vector[j];
}

/* Sorts keys of which the bins are in order; what lies past the last window is not touched. */
static __device__ inline void windows_sort(struct leaf_shared &s, uint32_t count, uint32_t rounds)
{
    const uint32_t windows = (count - 1) / WINDOW + 1;
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t across = round & 1;
        for (uint32_t w = threadIdx.x; w < windows - across; w += LEAF_THREADS)
            window_sort(s.keys, w * WINDOW + across * (WINDOW / 2));
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
    const uint32_t shift = range_bits > SORT_LEAF_BINS_LOG ? range_bits - SORT_LEAF_BINS_LOG : 0;
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (me + i * LEAF_THREADS < count) bin_add(s.bins, (uint32_t)((key[i] - low) >> shift));
    __syncthreads(); /* every key is counted */
    const uint32_t most = bins_offsets(s);
#pragma unroll
    for (int i = 0; i < LEAF_ITEMS; i++)
        if (me + i * LEAF_THREADS < count)
            s.keys[leaf_place(bin_add(s.bins, (uint32_t)((key[i] - low) >> shift)))] = key[i];
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
    for (uint32_t w = threadIdx.x; w < LEAF_WORDS / 4; w += LEAF_THREADS)
        ((uint4 *)s.bins)[w] = make_uint4(0, 0, 0, 0);
    if (leaf.source == SORT_IN)
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
    block_range(s, low, high);
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
#pragma unroll 4
                for (uint32_t p = me; p < leaf.count; p += LEAF_THREADS)
                    out[p] = order_decode(a.order, s.keys[leaf_place(p)]);
            } else if (me == 0) {
                a.crowded[atomicAdd(&a.msd->crowded, 1)] = i;
            }
        }
        __syncthreads(); /* everything may be written again */
    }
}

/* Leaves whose keys crowd in few bins: sorted by the bits that differ, digit by digit. */
extern "C" __global__ void __launch_bounds__(SORT_LEAF_THREADS, LEAF_RESIDENT)
    sort_msd_crowded(const __grid_constant__ struct sort_args a)
{
    struct leaf_shared &s = *(struct leaf_shared *)shared_bytes;
    struct block_shared<LEAF_WARPS, LEAF_ITEMS> &b =
        *(struct block_shared<LEAF_WARPS, LEAF_ITEMS> *)shared_bytes;
    wait_for_earlier();
    const uint32_t leaves = a.msd->crowded;
    for (uint32_t i = blockIdx.x; i < leaves; i += gridDim.x) {
        const struct sort_leaf leaf = a.leaves[a.crowded[i]];
        ukey *out = (ukey *)a.keys_out + leaf.begin;
        const int items = (int)((leaf.count - 1) / LEAF_THREADS + 1);
        const uint32_t mine = threadIdx.x / 32 * (32 * items) + lane_id();
        struct block_keys<LEAF_ITEMS> k;
        ukey low, high;
        leaf_load(a, s, leaf, mine, 32, k.key, low, high);
        struct sort_args digits = {};
        digits.n = leaf.count;
        digits.end_bit = 64 - __clzll((long long)(uint64_t)(low ^ high));
        __syncthreads(); /* everyone has read what the counters overwrite */
        for (int pass = 0; pass * SORT_DIGIT_BITS < digits.end_bit; pass++)
            block_pass<LEAF_WARPS, LEAF_ITEMS>(digits, b, pass, mine, items, k);
#pragma unroll
        for (int j = 0; j < LEAF_ITEMS; j++)
            if (j < items && mine + 32 * j < leaf.count)
                out[mine + 32 * j] = order_decode(a.order, k.key[j]);
        __syncthreads(); /* everything may be written again */
    }
}

#endif
