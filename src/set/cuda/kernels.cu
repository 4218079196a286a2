/*
 * set/cuda/kernels.cu - set operations on two sorted arrays on the GPU: two kernels.
 *
 *     set_bounds   one thread per boundary of tiles: how many elements of a and of b precede it
 *     set_keys     a block loads its part of a and of b, selects the elements that are kept, finds
 *                  their ranks by decoupled look-back, and writes them
 *     set_pairs    ... and moves their values
 *
 *     a   | 2 4 4 4 | 4 7        Equal elements of a and b are pairs: the first of a with the first
 *     b   | 4 4 | 5 7 7          of b, and so on.  A boundary does not divide a pair, so that each
 *                                tile, and each thread, finds the partners of its elements.
 *
 * The boundaries are those of the balanced path of Green, Odeh and Birk (Merge path - a visually
 * intuitive approach to parallel merging, 2014): among the elements that equal the next one, as
 * many of a as of b precede the boundary, until one of the two has no more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define BLOCK_THREADS SET_THREADS
#include "set/cuda/common.h"
#include "cuda/device/merge_tile.cuh"
#include "select/cuda/tile.cuh"

enum {
    ITEMS = SET_ITEMS(KEY_BYTES),
    TILE = SET_TILE(KEY_BYTES),
    STEPS = ITEMS + 1,             /* of a thread: its part may begin one element earlier */
    ROOM = SET_THREADS * STEPS + 1 /* any threads may keep all their elements, if unsorted */
};

/* ---- Boundaries ---- */

/* How keys are stored: as in the input, or as order_encode() returns them.  In the latter case,
 * some keys that are equal may have different codes. */
enum stored { RAW, CODES, CODES_MERGED };

template <int STORED> static __device__ inline ukey form_of(const struct echi_order &o, ukey u)
{
    return STORED == RAW ? merge_form(o, u) : merge_stored<STORED == CODES_MERGED>(o, u);
}

/* Where the elements that equal v begin, of which `at` - 1 is one, or end, of which the next one is
 * `at`.  There are usually few, so that the search begins near `at`: in steps of 1, 16, 256, ...
 * elements, then by halves. */
template <int STORED, typename number>
static __device__ inline number equal_begin(const struct echi_order &o, const ukey *keys, number at,
                                            ukey v)
{
    number high = at, step = 1;
    while (step <= high && form_of<STORED>(o, keys[high - step]) >= v) {
        high -= step;
        step *= 16;
    }
    number low = step <= high ? high - step + 1 : 0;
    while (low < high) {
        const number i = low + (high - low) / 2;
        if (form_of<STORED>(o, keys[i]) < v)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

template <int STORED, typename number>
static __device__ inline number equal_end(const struct echi_order &o, const ukey *keys, number at,
                                          number n, ukey v)
{
    number low = at, step = 1;
    while (step <= n - low && form_of<STORED>(o, keys[low + (step - 1)]) <= v) {
        low += step;
        step *= 16;
    }
    number high = step <= n - low ? low + (step - 1) : n;
    while (low < high) {
        const number i = low + (high - low) / 2;
        if (form_of<STORED>(o, keys[i]) <= v)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

/* Converts a point of the merge path, i elements of a and j of b, to one of the balanced path. */
template <int STORED, typename number>
static __device__ inline void balance(const struct echi_order &o, const ukey *a, number n_a,
                                      const ukey *b, number n_b, number &i, number &j)
{
    if (i >= n_a && j >= n_b) return;
    const ukey next_a = i < n_a ? form_of<STORED>(o, a[i]) : 0;
    const ukey next_b = j < n_b ? form_of<STORED>(o, b[j]) : 0;
    const ukey v = i < n_a && (j >= n_b || next_a <= next_b) ? next_a : next_b;
    const bool before_a = i > 0 && form_of<STORED>(o, a[i - 1]) == v;
    const bool before_b = j > 0 && form_of<STORED>(o, b[j - 1]) == v;
    if (!before_a && !before_b) return; /* none of them precedes the boundary */
    const number first_a = before_a ? equal_begin<STORED>(o, a, i, v) : i;
    const number first_b = before_b ? equal_begin<STORED>(o, b, j, v) : j;
    const number m = equal_end<STORED>(o, a, i, n_a, v) - first_a;
    const number n = equal_end<STORED>(o, b, j, n_b, v) - first_b;
    const number t = (i - first_a) + (j - first_b);
    if (t <= 2 * min(m, n)) {
        i = first_a + t / 2;
        j = first_b + t / 2;
    } else if (m < n) {
        i = first_a + m;
        j = first_b + (t - m);
    } else {
        i = first_a + (t - n);
        j = first_b + n;
    }
}

extern "C" __global__ void __launch_bounds__(SET_THREADS)
    set_bounds(const __grid_constant__ struct set_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * SET_THREADS, n = a.n_a + a.n_b;
    const ukey *first = (const ukey *)a.keys[0], *second = (const ukey *)a.keys[1];
    wait_for_earlier();
    for (uint64_t t = (uint64_t)blockIdx.x * SET_THREADS + threadIdx.x; t <= a.tiles; t += step) {
        const uint64_t diagonal = t < a.tiles ? t * TILE : n;
        uint64_t i = merge_path(a.order, first, a.n_a, second, a.n_b, diagonal), j = diagonal - i;
        balance<RAW>(a.order, first, a.n_a, second, a.n_b, i, j);
        a.bounds[t].a = i;
        a.bounds[t].b = j;
    }
}

/* ---- A tile ---- */

struct set_shared {
    ukey keys[ROOM];
    uint32_t bounds[SET_THREADS + 1]; /* of threads: of a, and of b in the upper half */
    struct tile_ranks ranks;
};

/* What a thread does in each step: bit k of `first` is set if step k takes an element of a, of
 * `second` if it takes one of b.  Both are set for a pair. */
struct set_steps {
    uint32_t i, j; /* of the part in shared memory: where the elements begin */
    uint32_t first, second;
};

/* The part of a tile.  For inputs that are not sorted, boundaries may be in descending order, or
 * too far apart. */
static __device__ inline void part_of_tile(const struct set_args &a, uint64_t tile,
                                           struct merge_part &part)
{
    const struct set_bound from = a.bounds[tile], to = a.bounds[tile + 1];
    part.a = from.a;
    part.b = from.b;
    part.n_a = to.a <= from.a ? 0 : (uint32_t)min(to.a - from.a, (uint64_t)TILE + 1);
    part.n_b = to.b <= from.b ? 0 : (uint32_t)min(to.b - from.b, (uint64_t)TILE + 1 - part.n_a);
}

/* Where this thread's part of the tile begins and ends, in both parts. */
template <int STORED>
static __device__ inline void bounds_of_thread(const struct echi_order &o, struct set_shared &s,
                                               const struct merge_part &part, uint32_t (&from)[2],
                                               uint32_t (&to)[2])
{
    const uint32_t n = part.n_a + part.n_b, diagonal = min(threadIdx.x * ITEMS, n);
    const ukey *b = s.keys + part.n_a;
    uint32_t i =
        merge_path_shared<STORED == CODES_MERGED>(o, s.keys, part.n_a, b, part.n_b, diagonal);
    uint32_t j = diagonal - i;
    balance<STORED>(o, s.keys, part.n_a, b, part.n_b, i, j);
    from[0] = i;
    from[1] = j;
    s.bounds[threadIdx.x] = i | j << 16;
    if (threadIdx.x == 0) s.bounds[SET_THREADS] = part.n_a | part.n_b << 16;
    __syncthreads(); /* the next thread's bounds are written */
    to[0] = s.bounds[threadIdx.x + 1] & 0xffff;
    to[1] = s.bounds[threadIdx.x + 1] >> 16;
}

/* Takes the elements of a thread in order.  A step loads only keys that replace those it takes. */
template <int STORED>
static __device__ inline void take_items(const struct set_args &a, struct set_shared &s,
                                         const struct merge_part &part, ukey (&item)[STEPS],
                                         struct set_steps &steps)
{
    uint32_t from[2], to[2];
    bounds_of_thread<STORED>(a.order, s, part, from, to);
    uint32_t i = from[0], j = part.n_a + from[1];
    const uint32_t end_i = to[0], end_j = part.n_a + to[1];
    ukey x = s.keys[i], y = s.keys[j];
    steps.i = i;
    steps.j = j;
    steps.first = steps.second = 0;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const bool more_a = i < end_i, more_b = j < end_j;
        /* If the warp has many pairs, it is done after half of the steps. */
        if (k == (STEPS + 1) / 2 && !__any_sync(WARP_ALL, more_a || more_b)) break;
        const ukey e = form_of<STORED>(a.order, x), f = form_of<STORED>(a.order, y);
        const bool first = more_a && (!more_b || e <= f), second = more_b && (!more_a || f <= e);
        item[k] = first ? x : y;
        if (first) {
            steps.first |= 1u << k;
            x = s.keys[++i];
        }
        if (second) {
            steps.second |= 1u << k;
            y = s.keys[++j];
        }
    }
}

/* Bit k is set if what step k takes is kept. */
static __device__ inline uint32_t kept_steps(uint32_t kept, const struct set_steps &steps)
{
    const uint32_t first = steps.first, second = steps.second;
    return (kept >> 1 & 1 ? first & ~second : 0) | (kept >> 2 & 1 ? second & ~first : 0) |
           (kept >> 3 & 1 ? first & second : 0);
}

/* Collects what is kept from rank r of the tile on: the keys, or where they are in the part. */
template <bool PLACES>
static __device__ inline void collect(struct set_shared &s, const struct set_steps &steps,
                                      uint32_t kept, uint32_t r, const ukey (&item)[STEPS],
                                      uint16_t *places)
{
    uint32_t i = steps.i, j = steps.j;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        if (kept >> k & 1) {
            if (PLACES)
                places[r] = (uint16_t)(steps.first >> k & 1 ? i : j);
            else
                s.keys[r] = item[k];
            r++;
        }
        i += steps.first >> k & 1;
        j += steps.second >> k & 1;
    }
}

/* Writes n keys from element `before` of the output on. PLAIN: order_plain(). */
template <bool PLACES, bool PLAIN>
static __device__ inline void write_keys(const struct set_args &a, const struct set_shared &s,
                                         uint64_t before, uint32_t n, const uint16_t *places)
{
    ukey *out = (ukey *)a.keys_out + before;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const uint32_t i = threadIdx.x + k * SET_THREADS;
        if (i >= n) continue;
        const ukey e = s.keys[PLACES ? places[i] : i];
        __stcs(out + i, PLAIN ? e : order_decode(a.order, e));
    }
}

/* Writes n elements from element `before` of the output on. */
template <bool PLACES>
static __device__ inline void write_tile(const struct set_args &a, const struct set_shared &s,
                                         const struct merge_part &part, uint64_t before, uint32_t n,
                                         const uint16_t *places)
{
    if (order_plain(a.order))
        write_keys<PLACES, true>(a, s, before, n, places);
    else
        write_keys<PLACES, false>(a, s, before, n, places);
    if (PLACES && n)
        merge_values<SET_THREADS>(a.values, part, a.words_of_value, a.word_bytes, a.values_out,
                                  before, n, places);
}

/* While warp 0 waits for the tiles before this one, the others collect what they keep. */
template <bool PLACES>
static __device__ inline void set_tile(const struct set_args &a, struct set_shared &s,
                                       uint16_t *places)
{
    const uint64_t tile = blockIdx.x, most = a.n_a + a.n_b;
    const uint32_t warp = threadIdx.x / 32;
    uint64_t *words = a.words + SET_WORDS_FIRST;
    struct merge_part part;
    struct set_steps steps;
    ukey item[STEPS];
    uint32_t total;
    part_of_tile(a, tile, part);
    if (merge_load<SET_THREADS, ITEMS>(a.order, a.keys, part, s.keys))
        take_items<CODES_MERGED>(a, s, part, item, steps);
    else
        take_items<CODES>(a, s, part, item, steps);
    const uint32_t kept = kept_steps(a.kept, steps);
    const uint32_t mine = (uint32_t)__popc(kept), through = warp_scan(mine);
    if (lane_id() == 31) s.ranks.sums[warp] = through;
    __syncthreads(); /* every warp has its sum, and all threads have read the parts */
    const uint32_t below = warps_before(s.ranks.sums, &total);
    if (threadIdx.x == 0) publish_tile(words, tile, total);
    collect<PLACES>(s, steps, kept, below + through - mine, item, places);
    if (warp == 0) {
        const uint64_t before = place_tile(words, tile, total, most);
        if (lane_id() == 0) s.ranks.before = before;
    }
    __syncthreads(); /* the kept elements are in order, and their ranks are known */
    const uint64_t before = s.ranks.before;
    const uint64_t room = before < a.capacity ? a.capacity - before : 0;
    const uint32_t n = (uint32_t)min((uint64_t)min(total, (uint32_t)TILE + 1), room);
    write_tile<PLACES>(a, s, part, before, n, places);
    if (tile == a.tiles - 1 && threadIdx.x == 0) *a.count = min(before + total, a.capacity);
}

extern "C" __global__ void __launch_bounds__(SET_THREADS, SET_KEYS_BLOCKS(KEY_BYTES))
    set_keys(const __grid_constant__ struct set_args a)
{
    __shared__ struct set_shared s;
    wait_for_earlier();
    set_tile<false>(a, s, NULL);
}

extern "C" __global__ void __launch_bounds__(SET_THREADS, SET_PAIRS_BLOCKS)
    set_pairs(const __grid_constant__ struct set_args a)
{
    __shared__ struct set_shared s;
    __shared__ uint16_t places[ROOM];
    wait_for_earlier();
    set_tile<true>(a, s, places);
}
