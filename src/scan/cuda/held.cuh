/*
 * scan/cuda/held.cuh - arrays that fit in the shared memory of all multiprocessors: a block per
 * multiprocessor has up to 12 adjacent tiles, and keeps them in shared memory.
 *
 * All tiles are read at once and written at once; between, blocks exchange totals once, like those
 * of short.cuh. A thread reads only vectors that it has copied, so that copies need no barrier.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_HELD_CUH
#define ECHI_SCAN_CUDA_HELD_CUH

#include "scan/cuda/short.cuh"
#include "scan/cuda/stage.cuh"

enum {
    HELD_AT_ONCE = SCAN_HELD_THREADS / SCAN_SHORT_THREADS, /* tiles */
    HELD_ROUNDS = SCAN_HELD_TILES / HELD_AT_ONCE
};

struct held_shared {
    uint64_t ticket;
    value lines[SCAN_HELD_TILES * SCAN_LINES];   /* totals of lines, then their prefixes in tiles */
    value tiles[SCAN_HELD_TILES];                /* totals of the tiles */
    value groups[SCAN_SHORT_TILES / SCAN_GROUP]; /* of the tiles before this block's */
    uint32_t last;                               /* this block is the last one */
};

/* Copies this thread's vectors of a tile to shared memory. */
static __device__ inline void fetch_part(const struct scan_args &a, const struct scan_row &row,
                                         uint64_t tile, uint64_t at, uint4 *to)
{
    if (tile_loaded_whole(a, row, tile * TILE)) {
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) fetch_whole(a, row, at + k * LINE, to + k * SCAN_WARP);
    } else if (tile < a.row_tiles) {
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++)
            fetch_vector(a, row, at + k * LINE, to + k * SCAN_WARP);
    }
}

static __device__ inline void hold_part(const struct scan_args &a, const uint4 *from,
                                        union vector (&v)[SCAN_SLOTS])
{
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) v[k].all = from[k * SCAN_WARP];
    order_vectors(a, v);
}

/* Waits for the copies of a round; each round is one group of copies. */
static __device__ inline void await_round(int round)
{
#if SCAN_ASYNC
    switch (HELD_ROUNDS - 1 - round) {
    case 2:
        copy_wait<2>();
        break;
    case 1:
        copy_wait<1>();
        break;
    default:
        copy_wait<0>();
        break;
    }
#else
    (void)round;
#endif
}

static_assert((int)HELD_ROUNDS <= 3, "await_round() has a case per round");

template <int OP> static __device__ inline void scan_held(const struct scan_args &a)
{
    __shared__ struct held_shared s;
    wait_for_earlier();
    const uint32_t warp = warp_id(), own = a.stages;
    const uint32_t nth = warp / SHORT_WARPS, lines = warp % SHORT_WARPS * SCAN_SLOTS;
    /* Blocks may begin in any order: tickets ensure that preceding tiles are in progress. */
    if (threadIdx.x == 0) s.ticket = atomicAdd((unsigned long long *)&a.counters[0], 1);
    __syncthreads(); /* the ticket is known */
    const uint64_t first = s.ticket * own;
    const struct scan_row row = row_of<0>(a, 0);
    const uint64_t at = (first + nth) * TILE + lines * LINE + lane_id() * VECTOR;
    uint4 *mine = (uint4 *)shared_bytes + (nth * SCAN_LINES + lines) * SCAN_WARP + lane_id();
    uint32_t done = 0;
#pragma unroll
    for (int r = 0; r < HELD_ROUNDS; r++) {
        const uint32_t t = r * HELD_AT_ONCE;
        if (t + nth < own)
            fetch_part(a, row, first + t + nth, at + t * TILE, mine + t * STAGE_VECTORS);
        fetch_commit();
    }
#pragma unroll
    for (int r = 0; r < HELD_ROUNDS; r++) {
        const uint32_t t = r * HELD_AT_ONCE;
        union vector v[SCAN_SLOTS];
        value x[SCAN_SLOTS];
        await_round(r);
        if (t + nth >= own || first + t + nth >= a.row_tiles) continue;
        hold_part(a, mine + t * STAGE_VECTORS, v);
        drop_nan<OP>(a, v);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) x[k] = vector_total<OP, 0>(a, v[k], 0);
        const value total = lines_total<OP>(a, x);
        if (lane_id() < SCAN_SLOTS) s.lines[(t + nth) * SCAN_LINES + lines + lane_id()] = total;
    }
    __syncthreads(); /* the totals of lines are known */
    if (warp < own && first + warp < a.row_tiles) {
        value sum = lines_sum<OP, 0>(a, s.lines[warp * SCAN_LINES + lane_id()], 0);
        if (lane_id() == 31) {
            publish(a.tiles, first + warp, sum, false);
            s.tiles[warp] = sum;
        }
        sum = lane_up(sum, 1);
        s.lines[warp * SCAN_LINES + lane_id()] = lane_id() ? sum : neutral<OP>(a);
    }
    sum_before<OP>(a, s.groups, first, own);
    __syncthreads(); /* the prefix of the block is known; this block reads no descriptor again */
    if (a.words && threadIdx.x == 0) done = add_acq_rel((uint32_t *)&a.counters[1], 1) + 1;
    value block = value_of_bits(a.first), within = s.groups[first / SCAN_GROUP];
    for (uint64_t g = 0; g < first / SCAN_GROUP; g++) block = combine<OP>(a, block, s.groups[g]);
#pragma unroll 1
    for (uint32_t t = 0, next = 0; t + nth < own && first + t + nth < a.row_tiles;
         t += HELD_AT_ONCE) {
        struct line_part part = {};
        value x[SCAN_SLOTS];
        uint32_t below[SCAN_SLOTS];
        /* The prefix goes from group to group, and in a group from tile to tile. */
        for (; next < t + nth; next++) {
            within = combine<OP>(a, within, s.tiles[next]);
            if ((first + next + 1) % SCAN_GROUP) continue;
            block = combine<OP>(a, block, within);
            within = neutral<OP>(a);
        }
        const value before = combine<OP>(a, block, within);
        hold_part(a, mine + t * STAGE_VECTORS, part.v);
        drop_nan<OP>(a, part.v);
        lines_before<OP, 0>(a, part, x, below);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            const value line = combine<OP>(a, before, s.lines[(t + nth) * SCAN_LINES + lines + k]);
            x[k] = combine<OP>(a, line, x[k]);
        }
        finish_part<OP, 0>(a, row, at + t * TILE, part, x,
                           tile_stored_whole(a, row, (first + t + nth) * TILE));
    }
    if (!a.words) return;
    if (threadIdx.x == 0) s.last = done == gridDim.x;
    __syncthreads(); /* it is known which block is the last */
    if (!s.last) return;
#pragma unroll 1
    for (uint64_t i = threadIdx.x; i < a.words; i += blockDim.x) a.counters[i] = 0;
}

#endif
