/*
 * msd.cuh - a radix sort from the most significant digit; all its rungs share this program, and
 * differ in how a block ranks the digits of a tile.
 *
 *     msd_count     counts the 256 first digits (bits 24 to 31) in the part of each block
 *     msd_scan      exclusive prefix sums: where each block writes its keys of each digit
 *     msd_N_first   scatter: every key moves to the bucket of its first digit
 *     msd_N_second  scatter: a block cuts a bucket by the next bits
 *     msd_finish    a block sorts a bucket on chip (1_ballots.cu)
 *
 * An item is a key as order-preserving bits, or (with values) the key above its value in 64 bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_MSD_CUH
#define LADDER_MSD_CUH

#include "ladder/ladder.cuh"

enum {
    MSD_THREADS = 256,
    MSD_WARPS = MSD_THREADS / 32,
    MSD_BINS = 256, /* one thread per bin */
    MSD_KEYS = 16   /* per thread and tile: tiles of 4,096 keys */
};

#define MSD_NONE 256u /* the digit of a key past the end */

template <typename item, int KEYS> struct msd_shared {
    item x[KEYS * MSD_THREADS]; /* a tile, ordered by digit */
    uint32_t next[MSD_BINS];    /* output position of the next key of each digit */
    uint32_t count[MSD_BINS];   /* keys of the tile of each digit */
    uint32_t start[MSD_BINS];   /* exclusive prefix sums of count */
    uint32_t of_warp[MSD_WARPS];
};

/* Ranks a tile.  slot[k] is the digit of this thread's k-th key, and receives its rank in the upper
 * 16 bits: the number of keys of the same digit that precede it in some order.  count[digit]
 * becomes the number of all.  rows: room for a row of counters per warp.  Ends with a barrier. */
typedef void (*msd_rank)(uint32_t *slot, uint32_t *rows, uint32_t *count);

/* A key of the input, whose value is its index; or an item. */
template <typename item, typename source>
static __device__ inline item msd_load(const source *in, uint64_t i)
{
    const item key = (item)order_bits(in[i]);
    return sizeof(item) > sizeof(source) ? (item)((uint64_t)key << 32 | i) : key;
}

template <typename item>
static __device__ inline uint32_t msd_digit(item x, unsigned shift, unsigned bins)
{
    return (uint32_t)(x >> (8 * sizeof(item) - 32 + shift)) & (bins - 1);
}

/* The sum of the values of the threads before this one. */
static __device__ inline uint32_t msd_exclusive(uint32_t mine, uint32_t *of_warp)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t sum = mine;
    for (unsigned s = 1; s < 32; s *= 2) {
        const uint32_t left = __shfl_up_sync(ALL_LANES, sum, s);
        if (lane >= s) sum += left;
    }
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads(); /* the sums of all warps are written */
    for (unsigned w = 0; w < warp; w++) sum += of_warp[w];
    return sum - mine;
}

/* For ranks by warps: the counts of a digit in rows become exclusive prefix sums over the warps;
 * count becomes their sum.  Thread d has digit d. */
static __device__ inline void msd_warps(uint32_t *rows, uint32_t *count)
{
    const unsigned d = threadIdx.x;
    uint32_t sum = 0;
    __syncthreads(); /* the counts of all warps are written */
    for (unsigned w = 0; w < MSD_WARPS; w++) {
        const uint32_t of_warp = rows[w * MSD_BINS + d];
        rows[w * MSD_BINS + d] = sum;
        sum += of_warp;
    }
    count[d] = sum;
    __syncthreads(); /* the prefix sums are written */
}

/* Moves count items to sh.next, tile by tile, which all threads have set.  IN_ORDER: the keys of a
 * warp are adjacent, so that warps, keys and lanes are in the order of the input. */
template <typename item, int KEYS, bool IN_ORDER, msd_rank RANK, typename source>
static __device__ inline void msd_scatter(msd_shared<item, KEYS> &sh, uint32_t *rows,
                                          const source *in, uint64_t first, uint64_t count,
                                          unsigned shift, unsigned bins, item *out)
{
    const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, tile = KEYS * MSD_THREADS;
    for (uint64_t at = first, end = first + count; at < end; at += tile) {
        const unsigned here = end - at < tile ? (unsigned)(end - at) : tile;
        item key[KEYS];
        uint32_t slot[KEYS];
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            const unsigned i = IN_ORDER ? (warp * KEYS + k) * 32 + lane : k * MSD_THREADS + t;
            key[k] = i < here ? msd_load<item>(in, at + i) : 0;
            slot[k] = i < here ? msd_digit(key[k], shift, bins) : MSD_NONE;
        }
        RANK(slot, rows, sh.count);
        sh.start[t] = msd_exclusive(sh.count[t], sh.of_warp);
        __syncthreads(); /* the starts of all digits are written */
#pragma unroll
        for (int k = 0; k < KEYS; k++)
            if (slot[k] != MSD_NONE) sh.x[sh.start[slot[k] & 0xffff] + (slot[k] >> 16)] = key[k];
        __syncthreads();                                   /* the tile is ordered by digit */
        for (unsigned i = t; i < here; i += MSD_THREADS) { /* a run of adjacent words per digit */
            const uint32_t d = msd_digit(sh.x[i], shift, bins);
            out[sh.next[d] - sh.start[d] + i] = sh.x[i];
        }
        __syncthreads(); /* all threads have read next, start and x */
        sh.next[t] += sh.count[t];
    }
}

/* The first level: block b takes the b-th part of the array. */
template <typename item, int KEYS, bool IN_ORDER, msd_rank RANK>
static __device__ inline void msd_first(msd_shared<item, KEYS> &sh, uint32_t *rows,
                                        const element *in, uint64_t n, item *out,
                                        const uint32_t *starts)
{
    const uint64_t each = (n + gridDim.x - 1) / gridDim.x, from = blockIdx.x * each;
    sh.next[threadIdx.x] = starts[threadIdx.x * gridDim.x + blockIdx.x];
    if (from >= n) return;
    msd_scatter<item, KEYS, IN_ORDER, RANK>(sh, rows, in, from, n - from < each ? n - from : each,
                                            24, MSD_BINS, out);
}

/* Bucket i of `count` begins at starts[i * stride], and ends at the next one. */
static __device__ inline uint32_t msd_bucket_end(const uint32_t *starts, unsigned stride,
                                                 unsigned i, unsigned count, uint64_t n)
{
    return i + 1 < count ? starts[(i + 1) * stride] : (uint32_t)n;
}

/* The second level: block b cuts bucket b by its next `bits` bits, and stores where parts begin. */
template <typename item, int KEYS, bool IN_ORDER, msd_rank RANK>
static __device__ inline void msd_second(msd_shared<item, KEYS> &sh, uint32_t *rows, const item *in,
                                         uint64_t n, item *out, const uint32_t *starts,
                                         unsigned stride, unsigned bits, uint32_t *parts)
{
    const unsigned t = threadIdx.x, bins = 1u << bits, shift = 24 - bits;
    const uint32_t begin = starts[blockIdx.x * stride];
    const uint32_t end = msd_bucket_end(starts, stride, blockIdx.x, MSD_BINS, n);
    sh.count[t] = 0;
    __syncthreads(); /* all counts are 0 */
    for (uint32_t i = begin + t; i < end; i += MSD_THREADS)
        atomicAdd(&sh.count[msd_digit(in[i], shift, bins)], 1u); /* the result is not used */
    __syncthreads();                                             /* the bucket is counted */
    sh.next[t] = begin + msd_exclusive(sh.count[t], sh.of_warp);
    if (t < bins) parts[blockIdx.x * bins + t] = sh.next[t];
    __syncthreads(); /* all threads have read of_warp */
    msd_scatter<item, KEYS, IN_ORDER, RANK>(sh, rows, in, begin, end - begin, shift, bins, out);
}

/* counts[digit * blocks + block]. */
extern "C" __global__ void msd_count(const element *in, uint64_t n, uint32_t *counts)
{
    __shared__ uint32_t count[MSD_BINS];
    const unsigned t = threadIdx.x;
    const uint64_t each = (n + gridDim.x - 1) / gridDim.x, from = blockIdx.x * each;
    count[t] = 0;
    __syncthreads(); /* all counts are 0 */
    for (uint64_t i = from + t; i < n && i < from + each; i += MSD_THREADS)
        atomicAdd(&count[order_bits(in[i]) >> 24], 1u); /* the result is not used */
    __syncthreads();                                    /* the part is counted */
    counts[t * gridDim.x + blockIdx.x] = count[t];
}

/* One block: exclusive prefix sums of count values in place, 256 at a time. */
extern "C" __global__ void msd_scan(uint32_t *values, uint32_t count)
{
    __shared__ uint32_t of_warp[MSD_WARPS];
    uint32_t before = 0;
    for (uint32_t i = threadIdx.x; i - threadIdx.x < count; i += MSD_THREADS) {
        const uint32_t mine = i < count ? values[i] : 0;
        const uint32_t prefix = before + msd_exclusive(mine, of_warp);
        if (i < count) values[i] = prefix;
        for (unsigned w = 0; w < MSD_WARPS; w++) before += of_warp[w];
        __syncthreads(); /* all threads have read of_warp */
    }
}

/* The values that the production sort moves: indices.  The other rungs generate them. */
extern "C" __global__ void msd_indices(uint32_t *values, uint64_t n)
{
    if (global_thread() < n) values[global_thread()] = (uint32_t)global_thread();
}

#endif
