/*
 * quantile/cuda/place_parts.cuh - a partition around several bounds, in one pass.
 *
 *     quantile_place_parts   a tile per block: vectors of 16 bytes -> shared memory -> the
 *                            parts of adjacent elements -> counts of a part and a
 *                            thread -> ranks in the tile, and by decoupled look-back of one warp
 *                            per part -> shared memory, by part -> a run of each part, in vectors
 *
 *     parts      0 0 0 | 1 1 | 2 2 2        the bounds, and what does not exist of a partial tile,
 *     bounds           0     1              have the last number and are not written with a part
 *
 * The beginnings of the parts in the result are known: they follow the ranks.  A part has a warp,
 * which scans its counts without a barrier.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_PLACE_PARTS_CUH
#define ECHI_QUANTILE_CUDA_PLACE_PARTS_CUH

#include "quantile/cuda/place.cuh"

enum {
    PARTS = QUANTILE_PARTS,
    PARTS_ROOM = QUANTILE_PLACE_ROOM(KEY_BYTES),
    PARTS_EACH = PLACE_TILE / QUANTILE_THREADS,
    PARTS_DIGITS = (PARTS_EACH + 7) / 8 /* words with a digit of 4 bits per element */
};

static_assert((int)PARTS <= (int)WARPS, "a part has a warp");
static_assert(PARTS_EACH <= 32, "a bit per element, and counts of 16 bits");

extern __shared__ __align__(16) unsigned char shared_bytes[];

struct parts_shared {
    union {
        keys_vector vectors[PARTS_ROOM / VECTOR_KEYS];
        ukey keys[PARTS_ROOM];
        uint16_t positions[PARTS_ROOM];
    };
    uint16_t counts[PARTS][QUANTILE_THREADS]; /* before a thread, then its next places */
    /* Bounds: the keys that equal it, the elements of the tile before it, itself or PLACE_TILE */
    uint64_t low[PARTS], high[PARTS];
    uint32_t until[PARTS], bound[PARTS];
    /* Parts: their elements in the tile; the place of the first one in shared memory, and in the
     * result */
    uint32_t size[PARTS], place[PARTS];
    uint64_t target[PARTS];
    uint32_t zero; /* zero, but unknown to the compiler: see parts_again() */
};

static_assert(sizeof(struct parts_shared) <= QUANTILE_PARTS_SHARED_BYTES(KEY_BYTES),
              "the host gives less shared memory than the kernel uses");

/* The parts of adjacent elements of the tile, those of a thread. */
struct parts_digits {
    uint32_t words[PARTS_DIGITS];

    __device__ inline uint32_t at(int k) const
    {
        return words[k / 8] >> k % 8 * 4 & 15;
    }
};

/* These elements, or their keys.  They stay in shared memory until they are moved, because the
 * registers are needed. */
struct parts_keys {
    keys_vector vectors[PLACE_ROWS];

    __device__ inline ukey &at(int k)
    {
        return vectors[k / VECTOR_KEYS].of[k % VECTOR_KEYS];
    }
};

static __device__ inline uint32_t parts_last(const struct quantile_args &a)
{
    return a.count + 1;
}

/* The place of a vector in shared memory: lanes that read adjacent groups of vectors use all
 * banks. */
static __device__ inline uint32_t parts_vector(uint32_t v)
{
    return PLACE_ROWS == 4 ? v ^ (v >> 3 & 3) : v ^ (v >> 3 & 1);
}

static __device__ inline void parts_bounds(const struct quantile_args &a,
                                           const struct place_tile &tile, struct parts_shared &s)
{
    const uint32_t j = threadIdx.x;
    if (j == 0) s.zero = 0;
    if (j >= a.count) return;
    const struct quantile_bound b = a.bounds[j];
    const struct order_equals equals = order_equals_of(a.order, (ukey)b.key);
    s.low[j] = equals.low;
    s.high[j] = equals.high;
    s.until[j] = tile_before(tile, b.position);
    s.bound[j] = tile_element(tile, b.position);
    if (s.bound[j] == PLACE_TILE) return;
    const uint64_t k = a.list_of.ranks[j];
    if (a.out) ((ukey *)a.out)[k] = ((const ukey *)a.in)[b.position];
    if (a.index) store_number(a.index, a.index_bytes, k, b.position);
}

/* Loads the tile, coalesced, into shared memory. */
static __device__ inline void parts_load(const struct quantile_args &a,
                                         const struct place_tile &tile, struct parts_shared &s)
{
    const ukey *in = (const ukey *)a.in + tile.begin;
    keys_vector rows[PLACE_ROWS];
#pragma unroll
    for (int r = 0; r < PLACE_ROWS; r++) rows[r] = load_vector(in, tile, row_begin(r));
#pragma unroll
    for (int r = 0; r < PLACE_ROWS; r++)
        s.vectors[parts_vector(row_begin(r) / VECTOR_KEYS)].vector = rows[r].vector;
    __syncthreads(); /* the tile is in shared memory, and the bounds */
}

/* The thread's elements. */
static __device__ inline void parts_take(const struct parts_shared &s, struct parts_keys &k)
{
#pragma unroll
    for (int r = 0; r < PLACE_ROWS; r++)
        k.vectors[r].vector = s.vectors[parts_vector(threadIdx.x * PLACE_ROWS + r)].vector;
}

/* Adds one to the digits of the elements that come after bound j; p: the thread's first element. */
static __device__ inline void parts_compare(const struct parts_shared &s, uint32_t j, uint32_t p,
                                            struct parts_keys &k, struct parts_digits &digits)
{
    const wkey low = (wkey)s.low[j], high = (wkey)s.high[j];
    const uint32_t until = s.until[j];
    const bool before = until >= p + PARTS_EACH;
    if (before || until <= p) {
        const wkey least = before ? high + 1 : low;
        if (before && high == (wkey) ~(wkey)0) return;
#pragma unroll
        for (int i = 0; i < PARTS_EACH; i++)
            if (k.at(i) >= least) digits.words[i / 8] += 1u << i % 8 * 4;
        return;
    }
#pragma unroll
    for (int i = 0; i < PARTS_EACH; i++)
        if (p + i < until ? k.at(i) > high : k.at(i) >= low) digits.words[i / 8] += 1u << i % 8 * 4;
}

/* The parts of the thread's elements. */
static __device__ inline void parts_find(const struct quantile_args &a,
                                         const struct place_tile &tile,
                                         const struct parts_shared &s, struct parts_digits &digits)
{
    const uint32_t p = threadIdx.x * PARTS_EACH, last = parts_last(a);
    uint32_t others = 0; /* that are not moved with a part */
    struct parts_keys k;
    parts_take(s, k);
#pragma unroll
    for (int i = 0; i < PARTS_EACH; i++) k.at(i) = order_encode(a.order, k.at(i));
#pragma unroll
    for (int w = 0; w < PARTS_DIGITS; w++) digits.words[w] = 0;
    for (uint32_t j = 0; j < a.count; j++) {
        parts_compare(s, j, p, k, digits);
        if (s.bound[j] - p < PARTS_EACH) others |= 1u << (s.bound[j] - p);
    }
    if (p < tile.low || p + PARTS_EACH > tile.high)
#pragma unroll
        for (int i = 0; i < PARTS_EACH; i++)
            if (p + i < tile.low || p + i >= tile.high) others |= 1u << i;
    if (!others) return;
#pragma unroll
    for (int i = 0; i < PARTS_EACH; i++)
        if (others >> i & 1) {
            digits.words[i / 8] &= ~(15u << i % 8 * 4);
            digits.words[i / 8] |= last << i % 8 * 4;
        }
}

/* Counts the thread's elements of each part, in its own counters. */
static __device__ inline void parts_count(struct parts_shared &s, uint32_t parts,
                                          const struct parts_digits &digits)
{
    for (uint32_t d = 0; d < parts; d++) s.counts[d][threadIdx.x] = 0;
#pragma unroll
    for (int i = 0; i < PARTS_EACH; i++) s.counts[digits.at(i)][threadIdx.x]++;
}

enum { PARTS_COUNTERS = QUANTILE_THREADS / 32 }; /* of a lane, in the warp's part */

/* Replaces the counts of part d by the numbers of elements of the part in the threads before, or
 * through each thread; returns the number of all. */
static __device__ inline uint32_t parts_scan(struct parts_shared &s, uint32_t d, bool through)
{
    uint16_t *row = &s.counts[d][lane_id() * PARTS_COUNTERS];
    union {
        uint4 vectors[PARTS_COUNTERS / 8];
        uint16_t of[PARTS_COUNTERS];
    } own;
    uint32_t sum = 0;
#pragma unroll
    for (int v = 0; v < PARTS_COUNTERS / 8; v++) own.vectors[v] = ((const uint4 *)row)[v];
#pragma unroll
    for (int i = 0; i < PARTS_COUNTERS; i++) sum += own.of[i];
    const uint32_t inclusive = warp_scan(sum);
    uint32_t before = inclusive - sum;
#pragma unroll
    for (int i = 0; i < PARTS_COUNTERS; i++) {
        const uint32_t count = own.of[i];
        own.of[i] = (uint16_t)(through ? before + count : before);
        before += count;
    }
#pragma unroll
    for (int v = 0; v < PARTS_COUNTERS / 8; v++) ((uint4 *)row)[v] = own.vectors[v];
    return __shfl_sync(WARP_ALL, inclusive, 31);
}

/* Adds the place of part d to its counters, which are two per word; no sum exceeds 16 bits. */
static __device__ inline void parts_add(struct parts_shared &s, uint32_t d, uint32_t place)
{
    uint4 *row = (uint4 *)&s.counts[d][lane_id() * PARTS_COUNTERS];
    const uint32_t both = place << 16 | place;
#pragma unroll
    for (int v = 0; v < PARTS_COUNTERS / 8; v++) {
        const uint4 w = row[v];
        row[v] = make_uint4(w.x + both, w.y + both, w.z + both, w.w + both);
    }
}

/* The places of the parts in shared memory: each at the same offset from a multiple of 16 bytes as
 * in the result.  Returns that of part d; lanes are parts. */
static __device__ inline uint32_t parts_places(const struct quantile_args &a,
                                               struct parts_shared &s, uint32_t d)
{
    const uint32_t own = lane_id(), last = parts_last(a);
    const uint32_t size = own <= last ? s.size[own] : 0;
    const uint32_t offset = a.out && own < last ? vector_offset((ukey *)a.out + s.target[own]) : 0;
    const uint32_t vectors = (offset + size + VECTOR_KEYS - 1) / VECTOR_KEYS;
    const uint32_t place = (warp_scan(vectors) - vectors) * VECTOR_KEYS + offset;
    if (d == 0 && own <= last) s.place[own] = place;
    return __shfl_sync(WARP_ALL, place, d);
}

/* The places of all elements: a warp per part. */
static __device__ inline void parts_rank(const struct quantile_args &a, struct parts_shared &s)
{
    const uint32_t d = threadIdx.x / 32, last = parts_last(a);
    uint64_t *words = a.words + d * a.tiles;
    uint32_t size = 0;
    if (d <= last) size = parts_scan(s, d, !a.out);
    if (d < last && lane_id() == 0) publish_tile(words, blockIdx.x, size);
    if (d < last) {
        const uint64_t before = place_tile(words, blockIdx.x, size, COUNT_MASK);
        const uint64_t begin = d ? a.list_of.ranks[d - 1] + 1 : 0;
        if (lane_id() == 0) s.target[d] = begin + before;
    }
    if (d <= last && lane_id() == 0) s.size[d] = size;
    __syncthreads(); /* the sizes and targets of all parts are known */
    if (d <= last) parts_add(s, d, parts_places(a, s, d));
    __syncthreads(); /* the places of all threads are known */
}

/* The same parts, which the compiler extracts from the words again, instead of keeping the result
 * for every element in a register. */
static __device__ inline struct parts_digits parts_again(const struct parts_shared &s,
                                                         struct parts_digits digits)
{
#pragma unroll
    for (int w = 0; w < PARTS_DIGITS; w++) digits.words[w] += s.zero;
    return digits;
}

/* Writes the values of the tile; afterwards the counters have the places after the elements. */
static __device__ inline void parts_values(const struct quantile_args &a, struct parts_shared &s,
                                           const struct parts_digits &parts)
{
    const struct parts_digits digits = parts_again(s, parts);
    struct parts_keys k;
    parts_take(s, k);
    __syncthreads(); /* the tile is in registers */
#pragma unroll
    for (int i = 0; i < PARTS_EACH; i++) s.keys[s.counts[digits.at(i)][threadIdx.x]++] = k.at(i);
    __syncthreads(); /* the tile is in the buffer */
    for (uint32_t d = 0; d < parts_last(a); d++)
        copy_run(s.vectors, s.place[d], s.size[d], (ukey *)a.out + s.target[d]);
}

/* Writes the positions of its elements, given the places after them. */
static __device__ inline void parts_positions(const struct quantile_args &a,
                                              const struct place_tile &tile, struct parts_shared &s,
                                              const struct parts_digits &parts)
{
    const struct parts_digits digits = parts_again(s, parts);
#pragma unroll
    for (int i = PARTS_EACH - 1; i >= 0; i--)
        s.positions[--s.counts[digits.at(i)][threadIdx.x]] =
            (uint16_t)(threadIdx.x * PARTS_EACH + i);
    __syncthreads(); /* the tile is in the buffer */
    for (uint32_t d = 0; d < parts_last(a); d++) {
        const uint32_t first = s.place[d], end = first + s.size[d];
        for (uint32_t i = first + (threadIdx.x - first) % QUANTILE_THREADS; i < end;
             i += QUANTILE_THREADS)
            store_number(a.index, a.index_bytes, s.target[d] + (i - first),
                         tile.begin + s.positions[i]);
    }
}

extern "C" __global__ void __launch_bounds__(QUANTILE_THREADS, 2)
    quantile_place_parts(const __grid_constant__ struct quantile_args a)
{
    struct parts_shared &s = *(struct parts_shared *)shared_bytes;
    struct parts_digits digits;
    wait_for_earlier();
    const struct place_tile tile = tile_place(a);
    parts_bounds(a, tile, s);
    parts_load(a, tile, s);
    parts_find(a, tile, s, digits);
    parts_count(s, parts_last(a) + 1, digits);
    __syncthreads(); /* all elements are counted, and their parts are known */
    parts_rank(a, s);
    if (a.out) parts_values(a, s, digits);
    if (a.out && a.index) __syncthreads(); /* the buffer is free */
    if (a.index) parts_positions(a, tile, s, digits);
}

#endif
