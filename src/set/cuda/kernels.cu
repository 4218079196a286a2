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
    STEPS = ITEMS + 1, /* of a thread: its part may begin one element earlier */
    ROOM = MERGE_ROOM(SET_THREADS, ITEMS)
};

/* ---- Boundaries ---- */

/* How keys are stored: as in the input, or as order_encode() returns them.  In the latter case,
 * some keys that are equal may have different codes. */
enum stored { RAW, CODES, CODES_MERGED };

template <int STORED> static __device__ inline ukey form_of(const struct echi_order &o, ukey u)
{
    return STORED == RAW ? merge_form(o, u) : merge_stored<STORED == CODES_MERGED>(o, u);
}

/* Where the keys that equal v and end before `end` begin. Their number is usually small, so the
 * distance from `end` is doubled before it is halved. */
template <int STORED, typename number>
static __device__ inline number equal_before(const struct echi_order &o, const ukey *keys,
                                             number end, ukey v)
{
    number from = end, step = 1; /* the keys from `from` on equal v */
    while (step <= from && form_of<STORED>(o, keys[from - step]) == v) {
        from -= step;
        step *= 2;
    }
    number least = step <= from ? from - step + 1 : 0;
    while (least < from) {
        const number i = least + (from - least) / 2;
        if (form_of<STORED>(o, keys[i]) == v)
            from = i;
        else
            least = i + 1;
    }
    return from;
}

/* Where the keys that equal v and begin at `from` end, but at most `to`. */
template <int STORED, typename number>
static __device__ inline number equal_after(const struct echi_order &o, const ukey *keys,
                                            number from, number to, ukey v)
{
    while (from < to) {
        const number i = from + (to - from) / 2;
        if (form_of<STORED>(o, keys[i]) == v)
            from = i + 1;
        else
            to = i;
    }
    return from;
}

/* Converts a point of the merge path, i elements of a and j of b, to one of the balanced path. On
 * the merge path, equal elements of a precede those of b. */
template <int STORED, typename number>
static __device__ inline void balance(const struct echi_order &o, const ukey *a, number n_a,
                                      const ukey *b, number n_b, number &i, number &j)
{
    if (i == 0 || (i >= n_a && j >= n_b)) return;
    const ukey next_a = i < n_a ? form_of<STORED>(o, a[i]) : 0;
    const ukey next_b = j < n_b ? form_of<STORED>(o, b[j]) : 0;
    const bool from_a = i < n_a && (j >= n_b || next_a <= next_b);
    const ukey v = from_a ? next_a : next_b;
    if (form_of<STORED>(o, a[i - 1]) != v) return; /* only elements of b, or none, equal v */
    const number first_a = equal_before<STORED>(o, a, (number)(i - 1), v);
    const number first_b = from_a ? j : equal_before<STORED>(o, b, j, v);
    const number t = (i - first_a) + (j - first_b); /* elements before the boundary */
    if (j - first_b >= i - first_a) return; /* a has no more, and all of them have partners */
    const number most = min(n_b - first_b, (t + 1) / 2); /* partners that are needed */
    number n = j - first_b + !from_a;                    /* b[j] equals v */
    if (n < most)
        n = equal_after<STORED>(o, b, (number)(first_b + n), (number)(first_b + most), v) - first_b;
    const number pairs = min(n, t / 2);
    i = 2 * n >= t ? first_a + pairs : first_a + (t - n);
    j = first_b + pairs;
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
    uint16_t places[TILE + 1];        /* of the kept elements, in keys */
    struct tile_ranks ranks;
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

/* Takes this thread's elements in order, from element i of the tile on, and from element j on of
 * its second part. Bit k of took[0] is set if step k takes an element of a; of took[1], of b. */
template <int STORED>
static __device__ inline void take_items(const struct echi_order &o, struct set_shared &s,
                                         const struct merge_part &part, uint32_t &i, uint32_t &j,
                                         uint32_t (&took)[2])
{
    uint32_t from[2], to[2];
    bounds_of_thread<STORED>(o, s, part, from, to);
    const uint32_t end_a = to[0], end_b = part.n_a + to[1];
    i = from[0];
    j = part.n_a + from[1];
    uint32_t next_a = i, next_b = j;
    ukey e = form_of<STORED>(o, s.keys[i]), f = form_of<STORED>(o, s.keys[j]);
    took[0] = took[1] = 0;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const bool more_a = next_a < end_a, more_b = next_b < end_b;
        /* If the warp has many pairs, it is done after half of the steps. */
        if (k == (STEPS + 1) / 2 && !__any_sync(WARP_ALL, more_a || more_b)) break;
        const bool first = more_a && (!more_b || e <= f), second = more_b && (!more_a || f <= e);
        if (first) {
            took[0] |= 1u << k;
            e = form_of<STORED>(o, s.keys[++next_a]);
        }
        if (second) {
            took[1] |= 1u << k;
            f = form_of<STORED>(o, s.keys[++next_b]);
        }
    }
}

/* Which steps keep their element. */
static __device__ inline uint32_t kept_of(uint32_t kept, const uint32_t (&took)[2])
{
    const uint32_t a = kept & ECHI_SET_A ? took[0] & ~took[1] : 0;
    const uint32_t b = kept & ECHI_SET_B ? took[1] & ~took[0] : 0;
    return a | b | (kept & ECHI_SET_BOTH ? took[0] & took[1] : 0);
}

/* Collects the places of the kept elements, from rank r of the tile on. */
static __device__ inline void collect(struct set_shared &s, const uint32_t (&took)[2],
                                      uint32_t kept, uint32_t i, uint32_t j, uint32_t r)
{
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const uint32_t first = took[0] >> k & 1, second = took[1] >> k & 1;
        if (kept >> k & 1) {
            if (r < (uint32_t)TILE + 1) /* always, if the inputs are sorted */
                s.places[r] = (uint16_t)(first ? i : j);
            r++;
        }
        i += first;
        j += second;
    }
}

/* Writes n keys from element `before` of the output on. PLAIN: order_plain(). */
template <bool PLAIN>
static __device__ inline void write_keys(const struct set_args &a, const struct set_shared &s,
                                         uint64_t before, uint32_t n)
{
    ukey *out = (ukey *)a.keys_out + before;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const uint32_t i = threadIdx.x + k * SET_THREADS;
        if (i >= n) continue;
        const ukey e = s.keys[s.places[i]];
        __stcs(out + i, PLAIN ? e : order_decode(a.order, e));
    }
}

/* While warp 0 waits for the tiles before this one, the others collect what they keep. */
template <bool VALUES>
static __device__ inline void set_tile(const struct set_args &a, struct set_shared &s)
{
    const uint64_t tile = blockIdx.x;
    uint64_t *words = a.words + SET_WORDS_FIRST;
    struct merge_part part;
    uint32_t i, j, took[2], total;
    part_of_tile(a, tile, part);
    if (merge_load<SET_THREADS, ITEMS>(a.order, a.keys, part, s.keys))
        take_items<CODES_MERGED>(a.order, s, part, i, j, took);
    else
        take_items<CODES>(a.order, s, part, i, j, took);
    const uint32_t kept = kept_of(a.kept, took), mine = (uint32_t)__popc(kept);
    const uint32_t through = warp_scan(mine), own = __shfl_sync(WARP_ALL, through, 31);
    const uint32_t below = rank_in_tile(s.ranks, words, own, &total);
    collect(s, took, kept, i, j, below + through - mine);
    const uint64_t before = rank_of_tile(s.ranks, words, total, a.n_a + a.n_b);
    const uint64_t room = before < a.capacity ? a.capacity - before : 0;
    const uint32_t n = (uint32_t)min((uint64_t)min(total, (uint32_t)TILE + 1), room);
    if (order_plain(a.order))
        write_keys<true>(a, s, before, n);
    else
        write_keys<false>(a, s, before, n);
    if (VALUES && n)
        merge_values<SET_THREADS>(a.values, part, a.words_of_value, a.word_bytes, a.values_out,
                                  before, n, s.places);
    if (tile == a.tiles - 1 && threadIdx.x == 0) *a.count = min(before + total, a.capacity);
}

enum { KEYS_BLOCKS = RESIDENT_BLOCKS(SET_KEYS_BLOCKS(KEY_BYTES), SET_THREADS) };

extern "C" __global__ void __launch_bounds__(SET_THREADS, KEYS_BLOCKS)
    set_keys(const __grid_constant__ struct set_args a)
{
    __shared__ struct set_shared s;
    wait_for_earlier();
    set_tile<false>(a, s);
}

extern "C" __global__ void __launch_bounds__(SET_THREADS,
                                             RESIDENT_BLOCKS(SET_PAIRS_BLOCKS, SET_THREADS))
    set_pairs(const __grid_constant__ struct set_args a)
{
    __shared__ struct set_shared s;
    wait_for_earlier();
    set_tile<true>(a, s);
}
