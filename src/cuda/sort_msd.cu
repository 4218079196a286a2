/*
 * cuda/sort_msd.cu - keys of 32 and 64 bits alone, most significant digit first: each level splits
 * what is too large for a block by one digit more.
 *
 *     sort_msd_begin     one segment, the array
 *     sort_msd_count     how many keys of each digit every segment of the level has: one read
 *     sort_msd_plan      where each digit's keys go; which make leaves, which a segment of the next
 *                        level
 *     sort_msd_scatter   moves the keys: one read and one write
 *     sort_msd_leaf      sorts what a block can hold: one read, one write; in sort_msd_leaf.cuh
 *
 *     level 0   |               one segment               |
 *     level 1   | seg | leaf |leaf|      seg       | leaf |
 *     level 2   |leaf|leaf|       |leaf|leaf|leaf|
 *
 * Keys with the same bits cannot be told apart, so nothing here is stable: a key's rank in a tile
 * is what an atomic addition returns, and tiles take room for their digits in any order.  Nothing
 * waits for another block.
 *
 * A digit's bits are the highest that differ in the segment, so that constant ones cost nothing; a
 * segment whose keys have one digit is not moved.  A level that finds no segments ends at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "sort_msd_leaf.cuh"

extern "C" __global__ void __launch_bounds__(SORT_BINS)
    sort_msd_begin(const __grid_constant__ struct sort_args a)
{
    wait_for_earlier();
    const uint32_t bin = threadIdx.x;
    a.counts[0][bin] = 0;
    if (bin < SORT_MSD_ROW - SORT_BINS) a.counts[0][SORT_BINS + bin] = 0;
    if (bin <= SORT_MSD_LEVELS) {
        a.msd->segments[bin] = bin == 0;
        a.msd->tiles[bin] = bin == 0 ? msd_tiles((uint32_t)a.n) : 0;
    }
    if (bin != 0) return;
    struct sort_segment s = {};
    s.count = (uint32_t)a.n;
    s.source = SORT_IN;
    s.shift = KEY_BITS - SORT_DIGIT_BITS;
    s.bits = SORT_DIGIT_BITS;
    a.segments[0][0] = s;
    a.msd->leaves = a.msd->crowded = a.msd->seen = 0;
}

/* ---- Counts ---- */

/* What a thread finds out beside the counts. */
struct msd_found {
    ukey differ;   /* bits in which its keys differ from the segment's first */
    uint32_t seen; /* enum sort_seen; both stop the comparisons, which soon happens unless the
                      input is in order */
};

static __device__ inline ukey msd_count_key(const struct sort_args &a, const struct sort_segment &s,
                                            ukey first, uint32_t *bins, ukey u,
                                            struct msd_found &found)
{
    const ukey e = msd_load(a, s.source, u);
    found.differ |= e ^ first;
    atomicAdd(&bins[msd_digit(s, e)], 1);
    return e;
}

static __device__ inline void msd_compare(ukey e, ukey next, struct msd_found &found)
{
    if (e > next) found.seen |= SORT_SEEN_FALL;
    if (e < next) found.seen |= SORT_SEEN_RISE;
}

/* Compares e with the key at position i of the array, if there is one. */
static __device__ inline void msd_compare_at(const struct sort_args &a, ukey e, uint64_t i,
                                             struct msd_found &found)
{
    if (i < a.n) msd_compare(e, order_encode(a.order, ((const ukey *)a.keys_in)[i]), found);
}

/* Counts the keys of [from, to) of a segment: the body as aligned vectors of 16 bytes, the ends one
 * key a thread. */
static __device__ inline void msd_count_range(const struct sort_args &a,
                                              const struct sort_segment &s, uint32_t from,
                                              uint32_t to, uint32_t *bins, struct msd_found &found)
{
    enum { VECTOR = 16 / KEY_BYTES, LOADS = 4 };
    const ukey *keys = keys_of(a, s.source), *mine = keys + from;
    const ukey first = msd_load(a, s.source, keys[s.begin]);
    const uint32_t threads = blockDim.x, count = to - from;
    uint32_t head = (uint32_t)(-(intptr_t)mine & 15) / KEY_BYTES;
    if (head > count) head = count;
    const uint32_t vectors = (count - head) / VECTOR, tail = head + vectors * VECTOR;
    const uint4 *body = (const uint4 *)(mine + head);
    for (uint32_t i = threadIdx.x; i < vectors; i += LOADS * threads) {
        union {
            uint4 vector;
            ukey key[VECTOR];
        } load[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * threads < vectors) load[j].vector = body[i + j * threads];
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * threads < vectors)
#pragma unroll
                for (int k = 0; k < VECTOR; k++)
                    load[j].key[k] = msd_count_key(a, s, first, bins, load[j].key[k], found);
        if (found.seen != SORT_SEEN_BOTH)
#pragma unroll
            for (int j = 0; j < LOADS; j++)
                if (i + j * threads < vectors) {
#pragma unroll
                    for (int k = 0; k < VECTOR - 1; k++)
                        msd_compare(load[j].key[k], load[j].key[k + 1], found);
                    msd_compare_at(a, load[j].key[VECTOR - 1],
                                   (uint64_t)from + head + (i + j * threads + 1) * VECTOR, found);
                }
    }
    uint32_t ends[] = { threadIdx.x, tail + threadIdx.x }, stops[] = { head, count };
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (ends[k] < stops[k]) {
            const ukey e = msd_count_key(a, s, first, bins, mine[ends[k]], found);
            if (found.seen != SORT_SEEN_BOTH)
                msd_compare_at(a, e, (uint64_t)from + ends[k] + 1, found);
        }
}

extern "C" __global__ void __launch_bounds__(SORT_MSD_COUNT_THREADS, SORT_MSD_COUNT_BLOCKS)
    sort_msd_count(const __grid_constant__ struct sort_args a)
{
    __shared__ uint32_t bins[SORT_BINS];
    __shared__ unsigned long long differ;
    __shared__ uint32_t seen;
    wait_for_earlier();
    const uint32_t tiles = a.msd->tiles[a.level];
    const uint32_t each = tiles / gridDim.x + (tiles % gridDim.x != 0);
    uint32_t tile = min(tiles, blockIdx.x * each);
    const uint32_t last = min(tiles, tile + each);
    while (tile < last) { /* the tiles of a segment at once */
        const uint32_t index = msd_segment_of(a, tile);
        const struct sort_segment s = a.segments[a.level & 1][index];
        uint32_t *counts = msd_counts(a, a.level, index);
        const uint32_t end = s.first_tile + msd_tiles(s.count), stop = min(last, end);
        const uint32_t from = s.begin + (tile - s.first_tile) * MSD_TILE;
        const uint32_t to =
            s.begin + (stop == end ? s.count : (stop - s.first_tile) * (uint32_t)MSD_TILE);
        rank_clear(bins, SORT_BINS);
        if (threadIdx.x == 0) differ = seen = 0;
        __syncthreads(); /* the counters are clear */
        struct msd_found found = { 0, a.level ? (uint32_t)SORT_SEEN_BOTH : 0 };
        msd_count_range(a, s, from, to, bins, found);
        if (found.differ) atomicOr(&differ, (unsigned long long)found.differ);
        if (found.seen) atomicOr(&seen, found.seen);
        __syncthreads(); /* every key is counted */
        for (uint32_t bin = threadIdx.x; bin < SORT_BINS; bin += blockDim.x)
            if (bins[bin]) atomicAdd(&counts[bin], bins[bin]);
        if (threadIdx.x == 0 && differ)
            atomicOr((unsigned long long *)(counts + SORT_BINS), differ);
        if (threadIdx.x == 0 && seen && !a.level) atomicOr(&a.msd->seen, seen);
        __syncthreads(); /* the counters may be cleared */
        tile = stop;
    }
}

/* ---- Plan: a block of SORT_BINS threads a segment ---- */

struct plan_shared {
    uint32_t begin[SORT_BINS + 1]; /* of each bin, from the segment's */
    uint32_t filled[MSD_WORDS];    /* a bit for each bin that has keys */
    uint32_t begins[MSD_WORDS];    /* ... that begins a leaf or is more than one */
    uint32_t sums[MSD_WORDS];
    uint32_t leaves; /* the segment's first */
    uint32_t large;  /* bins that are more than a leaf */
    uint32_t bin[SORT_BINS], index[SORT_BINS], first[SORT_BINS]; /* of those */
};

/* The next bit set below or above one; SORT_BINS when there is none. */
static __device__ inline uint32_t bit_below(const uint32_t *bits, uint32_t bin)
{
    uint32_t word = bin / 32, left = bits[word] & ((1u << bin % 32) - 1);
    while (!left && word) left = bits[--word];
    return left ? word * 32 + 31 - __clz((int)left) : (uint32_t)SORT_BINS;
}

static __device__ inline uint32_t bit_above(const uint32_t *bits, uint32_t bin)
{
    uint32_t word = bin / 32, left = bits[word] & ~((2u << bin % 32) - 1);
    while (!left && word < MSD_WORDS - 1) left = bits[++word];
    return left ? word * 32 + __ffs((int)left) - 1 : (uint32_t)SORT_BINS;
}

/* Which bits a bin's keys are split by: the highest of those that differ.  One bit less on the
 * second level where that is enough to make leaves: fewer bins, longer runs. */
static __device__ inline void msd_choose_digit(struct sort_segment &s, uint64_t rest, int level)
{
    const uint32_t top = 64 - __clzll((long long)rest);
    uint32_t bits = SORT_DIGIT_BITS;
    if (level == 1 && s.count >> (bits - 1) <= MSD_LEAF / 16 * 15) bits--;
    s.bits = min(bits, top);
    s.shift = top - s.bits;
}

/* A bin of too many keys becomes a segment of the next level. */
static __device__ inline uint32_t msd_add_segment(const struct sort_args &a, uint32_t begin,
                                                  uint32_t count, uint32_t source, uint64_t rest,
                                                  uint32_t *first_tile)
{
    const int level = a.level + 1;
    struct sort_segment s = {};
    const uint32_t index = atomicAdd(&a.msd->segments[level], 1);
    s.begin = begin;
    s.count = count;
    s.first_tile = *first_tile = atomicAdd(&a.msd->tiles[level], msd_tiles(count));
    s.source = source;
    msd_choose_digit(s, rest, level);
    a.segments[level & 1][index] = s;
    return index;
}

static __device__ inline void msd_add_leaf(const struct sort_args &a, uint32_t at, uint32_t begin,
                                           uint32_t count, uint32_t source)
{
    struct sort_leaf leaf = { begin, count, source };
    a.leaves[at] = leaf;
}

/* What the warps do for the bins that are more than a leaf: they say which tiles those have, or,
 * where all keys are equal, cut them into leaves. */
static __device__ inline void msd_add_large(const struct sort_args &a, const struct plan_shared &p,
                                            const struct sort_segment &s, uint32_t source,
                                            uint64_t rest)
{
    const int level = (a.level + 1) & 1;
    const uint32_t lane = lane_id();
    for (uint32_t i = threadIdx.x / 32; i < p.large; i += MSD_WORDS) {
        const uint32_t bin = p.bin[i], begin = s.begin + p.begin[bin];
        const uint32_t count = p.begin[bin + 1] - p.begin[bin];
        if (rest) {
            uint32_t *counts = msd_counts(a, level, p.index[i]);
            for (uint32_t b = lane; b < SORT_MSD_ROW; b += 32) counts[b] = 0;
            for (uint32_t t = lane; t < msd_tiles(count); t += 32)
                a.tile_of[level][p.first[i] + t] = p.index[i];
        } else {
            const uint32_t pieces = (count - 1) / MSD_LEAF + 1;
            for (uint32_t t = lane; t < pieces; t += 32)
                msd_add_leaf(a, p.leaves + p.first[i] + t, begin + t * MSD_LEAF,
                             min((uint32_t)MSD_LEAF, count - t * MSD_LEAF), source);
        }
    }
}

static __device__ inline void msd_plan_segment(const struct sort_args &a, struct plan_shared &p,
                                               uint32_t index)
{
    struct sort_segment *at = &a.segments[a.level & 1][index];
    const struct sort_segment s = *at;
    uint32_t *counts = msd_counts(a, a.level, index);
    const uint64_t differ = *(const uint64_t *)(counts + SORT_BINS);
    const uint32_t bin = threadIdx.x, word = bin / 32;
    const uint32_t count = counts[bin], before = bins_scan(count, p.sums);
    p.begin[bin] = before;
    if (bin == 0) {
        p.begin[SORT_BINS] = s.count;
        p.large = 0;
    }
    uint32_t filled = __ballot_sync(WARP_ALL, count != 0);
    if (lane_id() == 0) p.filled[word] = filled;
    const int constant = __syncthreads_or(count == s.count); /* also: where bins begin is there */
    const uint32_t source = constant ? s.source : msd_target(s);
    counts[bin] = s.begin + before;
    if (bin == 0) at->moves = !constant;

    /* Bins next to each other share a leaf while they begin in the same half of one. */
    const uint64_t rest = differ & (((uint64_t)1 << s.shift) - 1);
    const uint32_t prior = bit_below(p.filled, bin);
    bool begins = count != 0;
    if (count && count <= MSD_JOIN && prior < SORT_BINS)
        begins =
            before - p.begin[prior] > MSD_JOIN || before / MSD_JOIN != p.begin[prior] / MSD_JOIN;
    const uint32_t boundary = __ballot_sync(WARP_ALL, begins);
    if (lane_id() == 0) p.begins[word] = boundary;
    const bool large = count > MSD_LEAF;
    const uint32_t leaves = !begins ? 0 : !large ? 1 : rest ? 0 : (count - 1) / MSD_LEAF + 1;
    const uint32_t leaf = bins_scan(leaves, p.sums);
    if (bin == SORT_BINS - 1) p.leaves = atomicAdd(&a.msd->leaves, leaf + leaves);
    if (large) {
        const uint32_t i = atomicAdd(&p.large, 1);
        p.bin[i] = bin;
        p.first[i] = leaf;
        if (rest)
            p.index[i] = msd_add_segment(a, s.begin + before, count, source, rest, &p.first[i]);
    }
    __syncthreads(); /* leaves and large bins are known */
    if (leaves && !large) {
        const uint32_t end = p.begin[bit_above(p.begins, bin)];
        msd_add_leaf(a, p.leaves + leaf, s.begin + before, end - before, source);
    }
    msd_add_large(a, p, s, source, rest);
    __syncthreads(); /* everything may be written again */
}

extern "C" __global__ void __launch_bounds__(SORT_BINS)
    sort_msd_plan(const __grid_constant__ struct sort_args a)
{
    __shared__ struct plan_shared p;
    wait_for_earlier();
    const uint32_t segments = msd_ordered(a) ? 0 : a.msd->segments[a.level];
    for (uint32_t i = blockIdx.x; i < segments; i += gridDim.x) msd_plan_segment(a, p, i);
}

/* ---- Scatter ---- */

struct scatter_shared {
    ukey keys[MSD_TILE];        /* by digit */
    uint32_t next[SORT_BINS];   /* how many keys of each digit; then where the next one goes */
    uint32_t target[SORT_BINS]; /* a key of this digit and rank r goes to target + r */
    uint32_t sums[MSD_WORDS];
    uint32_t crowd; /* the most frequent digit and above it its count, where that is large */
};
static_assert(sizeof(struct scatter_shared) <= SORT_MSD_SHARED_BYTES,
              "the host gives less shared memory than the kernel uses");

/* Places the tile's keys by digit in shared memory.  Additions to one counter take turns, so where
 * a digit is frequent, each warp adds up that one before. */
template <int CROWD>
static __device__ inline void msd_place(const struct sort_segment &s, struct scatter_shared &sh,
                                        uint32_t here, const ukey (&key)[MSD_ITEMS])
{
    const uint32_t me = threadIdx.x, crowd = sh.crowd % SORT_BINS;
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++) {
        const bool exists = me + i * SORT_MSD_THREADS < here;
        const uint32_t digit = msd_digit(s, key[i]);
        uint32_t place = 0;
        if (CROWD) {
            const bool in = exists && digit == crowd;
            const uint32_t peers = __ballot_sync(WARP_ALL, in);
            const uint32_t before = __popc(peers & lanes_below());
            if (in && before == 0) place = atomicAdd(&sh.next[crowd], (uint32_t)__popc(peers));
            place = __shfl_sync(WARP_ALL, place, peers ? __ffs((int)peers) - 1 : 0) + before;
            if (exists && !in) place = atomicAdd(&sh.next[digit], 1);
        } else if (exists) {
            place = atomicAdd(&sh.next[digit], 1);
        }
        if (exists) sh.keys[place] = key[i];
    }
}

static __device__ inline void msd_scatter_tile(const struct sort_args &a,
                                               const struct sort_segment &s, uint32_t *cursors,
                                               struct scatter_shared &sh, uint32_t at,
                                               uint32_t here)
{
    const ukey *in = keys_of(a, s.source) + at;
    ukey *out = (ukey *)keys_of(a, msd_target(s));
    const uint32_t me = threadIdx.x;
    ukey key[MSD_ITEMS];
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++)
        key[i] = me + i * SORT_MSD_THREADS < here ? in[me + i * SORT_MSD_THREADS] : (ukey)0;
    rank_clear(sh.next, SORT_BINS);
    if (me == 0) sh.crowd = 0;
    if (s.source == SORT_IN)
#pragma unroll
        for (int i = 0; i < MSD_ITEMS; i++) key[i] = order_encode(a.order, key[i]);
    __syncthreads(); /* the counters are clear */
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++)
        if (me + i * SORT_MSD_THREADS < here) atomicAdd(&sh.next[msd_digit(s, key[i])], 1);
    __syncthreads(); /* every key is counted */
    const uint32_t count = me < SORT_BINS ? sh.next[me] : 0;
    uint32_t room = 0;
    if (count) room = atomicAdd(&cursors[me], count);
    if (count > MSD_TILE / 8) atomicMax(&sh.crowd, count * SORT_BINS + me);
    const uint32_t offset = bins_scan(count, sh.sums);
    if (me < SORT_BINS) {
        sh.next[me] = offset;
        sh.target[me] = room - offset;
    }
    __syncthreads(); /* the offsets are there */
    if (sh.crowd)
        msd_place<1>(s, sh, here, key);
    else
        msd_place<0>(s, sh, here, key);
    __syncthreads(); /* the tile lies by digits */
#pragma unroll
    for (int i = 0; i < MSD_ITEMS; i++) {
        const uint32_t rank = me + i * SORT_MSD_THREADS;
        if (rank < here) {
            const ukey e = sh.keys[rank];
            out[sh.target[msd_digit(s, e)] + rank] = e;
        }
    }
}

extern "C" __global__ void __launch_bounds__(SORT_MSD_THREADS, SORT_MSD_BLOCKS)
    sort_msd_scatter(const __grid_constant__ struct sort_args a)
{
    struct scatter_shared &sh = *(struct scatter_shared *)shared_bytes;
    wait_for_earlier();
    const uint32_t tiles = a.msd->tiles[a.level];
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint32_t index = msd_segment_of(a, tile);
        const struct sort_segment s = a.segments[a.level & 1][index];
        if (!s.moves) continue;
        uint32_t *cursors = msd_counts(a, a.level, index);
        const uint32_t skip = (tile - s.first_tile) * MSD_TILE, at = s.begin + skip;
        msd_scatter_tile(a, s, cursors, sh, at, min(s.count - skip, (uint32_t)MSD_TILE));
        __syncthreads(); /* everyone has read; the counters may be cleared */
    }
}
