/*
 * merge/cuda/kernels.cu - merges two sorted arrays on the GPU, or the sorted runs of one.
 *
 *     merge_split    a thread or eight per boundary of tiles: how many elements before it are
 *                    from a; if there are few tiles, the blocks of the next kernels find it
 *     merge_keys     a block loads its part of a and of b, merges them and writes its tile
 *     merge_narrow   the same for keys of 8 and 16 bits (narrow.cuh); merge_codes and merge_fill
 *                    for many of them (table.cuh)
 *     merge_pairs    ... and moves the values
 *
 *     merge_runs_check, merge_runs_split, merge_runs_keys, merge_runs_pairs
 *                    the same for all pairs of neighbouring runs of one array
 *
 *         shared memory   | part of a | part of b |
 *         thread t        finds where elements 17 t ... 17 t + 16 of the tile begin in both parts,
 *                         and merges them to registers
 *         shared memory   | tile, in order |           then written by adjacent threads
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/device/data_error.cuh"
#include "cuda/device/warp.cuh"
#include "merge/cuda/common.h"
#include "merge/cuda/split.cuh"
#include "merge/cuda/steps.cuh"
#if KEY_BYTES <= 2
#include "merge/cuda/narrow.cuh"
#include "merge/cuda/table.cuh"
#endif

enum {
    KEYS_ITEMS = MERGE_KEYS_ITEMS(KEY_BYTES),
    KEYS_BLOCKS = MERGE_KEYS_BLOCKS(KEY_BYTES),
    KEYS_PADDED = MERGE_KEYS_PADDED,
    KEYS_ROOM = KEYS_PADDED ? MERGE_ROOM_PADDED(MERGE_THREADS, KEYS_ITEMS)
                            : MERGE_ROOM(MERGE_THREADS, KEYS_ITEMS),
    ITEMS = MERGE_ITEMS(KEY_BYTES), /* of other kernels */
    TILE = MERGE_TILE(KEY_BYTES),
    ROOM = MERGE_ROOM(MERGE_THREADS, ITEMS),
    RUNS_LIKE_KEYS = KEY_BYTES == 4, /* whether merge_runs_keys has the tiles of merge_keys */
    RUNS_ITEMS = RUNS_LIKE_KEYS ? KEYS_ITEMS : ITEMS,
    RUNS_BLOCKS = RUNS_LIKE_KEYS ? KEYS_BLOCKS : MERGE_RUNS_BLOCKS,
    RUNS_PADDED = RUNS_LIKE_KEYS && KEYS_PADDED,
    RUNS_ROOM = RUNS_LIKE_KEYS ? KEYS_ROOM : ROOM
};

extern "C" __global__ void __launch_bounds__(MERGE_THREADS)
    merge_split(const __grid_constant__ struct merge_args a)
{
    __shared__ uint64_t begins[SPLIT_WARPS + 1];
    const uint64_t step = (uint64_t)gridDim.x * MERGE_THREADS;
    wait_for_earlier();
    if (a.few) {
        const uint32_t each = MERGE_THREADS / SPLIT_LANES_MORE,
                       mine = threadIdx.x / SPLIT_LANES_MORE;
        for (uint64_t t = (uint64_t)blockIdx.x * each; t <= a.tiles;
             t += (uint64_t)gridDim.x * each) {
            const uint64_t tile = min(t + mine, a.tiles);
            const uint64_t from = split_by_lanes(a, begin_of(a, tile));
            if (threadIdx.x % SPLIT_LANES_MORE == 0 && t + mine <= a.tiles) a.splits[tile] = from;
        }
        return;
    }
    for (uint64_t t = (uint64_t)blockIdx.x * MERGE_THREADS; t <= a.tiles; t += step)
        split_by_block(a, t, begins);
}

/* ---- Keys ---- */

/* The elements of this thread, and their places in shared memory.  After the end of a part, the
 * keys that are loaded are not used. */
template <bool PLACES, bool MERGED, int ITEMS, bool PADDED = false>
static __device__ inline void merge_items(const struct echi_order &o, const ukey *keys,
                                          uint32_t n_a, uint32_t n, ukey (&item)[ITEMS],
                                          uint16_t (&place)[ITEMS])
{
    const uint32_t first = min(threadIdx.x * ITEMS, n);
    const uint32_t b = PADDED ? n_a + MERGE_GAP(ITEMS) : n_a, end = b + n - n_a;
    uint32_t i = merge_path_shared<MERGED>(o, keys, n_a, keys + b, n - n_a, first);
    uint32_t j = b + first - i;
    ukey x = keys[i], y = keys[j];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const bool take =
            j >= end || (i < n_a && merge_stored<MERGED>(o, x) <= merge_stored<MERGED>(o, y));
        item[k] = take ? x : y;
        if (PLACES) place[k] = (uint16_t)(take ? i : j);
        if (take)
            x = keys[++i];
        else
            y = keys[++j];
    }
}

/* The same for a part that is followed by codes of all ones, if equal keys have equal codes. */
template <int ITEMS>
static __device__ inline void merge_padded(const struct echi_order &o, const ukey *keys,
                                           uint32_t n_a, uint32_t n, ukey (&item)[ITEMS])
{
    const uint32_t first = min(threadIdx.x * ITEMS, n), b = n_a + MERGE_GAP(ITEMS);
    const uint32_t i = merge_path_shared<false>(o, keys, n_a, keys + b, n - n_a, first);
    merge_steps<ITEMS>(keys, i, b + first - i, [&](int k, ukey key) { item[k] = key; });
}

/* Decodes the tile and writes it. */
template <int ITEMS>
static __device__ inline void write_tile(const struct echi_order &o, const ukey *keys, ukey *out,
                                         uint32_t n)
{
    ukey *to = out + threadIdx.x;
    ukey x[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) x[k] = keys[threadIdx.x + k * MERGE_THREADS];
    if (!o.float_mask) {
        const ukey change = (ukey)(o.sign ^ o.flip);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) x[k] ^= change;
    } else {
        const ukey flip = (ukey)o.flip, shift_by = flip ? (ukey)(0 - o.shift) : (ukey)o.shift;
#pragma unroll
        for (int k = 0; k < ITEMS; k++) { /* order_decode(), with fewer instructions */
            x[k] += shift_by;
            x[k] ^= flip ^ (~((ukey)((skey)x[k] >> (KEY_BITS - 1)) ^ flip) | (ukey)o.sign);
        }
    }
    if (n == MERGE_THREADS * ITEMS) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) __stcs(to + k * MERGE_THREADS, x[k]);
        return;
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++)
        if (threadIdx.x + k * MERGE_THREADS < n) to[k * MERGE_THREADS] = x[k];
}

/* Merges a tile in shared memory and writes its keys. PLACES: places[k] becomes the place that
 * element k of the tile had in the two parts. */
template <bool PLACES, int ITEMS, bool PADDED = false>
static __device__ inline void merge_tile(const struct merge_args &a, const struct merge_part &part,
                                         ukey *keys, uint16_t *places)
{
    const uint32_t n = part.n_a + part.n_b, first = threadIdx.x * ITEMS;
    ukey *out = (ukey *)a.keys_out + part.a + part.b;
    ukey item[ITEMS];
    uint16_t place[ITEMS];
    if (merge_load<MERGE_THREADS, ITEMS, PADDED>(a.order, a.keys, part, keys))
        merge_items<PLACES, true, ITEMS, PADDED>(a.order, keys, part.n_a, n, item, place);
    else if (PADDED)
        merge_padded<ITEMS>(a.order, keys, part.n_a, n, item);
    else
        merge_items<PLACES, false, ITEMS>(a.order, keys, part.n_a, n, item, place);
    __syncthreads(); /* all threads have read the parts */
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        keys[first + k] = item[k]; /* those after the end are not written */
        if (PLACES) places[first + k] = place[k];
    }
    __syncthreads(); /* the tile is complete */
    write_tile<ITEMS>(a.order, keys, out, n);
}

/* ---- Values ---- */

static __device__ inline void move_values(const struct merge_args &a, const struct merge_part &part,
                                          const uint16_t *places)
{
    merge_values<MERGE_THREADS>(a.values, part, a.words, a.word_bytes, a.values_out,
                                part.a + part.b, part.n_a + part.n_b, places);
}

/* ---- The kernels ---- */

/* The part of a tile; the block's threads have written the previous tile when it returns. */
static __device__ inline void part_of_tile(const struct merge_args &a, uint64_t tile,
                                           uint64_t (&found)[2], struct merge_part &part)
{
    const uint64_t first = tile * a.tile, left = a.n_a + a.n_b - first;
    const uint64_t *splits = found;
    const uint32_t warp = warp_id();
    if (a.splits) {
        splits = a.splits + tile;
    } else if (warp < 2) {
        const uint64_t split = split_of(a, tile + warp);
        if (lane_id() == 0) found[warp] = split;
    }
    __syncthreads(); /* both boundaries are known, and all threads have written the previous tile */
    merge_part_make(part, first, left < a.tile ? (uint32_t)left : a.tile, splits[0], splits[1]);
}

#if KEY_BYTES > 2
extern "C" __global__ void __launch_bounds__(MERGE_THREADS,
                                             RESIDENT_BLOCKS(KEYS_BLOCKS, MERGE_THREADS))
    merge_keys(const __grid_constant__ struct merge_args a)
{
    __shared__ ukey keys[KEYS_ROOM];
    __shared__ uint64_t found[2];
    wait_for_earlier();
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        struct merge_part part;
        part_of_tile(a, tile, found, part);
        merge_tile<false, KEYS_ITEMS, KEYS_PADDED>(a, part, keys, NULL);
    }
}
#endif

#if KEY_BYTES <= 2
extern "C" __global__ void __launch_bounds__(MERGE_THREADS,
                                             RESIDENT_BLOCKS(MERGE_NARROW_BLOCKS, MERGE_THREADS))
    merge_narrow(const __grid_constant__ struct merge_args a)
{
    __shared__ __align__(16) uint32_t words[NARROW_ROOM];
    __shared__ uint64_t found[2];
    wait_for_earlier();
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        struct merge_part part;
        part_of_tile(a, tile, found, part);
        narrow_tile(a, part, words);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(MERGE_THREADS,
                                             RESIDENT_BLOCKS(MERGE_PAIRS_BLOCKS, MERGE_THREADS))
    merge_pairs(const __grid_constant__ struct merge_args a)
{
    __shared__ ukey keys[ROOM];
    __shared__ uint16_t places[TILE];
    __shared__ uint64_t found[2];
    wait_for_earlier();
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        struct merge_part part;
        part_of_tile(a, tile, found, part);
        merge_tile<true, ITEMS>(a, part, keys, places);
        move_values(a, part, places);
    }
}

/* ---- Merges of runs ---- */

extern "C" __global__ void __launch_bounds__(MERGE_THREADS)
    merge_runs_check(const __grid_constant__ struct merge_runs_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * MERGE_THREADS;
    wait_for_earlier();
    for (uint64_t r = (uint64_t)blockIdx.x * MERGE_THREADS + threadIdx.x; r <= a.runs; r += step) {
        const uint64_t at = echi_index_at(a.offsets, a.index, r);
        enum echi_data_error error = (enum echi_data_error)0;
        if (r == 0 && at != 0)
            error = ECHI_RUNS_BEGIN;
        else if (at > a.n)
            error = ECHI_OFFSETS_PAST_END;
        else if (r > 0 && at < echi_index_at(a.offsets, a.index, r - 1))
            error = ECHI_OFFSETS_DECREASE;
        else if (r == a.runs && at != a.n)
            error = ECHI_RUNS_END;
        if (!error) continue;
        report_error(a.data_error, error, r);
        if (a.invalid) atomicMax(a.invalid, 1u);
    }
}

/* Where run r begins; n after the last one. */
static __device__ inline uint64_t run_begin(const struct merge_runs_args &a, uint64_t r)
{
    return r < a.runs ? echi_index_at(a.offsets, a.index, r) : a.n;
}

static __device__ inline uint64_t first_tile(const struct merge_runs_args &a, uint64_t pair)
{
    return run_begin(a, 2 * a.width * pair) / a.common.tile + pair;
}

/* One thread per tile: the parts of both neighbours that it merges. */
extern "C" __global__ void __launch_bounds__(MERGE_THREADS)
    merge_runs_split(const __grid_constant__ struct merge_runs_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * MERGE_THREADS, tiles = a.common.tiles;
    const ukey *keys = (const ukey *)a.common.keys[0];
    wait_for_earlier();
    if (*a.invalid) return;
    for (uint64_t t = (uint64_t)blockIdx.x * MERGE_THREADS + threadIdx.x; t < tiles; t += step) {
        uint64_t pair = 0;
        for (uint64_t left = a.pairs; left > 1;) { /* the last one whose first tile is at most t */
            const uint64_t half = left / 2;
            if (first_tile(a, pair + half) <= t) pair += half;
            left -= half;
        }
        const uint64_t begin = run_begin(a, 2 * a.width * pair);
        const uint64_t second = run_begin(a, 2 * a.width * pair + a.width);
        const uint64_t end = run_begin(a, 2 * a.width * (pair + 1));
        const uint64_t first = (t - first_tile(a, pair)) * a.common.tile;
        struct merge_run_tile tile = { 0, 0, second, 0, 0 };
        if (first < end - begin) {
            const uint32_t n = (uint32_t)min((uint64_t)a.common.tile, end - begin - first);
            struct merge_part part;
            uint64_t at[2];
            for (int i = 0; i < 2; i++)
                at[i] = merge_path(a.common.order, keys + begin, second - begin, keys + second,
                                   end - second, first + (i ? n : 0));
            merge_part_make(part, first, n, at[0], at[1]);
            tile = { begin + part.a, part.b, second, part.n_a, part.n_b };
        }
        a.parts[t] = tile;
    }
}

/* The tile as a part of a merge of two arrays: the whole input and the second neighbour. */
static __device__ inline struct merge_args
args_of_tile(const struct merge_args &a, const struct merge_run_tile &tile, struct merge_part &part)
{
    struct merge_args m = a;
    m.keys[1] = (const ukey *)a.keys[0] + tile.second;
    m.values[1] = (const char *)a.values[0] + tile.second * a.words * a.word_bytes;
    part.a = tile.a;
    part.b = tile.b;
    part.n_a = tile.n_a;
    part.n_b = tile.n_b;
    return m;
}

extern "C" __global__ void __launch_bounds__(MERGE_THREADS,
                                             RESIDENT_BLOCKS(RUNS_BLOCKS, MERGE_THREADS))
    merge_runs_keys(const __grid_constant__ struct merge_runs_args a)
{
    __shared__ ukey keys[RUNS_ROOM];
    wait_for_earlier();
    if (*a.invalid) return;
    for (uint64_t t = blockIdx.x; t < a.common.tiles; t += gridDim.x) {
        const struct merge_run_tile tile = a.parts[t];
        struct merge_part part;
        if (tile.n_a + tile.n_b == 0) continue;
        const struct merge_args m = args_of_tile(a.common, tile, part);
        __syncthreads(); /* all threads have written the previous tile */
        merge_tile<false, RUNS_ITEMS, RUNS_PADDED>(m, part, keys, NULL);
    }
}

extern "C" __global__ void __launch_bounds__(MERGE_THREADS,
                                             RESIDENT_BLOCKS(MERGE_PAIRS_BLOCKS, MERGE_THREADS))
    merge_runs_pairs(const __grid_constant__ struct merge_runs_args a)
{
    __shared__ ukey keys[ROOM];
    __shared__ uint16_t places[TILE];
    wait_for_earlier();
    if (*a.invalid) return;
    for (uint64_t t = blockIdx.x; t < a.common.tiles; t += gridDim.x) {
        const struct merge_run_tile tile = a.parts[t];
        struct merge_part part;
        if (tile.n_a + tile.n_b == 0) continue;
        const struct merge_args m = args_of_tile(a.common, tile, part);
        __syncthreads(); /* all threads have written the previous tile */
        merge_tile<true, ITEMS>(m, part, keys, places);
        move_values(m, part, places);
    }
}
