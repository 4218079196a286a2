/*
 * sort/cuda/narrow.cuh - one pass over keys of 8 or 16 bits with values: sort_onesweep with fewer
 * instructions and registers per key than onesweep.cuh.
 *
 *     item      | rank in the tile | digit, 8 bits | key, 8 bits |      a register
 *     16 bits   | digit, then rank |          key, 16 bits       |
 *
 * The values are loaded together with the keys, so that they arrive while the keys are ranked; keys
 * and values are then exchanged at once.  Keys are never encoded: their digits are computed from
 * the original bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_NARROW_CUH
#define ECHI_SORT_CUDA_NARROW_CUH

#include "sort/cuda/onesweep.cuh"

#if KEY_BYTES <= 2 && VAL_BYTES
/* How a digit is computed from a key, whose highest bit becomes bit 31: the map of core/order.h. */
struct narrow_digits {
    uint32_t flips, sign, float_mask, less, zero, merge, last;
    uint32_t shift, mask;
};
enum { NARROW_UP = 32 - KEY_BITS };

static __device__ inline struct narrow_digits narrow_digits_of(const struct sort_common &a,
                                                               int pass)
{
    const struct echi_order &o = a.order;
    const int shift = a.begin_bit + pass * SORT_DIGIT_BITS;
    struct narrow_digits d = { (uint32_t)o.flip << NARROW_UP,
                               (uint32_t)o.sign << NARROW_UP,
                               (uint32_t)o.float_mask << NARROW_UP,
                               (uint32_t)o.shift << NARROW_UP,
                               (uint32_t)o.zero << NARROW_UP,
                               (uint32_t)o.merge << NARROW_UP,
                               (uint32_t)o.last << NARROW_UP,
                               (uint32_t)(shift + NARROW_UP),
                               (1u << min(a.end_bit - shift, (int)SORT_DIGIT_BITS)) - 1 };
    return d;
}

/* PLAIN: order_inverts(). */
template <int PLAIN>
static __device__ inline uint32_t narrow_digit(const struct narrow_digits &d, uint32_t key)
{
    uint32_t e = key << NARROW_UP;
    if (PLAIN) return (e ^ d.sign ^ d.flips) >> d.shift & d.mask;
    e = (e ^ (((uint32_t)((int32_t)e >> 31) & d.float_mask) | d.sign)) - d.less;
    if (e == d.zero) e += d.merge;
    return (min(e, d.last) ^ d.flips) >> d.shift & d.mask;
}

/* A block's part of a pass: tile_of() sorts the tile that it has taken. */
template <typename shared, typename function>
static __device__ inline void narrow_sweep(const struct sort_passes_args &a,
                                           const function &tile_of)
{
    shared &s = *(shared *)shared_bytes;
    wait_for_earlier();
    if (threadIdx.x == 0) s.tile = atomicAdd(&a.state->tiles_taken[a.common.level], 1);
    if (threadIdx.x == 0) s.zero = 0;
    const struct sweep w = { a.state->pass[a.common.level], a.common.level,
                             (uint32_t)a.common.part };
    if (!w.p.active) {
        if (ends_output(a)) copy_to_output(a);
        return;
    }
    rank_clear(s.counts, WARPS * SORT_BINS);
    __syncthreads(); /* the tile is known and the counters are clear */
    tile_of(a, w, s);
}

#if !STAGED
struct narrow_shared {
    union {
        uint32_t counts[WARPS * SORT_BINS]; /* during ranking */
        struct {                            /* then the tile by rank */
            uval values[TILE];
            uint16_t items[TILE]; /* a key, and above 8 bits its digit */
        };
    };
    uint64_t target[SORT_BINS]; /* as in pass_shared */
    uint32_t sums[SORT_BINS / 32];
    uint32_t tile, zero;
};
static_assert(sizeof(struct narrow_shared) <=
                  SORT_ONESWEEP_SHARED_BYTES(THREADS, ITEMS, VAL_BYTES + 2),
              "the host gives less shared memory than the kernel uses");

enum {
    NARROW_RANK = 16, /* first bit of a rank in an item, and of a digit before it is ranked */
    NARROW_DIGIT = KEY_BYTES == 1 ? 8 : 16
};
static_assert(TILE <= 1 << 16, "a rank has 16 bits");

/* Loads the tile in the order of cuda/device/block_rank.cuh. */
template <int FULL>
static __device__ inline void narrow_load(const struct sort_passes_args &a, const struct sweep &w,
                                          uint64_t at, uint32_t here, uint32_t (&item)[ITEMS],
                                          uval (&value)[ITEMS])
{
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    const ukey *in = keys_of(a.common, w.p.source) + at + mine;
    const uval *from = (const uval *)(w.p.source == SORT_IN    ? a.common.values_in
                                      : w.p.source == SORT_OUT ? a.common.values_out
                                                               : a.common.values_tmp) +
                       at + mine;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) item[i] = exists<FULL>(mine + 32 * i, here) ? in[32 * i] : 0u;
#if VAL_BYTES <= 8
    if (w.p.first && a.common.index) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) value[i] = (uval)(at + mine + 32 * i);
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (exists<FULL>(mine + 32 * i, here)) value[i] = from[32 * i];
}

/* rank_keys() of items. */
static __device__ inline void narrow_rank(uint32_t *row, uint32_t (&item)[ITEMS])
{
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t digit = item[i] >> NARROW_DIGIT & (SORT_BINS - 1);
        const uint32_t peers = warp_match<SORT_DIGIT_BITS>(digit);
        const uint32_t before = __popc(peers & lanes_below());
        const uint32_t first = row[digit];
        __syncwarp(); /* every lane has read */
        if (before == 0) row[digit] = first + __popc(peers);
        __syncwarp(); /* the next item reads the written counters */
        item[i] = (item[i] & 0xffff) | (first + before) << NARROW_RANK;
    }
}

/* Writes the tile, each bin as one run. */
template <int FULL, int PLAIN>
static __device__ inline void narrow_write(const struct sort_passes_args &a, const struct sweep &w,
                                           const struct narrow_shared &s,
                                           const struct narrow_digits &d, uint32_t here)
{
    ukey *out = (ukey *)keys_of(a.common, w.p.target) + threadIdx.x;
    uval *values_out =
        (uval *)(w.p.target == SORT_OUT ? a.common.values_out : a.common.values_tmp) + threadIdx.x;
    const bool skip = w.p.last && a.common.discard_keys;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t rank = threadIdx.x + i * THREADS;
        if (!exists<FULL>(rank, here)) break;
        const uint32_t item = s.items[rank];
        const uint32_t bin = KEY_BYTES == 1 ? item >> 8 : narrow_digit<PLAIN>(d, item);
        const uint64_t target = s.target[bin];
        if (!skip) out[target + i * THREADS] = (ukey)item;
        values_out[target + i * THREADS] = s.values[rank];
    }
}

/* Sorts the tile s.tile; the counters and s.zero are clear. */
template <int FULL, int PLAIN>
static __device__ inline void narrow_tile(const struct sort_passes_args &a, const struct sweep &w,
                                          struct narrow_shared &s, uint64_t at, uint32_t here)
{
    const uint32_t bin = threadIdx.x, tile = s.tile;
    const uint32_t mine = threadIdx.x / 32 * (32 * ITEMS) + lane_id();
    const struct narrow_digits d = narrow_digits_of(a.common, w.pass);
    uint32_t *row = s.counts + threadIdx.x / 32 * SORT_BINS;
    uint32_t item[ITEMS];
    uval value[ITEMS];
    narrow_load<FULL>(a, w, at, here, item, value);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const bool counts = exists<FULL>(mine + 32 * i, here);
        const uint32_t digit =
            counts ? narrow_digit<PLAIN>(d, item[i]) : SORT_BINS - 1; /* past the end: last */
        if (counts) atomicAdd(&row[digit], 1);
        item[i] |= digit << NARROW_DIGIT;
    }
    __syncthreads(); /* all warps have counted */
    uint32_t count = 0;
    if (bin < SORT_BINS) {
        count = rank_column<WARPS>(s.counts, bin);
        publish(a, w, tile, bin, count);
    }
    const uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) rank_offsets<WARPS>(s.counts, bin, offset);
    __syncthreads(); /* the rows contain the start of each warp's keys of a bin */
    narrow_rank(row + s.zero, item);
    if (bin < SORT_BINS) s.target[bin] = place_bin(a, w, tile, bin, count) - offset;
    __syncthreads(); /* all warps are done with the counters, and the targets are written */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t rank = item[i] >> NARROW_RANK;
        if (!FULL && rank >= here) continue;
        s.items[rank] = (uint16_t)item[i];
        s.values[rank] = value[i];
    }
    __syncthreads(); /* the tile is sorted, so that a bin is written as one run */
    narrow_write<FULL, PLAIN>(a, w, s, d, here);
}

/* The last tile, which may be partial: a separate function, so that it takes no registers from full
 * tiles. */
static __device__ __noinline__ void narrow_last_tile(const struct sort_passes_args &a,
                                                     const struct sweep &w, struct narrow_shared &s,
                                                     uint64_t at)
{
    narrow_tile<0, 0>(a, w, s, at, (uint32_t)(a.common.n - at));
}

static __device__ inline void narrow_any(const struct sort_passes_args &a, const struct sweep &w,
                                         struct narrow_shared &s)
{
    const uint64_t at = (uint64_t)s.tile * TILE;
    if (a.common.n - at < TILE)
        narrow_last_tile(a, w, s, at);
    else if (order_inverts(a.common.order))
        narrow_tile<1, 1>(a, w, s, at, TILE);
    else
        narrow_tile<1, 0>(a, w, s, at, TILE);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sort_onesweep(const __grid_constant__ struct sort_passes_args a)
{
    narrow_sweep<struct narrow_shared>(a, narrow_any);
}
#endif
#endif

#endif
