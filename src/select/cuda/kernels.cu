/*
 * select/cuda/kernels.cu - selection by the elements themselves: by a test, or by whether they
 * begin a run; and partitions, also by flags.
 *
 *     select_pass              selects: reads each element once, writes each selected one once
 *     select_pass_flags        ... by flags
 *     select_pass_along        ... by the elements, and also writes positions, lengths of runs or
 *                              values
 *     select_partition         counts the elements that come first, then moves each element to its
 *                              place, two-way, by a test
 *     select_partition_flags   ... by flags
 *     select_partition_three   ... three-way, by two tests
 *
 *     load      a tile as vectors of 16 bytes, in registers
 *     test      one bit per element
 *     rank      the rank of each selected element in the tile; the tile publishes its count
 *     exchange  through shared memory into that order, while one warp looks back (tile.cuh)
 *     store     as one contiguous range
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/cuda/fetch.cuh"
#include "select/cuda/keys.cuh"

/* Blocks per multiprocessor: three leave 40 registers per thread; sm_75 holds no more than 1024
 * threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { RESIDENT = 2 };
#else
enum { RESIDENT = 3 };
#endif

/* There are many bytes per vector; their bits and the look-back's sum need more registers. */
enum { PLACE_RESIDENT = KEY_BITS == 8 ? 2 : RESIDENT };

/* Tests need registers, flags do not. */
enum { FLAGS_RESIDENT = RESIDENT_BLOCKS(3, SELECT_THREADS) };

struct tile_shared {
    union tile_data data;
    uint32_t sums[2][WARPS];
    uint32_t ends[WARPS];  /* of the warps: the first and, in the upper half, last position */
    uint64_t before;       /* the tile; of a partition after another launch has counted: all */
    uint64_t parts[WARPS]; /* partial sums of the tiles before, per warp; or before and in all */
};

/* ---- Positions ---- */

/* The positions of the ranks from begin on, as many as fit. */
static __device__ inline void gather_local(struct tile_shared &s, const struct span &t,
                                           uint32_t begin, const uint32_t (&bits)[LOADS],
                                           const uint32_t (&start)[LOADS])
{
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        uint32_t r = start[j] - begin;
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
            if (bits[j] >> k & 1) {
                if (r <= LOCAL) s.data.local[r] = (uint16_t)(position(t, j) + k);
                r++;
            }
    }
}

/* Whether blocks find the lengths of all runs themselves; otherwise select_lengths does. */
static __device__ inline bool finds_lengths(const struct select_args &a)
{
    return a.lengths && a.tiles <= SELECT_RUN_TILES;
}

/* Writes what depends only on positions: count ranks from begin on, of `all`. */
static __device__ inline void store_positions(const struct select_args &a,
                                              const struct tile_shared &s, const struct span &t,
                                              uint64_t before, uint32_t begin, uint32_t count,
                                              uint32_t all)
{
    const uint64_t value_bytes = a.value_words * a.value_word_bytes;
    for (uint32_t r = threadIdx.x; r < count && a.starts; r += SELECT_THREADS)
        store_position(a, before + begin + r, t.base + s.data.local[r]);
    for (uint32_t r = threadIdx.x; r < count && a.lengths; r += SELECT_THREADS) {
        uint64_t at = t.base + s.data.local[r];
        if (begin + r + 1 < all)
            a.lengths[before + begin + r] = (uint32_t)(s.data.local[r + 1] - s.data.local[r]);
        else if (blockIdx.x == a.tiles - 1 && finds_lengths(a))
            a.lengths[before + begin + r] = a.n - at;
        else if (!finds_lengths(a)) /* its end is in another tile */
            a.lengths[before + begin + r] = at;
    }
    if (a.lengths && !finds_lengths(a) && begin == 0 && threadIdx.x == 0)
        a.first[blockIdx.x] = s.data.local[0];
    if (a.values)
        fetch((char *)a.values_out + (before + begin) * value_bytes,
              (const char *)a.values + t.base * value_bytes, s.data.local, count, a.value_words,
              a.value_word_bytes);
}

/* The first and, in the upper half, the last of the warp's selected positions, if there is one. */
static __device__ inline uint32_t ends_of(const struct span &t, const uint32_t (&bits)[LOADS])
{
    uint32_t first = TILE, last = 0;
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        if (!bits[j]) continue;
        const uint32_t p = position(t, j);
        if (first == TILE) first = p + (uint32_t)__ffs((int)bits[j]) - 1;
        last = p + 31 - (uint32_t)__clz((int)bits[j]);
    }
    return warp_max(last) << 16 | warp_min(first);
}

/* By one warp: of the tile; given the count of each warp. */
static __device__ inline uint32_t ends_of_tile(const struct tile_shared &s)
{
    const uint32_t own = lane_id() < WARPS ? s.sums[0][lane_id()] : 0;
    const uint32_t ends = lane_id() < WARPS ? s.ends[lane_id()] : 0;
    const uint32_t some = __ballot_sync(WARP_ALL, own != 0);
    const uint32_t low = __shfl_sync(WARP_ALL, ends, some ? __ffs((int)some) - 1 : 0);
    const uint32_t high = __shfl_sync(WARP_ALL, ends, some ? 31 - __clz((int)some) : 0);
    return (high & 0xffff0000) | (low & 0xffff);
}

/* By one warp, which adds up the tiles before; writes the length of the last run before the tile,
 * if the tile ends it. */
static __device__ inline uint64_t before_runs(const struct select_args &a, uint32_t ends,
                                              uint32_t total)
{
    const uint64_t tile = blockIdx.x;
    uint64_t last = 0; /* the start of that run, relative to the first vector */
    const uint64_t before = sum_tiles<1>(a, 0, tile, &last);
    if (lane_id() || !before) return before;
    if (total)
        a.lengths[before - 1] = tile * a.tile_n + (ends & 0xffff) - last;
    else if (tile == a.tiles - 1)
        a.lengths[before - 1] = a.n + a.skew - last;
    return before;
}

/* ---- One pass ---- */

/* ALONG: positions, lengths or values are written, too. FLAGS: flags select, not the elements. */
template <int ALONG, int FLAGS>
static __device__ inline void keep_tile(const struct select_args &a, struct tile_shared &s)
{
    const uint64_t tile = blockIdx.x;
    const struct span t = span_of(a, tile);
    const uint32_t warp = threadIdx.x / 32;
    uint64_t *words = a.words + SELECT_WORDS_FIRST;
    const bool runs = ALONG && a.tiles > 1 && finds_lengths(a);
    union vector v[LOADS];
    uint32_t bits[LOADS], start[LOADS], total, ends = 0;
    struct flag_rows rows;
    load_tile(a, t, v);
    if (FLAGS) load_flags(a, t, rows);
    if (FLAGS)
        find_flags(a, t, rows, bits);
    else
        find_bits(a, t, v, load_edge(a, t), bits);
    uint32_t own = warp_ranks<LOADS, VECTOR>(bits, start);
    if (runs) ends = ends_of(t, bits);
    if (lane_id() == 0) s.sums[0][warp] = own;
    if (runs && lane_id() == 0) s.ends[warp] = ends;
    __syncthreads(); /* every warp has counted */
    uint32_t below = warps_before(s.sums[0], &total);
    if (runs && warp == 0) {
        ends = ends_of_tile(s);
        if (lane_id() == 0) publish_last(words, tile, total, ends >> 16);
    } else if (threadIdx.x == 0 && a.tiles > 1) {
        publish_tile(words, tile, total);
    }
#pragma unroll
    for (int j = 0; j < LOADS; j++) start[j] += below;
    if (!ALONG || a.out) gather_keys(s.data, v, bits, start);
    if (KEY_BYTES < 4 && (!ALONG || a.out) && threadIdx.x < 4 / KEY_BYTES)
        s.data.keys[total + threadIdx.x] = 0;
    if (warp == 0) {
        uint64_t before = 0;
        if (runs)
            before = before_runs(a, ends, total);
        else if (a.tiles > 1)
            before = place_tile(words, tile, total, COUNT_MASK);
        if (lane_id() == 0) s.before = before;
    }
    __syncthreads(); /* the tile is ordered by rank, and its destination is known */
    const uint64_t before = s.before;
    uint64_t left = 0;
    if (a.clear && warp == 0) left = count_left(a.words);
    if (!ALONG || a.out) store_keys(s.data, (ukey *)a.out + before, 0, total);
    if (ALONG)
        for (uint32_t begin = 0; begin < total; begin += LOCAL) {
            __syncthreads(); /* the contents of shared memory are stored */
            gather_local(s, t, begin, bits, start);
            __syncthreads(); /* the positions are ordered by rank */
            store_positions(a, s, t, before, begin, min(total - begin, (uint32_t)LOCAL), total);
        }
    if (tile == a.tiles - 1 && threadIdx.x == 0) {
        *a.count = before + total;
        if (ALONG && a.close) store_position(a, before + total, a.n);
    }
    if (a.clear && warp == 0) clear_words(a.words, a.tiles, a.tiles, left);
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, RESIDENT)
    select_pass(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    wait_for_earlier();
    keep_tile<0, 0>(a, s);
}

static_assert(SELECT_FLAGGED_BYTES == 2, "wider elements are not read for their flags");
#if KEY_BYTES <= 2
extern "C" __global__ void __launch_bounds__(SELECT_THREADS, FLAGS_RESIDENT)
    select_pass_flags(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    wait_for_earlier();
    keep_tile<0, 1>(a, s);
}
#endif

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, RESIDENT)
    select_pass_along(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    wait_for_earlier();
    keep_tile<1, 0>(a, s);
}

/* ---- Partition: count, then place ---- */

/* WAYS: kinds of elements, 2 or 3. FLAGS: flags select the first kind, not a test. */

/* Publishes how many elements of each kind but the last the tile has; s.sums has those of the
 * warps. */
template <int WAYS>
static __device__ inline void publish_counts(const struct select_args &a,
                                             const struct tile_shared &s, uint64_t tile)
{
    const uint32_t warp = threadIdx.x / 32;
    uint32_t total;
    if (warp < WAYS - 1) {
        uint64_t *words = a.words + SELECT_WORDS_FIRST + warp * a.tiles;
        warps_before(s.sums[warp], &total);
        if (lane_id() == 0) publish_tile(words, tile, total);
        if (a.tiles > SELECT_SUM_TILES) {
            uint64_t before = place_tile(words, tile, total, COUNT_MASK);
            if (tile == a.tiles - 1 && lane_id() == 0) a.count[warp] = before + total;
        }
    }
    if (WAYS == 3) __syncthreads(); /* both warps no longer use the words */
    if (a.clear && warp == 0) leave_words(a.words, (WAYS - 1) * a.tiles, gridDim.x);
}

/* Counts a.each tiles of flags, some warps each.  Not inlined, so that no register of the other
 * blocks is spilled. */
static __device__ __noinline__ void count_tiles(const struct select_args &a, uint32_t *sums)
{
    const uint32_t warps = WARPS / a.each, warp = threadIdx.x / 32, piece = a.tile_n / warps;
    const uint64_t first = (uint64_t)blockIdx.x * a.each, tile = first + warp / warps;
    uint32_t own = 0;
    if (tile < a.tiles) {
        const struct span t = span_of(a, tile);
        const uint32_t begin = max(warp % warps * piece, t.first);
        const uint32_t end = min((warp % warps + 1) * piece, t.end);
        if (begin < end) own = count_flags(a, t.base + begin, t.base + end);
        if (a.invert && begin < end) own = end - begin - own;
    }
    if (lane_id() == 0) sums[warp] = own;
    __syncthreads(); /* every warp has counted */
    if (warp) return;
    if (lane_id() < a.each && first + lane_id() < a.tiles) {
        uint32_t total = 0;
        for (uint32_t w = 0; w < warps; w++) total += sums[lane_id() * warps + w];
        publish_tile(a.words + SELECT_WORDS_FIRST, first + lane_id(), total);
    }
    __syncwarp(); /* the counts are published */
    if (a.clear) leave_words(a.words, a.tiles, gridDim.x);
}

/* The destinations of the tile's elements of each kind: base[kind] + rank within the kind. */
template <int WAYS> struct places {
    uint32_t own[WAYS];  /* how many the tile has; the last kind is the rest */
    uint64_t base[WAYS]; /* their destinations */
};

/* By the first warps: waits until the elements of each kind are counted: before the tile, and in
 * all.  If there are few tiles, each block adds their counts, and none waits for a look-back. */
template <int WAYS>
static __device__ inline void await_counts(const struct select_args &a, struct tile_shared &s,
                                           uint64_t tile)
{
    const uint32_t warp = threadIdx.x / 32;
    if (a.tiles == 1 || a.group || warp >= WAYS - 1) return;
    const uint64_t *words = a.words + SELECT_WORDS_FIRST + warp * a.tiles;
    if (a.tiles > SELECT_SUM_TILES) {
        if (lane_id() < 2)
            s.parts[2 * warp + lane_id()] = await_placed(words, lane_id() ? a.tiles : tile);
        return;
    }
    uint64_t before = 0, all = 0;
    for (uint32_t t = lane_id(); t < (uint32_t)a.tiles; t += 32 * SUM_AT_ONCE) {
        uint64_t word[SUM_AT_ONCE];
#pragma unroll
        for (uint32_t q = 0; q < SUM_AT_ONCE; q++)
            word[q] = t + 32 * q < a.tiles ? load_relaxed_u64(words + t + 32 * q) : STATE_ALL;
#pragma unroll
        for (uint32_t q = 0; q < SUM_AT_ONCE; q++) {
            while (word[q] < STATE_OWN) word[q] = load_relaxed_u64(words + t + 32 * q);
            all += word[q] & COUNT_MASK;
            if (t + 32 * q < tile) before += word[q] & COUNT_MASK;
        }
    }
    __syncwarp(); /* lanes waited for different tiles */
    before = warp_sum_u64(before);
    all = warp_sum_u64(all);
    if (lane_id()) return;
    s.parts[2 * warp] = before;
    s.parts[2 * warp + 1] = all;
    if (tile == 0) a.count[warp] = all;
}

/* own: how many elements of each kind the tile has. */
template <int WAYS>
static __device__ inline struct places<WAYS>
find_places(const struct select_args &a, const struct tile_shared &s, const struct span &t,
            uint64_t tile, const uint32_t (&own)[WAYS]) {
    struct places<WAYS> p;
    uint64_t rest = t.base + t.first, begin = 0; /* elements before; elements of the kinds before */
#pragma unroll
    for (int w = 0; w < WAYS - 1; w++) {
        uint64_t before = 0, all = own[w];
        if (WAYS == 2 && a.group) {
            before = warp_sum_u64(lane_id() < WARPS ? s.parts[lane_id()] : 0);
            all = s.before;
        } else if (a.tiles > 1) {
            before = s.parts[2 * w];
            all = s.parts[2 * w + 1];
        }
        p.base[w] = begin + before;
        begin += all;
        rest -= before;
        if ((a.tiles == 1 || a.group) && tile == 0 && threadIdx.x == 0) a.count[w] = all;
    }
    p.base[WAYS - 1] = begin + rest;
#pragma unroll
    for (int w = 0; w < WAYS; w++) p.own[w] = own[w];
    return p;
}

/* The tile's elements by kind and rank: first_own of the first kind, the last kind from begin
 * on. */
template <int WAYS>
static __device__ inline void
order_keys(union tile_data &data, const struct span &t, const union vector (&v)[LOADS],
           const uint32_t (&bits)[WAYS - 1][LOADS], const uint32_t (&start)[WAYS - 1][LOADS],
           uint32_t first_own, uint32_t begin)
{
    if (KEY_BYTES < 4 && threadIdx.x < 4 / KEY_BYTES) data.keys[t.end - t.first + threadIdx.x] = 0;
    if (WAYS == 2 && is_whole(t)) {
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            uint32_t first = start[0][j], rest = begin + position(t, j) - first;
#pragma unroll
            for (int k = 0; k < VECTOR; k++) {
                const bool is_first = bits[0][j] >> k & 1;
                data.keys[is_first ? first : rest + k] = v[j].key[k];
                if (is_first) first++, rest--;
            }
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        if (position(t, j) >= t.limit) continue;
        /* The number of the last kind before an element: all elements minus the other kinds. */
        uint32_t first = start[0][j], second = WAYS == 3 ? start[WAYS - 2][j] : first_own;
        uint32_t rest = begin + (position(t, j) - t.first) - first - (second - first_own);
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            uint32_t p = position(t, j) + k;
            if (p < t.first || p >= t.limit) {
                if (p < t.first) rest++; /* p - first wrapped around */
                continue;
            }
            bool is_second = WAYS == 3 && (bits[WAYS - 2][j] >> k & 1);
            uint32_t slot = bits[0][j] >> k & 1 ? first++ : is_second ? second++ : rest++;
            data.keys[slot] = v[j].key[k];
        }
    }
}

/* The first blocks count a tile each, unless another launch has counted. The others place a tile
 * each, and wait for the counts. They begin at the array's end, which is still in the L2 cache. */
template <int WAYS, int FLAGS>
static __device__ inline void partition_tile(const struct select_args &a, struct tile_shared &s)
{
    const bool counting = blockIdx.x < a.counting;
    const uint64_t tile = counting ? blockIdx.x : gridDim.x - 1 - blockIdx.x;
    const struct span t = span_of(a, tile);
    const uint32_t warp = threadIdx.x / 32;
    union vector v[LOADS];
    uint32_t bits[WAYS - 1][LOADS], start[WAYS - 1][LOADS], own[WAYS];
    struct flag_rows rows;
    if (!FLAGS || !counting) load_tile(a, t, v);
    if (FLAGS) load_flags(a, t, rows);
    if (WAYS == 2 && a.group) {
        uint64_t part = sum_before(a.words + SELECT_WORDS_FIRST, a.tiles, a.group, tile);
        if (lane_id() == 0) s.parts[warp] = part;
        if (threadIdx.x == 0) s.before = a.words[SELECT_WORDS_FIRST - 1];
    }
    find_first<FLAGS>(a, t, v, rows, bits[0]);
    if (WAYS == 3) find_second(a, t, v, bits[0], bits[WAYS - 2]);
#pragma unroll
    for (int w = 0; w < WAYS - 1; w++) {
        uint32_t sum = warp_ranks<LOADS, VECTOR>(bits[w], start[w]);
        if (lane_id() == 0) s.sums[w][warp] = sum;
    }
    __syncthreads(); /* every warp has counted */
    if (counting) {
        publish_counts<WAYS>(a, s, tile);
        return;
    }
    uint32_t begin = 0; /* slot of the kind's first element */
    own[WAYS - 1] = t.end - t.first;
#pragma unroll
    for (int w = 0; w < WAYS - 1; w++) {
        uint32_t below = warps_before(s.sums[w], &own[w]);
#pragma unroll
        for (int j = 0; j < LOADS; j++) start[w][j] += below + begin;
        begin += own[w];
        own[WAYS - 1] -= own[w];
    }
    order_keys<WAYS>(s.data, t, v, bits, start, own[0], begin);
    await_counts<WAYS>(a, s, tile);
    __syncthreads(); /* the tile is ordered by kind and rank, and its destination is known */
    const uint64_t groups = WAYS == 2 && a.group ? (a.tiles - 1) / a.group + 1 : 0;
    uint64_t left = 0;
    if (a.clear && warp == 0) left = count_left(a.words);
    const struct places<WAYS> p = find_places<WAYS>(a, s, t, tile, own);
    begin = 0;
#pragma unroll
    for (int w = 0; w < WAYS; w++) {
        store_keys(s.data, (ukey *)a.out + p.base[w], begin, p.own[w]);
        begin += p.own[w];
    }
    if (a.clear && warp == 0) clear_words(a.words, (WAYS - 1) * a.tiles + groups, gridDim.x, left);
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, PLACE_RESIDENT)
    select_partition(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    wait_for_earlier();
    partition_tile<2, 0>(a, s);
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, FLAGS_RESIDENT)
    select_partition_flags(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    wait_for_earlier();
    if (KEY_BYTES >= 4 && a.each > 1 && blockIdx.x < a.counting)
        count_tiles(a, s.sums[0]);
    else
        partition_tile<2, 1>(a, s);
}

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, 2)
    select_partition_three(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    wait_for_earlier();
    partition_tile<3, 0>(a, s);
}
