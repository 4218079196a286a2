/*
 * sort/cuda/small_lsd.cuh - LSD radix sort of small arrays of skewed keys: all passes in one
 * launch, which otherwise runs the levels that evenly distributed keys do not need.
 *
 *     look      while other blocks count the first digit, one reads a sample: would levels leave
 *               many keys together?                                            small_lsd_look()
 *     pass      a block counts its keys and publishes the counts; a grid barrier; its keys of a
 *               digit go after lower digits, and after those of preceding blocks; a barrier
 *                                                                              small_lsd_sort()
 *
 *     rows    | 0 1 2 ... 15 | 16 17 ... 31 | 32 ...    counters of a block
 *     sums    |      0       |      1       |  2        and of a group of them
 *
 * A block needs the sums of all groups and the preceding rows in its group: independent loads,
 * while a look-back over as many tiles is a dependent chain.  A block whose keys are one tile ranks
 * them while it waits for the others.  Tiles are as large as shared memory allows: fewer tiles need
 * fewer steps that synchronise all warps.  Keys are read twice, the second time from the L2 cache,
 * in which such small arrays fit.
 *
 * Keys are stored as they are, not in the form of order_encode(): it is not known in advance which
 * pass is the last that moves keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SMALL_LSD_CUH
#define ECHI_SORT_CUDA_SMALL_LSD_CUH

#include "cuda/device/block_range.cuh"
#include "sort/cuda/skewed.cuh"

enum {
    SMALL_LSD_THREADS = SORT_MSD_THREADS,
    SMALL_LSD_WARPS = SMALL_LSD_THREADS / 32,
    SMALL_LSD_LOADS = KEY_BYTES == 4 && VAL_BYTES <= 4 ? 8 : 4, /* in flight at once per thread */
    SMALL_LSD_SAMPLE = SORT_SMALL_LSD_SAMPLES * SMALL_LSD_THREADS,
    SMALL_LSD_BINS = 2048
};

#if VAL_BYTES
static_assert((int)PAIRS_THREADS == (int)SORT_MSD_THREADS, "blocks of a launch for both");
#endif

/* ---- Are keys skewed? ---- */

struct small_lsd_sample {
    uint32_t alike[SMALL_LSD_BINS]; /* keys by their first bits */
    uint32_t equal[SMALL_LSD_BINS]; /* ... by all bits */
#if KEY_BYTES == 8
    uint32_t all[SORT_BINS][2], any[SORT_BINS][2]; /* AND and OR of the keys of each first digit */
#endif
    ukey lows[SMALL_LSD_WARPS], highs[SMALL_LSD_WARPS];
};

static __device__ inline uint32_t small_lsd_hash(uint64_t x)
{
    return (uint32_t)((x * 0x9e3779b97f4a7c15ull) >> 32) % SMALL_LSD_BINS;
}

#if KEY_BYTES == 8
/* The same test with the bits in which the keys of each first digit differ, as the second level
 * chooses them: keys such as counters below a few high words share their first bits, but levels
 * skip the bits that do not differ.  `bits` is the number of low bits in which the sample
 * differs. */
static __device__ inline bool small_lsd_together(struct small_lsd_sample &s,
                                                 const ukey (&e)[SORT_SMALL_LSD_SAMPLES],
                                                 uint32_t bits, uint32_t many)
{
    const uint32_t me = threadIdx.x;
    const uint32_t shift = bits > SORT_DIGIT_BITS ? bits - SORT_DIGIT_BITS : 0;
    uint32_t bin[SORT_SMALL_LSD_SAMPLES], slot[SORT_SMALL_LSD_SAMPLES];
    int together = 0;
    for (uint32_t i = me; i < 2 * SORT_BINS; i += SMALL_LSD_THREADS) {
        s.all[i / 2][i % 2] = ~0u;
        s.any[i / 2][i % 2] = 0;
    }
    rank_clear(s.alike, SMALL_LSD_BINS);
    __syncthreads(); /* the bins are clear */
#pragma unroll
    for (int k = 0; k < SORT_SMALL_LSD_SAMPLES; k++) {
        bin[k] = (uint32_t)(e[k] >> shift) & (SORT_BINS - 1);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            atomicAnd(&s.all[bin[k]][half], (uint32_t)(e[k] >> 32 * half));
            atomicOr(&s.any[bin[k]][half], (uint32_t)(e[k] >> 32 * half));
        }
    }
    __syncthreads(); /* every key is in its bin */
#pragma unroll
    for (int k = 0; k < SORT_SMALL_LSD_SAMPLES; k++) {
        const uint32_t high = s.all[bin[k]][1] ^ s.any[bin[k]][1];
        const uint32_t low = s.all[bin[k]][0] ^ s.any[bin[k]][0];
        const uint32_t top = bits_of((uint64_t)high << 32 | low);
        const uint64_t part = e[k] >> (top > SORT_DIGIT_BITS ? top - SORT_DIGIT_BITS : 0);
        slot[k] = small_lsd_hash(part ^ (uint64_t)bin[k] << 56);
        atomicAdd(&s.alike[slot[k]], 1);
    }
    __syncthreads(); /* every key is counted */
#pragma unroll
    for (int k = 0; k < SORT_SMALL_LSD_SAMPLES; k++) {
        const uint32_t equal = s.equal[small_lsd_hash(e[k])];
        together += __syncthreads_count(s.alike[slot[k]] > many && 2 * equal < s.alike[slot[k]]);
    }
    return together * 100 >= SORT_SMALL_LSD_SHARE * SMALL_LSD_SAMPLE;
}
#endif

/* By the block that does not count: a.first->skewed becomes 1 if many keys of a sample share their
 * first bits with more keys than some leaves hold.  Bits count from the first in which keys
 * differ. */
static __device__ __noinline__ void small_lsd_look(const msd_args &a, struct small_lsd_sample &s)
{
    const uint32_t me = threadIdx.x, n = (uint32_t)a.common.n, part = n / SMALL_LSD_SAMPLE;
    if (!part) return;
    const bool equal_too = n <= SORT_SMALL_LSD_EQUAL(KEY_BYTES, VAL_BYTES);
    const bool full = n > SORT_BINS * SORT_LEAF_FULL(msd_leaf(a));
    const uint32_t digits = full || KEY_BYTES == 8 ? 2 * SORT_DIGIT_BITS - 1 : SORT_DIGIT_BITS;
    const uint32_t leaves = SORT_SMALL_LSD_LEAVES(KEY_BYTES, VAL_BYTES);
    const uint32_t many =
        min((uint32_t)((uint64_t)msd_leaf(a) * (leaves * SMALL_LSD_SAMPLE) / n) + 4,
            (uint32_t)SMALL_LSD_SAMPLE / 8); /* not more: only few are tested */
    ukey e[SORT_SMALL_LSD_SAMPLES], low = (ukey) ~(ukey)0, high = 0;
    rank_clear(s.alike, SMALL_LSD_BINS);
    rank_clear(s.equal, SMALL_LSD_BINS);
#pragma unroll
    for (uint32_t k = 0; k < SORT_SMALL_LSD_SAMPLES; k++) {
        e[k] = skewed_sample(a.common, k * SMALL_LSD_THREADS + me, part);
        low = key_min(low, e[k]);
        high = key_max(high, e[k]);
    }
    block_range(s.lows, s.highs, low, high); /* also: the counters are clear */
    const uint32_t bits = 64 - __clzll((long long)(uint64_t)(low ^ high));
    const uint32_t rest = bits > digits ? bits - digits : 0;
    int different = 0, together = 0;
#pragma unroll
    for (int k = 0; k < SORT_SMALL_LSD_SAMPLES; k++) {
        atomicAdd(&s.alike[small_lsd_hash((uint64_t)e[k] >> rest)], 1);
        different += __syncthreads_count(atomicAdd(&s.equal[small_lsd_hash(e[k])], 1) == 0);
    }
    __syncthreads(); /* every key is counted */
#pragma unroll
    for (int k = 0; k < SORT_SMALL_LSD_SAMPLES; k++) {
        const uint32_t alike = s.alike[small_lsd_hash((uint64_t)e[k] >> rest)];
        const uint32_t equal = s.equal[small_lsd_hash(e[k])];
        together += __syncthreads_count(alike > many && (equal_too || 2 * equal < alike));
    }
    bool skewed = together * 100 >= SORT_SMALL_LSD_SHARE * SMALL_LSD_SAMPLE;
#if KEY_BYTES == 8
    if (skewed) skewed = small_lsd_together(s, e, bits, many);
#endif
    if (me == 0 && different >= SORT_SMALL_LSD_DIFFERENT && skewed)
        a.lists.first_counts->skewed = 1;
}

/* ---- Passes ---- */

/* Followed by the tile, whose size the launch determines: keys, then values. */
struct small_lsd_shared {
    uint32_t counts[SMALL_LSD_WARPS * SORT_BINS];
    uint32_t before[SORT_BINS]; /* keys of each digit in preceding blocks of this block's group */
    uint32_t next[SORT_BINS];   /* output position of the block's next key of each digit */
    uint32_t target[SORT_BINS]; /* a key of this digit and rank r of the tile goes to target + r */
    uint32_t sums[MSD_WORDS];
};
static_assert(sizeof(struct small_lsd_shared) == SORT_SMALL_LSD_SHARED_BYTES(0, 1),
              "the host gives other shared memory than the kernel uses");

struct small_lsd_pass {
    int pass;
    uint32_t source, target; /* enum sort_buffer */
};

static __device__ inline uint32_t small_lsd_digit(const struct sort_common &a,
                                                  const struct small_lsd_pass &p, ukey u)
{
    return digit_of(a, order_encode(a.order, u), p.pass);
}

/* The sums of a pass: odd passes use the second half. */
static __device__ inline uint32_t *small_lsd_sums(const msd_args &a, int pass)
{
    return a.lists.small_lsd_sums +
           (pass & 1) * (SORT_SMALL_LSD_BLOCKS / SORT_SMALL_LSD_GROUP * SORT_BINS);
}

/* Keys [at, at + here): all warps have equally many adjacent keys. */
struct small_lsd_tile {
    uint32_t at, here;
    uint32_t items; /* per lane, of full warps */
};

static __device__ inline struct small_lsd_tile small_lsd_tile_of(uint32_t at, uint32_t here)
{
    struct small_lsd_tile t = { at, here, (here + SMALL_LSD_THREADS - 1) / SMALL_LSD_THREADS };
    return t;
}

/* Counts the tile's digits; each warp has one row. */
static __device__ inline void small_lsd_count(const struct sort_common &a,
                                              const struct small_lsd_pass &p,
                                              struct small_lsd_shared &s,
                                              const struct small_lsd_tile &t)
{
    const uint32_t warp = threadIdx.x / 32, mine = warp * (32 * t.items) + lane_id();
    const ukey *in = keys_of(a, p.source) + t.at + mine;
    uint32_t *row = s.counts + warp * SORT_BINS;
    for (uint32_t first = 0; first < t.items; first += SMALL_LSD_LOADS) {
        const uint32_t left = min(t.items - first, (uint32_t)SMALL_LSD_LOADS);
        ukey key[SMALL_LSD_LOADS];
#pragma unroll
        for (uint32_t i = 0; i < SMALL_LSD_LOADS; i++)
            if (i < left && mine + 32 * (first + i) < t.here) key[i] = in[32 * (first + i)];
#pragma unroll
        for (uint32_t i = 0; i < SMALL_LSD_LOADS; i++)
            if (i < left && mine + 32 * (first + i) < t.here)
                atomicAdd(&row[small_lsd_digit(a, p, key[i])], 1);
    }
}

/* Places the tile's keys and values by rank; the rows contain the start of each warp's keys of a
 * digit.  Keys are read again, from a cache, because they do not fit in registers. */
static __device__ inline void small_lsd_rank(const msd_args &a, const struct small_lsd_pass &p,
                                             struct small_lsd_shared &s,
                                             const struct small_lsd_tile &t, ukey *keys)
{
    const uint32_t warp = threadIdx.x / 32, mine = warp * (32 * t.items) + lane_id();
    const ukey *in = keys_of(a.common, p.source) + t.at + mine;
    for (uint32_t first = 0; first < t.items; first += SMALL_LSD_LOADS) {
        const uint32_t left = min(t.items - first, (uint32_t)SMALL_LSD_LOADS);
        ukey key[SMALL_LSD_LOADS];
        uint32_t slot[SMALL_LSD_LOADS];
#pragma unroll
        for (uint32_t i = 0; i < SMALL_LSD_LOADS; i++)
            key[i] = i < left && mine + 32 * (first + i) < t.here ? in[32 * (first + i)] : (ukey)0;
#if VAL_BYTES
        uval *values = (uval *)(keys + a.lists.small_lsd_tile);
        const uval *from = values_of(a.common, p.source) + t.at + mine;
        const bool makes = VAL_BYTES <= 8 && p.source == SORT_IN && a.common.index;
        uval value[SMALL_LSD_LOADS];
        if (!makes)
#pragma unroll
            for (uint32_t i = 0; i < SMALL_LSD_LOADS; i++)
                if (i < left && mine + 32 * (first + i) < t.here) value[i] = from[32 * (first + i)];
#if VAL_BYTES <= 8
        if (makes)
#pragma unroll
            for (uint32_t i = 0; i < SMALL_LSD_LOADS; i++)
                value[i] = (uval)(t.at + mine + 32 * (first + i));
#endif
#endif
#pragma unroll
        for (uint32_t i = 0; i < SMALL_LSD_LOADS; i++) /* past the end: last */
            slot[i] = i < left && mine + 32 * (first + i) < t.here
                          ? small_lsd_digit(a.common, p, key[i])
                          : SORT_BINS - 1;
        rank_keys<SMALL_LSD_LOADS>(s.counts + warp * SORT_BINS, slot, (int)left);
#pragma unroll
        for (uint32_t i = 0; i < SMALL_LSD_LOADS; i++)
            if (i < left && mine + 32 * (first + i) < t.here) {
                keys[slot[i]] = key[i];
#if VAL_BYTES
                values[slot[i]] = value[i];
#endif
            }
    }
}

/* Writes the tile, each digit as one run. */
static __device__ inline void small_lsd_write(const msd_args &a, const struct small_lsd_pass &p,
                                              const struct small_lsd_shared &s,
                                              const struct small_lsd_tile &t, const ukey *keys)
{
    const bool skip = a.common.discard_keys && p.pass == a.common.passes - 1;
    ukey *out = (ukey *)keys_of(a.common, p.target);
#pragma unroll 8
    for (uint32_t rank = threadIdx.x; rank < t.here; rank += SMALL_LSD_THREADS) {
        const ukey u = keys[rank];
        const uint32_t to = s.target[small_lsd_digit(a.common, p, u)] + rank;
        if (!skip) out[to] = u;
#if VAL_BYTES
        ((uval *)values_of(a.common, p.target))[to] =
            ((const uval *)(keys + a.lists.small_lsd_tile))[rank];
#endif
    }
}

/* Publishes the number of keys of this thread's digit; all blocks can read it after the next
 * barrier. */
static __device__ inline void small_lsd_publish(const msd_args &a, const struct small_lsd_pass &p,
                                                uint32_t count)
{
    uint32_t *sums = small_lsd_sums(a, p.pass);
    const uint32_t bin = threadIdx.x, group = blockIdx.x / SORT_SMALL_LSD_GROUP;
    if (bin >= SORT_BINS) return;
    a.lists.small_lsd_counts[blockIdx.x * SORT_BINS + bin] = count;
    if (count) atomicAdd(&sums[group * SORT_BINS + bin], count);
}

/* One thread signals the arrival of the block; the block's threads have synchronised before. */
static __device__ inline void small_lsd_arrive(const msd_args &a)
{
    if (threadIdx.x == 0) add_acq_rel(&a.lists.msd->arrived, 1);
}

/* Waits for the other blocks: the second half of a barrier that counts like grid_barrier(). */
static __device__ inline void small_lsd_wait(const msd_args &a, uint32_t barrier)
{
    if (threadIdx.x == 0) wait_acquire(&a.lists.msd->arrived, barrier * gridDim.x);
    __syncthreads(); /* the writes that other blocks made before they arrived can be read */
}

/* Computes the output positions of the block's keys of each digit in s.next; false: all keys have
 * the same digit.  Threads from SORT_BINS on add up the rows, the others the sums. */
static __device__ inline bool small_lsd_place(const msd_args &a, const struct small_lsd_pass &p,
                                              struct small_lsd_shared &s)
{
    enum { GROUP = SORT_SMALL_LSD_GROUP };
    const uint32_t bin = threadIdx.x % SORT_BINS, group = blockIdx.x / GROUP;
    const uint32_t groups = (gridDim.x + GROUP - 1) / GROUP;
    const uint32_t *sums = small_lsd_sums(a, p.pass) + bin;
    const uint32_t *rows = a.lists.small_lsd_counts + group * GROUP * SORT_BINS + bin;
    uint32_t total = 0, before = 0;
    if (threadIdx.x < SORT_BINS) {
#pragma unroll 16
        for (uint32_t g = 0; g < groups; g++) {
            const uint32_t count = sums[g * SORT_BINS];
            total += count;
            before += g < group ? count : 0;
        }
    } else {
        if (blockIdx.x % GROUP == 0) /* for the next pass */
            small_lsd_sums(a, p.pass + 1)[group * SORT_BINS + bin] = 0;
#pragma unroll
        for (uint32_t k = 0; k < GROUP - 1; k++)
            if (k < blockIdx.x % GROUP) before += rows[k * SORT_BINS];
        s.before[bin] = before;
    }
    const uint32_t base = bins_scan(total, s.sums); /* also: the rows are added up */
    if (threadIdx.x < SORT_BINS) s.next[bin] = base + before + s.before[bin];
    return !__syncthreads_or(threadIdx.x < SORT_BINS &&
                             total == (uint32_t)a.common.n); /* also: next */
}

/* Copies [from, to), if the last pass that moved keys did not end in the output. */
static __device__ inline void small_lsd_finish(const struct sort_common &a, uint32_t source,
                                               uint32_t from, uint32_t to)
{
    const ukey *in = keys_of(a, source);
    ukey *out = (ukey *)a.keys_out;
    if (source == SORT_OUT) return;
    for (uint32_t i = from + threadIdx.x; i < to; i += SMALL_LSD_THREADS) {
        out[i] = in[i];
#if VAL_BYTES
        uval *values = (uval *)a.values_out;
#if VAL_BYTES <= 8
        if (source == SORT_IN && a.index)
            values[i] = (uval)i;
        else
#endif
            values[i] = values_of(a, source)[i];
#endif
    }
}

/* One pass over the block's keys, [from, to); returns whether it moved keys.  If the keys are one
 * tile, the block ranks it while it waits for the others; otherwise it counts its keys first, and
 * then again tile by tile. */
static __device__ inline bool small_lsd_pass_over(const msd_args &a, const struct small_lsd_pass &p,
                                                  struct small_lsd_shared &s, uint32_t from,
                                                  uint32_t to, uint32_t barrier)
{
    ukey *keys = (ukey *)(&s + 1);
    const uint32_t most = a.lists.small_lsd_tile;
    const uint32_t bin = threadIdx.x;
    const bool one = to - from <= most;
    bool moves = true;
    if (!one) {
        rank_clear(s.counts, SMALL_LSD_WARPS * SORT_BINS);
        __syncthreads(); /* the counters are clear */
        small_lsd_count(a.common, p, s, small_lsd_tile_of(from, to - from));
        __syncthreads(); /* all warps have counted */
        small_lsd_publish(a, p, bin < SORT_BINS ? rank_column<SMALL_LSD_WARPS>(s.counts, bin) : 0);
        __syncthreads(); /* the counts are published */
        small_lsd_arrive(a);
        small_lsd_wait(a, barrier);
        moves = small_lsd_place(a, p, s);
    }
    for (uint32_t at = from; moves && (at < to || at == from); at += most) {
        const struct small_lsd_tile t = small_lsd_tile_of(at, min(to - at, most));
        rank_clear(s.counts, SMALL_LSD_WARPS * SORT_BINS);
        __syncthreads(); /* the counters are clear */
        small_lsd_count(a.common, p, s, t);
        __syncthreads(); /* all warps have counted */
        const uint32_t count = bin < SORT_BINS ? rank_column<SMALL_LSD_WARPS>(s.counts, bin) : 0;
        if (one) small_lsd_publish(a, p, count);
        const uint32_t offset = bins_scan(count, s.sums); /* also: the counts are published */
        if (one) small_lsd_arrive(a);
        if (bin < SORT_BINS) rank_offsets<SMALL_LSD_WARPS>(s.counts, bin, offset);
        __syncthreads(); /* the rows contain the start of each warp's keys of a digit */
        small_lsd_rank(a, p, s, t, keys);
        if (one) {
            small_lsd_wait(a, barrier);
            moves = small_lsd_place(a, p, s);
        }
        if (bin < SORT_BINS) {
            s.target[bin] = s.next[bin] - offset;
            s.next[bin] += count;
        }
        __syncthreads(); /* the tile is sorted by digit, and the targets are written */
        if (moves) small_lsd_write(a, p, s, t, keys);
        __syncthreads(); /* all threads have read the tile and the targets */
    }
    return moves;
}

/* Sorts; all blocks of the grid must call it and be resident together. */
static __device__ inline void small_lsd_sort(const msd_args &a, struct small_lsd_shared &s)
{
    const uint32_t n = (uint32_t)a.common.n, least = n / gridDim.x + 1;
    const uint32_t each = (least + SMALL_LSD_THREADS - 1) / SMALL_LSD_THREADS * SMALL_LSD_THREADS;
    const uint32_t from = min(n, blockIdx.x * each), to = min(n, from + each);
    uint32_t source = SORT_IN, barriers = 0;
    for (int pass = 0; pass < a.common.passes; pass++) {
        const struct small_lsd_pass p = { pass, source,
                                          source == (uint32_t)SORT_TMP ? (uint32_t)SORT_OUT
                                                                       : (uint32_t)SORT_TMP };
        if (small_lsd_pass_over(a, p, s, from, to, ++barriers)) source = p.target;
        grid_barrier(&a.lists.msd->arrived, ++barriers);
    }
    small_lsd_finish(a.common, source, from, to);
}

#endif
