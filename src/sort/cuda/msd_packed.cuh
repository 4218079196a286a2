/*
 * sort/cuda/msd_packed.cuh - the first two levels for many pairs of 32-bit keys that are evenly
 * distributed, or mapped to words that are (packed_map.cuh): one read counts both levels, and
 * between them each key is stored next to its value.
 *
 *     sort_skewed_begin     determines from a sample from which bit on keys look evenly distributed
 *     sort_packed_count     counts the keys of each value of the first 16 bits, in one read
 *     sort_packed_plan      segments of the second level; or leaves all to the levels of msd_pairs
 *     sort_packed_first     moves pairs by the first digit, to the memory of the output
 *     sort_packed_bins      plans the second level
 *     sort_packed_second    moves them by the second digit, to the other buffer
 *     sort_packed_leaf      sorts segments that fit in a block: msd_pairs_leaf.cuh
 *     sort_pairs_count      moves other segments to the output; the levels of msd_pairs divide them
 *
 *     input          | keys            |     | values          |
 *     first level    | pairs, first half |   | second half     |     in the output's two arrays
 *     second level   | pairs                                   |     in the workspace
 *     leaves         | keys            |     | values          |
 *
 * The pairs of a digit in a tile are then one run of twice the length.  A tile finds its output
 * positions by decoupled look-back within its segment, late: when its pairs are sorted by digit,
 * the tiles before have long published their counts.  Blocks may begin in any order: a block that
 * waits too long for a tile counts the keys of that tile itself.
 *
 * If the first digits do not produce leaves of most keys, or the keys are not distributed like the
 * sample, msd_pairs.cu sorts them from the start.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_PACKED_CUH
#define ECHI_SORT_CUDA_MSD_PACKED_CUH

#include "sort/cuda/msd_pairs_leaf.cuh"
#include "sort/cuda/msd_plan.cuh"
#include "sort/cuda/packed_map.cuh"

enum {
    PACKED_BITS = 2 * SORT_DIGIT_BITS,
    PACKED_WORDS = 1 << (PACKED_BITS - 1), /* two counters each */
    PACKED_THREADS = SORT_PACKED_THREADS,
    PACKED_WARPS = PACKED_THREADS / 32,
    PACKED_COUNT_WARPS = SORT_PACKED_COUNT_THREADS / 32,
    PACKED_ASKED = 8,         /* tiles whose descriptors are loaded at once */
    PACKED_PATIENCE = 1 << 14 /* maximum number of times that a tile's descriptor is polled */
};
static_assert((int)PACKED_THREADS == (int)SORT_BINS, "one thread per digit in the look-back");

static __device__ inline bool packed_maps(const msd_args &a)
{
    return a.lists.msd->mapping == SORT_MAPPED;
}

/* ---- Counts ---- */

struct packed_count_shared {
    uint32_t differ, keys;
    uint2 pieces[SORT_PACKED_PIECES];
};

/* How keys are counted: as they are, encoded, or mapped. */
enum { PACKED_AS_IS, PACKED_ENCODED, PACKED_MAPPED };

/* What a count needs to know. */
struct packed_counting {
    uint32_t lead; /* bits in which keys of the sample agree */
    ukey first;
    struct sort_map map;
    const uint2 *pieces;
};

template <int FORM>
static __device__ inline void packed_count_key(const struct sort_common &a, uint32_t *words,
                                               const struct packed_counting &c, ukey u,
                                               ukey &differ)
{
    const ukey e = FORM == PACKED_AS_IS ? u : order_encode(a.order, u);
    const ukey x =
        FORM == PACKED_MAPPED ? map_word(c.map, c.pieces, 0, order_merge(a.order, e)) : e << c.lead;
    if (FORM != PACKED_MAPPED) differ |= e ^ c.first;
    atomicAdd(&words[x >> (KEY_BITS - PACKED_BITS + 1)],
              1u << (x >> (KEY_BITS - PACKED_BITS - 4) & 16));
}

/* Counts the keys of [from, to). */
template <int FORM>
static __device__ inline ukey packed_count_range(const struct sort_common &a, uint32_t *words,
                                                 const struct packed_counting &c, uint64_t from,
                                                 uint64_t to)
{
    enum { THREADS_ = SORT_PACKED_COUNT_THREADS };
    const ukey *mine = (const ukey *)a.keys_in + from;
    const uint64_t count = to - from;
    const struct key_vectors v = key_vectors_of(mine, count);
    ukey differ = 0;
    for (uint64_t i = threadIdx.x; i < v.count; i += VECTOR_LOADS * THREADS_) {
        union key_vector load[VECTOR_LOADS];
        vectors_load<uint64_t>(v.body, v.count, i, THREADS_, load);
#pragma unroll
        for (int j = 0; j < VECTOR_LOADS; j++)
            if (i + j * THREADS_ < v.count)
#pragma unroll
                for (int k = 0; k < VECTOR_KEYS; k++)
                    packed_count_key<FORM>(a, words, c, load[j].key[k], differ);
    }
    if (threadIdx.x < v.head) packed_count_key<FORM>(a, words, c, mine[threadIdx.x], differ);
    if (v.tail + threadIdx.x < count)
        packed_count_key<FORM>(a, words, c, mine[v.tail + threadIdx.x], differ);
    return differ;
}

/* Adds the block's counters to those of the segments; returns their sum.  It is less than the
 * number of keys if a counter has overflowed, into its neighbour or out of the word. */
static __device__ inline uint32_t packed_add_counts(const msd_args &a, const uint32_t *words)
{
    const uint32_t lane = lane_id();
    const uint32_t drop = SORT_DIGIT_BITS - packed_bits(a.common, packed_maps(a));
    uint32_t keys = 0;
    for (uint32_t i = threadIdx.x / 32; i < SORT_BINS; i += PACKED_COUNT_WARPS) {
        const uint32_t bin = (i + blockIdx.x * PACKED_COUNT_WARPS) % SORT_BINS;
        uint32_t *counts = msd_counts(a, 1, bin), sum = 0;
#pragma unroll
        for (uint32_t j = lane; j < SORT_BINS / 2; j += 32) {
            const uint32_t word = words[bin * (SORT_BINS / 2) + j];
            const uint32_t low = word & 0xffff, high = word >> 16;
            sum += low + high;
            if (drop && word)
                atomicAdd(&counts[2 * j >> drop], low + high);
            else if (word)
                atomicAdd((unsigned long long *)&counts[2 * j],
                          low | (unsigned long long)high << 32);
        }
        sum = warp_sum(sum);
        if (lane == 0 && sum) atomicAdd(&a.lists.counts[0][bin], sum);
        keys += sum;
    }
    return keys;
}

/* Sets the status descriptors of all tiles to "nothing": those of the first level's tiles for that
 * level, those of further tiles for the second level. */
static __device__ inline void packed_clear_rows(const msd_args &a)
{
    const uint64_t tiles = a.common.n / SORT_PACKED_TILE(0) + 1,
                   all = SORT_PACKED_TILES(a.common.n);
    const uint64_t step = (uint64_t)gridDim.x * SORT_PACKED_COUNT_THREADS;
    const uint32_t later = state_own(0);
    uint4 *rows = (uint4 *)a.rows;
    for (uint64_t i = (uint64_t)blockIdx.x * SORT_PACKED_COUNT_THREADS + threadIdx.x;
         i < all * (SORT_BINS / 4); i += step)
        rows[i] = i < tiles * (SORT_BINS / 4) ? make_uint4(0, 0, 0, 0)
                                              : make_uint4(later, later, later, later);
}

extern "C" __global__ void __launch_bounds__(SORT_PACKED_COUNT_THREADS)
    sort_packed_count(const __grid_constant__ msd_args a)
{
    __shared__ struct packed_count_shared s;
    uint32_t *words = (uint32_t *)shared_bytes;
    wait_for_earlier();
    if (!a.lists.msd->even) return;
    const bool maps = packed_maps(a);
    struct packed_counting c = {};
    c.lead = KEY_BITS - a.lists.msd->even;
    c.first = order_encode(a.common.order, ((const ukey *)a.common.keys_in)[0]);
    c.pieces = s.pieces;
    if (maps) {
        c.map = a.lists.msd->map;
        s.pieces[threadIdx.x] = map_pieces(a)[threadIdx.x];
    }
    const uint64_t each = a.common.n / gridDim.x + (a.common.n % gridDim.x != 0);
    const uint64_t from = min(a.common.n, blockIdx.x * each), to = min(a.common.n, from + each);
    rank_clear(words, PACKED_WORDS);
    if (threadIdx.x == 0) s.differ = s.keys = 0;
    __syncthreads(); /* the counters are clear */
    const ukey differ = maps ? packed_count_range<PACKED_MAPPED>(a.common, words, c, from, to)
                        : a.common.same
                            ? packed_count_range<PACKED_AS_IS>(a.common, words, c, from, to)
                            : packed_count_range<PACKED_ENCODED>(a.common, words, c, from, to);
    packed_clear_rows(a);
    if (differ) atomicOr(&s.differ, differ);
    __syncthreads(); /* every key is counted */
    const uint32_t keys = packed_add_counts(a, words);
    if (lane_id() == 0) atomicAdd(&s.keys, keys);
    __syncthreads(); /* all threads have added their counts */
    if (threadIdx.x == 0 &&
        (s.keys != (uint32_t)(to - from) || (uint64_t)s.differ >> a.lists.msd->even != 0))
        a.lists.msd->uneven = 1;
}

/* ---- Plan ---- */

/* Whether two digits make leaves of most keys; the levels divide the others.  One block. */
static __device__ inline bool packed_fits(const msd_args &a, uint32_t &large)
{
    const uint32_t lane = lane_id();
    uint32_t mine = 0;
    if (threadIdx.x == 0) large = a.lists.msd->uneven ? (uint32_t)a.common.n : 0;
    __syncthreads(); /* for the sum */
    for (uint32_t bin = threadIdx.x / 32; bin < SORT_BINS; bin += PACKED_COUNT_WARPS) {
        const uint32_t *counts = msd_counts(a, 1, bin);
#pragma unroll
        for (uint32_t j = 0; j < SORT_BINS; j += 32)
            mine += counts[j + lane] > MSD_LEAF ? counts[j + lane] : 0;
    }
    mine = warp_sum(mine);
    if (lane == 0 && mine) atomicAdd(&large, mine);
    __syncthreads(); /* the sum is complete */
    return large <= a.common.n / SORT_PACKED_LARGE;
}

extern "C" __global__ void __launch_bounds__(SORT_PACKED_COUNT_THREADS)
    sort_packed_plan(const __grid_constant__ msd_args a)
{
    __shared__ uint32_t sums[SORT_BINS / 32], first_tile[SORT_BINS + 1], large;
    wait_for_earlier();
    const bool maps = packed_maps(a);
    const uint32_t me = threadIdx.x, top = a.lists.msd->even, bits = packed_bits(a.common, maps);
    if (!top) return;
    if (!packed_fits(a, large)) { /* also: all threads have read the data that is cleared now */
        if (me < SORT_BINS) msd_begin_counts(a, SORT_SEEN_BOTH);
        if (me == 0 && a.common.order.float_mask) skewed_leave(a); /* passes sort them */
        return;
    }
    const bool is_bin = me < SORT_BINS;
    const uint32_t count = is_bin ? a.lists.counts[0][me] : 0, begin = bins_scan(count, sums);
    const uint32_t tiles =
        count / SORT_PACKED_TILE(1) + (count % (uint32_t)SORT_PACKED_TILE(1) != 0);
    __syncthreads(); /* all threads have read the sums */
    const uint32_t tile = bins_scan(is_bin ? tiles : 0, sums);
    if (is_bin) {
        struct sort_segment s = {};
        s.begin = begin;
        s.count = count;
        s.first_tile = first_tile[me] = tile;
        s.source = SORT_PACKED;
        s.bits = bits;
        s.shift = top - SORT_DIGIT_BITS - bits;
        s.known = maps ? SORT_BY_MAP : 0;
        a.lists.segments[1][me] = s;
        a.lists.counts[0][me] = begin;
        *(uint64_t *)(msd_counts(a, 1, me) + SORT_BINS) = bits_mask(maps ? KEY_BITS : s.shift);
    }
    if (me == SORT_BINS - 1) {
        first_tile[SORT_BINS] = tile + tiles;
        a.lists.msd->seen = SORT_SEEN_BOTH;
        a.lists.msd->packed_tiles = tile + tiles;
    }
    __syncthreads(); /* the tiles of all segments are known */
    for (uint32_t bin = me / 32; bin < SORT_BINS; bin += PACKED_COUNT_WARPS)
        for (uint32_t t = first_tile[bin] + lane_id(); t < first_tile[bin + 1]; t += 32)
            a.lists.tile_of[1][t] = bin;
}

extern "C" __global__ void __launch_bounds__(SORT_BINS)
    sort_packed_bins(const __grid_constant__ msd_args a)
{
    __shared__ struct msd_plan_shared p;
    wait_for_earlier();
    if (a.lists.msd->packed_tiles)
        for (uint32_t i = blockIdx.x; i < SORT_BINS; i += gridDim.x)
            msd_plan_segment<0>(a, 1, p, i);
}

/* ---- Scatter ---- */

template <int LEVEL> struct packed_shared {
    enum { ITEMS = SORT_PACKED_ITEMS(LEVEL), TILE = SORT_PACKED_TILE(LEVEL) };
    union {
        struct {
            uint32_t counts[PACKED_WARPS * SORT_BINS]; /* during ranking */
            uint2 pieces[SORT_PACKED_PIECES];          /* of a map */
        };
        uint2 pairs[TILE]; /* then the tile by digit */
    };
    uval staged[TILE];          /* values while keys are ranked, then pieces of a map; each thread
                                   writes only its own */
    uint32_t target[SORT_BINS]; /* a pair of this digit and rank r goes to target + r */
    uint32_t count[SORT_BINS];
    uint32_t sums[SORT_BINS / 32];
    uint32_t index; /* of the tile in its segment */
};
static_assert(sizeof(struct packed_shared<0>) <= SORT_PACKED_SHARED_BYTES(0) &&
                  sizeof(struct packed_shared<1>) <= SORT_PACKED_SHARED_BYTES(1),
              "the host gives less shared memory than the kernel uses");

/* The position of pair p after the first level: the first half is in the keys' array, the second in
 * the values' array.  If their number is odd, neither has space for the last one, which is in the
 * lists. */
static __device__ inline uint2 *packed_between(const msd_args &a, uint32_t p)
{
    const uint32_t half = (uint32_t)(a.common.n / 2);
    uint2 *at = p < half ? (uint2 *)a.common.keys_out : (uint2 *)a.common.values_out - half;
    return p < 2 * half ? at + p : (uint2 *)&a.lists.msd->last;
}

template <int LEVEL> static __device__ inline ukey packed_key(const msd_args &a, uint32_t p)
{
    return LEVEL ? packed_between(a, p)->x
                 : order_encode(a.common.order, ((const ukey *)a.common.keys_in)[p]);
}

/* The digit of a key; pieces, skip: map_word(). */
template <int MAPPED>
static __device__ inline uint32_t packed_digit(const msd_args &a, const struct sort_segment &s,
                                               const struct sort_map &m, const uint2 *pieces,
                                               uint32_t skip, ukey e)
{
    return msd_digit(s, MAPPED ? map_word(m, pieces, skip, order_merge(a.common.order, e)) : e);
}

/* The descriptor that a tile would publish for this thread's digit, counted by this thread. */
template <int LEVEL, int MAPPED>
static __device__ inline uint32_t packed_count_again(const msd_args &a,
                                                     const struct sort_segment &s, uint32_t index)
{
    enum { TILE = SORT_PACKED_TILE(LEVEL) };
    uint32_t count = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < TILE; i++)
        count +=
            packed_digit<MAPPED>(a, s, a.lists.msd->map, map_pieces(a), 0,
                                 packed_key<LEVEL>(a, s.begin + index * TILE + i)) == threadIdx.x;
    return state_own(LEVEL) | count;
}

/* The number of pairs of the thread's digit in preceding tiles of the segment; row: this tile's
 * descriptor; index: its number, not 0. */
template <int LEVEL, int MAPPED>
static __device__ inline uint32_t packed_look_back(const msd_args &a, const struct sort_segment &s,
                                                   const uint32_t *row, uint32_t index)
{
    const uint32_t own = state_own(LEVEL), all = state_all(LEVEL);
    uint32_t before = 0;
    for (;; row -= PACKED_ASKED * SORT_BINS) {
        uint32_t word[PACKED_ASKED];
#pragma unroll
        for (uint32_t k = 0; k < PACKED_ASKED; k++)
            word[k] = k < index ? load_relaxed(row - (k + 1) * SORT_BINS) : all;
#pragma unroll
        for (uint32_t k = 0; k < PACKED_ASKED; k++) {
            for (int times = 0; (word[k] & ~COUNT_MASK) != own && (word[k] & ~COUNT_MASK) != all;
                 times++)
                word[k] = times < PACKED_PATIENCE
                              ? load_relaxed(row - (k + 1) * SORT_BINS)
                              : packed_count_again<LEVEL, MAPPED>(a, s, index - 1 - k);
            before += word[k] & COUNT_MASK;
            if ((word[k] & ~COUNT_MASK) == all) return before;
        }
        index -= PACKED_ASKED;
    }
}

/* Loads the tile's keys, and its values into shared memory, where they stay until the keys are
 * ranked; padding has the last digit. */
template <int LEVEL, int FULL, int ITEMS>
static __device__ inline void packed_load(const msd_args &a, struct packed_shared<LEVEL> &sh,
                                          uint32_t at, uint32_t here, uint32_t mine,
                                          ukey (&key)[ITEMS])
{
    if (LEVEL) {
        const uint2 *in = packed_between(a, at) + mine;
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            uint2 pair = make_uint2(~0u, 0);
            if (FULL)
                pair = in[32 * i];
            else if (mine + 32 * i < here)
                pair = *packed_between(a, at + mine + 32 * i);
            key[i] = pair.x;
            sh.staged[mine + 32 * i] = pair.y;
        }
        return;
    }
    const ukey *in = (const ukey *)a.common.keys_in + at + mine;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) key[i] = FULL || mine + 32 * i < here ? in[32 * i] : (ukey)0;
    if (a.common.index) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) sh.staged[mine + 32 * i] = at + mine + 32 * i;
    } else {
        const uval *values = (const uval *)a.common.values_in + at + mine;
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (FULL || mine + 32 * i < here)
                copy_async_4(&sh.staged[mine + 32 * i], values + 32 * i);
            else
                sh.staged[mine + 32 * i] = 0; /* padding that is moved but not used */
    }
    copy_commit();
    if (!a.common.same)
#pragma unroll
        for (int i = 0; i < ITEMS; i++) key[i] = order_encode(a.common.order, key[i]);
}

/* Moves a tile; `base` is the start of the thread's digit in the segment, and row the tile's status
 * descriptor. */
template <int LEVEL, int FULL, int MAPPED>
static __device__ inline void packed_move(const msd_args &a, const struct sort_segment &s,
                                          struct packed_shared<LEVEL> &sh, uint32_t at,
                                          uint32_t here, uint32_t base, uint32_t tile)
{
    enum { ITEMS = SORT_PACKED_ITEMS(LEVEL), TILE = SORT_PACKED_TILE(LEVEL) };
    const uint32_t me = threadIdx.x, mine = me / 32 * (32 * ITEMS) + lane_id();
    ukey key[ITEMS];
    uint32_t slot[ITEMS];
    packed_load<LEVEL, FULL>(a, sh, at, here, mine, key);
    rank_clear(sh.counts, PACKED_WARPS * SORT_BINS);
    struct sort_map map = {};
    if (MAPPED) {
        map = a.lists.msd->map;
#pragma unroll
        for (uint32_t i = 0; i < SORT_PACKED_PIECES; i += PACKED_THREADS)
            sh.pieces[i + me] = map_pieces(a)[i + me];
    }
    __syncthreads(); /* the counters are clear */
    uint32_t *row = sh.counts + me / 32 * SORT_BINS;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        slot[i] = FULL || mine + 32 * i < here
                      ? packed_digit<MAPPED>(a, s, map, sh.pieces, 0, key[i])
                      : SORT_BINS - 1;
        if (MAPPED && i % 4 == 3) __syncwarp(); /* few words at once need few registers */
        atomicAdd(&row[slot[i]], 1);
    }
    __syncthreads(); /* all warps have counted */
    const uint32_t all = rank_column<PACKED_WARPS>(sh.counts, me);
    const uint32_t count = !FULL && me == SORT_BINS - 1 ? all - (TILE - here) : all;
    store_relaxed(a.rows + (uint64_t)tile * SORT_BINS + me,
                  (sh.index ? state_own(LEVEL) : state_all(LEVEL)) | count);
    const uint32_t offset = bins_scan(all, sh.sums);
    rank_offsets<PACKED_WARPS>(sh.counts, me, offset);
    sh.count[me] = count;
    sh.target[me] = base - offset;
    __syncthreads(); /* the rows contain the start of each warp's keys of a digit */
    rank_keys<ITEMS>(row, slot, ITEMS);
    if (!LEVEL) copy_wait<0>();
    __syncthreads(); /* all warps are done with the counters */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        sh.pairs[slot[i]] = make_uint2(key[i], sh.staged[mine + 32 * i]);
    if (MAPPED) { /* again: 128 pieces where the values of each warp were */
        const uint32_t *pieces = (const uint32_t *)map_pieces(a) + me / 32 * 256 + lane_id();
#pragma unroll
        for (int i = 0; i < 8; i++) sh.staged[mine + 32 * i] = pieces[32 * i];
    }
    if (sh.index) {
        uint32_t *word = a.rows + (uint64_t)tile * SORT_BINS + me;
        const uint32_t before = packed_look_back<LEVEL, MAPPED>(a, s, word, sh.index);
        store_relaxed(word, state_all(LEVEL) | (before + sh.count[me]));
        sh.target[me] += before;
    }
    __syncthreads(); /* the pairs are sorted by digit, and the targets are written */
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t rank = me + i * PACKED_THREADS;
        if (!FULL && rank >= here) continue;
        const uint2 pair = sh.pairs[rank];
        const uint32_t digit =
            packed_digit<MAPPED>(a, s, map, (const uint2 *)sh.staged, 16 * ITEMS - 128, pair.x);
        const uint32_t to = sh.target[digit] + rank;
        *(LEVEL ? (uint2 *)a.common.keys_tmp + to : packed_between(a, to)) = pair;
        if (MAPPED && i % 4 == 3) __syncwarp();
    }
}

template <int LEVEL, int MAPPED>
static __device__ inline void packed_scatter(const msd_args &a, const struct sort_segment &s,
                                             const uint32_t *targets, uint32_t tile)
{
    enum { TILE = SORT_PACKED_TILE(LEVEL) };
    struct packed_shared<LEVEL> &sh = *(struct packed_shared<LEVEL> *)shared_bytes;
    const uint32_t index = tile - s.first_tile, at = s.begin + index * TILE;
    const uint32_t here = min(s.count - index * TILE, (uint32_t)TILE);
    if (threadIdx.x == 0) sh.index = index;
    const uint32_t half = (uint32_t)(a.common.n / 2);
    const bool apart = LEVEL && (at < half) != (at + here <= half); /* in two arrays */
    if (here == TILE && !apart && at + here <= 2 * half)
        packed_move<LEVEL, 1, MAPPED>(a, s, sh, at, here, targets[threadIdx.x], tile);
    else
        packed_move<LEVEL, 0, MAPPED>(a, s, sh, at, here, targets[threadIdx.x], tile);
}

/* The tile of a block. */
template <int LEVEL, int MAPPED> static __device__ inline void packed_tile(const msd_args &a)
{
    if (LEVEL) {
        const uint32_t index = a.lists.tile_of[1][blockIdx.x];
        packed_scatter<LEVEL, MAPPED>(a, a.lists.segments[1][index], msd_counts(a, 1, index),
                                      blockIdx.x);
        return;
    }
    struct sort_segment s = {};
    s.count = (uint32_t)a.common.n;
    s.bits = SORT_DIGIT_BITS;
    s.shift = a.lists.msd->even - SORT_DIGIT_BITS;
    packed_scatter<LEVEL, MAPPED>(a, s, a.lists.counts[0], blockIdx.x);
}

extern "C" __global__ void __launch_bounds__(SORT_PACKED_THREADS, SORT_PACKED_BLOCKS)
    sort_packed_first(const __grid_constant__ msd_args a)
{
    wait_for_earlier();
    if (!a.lists.msd->packed_tiles) return;
    if (packed_maps(a))
        packed_tile<0, 1>(a);
    else
        packed_tile<0, 0>(a);
}

extern "C" __global__ void __launch_bounds__(SORT_PACKED_THREADS, SORT_PACKED_BLOCKS)
    sort_packed_second(const __grid_constant__ msd_args a)
{
    wait_for_earlier();
    if (blockIdx.x >= a.lists.msd->packed_tiles) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) a.lists.msd->first_leaf = a.lists.msd->leaves;
    if (packed_maps(a))
        packed_tile<1, 1>(a);
    else
        packed_tile<1, 0>(a);
}

/* ---- Leaves ---- */

/* One block for each of the maximum number of leaves of two digits: looping blocks would spill
 * registers, and so would one kernel for both. */
extern "C" __global__ void __launch_bounds__(LEAF_THREADS, LEAF_RESIDENT)
    sort_packed_leaf(const __grid_constant__ msd_args a)
{
    wait_for_earlier();
    if (!a.lists.msd->packed_tiles || blockIdx.x >= a.lists.msd->leaves) return;
    struct pairs_leaf_shared &s = *(struct pairs_leaf_shared *)shared_bytes;
    const struct sort_leaf leaf = a.lists.leaves[blockIdx.x];
    if ((leaf.source == SORT_UNPACKS || !leaf_finish<1>(a.common, s, leaf)) && threadIdx.x == 0)
        a.lists.skewed_leaves[atomicAdd(&a.lists.msd->skewed_leaves, 1)] = blockIdx.x;
}

/* Moves the leaves that sort_packed_leaf leaves to others to the output, in encoded form and in the
 * same order: parts of larger bins, which the next level divides, and leaves of skewed keys. */
static __device__ inline void packed_unpack(const msd_args &a)
{
    const uint32_t leaves = a.lists.msd->skewed_leaves;
    for (uint32_t i = blockIdx.x; i < leaves; i += gridDim.x) {
        struct sort_leaf *leaf = &a.lists.leaves[a.lists.skewed_leaves[i]];
        const uint2 *in = leaf_packed(a.common, *leaf);
        ukey *keys = (ukey *)a.common.keys_out + leaf->begin;
        uval *values = (uval *)a.common.values_out + leaf->begin;
        for (uint32_t p = threadIdx.x; p < leaf->count; p += blockDim.x) {
            const uint2 pair = in[p];
            keys[p] = pair.x;
            values[p] = pair.y;
        }
        if (threadIdx.x == 0 && leaf->source == SORT_PACKED) leaf->source = SORT_OUT;
    }
}

#endif
