/*
 * quantile/cuda/place.cuh - a partition around one bound, in one pass.
 *
 *     quantile_place   a tile per block: vectors of 16 bytes -> a bit per key -> ranks in the tile,
 *                      and by decoupled look-back -> shared memory, in the order of the result ->
 *                      two runs of the result, in vectors
 *
 *     result   [ first elements of tile 0, 1, ... | bound | other elements of tile 0, 1, ... ]
 *
 * The place of the other elements follows from their positions.  The runs are at the same offset
 * from a multiple of 16 bytes in shared memory as in the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_PLACE_CUH
#define ECHI_QUANTILE_CUDA_PLACE_CUH

#include "quantile/cuda/find.cuh"

enum {
    PLACE_TILE = QUANTILE_PLACE_TILE(KEY_BYTES),
    PLACE_ROWS = PLACE_TILE / QUANTILE_THREADS / VECTOR_KEYS
};

/* The tile in the order of the result: keys, or their positions in the tile. */
union place_buffer {
    keys_vector vectors[PLACE_TILE / VECTOR_KEYS + 3];
    ukey keys[PLACE_TILE + 3 * VECTOR_KEYS];
    uint16_t positions[PLACE_TILE];
};

/* A thread's part of a tile: rows of a vector for each lane. */
struct place_rows {
    keys_vector vectors[PLACE_ROWS];
    uint32_t firsts[PLACE_ROWS]; /* a bit per key */
    uint32_t others[PLACE_ROWS];
    uint32_t rank[PLACE_ROWS]; /* first elements of the tile before the vector */
};

/* Where the tile is. */
struct place_tile {
    uint64_t begin;        /* the position of its element 0, which may be less than 0 */
    uint32_t low, high;    /* its elements [low, high) exist */
    uint32_t bound;        /* the element that is the bound, or the number of all */
    uint32_t firsts;       /* their number */
    uint64_t first, other; /* where the results begin */
};

/* The element of the tile that begins this vector. */
static __device__ inline uint32_t row_begin(int row)
{
    return ((threadIdx.x / 32 * PLACE_ROWS + row) * 32 + lane_id()) * VECTOR_KEYS;
}

static __device__ inline struct place_tile tile_place(const struct quantile_args &a)
{
    struct place_tile tile;
    const uint64_t skew = (uintptr_t)a.in / KEY_BYTES % VECTOR_KEYS;
    const uint64_t first = (uint64_t)blockIdx.x * PLACE_TILE, all = a.n + skew;
    tile.begin = first - skew;
    tile.low = first < skew ? (uint32_t)(skew - first) : 0;
    tile.high = all > first ? (uint32_t)min(all - first, (uint64_t)PLACE_TILE) : 0;
    if (tile.high < tile.low) tile.high = tile.low;
    return tile;
}

/* The element of the tile at this position of the input, or the number of all. */
static __device__ inline uint32_t tile_element(const struct place_tile &tile, uint64_t position)
{
    const uint64_t element = position - tile.begin;
    return element < PLACE_TILE ? (uint32_t)element : (uint32_t)PLACE_TILE;
}

/* The elements of the tile before this position of the input. */
static __device__ inline uint32_t tile_before(const struct place_tile &tile, uint64_t position)
{
    const uint64_t before = position - tile.begin;
    return (int64_t)before < 0 ? 0 : (uint32_t)min(before, (uint64_t)PLACE_TILE);
}

/* The vector that begins with element p of the tile; elements that do not exist are 0. */
static __device__ inline keys_vector load_vector(const ukey *in, const struct place_tile &tile,
                                                 uint32_t p)
{
    keys_vector v;
    v.vector = { 0, 0, 0, 0 };
    if (p >= tile.low && p + VECTOR_KEYS <= tile.high) {
        v.vector = *(const uint4 *)(in + p);
        return v;
    }
#pragma unroll
    for (int j = 0; j < VECTOR_KEYS; j++)
        if (p + j >= tile.low && p + j < tile.high) v.of[j] = in[p + j];
    return v;
}

/* Loads the keys and finds those before the bound. */
static __device__ inline void load_rows(const struct quantile_args &a,
                                        const struct place_tile &tile,
                                        const struct quantile_bound &b, struct place_rows &rows)
{
    const ukey *in = (const ukey *)a.in + tile.begin;
    const struct order_equals equals = order_equals_of(a.order, (ukey)b.key);
    /* Elements of the tile before this one come first if they equal the bound. */
    const uint32_t until = tile_before(tile, b.position);
#pragma unroll
    for (int r = 0; r < PLACE_ROWS; r++) rows.vectors[r] = load_vector(in, tile, row_begin(r));
#pragma unroll
    for (int r = 0; r < PLACE_ROWS; r++) {
        const uint32_t p = row_begin(r);
        uint32_t bits = 0;
#pragma unroll
        for (int j = 0; j < VECTOR_KEYS; j++) {
            const wkey e = order_encode(a.order, rows.vectors[r].of[j]);
            const bool first = p + j < until ? e <= equals.high : e < equals.low;
            bits |= (first ? 1u : 0u) << j;
        }
        uint32_t exist = bits_between<VECTOR_KEYS>(p, tile.low, tile.high);
        if (tile.bound - p < VECTOR_KEYS) exist &= ~(1u << (tile.bound - p));
        rows.firsts[r] = bits & exist;
        rows.others[r] = ~bits & exist;
    }
}

/* The number of other elements of the tile before its element p, of which `firsts` come first. */
static __device__ inline uint32_t others_before(const struct place_tile &tile, uint32_t p,
                                                uint32_t firsts)
{
    return max(p, tile.low) - tile.low - firsts - (tile.bound < p);
}

/* Calls put(slot, row, j) for each element: its slot among the first elements, or after
 * `others_begin` among the others. */
template <typename function>
static __device__ inline void each_slot(const struct place_tile &tile,
                                        const struct place_rows &rows, uint32_t firsts_begin,
                                        uint32_t others_begin, const function &put)
{
#pragma unroll
    for (int r = 0; r < PLACE_ROWS; r++) {
        uint32_t first = firsts_begin + rows.rank[r];
        uint32_t other = others_begin + others_before(tile, row_begin(r), rows.rank[r]);
#pragma unroll
        for (int j = 0; j < VECTOR_KEYS; j++) {
            if (rows.firsts[r] >> j & 1) put(first++, r, j);
            if (rows.others[r] >> j & 1) put(other++, r, j);
        }
    }
}

/* Copies elements [from, from + count) of the buffer to `to`, by all threads; both have the same
 * offset from a multiple of 16 bytes.  Thread t copies the vectors of the buffer whose number is t
 * modulo the threads, so that several runs together are divided evenly. */
static __device__ inline void copy_run(const keys_vector *buffer, uint32_t from, uint32_t count,
                                       ukey *to)
{
    ukey *base = to - from % VECTOR_KEYS;
    const uint32_t low = from, high = from + count, first = from / VECTOR_KEYS;
    const uint32_t skip = (threadIdx.x - first) % QUANTILE_THREADS;
    for (uint32_t v = first + skip; v * VECTOR_KEYS < high; v += QUANTILE_THREADS) {
        ukey *at = base + (v - first) * VECTOR_KEYS;
        if (v * VECTOR_KEYS >= low && (v + 1) * VECTOR_KEYS <= high) {
            *(uint4 *)at = buffer[v].vector;
            continue;
        }
        for (uint32_t j = 0; j < VECTOR_KEYS; j++)
            if (v * VECTOR_KEYS + j >= low && v * VECTOR_KEYS + j < high) at[j] = buffer[v].of[j];
    }
}

static __device__ inline uint32_t vector_offset(const ukey *to)
{
    return (uint32_t)((uintptr_t)to / KEY_BYTES % VECTOR_KEYS);
}

/* Writes the values of the tile. */
static __device__ inline void place_values(const struct quantile_args &a,
                                           const struct place_tile &tile,
                                           const struct place_rows &rows,
                                           union place_buffer &buffer)
{
    ukey *out = (ukey *)a.out;
    const uint32_t firsts = vector_offset(out + tile.first), end = firsts + tile.firsts;
    const uint32_t others =
        (end + VECTOR_KEYS - 1) / VECTOR_KEYS * VECTOR_KEYS + vector_offset(out + tile.other);
    each_slot(tile, rows, firsts, others,
              [&](uint32_t slot, int r, int j) { buffer.keys[slot] = rows.vectors[r].of[j]; });
    __syncthreads(); /* the tile is in the buffer */
    copy_run(buffer.vectors, firsts, tile.firsts, out + tile.first);
    copy_run(buffer.vectors, others, others_before(tile, tile.high, tile.firsts), out + tile.other);
}

/* Writes the positions of the tile's elements. */
static __device__ inline void place_positions(const struct quantile_args &a,
                                              const struct place_tile &tile,
                                              const struct place_rows &rows,
                                              union place_buffer &buffer)
{
    each_slot(tile, rows, 0, tile.firsts, [&](uint32_t slot, int r, int j) {
        buffer.positions[slot] = (uint16_t)(row_begin(r) + j);
    });
    __syncthreads(); /* the tile is in the buffer */
    const uint32_t count = tile.firsts + others_before(tile, tile.high, tile.firsts);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const uint64_t to = i < tile.firsts ? tile.first + i : tile.other + (i - tile.firsts);
        store_number(a.index, a.index_bytes, to, tile.begin + buffer.positions[i]);
    }
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS, KEY_BYTES == 8 ? 1 : 2)
    quantile_place(const __grid_constant__ struct quantile_args a)
{
    __shared__ union place_buffer buffer;
    __shared__ struct tile_ranks s;
    struct place_rows rows;
    wait_for_earlier();
    const struct quantile_bound b = a.bounds[0];
    const uint64_t k = a.list_of.ranks[0];
    struct place_tile tile = tile_place(a);
    tile.bound = tile_element(tile, b.position);
    load_rows(a, tile, b, rows);
    const uint32_t own = warp_ranks<PLACE_ROWS, VECTOR_KEYS>(rows.firsts, rows.rank);
    const uint64_t rank =
        rank_tile(s, a.words + QUANTILE_WORDS_FIRST, own, &tile.firsts, COUNT_MASK);
    tile.first = s.before;
#pragma unroll
    for (int r = 0; r < PLACE_ROWS; r++) rows.rank[r] += (uint32_t)(rank - tile.first);
    const uint64_t begin = tile.begin + tile.low; /* the first element that exists */
    tile.other = k + 1 + (begin - tile.first) - (b.position < begin);
    if (threadIdx.x == 0 && tile.bound < tile.high) {
        if (a.out) ((ukey *)a.out)[k] = ((const ukey *)a.in)[b.position];
        if (a.index) store_number(a.index, a.index_bytes, k, b.position);
    }
    if (a.out) place_values(a, tile, rows, buffer);
    if (a.out && a.index) __syncthreads(); /* the buffer is free */
    if (a.index) place_positions(a, tile, rows, buffer);
}

#endif
