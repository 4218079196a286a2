/*
 * merge/cuda/tile.cuh - merges the tile of a block: its keys in shared memory.
 *
 *     shared memory   | part of a | part of b |
 *     thread t        finds where elements 17 t ... 17 t + 16 of the tile begin in both parts,
 *                     and merges them to registers
 *     shared memory   | tile, in order |           then written by adjacent threads
 *
 * Floats of 32 and 64 bits stay as they are and are compared as numbers: -0 equals 0 and NaN is the
 * largest number, as the order requires. So no key is converted. Other keys are codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_TILE_CUH
#define ECHI_MERGE_CUDA_TILE_CUH

#include "cuda/device/merge_tile.cuh"
#include "merge/cuda/common.h"

/* Comparisons of 64 bits are slow on GPUs that have few units for them. */
#if KEY_BITS == 32
#define MERGE_FLOATS 1
typedef float merge_float;
#elif KEY_BITS == 64 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ % 100 == 0)
#define MERGE_FLOATS 1
typedef double merge_float;
#else
#define MERGE_FLOATS 0
#endif

/* How keys of a tile are compared: as codes; as codes of which some that differ are equal; as
 * floats. */
enum { MERGE_CODES, MERGE_MERGED, MERGE_AS_FLOATS };

#if MERGE_FLOATS
static __device__ inline merge_float float_of(ukey u)
{
    union {
        ukey u;
        merge_float f;
    } bits;
    bits.u = u;
    return bits.f;
}
#endif

/* Whether x, of a, precedes y, of b. */
template <int MODE>
static __device__ inline bool key_precedes(const struct echi_order &o, ukey x, ukey y)
{
#if MERGE_FLOATS
    if (MODE == MERGE_AS_FLOATS) {
        const merge_float low = float_of(o.flip ? y : x), high = float_of(o.flip ? x : y);
        return low <= high || high != high; /* a NaN is the largest number */
    }
#endif
    return merge_stored<MODE == MERGE_MERGED>(o, x) <= merge_stored<MODE == MERGE_MERGED>(o, y);
}

/* Whether keys are integers, or floats that are compared as such: their codes differ by this from
 * them. */
static __device__ inline bool order_is_change(const struct echi_order &o, ukey &change)
{
    change = o.float_mask ? (ukey)0 : (ukey)(o.sign ^ o.flip);
    return !o.float_mask || (MERGE_FLOATS && o.merge);
}

/* Loads both parts to keys[MERGE_ROOM]; all loads of a thread are in flight together.  Returns how
 * they are compared. */
template <int ITEMS>
static __device__ inline int tile_load(const struct merge_args &a, const struct merge_part &part,
                                       ukey *keys)
{
    ukey change;
    if (!order_is_change(a.order, change))
        return merge_load<MERGE_THREADS, ITEMS>(a.order, a.keys, part, keys) ? MERGE_MERGED
                                                                             : MERGE_CODES;
    const ukey *first = (const ukey *)a.keys[0] + part.a, *second = (const ukey *)a.keys[1];
    const int64_t shift = (int64_t)part.b - part.n_a; /* constant offsets need no arithmetic */
    const uint32_t n = part.n_a + part.n_b;
    ukey x[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const uint32_t i = threadIdx.x + k * MERGE_THREADS;
        x[k] = 0;
        if (i < n) x[k] = i < part.n_a ? __ldcs(first + i) : __ldcs(second + (shift + i));
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) keys[threadIdx.x + k * MERGE_THREADS] = x[k] ^ change;
    if (threadIdx.x < ITEMS + 1) keys[MERGE_THREADS * ITEMS + threadIdx.x] = 0;
    __syncthreads(); /* both parts are loaded */
    return MERGE_FLOATS && a.order.float_mask ? MERGE_AS_FLOATS : MERGE_CODES;
}

/* merge_path() of both parts in shared memory. */
template <int MODE>
static __device__ inline uint32_t tile_path(const struct echi_order &o, const ukey *keys,
                                            uint32_t n_a, uint32_t n, uint32_t diagonal)
{
    const ukey *b = keys + n_a;
    uint32_t low = diagonal > n - n_a ? diagonal - (n - n_a) : 0, high = min(diagonal, n_a);
    while (low < high) {
        const uint32_t i = (low + high) / 2;
        if (key_precedes<MODE>(o, keys[i], b[diagonal - 1 - i]))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

/* The elements of this thread, and their places in shared memory.  After the end of a part, the
 * keys that are loaded are not used. */
template <bool PLACES, int MODE, int ITEMS>
static __device__ inline void tile_items(const struct echi_order &o, const ukey *keys, uint32_t n_a,
                                         uint32_t n, ukey (&item)[ITEMS], uint16_t (&place)[ITEMS])
{
    const uint32_t first = min(threadIdx.x * ITEMS, n);
    uint32_t i = tile_path<MODE>(o, keys, n_a, n, first);
    uint32_t j = n_a + first - i;
    ukey x = keys[i], y = keys[j];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const bool take = j >= n || (i < n_a && key_precedes<MODE>(o, x, y));
        item[k] = take ? x : y;
        if (PLACES) place[k] = (uint16_t)(take ? i : j);
        if (take)
            x = keys[++i];
        else
            y = keys[++j];
    }
}

/* Writes the keys of the tile, which are in order. */
template <int ITEMS>
static __device__ inline void tile_store(const struct merge_args &a, const ukey *keys, uint32_t n,
                                         ukey *out)
{
    ukey change;
    const bool changed = order_is_change(a.order, change);
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const uint32_t i = threadIdx.x + k * MERGE_THREADS;
        if (i < n)
            __stcs(out + i, changed ? (ukey)(keys[i] ^ change) : order_decode(a.order, keys[i]));
    }
}

/* Merges a tile in shared memory and writes its keys. PLACES: places[k] becomes the place that
 * element k of the tile had in the two parts. */
template <bool PLACES, int ITEMS>
static __device__ inline void merge_tile(const struct merge_args &a, const struct merge_part &part,
                                         ukey *keys, uint16_t *places)
{
    const uint32_t n = part.n_a + part.n_b, first = threadIdx.x * ITEMS;
    ukey item[ITEMS];
    uint16_t place[ITEMS];
    const int mode = tile_load<ITEMS>(a, part, keys);
    if (mode == MERGE_CODES)
        tile_items<PLACES, MERGE_CODES, ITEMS>(a.order, keys, part.n_a, n, item, place);
    else
        tile_items<PLACES, MERGE_FLOATS ? MERGE_AS_FLOATS : MERGE_MERGED, ITEMS>(
            a.order, keys, part.n_a, n, item, place);
    __syncthreads(); /* all threads have read the parts */
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (first + k >= n) continue;
        keys[first + k] = item[k];
        if (PLACES) places[first + k] = place[k];
    }
    __syncthreads(); /* the tile is complete */
    tile_store<ITEMS>(a, keys, n, (ukey *)a.keys_out + part.a + part.b);
}

#endif
