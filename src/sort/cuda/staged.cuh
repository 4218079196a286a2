/*
 * sort/cuda/staged.cuh - the pass of narrow.cuh on GPUs with much shared memory, which holds the
 * tile in the order of the input until it is written.
 *
 *     item, in a register   | rank in the warp, then in the tile |    digit, 8 bits    |
 *     item, by rank         | digit, 8 bits |       position in the tile, 24 bits      |
 *
 * Only items are exchanged; the writes fetch keys and values by position.  This needs so few
 * registers that tiles can be larger.
 *
 * A rank is the result of an atomic addition to the warp's counter of the digit.  The order in
 * which the lanes of one addition are served is not specified, although every measurement found
 * that of the lanes.  Hence the writes compare neighbours, and if a bin is not in the order of the
 * input, the block sorts its items by position and writes the tile again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_STAGED_CUH
#define ECHI_SORT_CUDA_STAGED_CUH

#include "cuda/device/ptx_async.cuh"
#include "sort/cuda/narrow.cuh"

#if STAGED
struct staged_shared {
    uval values[TILE];
    ukey keys[TILE];
    union {
        uint32_t counts[WARPS * SORT_BINS]; /* during ranking */
        uint32_t items[TILE];               /* then the tile by rank */
    };
    uint64_t target[SORT_BINS]; /* as in pass_shared */
    uint32_t sums[SORT_BINS / 32];
    uint32_t tile, zero;
};
static_assert(sizeof(struct staged_shared) <=
                  SORT_STAGED_SHARED_BYTES(THREADS, ITEMS, KEY_BYTES, VAL_BYTES),
              "the host gives less shared memory than the kernel uses");

enum {
    STAGED_RANK = SORT_DIGIT_BITS, /* first bit of a rank in an item in a register */
    STAGED_BIN = 24,               /* ... of a digit in an item in shared memory */
    STAGED_SKEWED = 8 /* lanes with the digit of lane 0; more: they are counted together */
};
static_assert(TILE < 1 << 16, "a rank has 16 bits");

/* ---- Loads ---- */

/* Starts to copy the tile's values, or makes them; a thread's copies are complete after
 * copy_wait<0>(). */
static __device__ inline void staged_values(const struct sort_passes_args &a, const struct sweep &w,
                                            struct staged_shared &s, uint64_t at, uint32_t here)
{
#if VAL_BYTES <= 8
    if (w.p.first && a.common.index) {
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < here; i += THREADS) s.values[i] = (uval)(at + i);
        return;
    }
#endif
    const uval *from = (const uval *)(w.p.source == SORT_IN    ? a.common.values_in
                                      : w.p.source == SORT_OUT ? a.common.values_out
                                                               : a.common.values_tmp) +
                       at;
    enum { EACH = 16 / VAL_BYTES };
    const uint32_t vectors = (uintptr_t)from % 16 ? 0 : here / EACH;
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < vectors; i += THREADS)
        copy_async_16(s.values + i * EACH, from + i * EACH);
#pragma unroll 1
    for (uint32_t i = vectors * EACH + threadIdx.x; i < here; i += THREADS)
#if VAL_BYTES == 16
        copy_async_16(s.values + i, from + i);
#elif VAL_BYTES == 8
        copy_async_8(s.values + i, from + i);
#else
        copy_async_4(s.values + i, from + i);
#endif
    copy_commit();
}

/* Loads the tile's keys into shared memory, in the order of block_rank.cuh, and computes
 * their digits.  A key of 8 bits that its digit determines need not be stored. */
template <int FULL, int PLAIN>
static __device__ inline void staged_load(const struct sort_passes_args &a, const struct sweep &w,
                                          struct staged_shared &s, uint64_t at, uint32_t here,
                                          uint32_t (&item)[ITEMS])
{
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    const ukey *in = keys_of(a.common, w.p.source) + at + mine;
    ukey key[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        key[i] = exists<FULL>(mine + 32 * i, here) ? in[32 * i] : (ukey)0;
    const struct narrow_digits d = narrow_digits_of(a.common, w.pass);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (KEY_BYTES > 1 || !PLAIN) s.keys[mine + 32 * i] = key[i];
        item[i] = narrow_digit<PLAIN>(d, key[i]);
    }
}

/* ---- Ranks ---- */

/* Counts the digits of a warp many of whose lanes have the same one: the lowest lane adds for those
 * with the digit of lane 0, and for those with that of the first other lane. */
static __device__ inline uint32_t staged_add_equal(uint32_t *row, uint32_t digit)
{
    const uint32_t self = 1u << lane_id();
    const uint32_t one = __ballot_sync(WARP_ALL, digit == __shfl_sync(WARP_ALL, digit, 0));
    const int second = one == WARP_ALL ? 0 : __ffs((int)~one) - 1;
    const uint32_t two = __ballot_sync(WARP_ALL, digit == __shfl_sync(WARP_ALL, digit, second));
    const uint32_t peers = one & self ? one : two & self ? two : self;
    const int first = __ffs((int)peers) - 1;
    uint32_t before = 0;
    if (peers & self & -peers) before = atomicAdd(&row[digit], __popc(peers));
    return __shfl_sync(WARP_ALL, before, first) + __popc(peers & lanes_below());
}

/* Adds to each item the rank of its key among the warp's keys of its digit. */
template <int FULL>
static __device__ inline void staged_count(uint32_t *row, uint32_t here, uint32_t (&item)[ITEMS])
{
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    const uint32_t later = item[ITEMS / 2];
    const uint32_t same = __ballot_sync(WARP_ALL, item[0] == __shfl_sync(WARP_ALL, item[0], 0));
    const uint32_t then = __ballot_sync(WARP_ALL, later == __shfl_sync(WARP_ALL, later, 0));
    if (FULL && max(__popc(same), __popc(then)) > STAGED_SKEWED) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            item[i] += staged_add_equal(row, item[i]) << STAGED_RANK;
            __syncwarp(); /* the next additions follow these */
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here))
            item[i] += atomicAdd(&row[item[i]], 1) << STAGED_RANK;
}

/* ---- Writes ---- */

/* Writes the tile, each bin as one run; returns whether a bin is not in the order of the input. */
template <int FULL, int PLAIN>
static __device__ inline bool staged_write(const struct sort_passes_args &a, const struct sweep &w,
                                           const struct staged_shared &s, uint32_t here)
{
    ukey *out = (ukey *)keys_of(a.common, w.p.target) + threadIdx.x;
    uval *values_out =
        (uval *)(w.p.target == SORT_OUT ? a.common.values_out : a.common.values_tmp) + threadIdx.x;
    const bool skip = w.p.last && a.common.discard_keys;
    const uint32_t inverted = (uint32_t)(a.common.order.sign ^ a.common.order.flip);
    uint32_t falls = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t rank = threadIdx.x + i * THREADS;
        if (!exists<FULL>(rank, here)) break;
        const uint32_t item = s.items[rank];
        const uint32_t next = s.items[FULL && i < ITEMS - 1 ? rank + 1 : min(rank + 1, here - 1)];
        const uint32_t position = item & 0xffff;
        const uint64_t target = s.target[item >> STAGED_BIN];
        falls |= next < item;
        const ukey key =
            KEY_BYTES == 1 && PLAIN ? (ukey)((item >> STAGED_BIN) ^ inverted) : s.keys[position];
        if (!skip) (out + target)[i * THREADS] = key;
        (values_out + target)[i * THREADS] = s.values[position];
    }
    return falls != 0;
}

/* Puts the items of each bin and warp in the order of the input.  The ranks of different warps are
 * right in any case. */
static __device__ __noinline__ void staged_repair(struct staged_shared &s, uint32_t here)
{
    enum { WARP_ITEMS = 32 * ITEMS };
    uint32_t rank[ITEMS], item[ITEMS];
#pragma unroll 1
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t me = threadIdx.x + i * THREADS;
        if (me >= here) break;
        const uint32_t own = s.items[me], bin = own >> STAGED_BIN,
                       warp = (own & 0xffff) / WARP_ITEMS;
        item[i] = own;
        rank[i] = me;
        for (uint32_t j = me; j-- > 0;) {
            const uint32_t other = s.items[j];
            if (other >> STAGED_BIN != bin || (other & 0xffff) / WARP_ITEMS != warp) break;
            rank[i] -= other > own;
        }
        for (uint32_t j = me + 1; j < here; j++) {
            const uint32_t other = s.items[j];
            if (other >> STAGED_BIN != bin || (other & 0xffff) / WARP_ITEMS != warp) break;
            rank[i] += other < own;
        }
    }
    __syncthreads(); /* all items are read */
#pragma unroll 1
    for (int i = 0; i < ITEMS; i++)
        if (threadIdx.x + i * THREADS < here) s.items[rank[i]] = item[i];
    __syncthreads(); /* the items are in order */
}

/* ---- A tile ---- */

/* Sorts the tile s.tile; the counters and s.zero are clear. */
template <int FULL, int PLAIN>
static __device__ inline void staged_tile(const struct sort_passes_args &a, const struct sweep &w,
                                          struct staged_shared &s, uint64_t at, uint32_t here)
{
    const uint32_t bin = threadIdx.x, tile = s.tile;
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    uint32_t *row = s.counts + threadIdx.x / 32 * SORT_BINS;
    uint32_t item[ITEMS];
    staged_values(a, w, s, at, here);
    staged_load<FULL, PLAIN>(a, w, s, at, here, item);
    staged_count<FULL>(row, here, item);
    __syncthreads(); /* all warps have counted */
    uint32_t count = 0;
    if (bin < SORT_BINS) {
        count = rank_column<WARPS>(s.counts, bin);
        publish(a, w, tile, bin, count);
    }
    const uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) rank_offsets<WARPS>(s.counts, bin, offset);
    __syncthreads(); /* the rows contain the start of each warp's keys of a bin */
    row += s.zero;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) item[i] += row[item[i] % SORT_BINS] << STAGED_RANK;
    __syncthreads(); /* all warps are done with the counters */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t position = mine + 32 * i;
        if (exists<FULL>(position, here))
            s.items[item[i] >> STAGED_RANK] = (item[i] << STAGED_BIN) + position;
    }
    if (bin < SORT_BINS) s.target[bin] = place_bin(a, w, tile, bin, count) - offset;
    copy_wait<0>();
    __syncthreads(); /* the tile is sorted, so that a bin is written as one run */
    for (;;) {
        const bool falls = staged_write<FULL, PLAIN>(a, w, s, here);
        if (!__syncthreads_or(falls)) return; /* or all threads are done with the items */
        staged_repair(s, here);
    }
}

/* The last tile, which may be partial: a separate function, so that it takes no registers from full
 * tiles. */
static __device__ __noinline__ void staged_last_tile(const struct sort_passes_args &a,
                                                     const struct sweep &w, struct staged_shared &s,
                                                     uint64_t at)
{
    staged_tile<0, 0>(a, w, s, at, (uint32_t)(a.common.n - at));
}

/* Whether digits are bits of the key or their inverses; of a key of 8 bits, all of them. */
static __device__ inline bool staged_plain(const struct sort_common &a)
{
    return order_inverts(a.order) && (KEY_BYTES > 1 || (a.begin_bit == 0 && a.end_bit == KEY_BITS));
}

static __device__ inline void staged_any(const struct sort_passes_args &a, const struct sweep &w,
                                         struct staged_shared &s)
{
    const uint64_t at = (uint64_t)s.tile * TILE;
    if (a.common.n - at < TILE)
        staged_last_tile(a, w, s, at);
    else if (staged_plain(a.common))
        staged_tile<1, 1>(a, w, s, at, TILE);
    else
        staged_tile<1, 0>(a, w, s, at, TILE);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep(const __grid_constant__ struct sort_passes_args a)
{
    narrow_sweep<struct staged_shared>(a, staged_any);
}
#endif

#endif
