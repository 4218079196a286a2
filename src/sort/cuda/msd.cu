/*
 * sort/cuda/msd.cu - MSD radix sort of keys of 32 and 64 bits without values: each level divides
 * the segments that are too large for a block by one more digit.
 *
 *     sort_msd_begin         one segment, the array; in msd_plan.cuh
 *     sort_msd_count         counts the keys of each digit of every segment of the level: one read
 *     sort_msd_plan          the start of each digit's keys; which digits become leaves, and which
 *                            segments of the next level; in msd_plan.cuh
 *     sort_msd_scatter       moves the keys: one read and one write
 *     sort_msd_floats        the same if digits may be by value (msd_value.cuh)
 *     sort_msd_count_plan    for small arrays, the first three kernels of level 0
 *     sort_msd_tail_levels   the levels that evenly distributed keys do not need; or, for small
 *                            skewed arrays, the entire sort: in small_lsd.cuh
 *     sort_msd_leaf          sorts what fits in a block: one read, one write; in msd_leaf.cuh
 *
 *     level 0   |               one segment               |
 *     level 1   | seg | leaf |leaf|      seg       | leaf |
 *     level 2   |leaf|leaf|       |leaf|leaf|leaf|
 *
 * Keys with the same bits are indistinguishable, so nothing here is stable: a key's rank in a tile
 * is the return value of an atomic addition, and tiles reserve output space for their digits in any
 * order.  No block waits for another.
 *
 * A digit consists of the highest bits that differ in the segment, so constant bits cost nothing; a
 * segment whose keys all have the same digit is not moved.  A level without segments ends
 * immediately.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "sort/cuda/msd_leaf.cuh"
#include "sort/cuda/msd_skewed_leaf.cuh"
#include "sort/cuda/msd_plan.cuh"
#include "sort/cuda/small_lsd.cuh"
#include "sort/cuda/msd_buckets.cuh"
#include "sort/cuda/ordered.cuh"

/* ---- Counts ---- */

/* The source of a digit: bits, the table of msd_buckets.cuh, values, or lengths. */
enum digits { OF_BITS, BY_TABLE, OF_VALUES, OF_LENGTHS };

static __device__ inline uint32_t msd_length_digit(const struct sort_segment &s,
                                                   const struct length_map &map, ukey e)
{
    return length_map_digit(map, e & (ukey)bits_mask(s.shift));
}

/* The bits below a digit that are examined: whether many keys have zeros there.  For a few keys of
 * each block, because it costs time. */
enum { MSD_BELOW = 4, MSD_ZEROS = 3 /* a quarter of the keys, instead of a sixteenth, is many */ };
static __device__ inline ukey msd_below(const struct sort_segment &s)
{
    return s.shift > SORT_DIGIT_BITS ? (ukey)((1 << MSD_BELOW) - 1) << (s.shift - MSD_BELOW)
                                     : (ukey)0;
}

template <int KIND>
static __device__ inline ukey
msd_count_key(const struct sort_common &a, const struct sort_segment &s,
              const struct value_map &map, const struct length_map &lengths, ukey first,
              uint32_t *bins, ukey u, struct msd_found &found)
{
    const ukey e = msd_load(a, s.source, u);
    found.differ |= e ^ first;
    atomicAdd(&bins[KIND == OF_VALUES ? value_digit(map, order_decode(a.order, e), s.shift, s.bits)
                    : KIND == OF_LENGTHS ? msd_length_digit(s, lengths, e)
                                         : msd_digit(s, e)],
              1);
    return e;
}

/* Counts the keys of [from, to) of a segment. */
template <int KIND>
static __device__ inline void msd_count_range(const struct sort_common &a,
                                              const struct sort_segment &s,
                                              const struct value_map &map, uint32_t from,
                                              uint32_t to, uint32_t *bins, struct msd_found &found)
{
    const ukey *keys = keys_of(a, s.source), *mine = keys + from;
    const ukey first = msd_load(a, s.source, keys[s.begin]);
    const uint32_t threads = blockDim.x, count = to - from;
    const struct key_vectors v = key_vectors_of(mine, count);
    const uint32_t vectors = (uint32_t)v.count, head = (uint32_t)v.head, tail = (uint32_t)v.tail;
    const ukey below = KIND == OF_BITS ? msd_below(s) : 0;
    const struct length_map lengths = KIND == OF_LENGTHS ? msd_length_map(s) : length_map{};
    for (uint32_t i = threadIdx.x; i < vectors; i += VECTOR_LOADS * threads) {
        union key_vector load[VECTOR_LOADS];
        vectors_load(v.body, vectors, i, threads, load);
#pragma unroll
        for (int j = 0; j < VECTOR_LOADS; j++)
            if (i + j * threads < vectors)
#pragma unroll
                for (int k = 0; k < VECTOR_KEYS; k++)
                    load[j].key[k] =
                        msd_count_key<KIND>(a, s, map, lengths, first, bins, load[j].key[k], found);
        if (below) found.zeros += load[0].key[0] & below ? -1 : MSD_ZEROS;
        if (found.seen != SORT_SEEN_BOTH)
#pragma unroll
            for (int j = 0; j < VECTOR_LOADS; j++)
                if (i + j * threads < vectors) {
#pragma unroll
                    for (int k = 0; k < VECTOR_KEYS - 1; k++)
                        msd_compare(load[j].key[k], load[j].key[k + 1], found);
                    msd_compare_at(a, load[j].key[VECTOR_KEYS - 1],
                                   (uint64_t)from + head + (i + j * threads + 1) * VECTOR_KEYS,
                                   found);
                }
    }
    uint32_t ends[] = { threadIdx.x, tail + threadIdx.x }, stops[] = { head, count };
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (ends[k] < stops[k]) {
            const ukey e =
                msd_count_key<KIND>(a, s, map, lengths, first, bins, mine[ends[k]], found);
            if (found.seen != SORT_SEEN_BOTH)
                msd_compare_at(a, e, (uint64_t)from + ends[k] + 1, found);
        }
}

/* Adds the digit counts of [from, to) of a segment to its counts, and, unless they are NULL, the
 * order of adjacent keys to *seen, and whether many keys have zeros below the digit to *moves.
 * BY_VALUE: its digits may be by value. */
template <int BY_VALUE>
static __device__ inline void
msd_count_part(const msd_args &a, const struct sort_segment &s, struct msd_count_shared &sh,
               uint32_t from, uint32_t to, uint32_t *counts, uint32_t *seen, uint32_t *moves)
{
    rank_clear(sh.bins, SORT_BINS);
    if (threadIdx.x == 0) sh.differ = sh.seen = sh.zeros = 0;
    __syncthreads(); /* the counters are clear */
    struct msd_found found = { 0, seen ? load_relaxed(seen) : (uint32_t)SORT_SEEN_BOTH, 0 };
    const uint32_t known = found.seen;
    if (BY_VALUE && s.known & SORT_BY_VALUE)
        msd_count_range<OF_VALUES>(a.common, s, value_map_of(a), from, to, sh.bins, found);
    else if (s.known & SORT_BY_LENGTH)
        msd_count_range<OF_LENGTHS>(a.common, s, value_map{}, from, to, sh.bins, found);
    else
        msd_count_range<OF_BITS>(a.common, s, value_map{}, from, to, sh.bins, found);
    if (found.differ) atomicOr(&sh.differ, (unsigned long long)found.differ);
    if (found.seen) atomicOr(&sh.seen, found.seen);
    if (found.zeros) atomicAdd(&sh.zeros, found.zeros);
    __syncthreads(); /* every key is counted */
    for (uint32_t bin = threadIdx.x; bin < SORT_BINS; bin += blockDim.x)
        if (sh.bins[bin]) atomicAdd(&counts[bin], sh.bins[bin]);
    if (threadIdx.x == 0 && sh.differ)
        atomicOr((unsigned long long *)(counts + SORT_BINS), sh.differ);
    if (threadIdx.x == 0 && seen && sh.seen & ~known) atomicOr(seen, sh.seen);
    if (threadIdx.x == 0 && moves && sh.zeros > 0) atomicOr(moves, (uint32_t)SORT_ZEROS_BELOW);
    __syncthreads(); /* the counters may be cleared */
}

/* A copy without `moves`, which other blocks may set. */
static __device__ inline struct sort_segment msd_counted_segment(const struct sort_segment &of)
{
    struct sort_segment s = {};
    s.begin = of.begin;
    s.count = of.count;
    s.first_tile = of.first_tile;
    s.source = of.source;
    s.shift = of.shift;
    s.bits = of.bits;
    s.known = of.known;
    s.prefix = of.prefix;
    return s;
}

template <int BY_VALUE>
static __device__ inline void msd_count_level(const msd_args &a, int level,
                                              struct msd_count_shared &sh)
{
    const uint32_t tiles = a.lists.msd->tiles[level];
    const uint32_t each = tiles / gridDim.x + (tiles % gridDim.x != 0);
    uint32_t tile = min(tiles, blockIdx.x * each);
    const uint32_t last = min(tiles, tile + each);
    while (tile < last) { /* one segment per iteration */
        const uint32_t index = msd_segment_of(a, level, tile);
        struct sort_segment *of = &a.lists.segments[level & 1][index];
        const struct sort_segment s = msd_counted_segment(*of);
        const uint32_t end = s.first_tile + msd_tiles(s.count), stop = min(last, end);
        const uint32_t from = s.begin + (tile - s.first_tile) * MSD_TILE;
        const uint32_t to =
            s.begin + (stop == end ? s.count : (stop - s.first_tile) * (uint32_t)MSD_TILE);
        if (!(s.known & SORT_COUNTED))
            msd_count_part<BY_VALUE>(a, s, sh, from, to, msd_counts(a, level, index),
                                     level ? NULL : msd_seen(a), &of->moves);
        tile = stop;
    }
}

extern "C" __global__ void __launch_bounds__(SORT_MSD_COUNT_THREADS, SORT_MSD_COUNT_BLOCKS)
    sort_msd_count(const __grid_constant__ msd_args a)
{
    __shared__ struct msd_count_shared sh;
    wait_for_earlier();
    if (msd_copied(a)) return;
    msd_count_level<1>(a, a.common.level, sh);
}

extern "C" __global__ void __launch_bounds__(SORT_MSD_COUNT_THREADS, SORT_MSD_COUNT_BLOCKS)
    sort_msd_count_plan(const __grid_constant__ msd_args a)
{
    __shared__ struct msd_count_shared sh;
    __shared__ struct msd_plan_shared p;
    __shared__ struct small_lsd_sample sample;
    wait_for_earlier();
    const uint32_t n = (uint32_t)a.common.n, blocks = gridDim.x - 1,
                   each = n / blocks + (n % blocks != 0);
    const uint32_t from = min(n, blockIdx.x * each), to = min(n, from + each);
    if (blockIdx.x < blocks)
        msd_count_part<0>(a, msd_whole(a.common), sh, from, to, a.lists.first_counts->counts,
                          &a.lists.first_counts->seen, NULL);
    else
        small_lsd_look(a, sample);
    msd_plan_counted(a, p);
}

/* ---- Scatter ---- */

struct msd_scatter_shared {
    ukey keys[MSD_TILE];        /* by digit */
    uint32_t next[SORT_BINS];   /* count of each digit; then the output position of its next key */
    uint32_t target[SORT_BINS]; /* a key of this digit and rank r goes to target + r */
    uint32_t sums[MSD_WORDS];
    uint32_t frequent; /* the most frequent digit and, above it, its count if that is large */
};
static_assert(sizeof(struct msd_scatter_shared) <= SORT_MSD_SHARED_BYTES,
              "the host gives less shared memory than the kernel uses");

/* With digits by value, the keys of a tile stay as in the input while it is moved; otherwise they
 * are encoded. */
template <int KIND>
static __device__ inline uint32_t scatter_digit(const struct sort_segment &s,
                                                const struct buckets_table &t, ukey e)
{
    if (KIND == BY_TABLE)
        return t.bucket_of[t.lengths ? buckets_bin<1>(t, e) : buckets_bin<0>(t, e)];
    if (KIND == OF_LENGTHS) return msd_length_digit(s, t.digits, e);
    return KIND == OF_VALUES ? value_digit(t.map, e, s.shift, s.bits) : msd_digit(s, e);
}

static __device__ inline struct buckets_table msd_length_table(const struct sort_segment &s)
{
    struct buckets_table t = {};
    t.digits = msd_length_map(s);
    return t;
}

/* Places the tile's keys by digit in shared memory.  Additions to one counter are serialised, so if
 * a digit is frequent, each warp adds its keys of that digit in one operation. */
template <int KIND, int FREQUENT>
static __device__ inline void msd_place(const struct sort_segment &s, const struct buckets_table &t,
                                        struct msd_scatter_shared &sh, uint32_t here,
                                        const ukey (&key)[MSD_ITEMS])
{
    const uint32_t me = threadIdx.x, frequent = sh.frequent % SORT_BINS;
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++) {
        const bool exists = me + i * SORT_MSD_THREADS < here;
        const uint32_t digit = scatter_digit<KIND>(s, t, key[i]);
        uint32_t place = 0;
        if (FREQUENT) {
            const bool in = exists && digit == frequent;
            const uint32_t peers = __ballot_sync(WARP_ALL, in);
            const uint32_t before = __popc(peers & lanes_below());
            if (in && before == 0) place = atomicAdd(&sh.next[frequent], (uint32_t)__popc(peers));
            place = __shfl_sync(WARP_ALL, place, peers ? __ffs((int)peers) - 1 : 0) + before;
            if (exists && !in) place = atomicAdd(&sh.next[digit], 1);
        } else if (exists) {
            place = atomicAdd(&sh.next[digit], 1);
        }
        if (exists) sh.keys[place] = key[i];
    }
}

template <int KIND>
static __device__ inline void
msd_scatter_tile(const struct sort_common &a, const struct sort_segment &s,
                 const struct buckets_table &t, uint32_t *cursors, struct msd_scatter_shared &sh,
                 uint32_t at, uint32_t here)
{
    const ukey *in = keys_of(a, s.source) + at;
    ukey *out = (ukey *)keys_of(a, msd_target(s));
    const uint32_t me = threadIdx.x;
    ukey key[MSD_ITEMS];
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++)
        key[i] = me + i * SORT_MSD_THREADS < here ? in[me + i * SORT_MSD_THREADS] : (ukey)0;
    rank_clear(sh.next, SORT_BINS);
    if (me == 0) sh.frequent = 0;
    if (KIND == OF_VALUES) {
        if (s.source != SORT_IN)
#pragma unroll
            for (int i = 0; i < MSD_ITEMS; i++) key[i] = order_decode(a.order, key[i]);
    } else if (s.source == SORT_IN && !order_plain(a.order)) {
#pragma unroll
        for (int i = 0; i < MSD_ITEMS; i++) key[i] = order_encode(a.order, key[i]);
    }
    __syncthreads(); /* the counters are clear */
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++)
        if (me + i * SORT_MSD_THREADS < here)
            atomicAdd(&sh.next[scatter_digit<KIND>(s, t, key[i])], 1);
    __syncthreads(); /* every key is counted */
    const uint32_t count = me < SORT_BINS ? sh.next[me] : 0;
    uint32_t room = 0;
    if (count) room = atomicAdd(&cursors[me], count);
    if (count > MSD_TILE / 8) atomicMax(&sh.frequent, count * SORT_BINS + me);
    const uint32_t offset = bins_scan(count, sh.sums);
    if (me < SORT_BINS) {
        sh.next[me] = offset;
        sh.target[me] = room - offset;
    }
    __syncthreads(); /* the offsets are written */
    if (sh.frequent)
        msd_place<KIND, 1>(s, t, sh, here, key);
    else
        msd_place<KIND, 0>(s, t, sh, here, key);
    __syncthreads(); /* the tile is sorted by digit */
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++) {
        const uint32_t rank = me + i * SORT_MSD_THREADS;
        if (rank < here) {
            const ukey e = sh.keys[rank];
            out[sh.target[scatter_digit<KIND>(s, t, e)] + rank] =
                KIND == OF_VALUES ? order_encode(a.order, e) : e;
        }
    }
}

/* Writes [at, at + here) of a segment to the output, at the positions of each digit. */
static __device__ inline void msd_write_tile(const struct sort_common &a,
                                             const struct sort_segment &s, const uint32_t *begins,
                                             struct msd_scatter_shared &sh, uint32_t at,
                                             uint32_t here)
{
    const uint32_t me = threadIdx.x;
    if (me < SORT_BINS) sh.next[me] = begins[me];
    __syncthreads(); /* the starts are written */
    uint32_t bin = 0;
#pragma unroll
    for (uint32_t step = SORT_BINS / 2; step; step /= 2)
        if (sh.next[bin + step] <= at + me) bin += step;
    ukey *out = (ukey *)a.keys_out + at;
    for (uint32_t i = me; i < here; i += SORT_MSD_THREADS) {
        while (bin < SORT_BINS - 1 && sh.next[bin + 1] <= at + i) bin++;
        out[i] = order_decode(a.order, (ukey)s.prefix | (ukey)((ukey)bin << s.shift));
    }
}

template <int BY_VALUE>
static __device__ inline void msd_scatter_level(const msd_args &a, int level,
                                                struct msd_scatter_shared &sh)
{
    const uint32_t tiles = a.lists.msd->tiles[level];
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint32_t index = msd_segment_of(a, level, tile);
        const struct sort_segment s = a.lists.segments[level & 1][index];
        if (s.moves == SORT_STAYS) continue;
        uint32_t *cursors = msd_counts(a, level, index);
        const uint32_t skip = (tile - s.first_tile) * MSD_TILE, at = s.begin + skip;
        const uint32_t here = min(s.count - skip, (uint32_t)MSD_TILE);
        if (BY_VALUE && s.known & SORT_BY_VALUE)
            msd_scatter_tile<OF_VALUES>(a.common, s, buckets_table_of(a), cursors, sh, at, here);
        else if (s.known & SORT_BY_LENGTH)
            msd_scatter_tile<OF_LENGTHS>(a.common, s, msd_length_table(s), cursors, sh, at, here);
        else if (s.moves == SORT_MOVES)
            msd_scatter_tile<OF_BITS>(a.common, s, buckets_table{}, cursors, sh, at, here);
        else
            msd_write_tile(a.common, s, cursors, sh, at, here);
        __syncthreads(); /* all threads have read; the counters may be cleared */
    }
}

extern "C" __global__ void __launch_bounds__(SORT_MSD_THREADS, SORT_MSD_BLOCKS)
    sort_msd_scatter(const __grid_constant__ msd_args a)
{
    wait_for_earlier();
    msd_scatter_level<0>(a, a.common.level, *(struct msd_scatter_shared *)shared_bytes);
}

/* The entire array by the table of buckets, if there is one.  A block has several tiles, so that
 * the table is read less often, and fewer blocks end immediately if there is none. */
extern "C" __global__ void __launch_bounds__(SORT_MSD_THREADS, SORT_MSD_BLOCKS)
    sort_buckets_scatter(const __grid_constant__ msd_args a)
{
    struct msd_scatter_shared &sh = *(struct msd_scatter_shared *)shared_bytes;
    wait_for_earlier();
    if (a.lists.msd->skewed || !a.buckets->table) return; /* skewed: sort_lsd has overwritten it */
    uint4 *table = (uint4 *)(shared_bytes + SORT_MSD_SHARED_BYTES);
    for (uint32_t i = threadIdx.x; i < (1u << a.bin_bits) / 16; i += SORT_MSD_THREADS)
        table[i] = ((const uint4 *)a.bin_bucket)[i];
    struct buckets_table t = buckets_table_of(a);
    t.bucket_of = (const uint8_t *)table;
    struct sort_segment s = {};
    s.source = SORT_IN;
    const uint32_t tiles = msd_tiles((uint32_t)a.common.n);
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint32_t at = tile * MSD_TILE,
                       here = min((uint32_t)a.common.n - at, (uint32_t)MSD_TILE);
        msd_scatter_tile<BY_TABLE>(a.common, s, t, a.lists.counts[0], sh, at, here);
        __syncthreads(); /* all threads have read; the counters may be cleared */
    }
}

/* The same for floats, whose digits may be by value. */
extern "C" __global__ void __launch_bounds__(SORT_MSD_THREADS, SORT_MSD_BLOCKS)
    sort_msd_floats(const __grid_constant__ msd_args a)
{
    wait_for_earlier();
    msd_scatter_level<1>(a, a.common.level, *(struct msd_scatter_shared *)shared_bytes);
}

/* ---- Levels that evenly distributed keys do not need ---- */

union tail_shared {
    struct msd_count_shared count;
    struct msd_plan_shared plan;
    struct msd_scatter_shared scatter;
};
static_assert(sizeof(union tail_shared) <= SORT_MSD_SHARED_BYTES,
              "the host gives less shared memory than the kernel uses");

/* All levels from a.level on, in one launch whose blocks are resident together: with evenly
 * distributed keys they have nothing to do, and one launch per level would take longer. */
extern "C" __global__ void __launch_bounds__(SORT_MSD_THREADS, SORT_MSD_BLOCKS)
    sort_msd_tail_levels(const __grid_constant__ msd_args a)
{
    union tail_shared &sh = *(union tail_shared *)shared_bytes;
    uint32_t barriers = 0;
    if (msd_ordered(a)) return;
    if (a.lists.small_lsd && a.lists.msd->skewed) {
        small_lsd_sort(a, *(struct small_lsd_shared *)shared_bytes);
        return;
    }
    for (int level = a.common.level; level < a.lists.levels && a.lists.msd->segments[level];
         level++) {
        msd_count_level<0>(a, level, sh.count);
        grid_barrier(&a.lists.msd->arrived, ++barriers);
        msd_plan_level<0>(a, level, sh.plan);
        grid_barrier(&a.lists.msd->arrived, ++barriers);
        msd_scatter_level<0>(a, level, sh.scatter);
        grid_barrier(&a.lists.msd->arrived, ++barriers);
    }
}
