/*
 * scan/cuda/short.cuh - arrays of few tiles: a block has one, two or four tiles, and keeps them in
 * the registers of eight warps per tile.
 *
 * The latency of communication dominates, so each block reads the totals of all preceding tiles
 * once; its warps add up one group each, in turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_SHORT_CUH
#define ECHI_SCAN_CUDA_SHORT_CUH

#include "scan/cuda/line.cuh"
#include "scan/cuda/look.cuh"

enum {
    SHORT_MOST = KEY_BITS <= 16 ? 2 : 4, /* maximum tiles per block; wide elements need more
                                            registers */
    SHORT_WARPS = SCAN_SHORT_THREADS / 32,
    SHORT_BLOCKS = KEY_BITS <= 16 ? 2 : 1 /* per multiprocessor: 1,024 threads */
};

struct short_shared {
    uint64_t ticket;
    value totals[SHORT_MOST * SCAN_LINES];       /* of lines */
    value lines[SHORT_MOST * SCAN_LINES];        /* prefix of each line in its tile */
    value tiles[SHORT_MOST];                     /* totals of the tiles */
    value groups[SCAN_SHORT_TILES / SCAN_GROUP]; /* of the tiles before this block's */
    uint32_t last;                               /* this block is the last one */
};

/* The totals of the tiles before the block's first, by groups; the warps that publish the block's
 * own totals are assigned groups last. */
template <int OP>
static __device__ inline void sum_before(const struct scan_args &a, value *groups, uint64_t first,
                                         uint32_t own)
{
    const uint32_t warps = blockDim.x / 32, warp = warp_id();
    for (uint64_t g = (warp + warps - own) % warps; g <= first / SCAN_GROUP; g += warps) {
        const uint64_t tile = g * SCAN_GROUP + lane_id();
        struct words w = {};
        if (tile < first) look(a.tiles, tile, w);
        if (tile < first) await(a.tiles, tile, w);
        __syncwarp(); /* all lanes have their descriptors */
        value sum = fold_lanes<OP>(a, tile < first ? value_in(w) : neutral<OP>(a), 0);
        if (lane_id() == 0) groups[g] = sum;
    }
}

template <int OP> static __device__ inline void scan_short(const struct scan_args &a)
{
    __shared__ struct short_shared s;
    wait_for_earlier();
    const uint32_t warp = warp_id(), own = blockDim.x / SCAN_SHORT_THREADS;
    const uint32_t nth = warp / SHORT_WARPS; /* number of the block's tile */
    /* Blocks may begin in any order: tickets ensure that preceding tiles are in progress. */
    if (threadIdx.x == 0) s.ticket = atomicAdd((unsigned long long *)&a.counters[0], 1);
    __syncthreads(); /* the ticket is known */
    const uint64_t first = s.ticket * own;
    const struct scan_row row = row_of<0>(a, 0);
    const uint64_t at = first * TILE + warp * (SCAN_SLOTS * LINE) + lane_id() * VECTOR;
    struct line_part part = {};
    value x[SCAN_SLOTS];
    uint32_t below[SCAN_SLOTS], done = 0;
    const uint64_t begin = (first + nth) * TILE;
    if (tile_loaded_whole(a, row, begin)) {
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) load_whole(a, row, at + k * LINE, part.v[k]);
    } else {
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) load_vector(a, row, at + k * LINE, part.v[k]);
    }
    order_vectors(a, part.v);
    drop_nan<OP>(a, part.v);
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) x[k] = vector_total<OP, 0>(a, part.v[k], 0);
    value total = lines_total<OP>(a, x);
    if (lane_id() < SCAN_SLOTS) s.totals[warp * SCAN_SLOTS + lane_id()] = total;
    __syncthreads(); /* the totals of lines are known */
    if (warp < own && first + warp < a.row_tiles) {
        value sum = lines_sum<OP, 0>(a, s.totals[warp * SCAN_LINES + lane_id()], 0);
        if (lane_id() == 31) {
            publish(a.tiles, first + warp, sum, false);
            s.tiles[warp] = sum;
        }
        sum = lane_up(sum, 1);
        s.lines[warp * SCAN_LINES + lane_id()] = lane_id() ? sum : neutral<OP>(a);
    }
    sum_before<OP>(a, s.groups, first, own);
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) forget_elements(part.v[k]);
    lines_before<OP, 0>(a, part, x, below);
    __syncthreads(); /* the prefix of the block is known; this block reads no descriptor again */
    if (a.words && threadIdx.x == 0) done = add_acq_rel((uint32_t *)&a.counters[1], 1) + 1;
    value before = value_of_bits(a.first), within = s.groups[first / SCAN_GROUP];
    for (uint64_t g = 0; g < first / SCAN_GROUP; g++) before = combine<OP>(a, before, s.groups[g]);
    if (first + nth < a.row_tiles) {
        for (uint32_t i = 0; i < nth; i++) within = combine<OP>(a, within, s.tiles[i]);
        before = combine<OP>(a, before, within);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            value line = combine<OP>(a, before, s.lines[warp * SCAN_SLOTS + k]);
            x[k] = combine<OP>(a, line, x[k]);
        }
        finish_part<OP, 0>(a, row, at, part, x, tile_stored_whole(a, row, begin));
    }
    if (!a.words) return;
    if (threadIdx.x == 0) s.last = done == gridDim.x;
    __syncthreads(); /* it is known which block is the last */
    if (!s.last) return;
#pragma unroll 1
    for (uint64_t i = threadIdx.x; i < a.words; i += blockDim.x) a.counters[i] = 0;
}

#endif
