/*
 * sort/cuda/resident.cuh - passes within the bins of the first digit, in place.
 *
 *     bin    | tile 0 | tile 1 | tile 2 |    1. each block loads its tile, and publishes counts
 *                                            2. all tiles of the bin are loaded: the counts of the
 *                                               last one, with those before it, are known
 *     bin    |run|run|run|run|run| ...  |    3. each block stores its runs
 *
 * A pass needs no second buffer, if all tiles of a bin are in resident blocks at the same time.
 *
 *     divide    each bin by its second digit, or at the quantiles of a sample of it if it is
 *               between splitters; adjacent parts together are a leaf (msd_leaf.cuh)
 *     sort      bins with a part that is too large, least significant digit first
 *
 * In the second step, a group of bins gets all of its passes before the next one: after the first
 * pass, its elements are in the L2 cache.
 *
 *     group 0: pass 0 of its bins, pass 1, pass 2; group 1: pass 0, ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_RESIDENT_CUH
#define ECHI_SORT_CUDA_RESIDENT_CUH

#include "sort/cuda/msd.h"
#include "sort/cuda/quantiles.cuh"
#include "sort/cuda/sweep.cuh"

enum { ALONE_BIN = SORT_BINS }; /* a part that a block divides again */

struct resident_shared {
    struct sweep w;                /* the pass of the tile; at the beginning: resident_of() */
    uint64_t at;                   /* of the tile */
    uint32_t here;                 /* its elements; 0: there are no more tiles */
    uint32_t bin, head, tail;      /* its bin, and the bin's first and last tile */
    uint32_t group, group_tiles;   /* the first tile of the group, and their number */
    uint32_t first[SORT_BINS + 1]; /* the first tile of each bin, and the number of all tiles */
    uint32_t start[SORT_BINS + 1], size[SORT_BINS + 1]; /* elements */
    uint8_t digits[SORT_BINS];                          /* that differ */
    uint32_t passes, active;
    uint32_t divides; /* 1: the first step */
    uint32_t split;   /* 1: bins are between splitters */
    uint32_t most;    /* keys of a part, at most */
    uint32_t small;   /* ... that is not a leaf */
    uint32_t leaf;    /* the number of the first leaf of a bin */
    uint32_t part;    /* the leaf that is bin ALONE_BIN */
    ukey low, high;   /* of its keys */
    uint32_t sums[SORT_BINS / 32];
};

static __device__ inline const struct resident_shared &resident_of(const struct sweep &w)
{
    return *(const struct resident_shared *)&w;
}

static __device__ inline uint32_t *resident_status(const struct sort_passes_args &a, uint32_t tile)
{
    return (uint32_t *)(a.pages.bins + 1) + (uint64_t)tile * SORT_BINS;
}

/* ---- In a tile ---- */

/* Publishes the tile's number of keys of a digit.  All keys of the tile have been counted, so they
 * are loaded. */
static __device__ inline void resident_publish(const struct sort_passes_args &a,
                                               const struct sweep &w, uint32_t tile, uint32_t digit,
                                               uint32_t count)
{
    const uint32_t epoch = w.p.epoch;
    const bool first = tile == resident_of(w).head;
    store_after_loads(resident_status(a, tile) + digit,
                      (first ? state_all(epoch) : state_own(epoch)) | count);
}

/* The number of keys of the digit in the preceding tiles of the bin. */
static __device__ inline uint32_t resident_before(const uint32_t *status, uint32_t epoch)
{
    uint32_t count = 0;
    for (;;) {
        status -= SORT_BINS;
        uint32_t word, state;
        do { /* until the block of that tile has counted */
            word = load_target(status);
            state = word & ~COUNT_MASK;
        } while (state != state_own(epoch) && state != state_all(epoch));
        count += word & COUNT_MASK;
        if (state == state_all(epoch)) return count;
    }
}

/* Finds the targets of the digits.  This waits until all keys of the bin are loaded. */
static __device__ inline void resident_targets(const struct sort_passes_args &a,
                                               const struct sweep &w, struct pass_shared &s,
                                               uint32_t tile, uint32_t count, uint32_t offset)
{
    const struct resident_shared &b = resident_of(w);
    const uint32_t digit = threadIdx.x, all = state_all(w.p.epoch);
    uint32_t before = 0, total = 0;
    if (digit < SORT_BINS) {
        uint32_t *status = resident_status(a, tile) + digit;
        if (tile != b.head) {
            before = resident_before(status, w.p.epoch);
            store_after_loads(status, all | (before + count));
        }
        total = before + count;
        if (tile != b.tail) {
            status = resident_status(a, b.tail) + digit;
            do total = load_target(status);
            while ((total & ~COUNT_MASK) != all);
            total &= COUNT_MASK;
        }
    }
    const uint32_t base = bins_scan(total, s.sums);
    if (digit < SORT_BINS) s.target[digit] = b.start[b.bin] + base + before - offset;
}

/* Waits until all values of the bin are loaded; those of the tile are. */
static __device__ inline void resident_wait_loaded(const struct sort_passes_args &a,
                                                   const struct sweep &w)
{
    const struct resident_shared &b = resident_of(w);
    if (threadIdx.x == 0 && b.tail != b.head) {
        uint32_t *loaded = &a.pages.bins->loaded[w.p.epoch][b.bin];
        add_acq_rel(loaded, 1); /* all threads have loaded before a barrier */
        wait_acquire(loaded, b.tail - b.head + 1);
    }
    __syncthreads(); /* all tiles of the bin are loaded */
}

#if SORT_RESIDES(KEY_BYTES, VAL_BYTES)
/* ---- Tiles ---- */

/* The number of bins that begin before this tile. */
static __device__ inline uint32_t resident_below(const struct resident_shared &b, uint32_t tile)
{
    uint32_t i = 0;
    for (uint32_t step = SORT_BINS / 2; step; step /= 2)
        if (b.first[i + step - 1] < tile) i += step;
    return i + (b.first[i] < tile);
}

/* The splitters of a bin, and their number. */
static __device__ inline ukey *resident_splitters(const struct sort_passes_args &a, uint32_t bin)
{
    const uint32_t workers = SORT_BINS_WORKERS(a.common.n);
    const uint32_t row = bin == ALONE_BIN ? SORT_BINS + blockIdx.x : bin;
    return (ukey *)a.pages.bins - (SORT_BINS + workers - row) * SORT_BINS;
}

/* The number of rows of descriptors, and the list that follows. */
static __device__ inline uint32_t resident_rows(const struct sort_passes_args &a)
{
    return (uint32_t)((a.common.n + TILE - 1) / TILE) + SORT_BINS + SORT_BINS_WORKERS(a.common.n);
}

static __device__ inline uint32_t *resident_overs(const struct sort_passes_args &a)
{
    return resident_status(a, resident_rows(a));
}

/* Writes a leaf of keys in [low, high], which are in the output as they are in the input. */
static __device__ inline void resident_leaf(const struct sort_passes_args &a, uint32_t at,
                                            uint32_t begin, uint32_t count, ukey low, ukey high)
{
    struct sort_leaf leaf = { begin, count, SORT_IN, bits_of((ukey)(high - low)), low };
    a.pages.leaves[at] = leaf;
}

/* Keys of a sample per thread: the more keys a part has, the more even must parts be. */
enum {
    SAMPLE_FEW = 2,
    SAMPLE_FEW_LOG = 17, /* of a bin, at most */
    SAMPLE_SOME = 8,
    SAMPLE_SOME_LOG = 19,
    SAMPLE_MANY = KEY_BYTES == 4 && (int)TILE >= 8192 ? 32 : 16
};

/* Divides a bin at the quantiles of a sample of it. */
template <int EACH>
static __device__ __noinline__ void resident_sample(const struct sort_passes_args &a,
                                                    struct resident_shared &b,
                                                    struct pass_shared &s, uint32_t bin)
{
    enum { SORTERS = 256, KEYS = SORTERS * EACH };
    static_assert((int)KEYS <= (int)TILE && (int)SORTERS <= (int)THREADS && KEYS % SORT_BINS == 0,
                  "a block sorts a sample");
    const ukey *in = (const ukey *)a.common.keys_out + b.start[bin];
    const uint32_t size = b.size[bin], part = size / KEYS;
    ukey e[EACH] = {}, *splitters = resident_splitters(a, bin);
    if (threadIdx.x < SORTERS)
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const uint32_t t = k * SORTERS + threadIdx.x;
            const uint32_t at = t * part + __umulhi(t * 2654435761u, size - (KEYS - 1) * part);
            e[k] = order_encode(a.common.order, in[at]);
#if VAL_BYTES
            e[k] = order_merge(a.common.order, e[k]);
#endif
        }
    quantiles_sort<ukey, SORTERS>(s.keys, e);
    const uint32_t count = quantiles_write(s.keys, KEYS / SORT_BINS, splitters, s.sums);
    __syncthreads(); /* the splitters are written, and the sums may be */
    if (threadIdx.x == 0) splitters[SORT_SPLITTERS] = count;
}

/* Clears; finds the tiles of all bins, and how they are divided. */
static __device__ inline void resident_begin(const struct sort_passes_args &a,
                                             struct resident_shared &b, struct pass_shared &s)
{
    const uint32_t bin = threadIdx.x;
    const bool split = splitters_pass(a.state->pass[a.common.passes - 1]);
    uint32_t tiles = 0;
    if (bin < SORT_BINS) {
        uint32_t size = (uint32_t)(a.pages.state->end[bin] - a.pages.state->start[bin]);
        b.start[bin] = (uint32_t)a.pages.state->start[bin];
        b.digits[bin] =
            (uint8_t)((a.pages.state->top[bin] + SORT_DIGIT_BITS - 1) / SORT_DIGIT_BITS);
        if (split && size <= a.pages.leaf) {
            if (size && blockIdx.x == 0)
                resident_leaf(a, atomicAdd(&a.pages.msd->leaves, 1), b.start[bin], size,
                              splitters_low(*a.pages.splitters, bin),
                              splitters_high(*a.pages.splitters, bin));
            size = 0;
        }
        b.size[bin] = size;
        tiles = (size + TILE - 1) / TILE;
    }
    const uint32_t before = bins_scan(tiles, b.sums);
    if (bin < SORT_BINS) b.first[bin] = before;
    if (bin == SORT_BINS - 1) b.first[SORT_BINS] = before + tiles;
    if (bin == 0) {
        const struct sort_pass &p = a.state->pass[a.common.passes - 1];
        b.group = b.group_tiles = 0;
        b.divides = 1;
        b.split = split;
        b.passes = (uint32_t)a.common.passes - !split;
        b.active = p.active;
        if (split && !a.pages.splitters->ordered) b.active &= ~(uint32_t)SORT_ACTIVE_BALLOTS;
    }
    __syncthreads(); /* the tiles are known */
    for (uint32_t i = blockIdx.x; split && i < SORT_BINS; i += gridDim.x)
        if (b.size[i] >> SAMPLE_SOME_LOG)
            resident_sample<SAMPLE_MANY>(a, b, s, i);
        else if (b.size[i] >> SAMPLE_FEW_LOG)
            resident_sample<SAMPLE_SOME>(a, b, s, i);
        else if (b.size[i])
            resident_sample<SAMPLE_FEW>(a, b, s, i);
    const uint64_t step = (uint64_t)gridDim.x * THREADS;
    const uint64_t words =
        (sizeof *a.pages.bins + (uint64_t)b.first[SORT_BINS] * SORT_BINS * 4) / 16;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < words; i += step)
        ((uint4 *)a.pages.bins)[i] = make_uint4(0, 0, 0, 0);
    grid_barrier(&a.pages.state->arrived, 1);
}

/* Begins the second step; returns false if nothing is left to do. */
static __device__ inline bool resident_again(const struct sort_passes_args &a,
                                             struct resident_shared &b)
{
    if (!load_relaxed(&a.pages.bins->lefts)) return false;
    if (threadIdx.x < SORT_BINS && !load_relaxed(&a.pages.bins->left[threadIdx.x]))
        b.digits[threadIdx.x] = 0;
    __syncthreads(); /* all threads have read b.divides */
    if (threadIdx.x == 0) b.divides = b.group = b.group_tiles = 0;
    return true;
}

/* Takes space for leaves of a bin, by one addition, because many blocks do so at the same time;
 * returns the number of the first one.  If they do not fit, it returns ~0, and what space there is
 * has leaves of one key. */
static __device__ inline uint32_t resident_take_leaves(const struct sort_passes_args &a,
                                                       uint32_t leaves, uint32_t begin)
{
    const uint32_t space = (uint32_t)SORT_BINS_LEAVES(a.common.n, a.pages.leaf);
    uint32_t at = atomicAdd(&a.pages.msd->leaves, leaves);
    if (at + leaves <= space) return at;
    for (; at < space; at++) resident_leaf(a, at, begin, 1, 0, (ukey) ~(ukey)0);
    return ~0u;
}

/* When all leaves are listed: their number. */
static __device__ inline void resident_limit(const struct sort_passes_args &a)
{
    const uint32_t space = (uint32_t)SORT_BINS_LEAVES(a.common.n, a.pages.leaf);
    if (blockIdx.x == 0 && threadIdx.x == 0 && load_relaxed(&a.pages.msd->leaves) > space)
        a.pages.msd->leaves = space;
}

/* The minimum key of a part of a bin, and the maximum key. */
static __device__ inline ukey resident_low(const struct sort_passes_args &a,
                                           const struct resident_shared &b, uint32_t part)
{
    enum { LOW_BITS = KEY_BITS - 2 * SORT_DIGIT_BITS };
    if (!b.split) return (ukey)((b.bin << SORT_DIGIT_BITS) + part) << LOW_BITS;
    if (part) return resident_splitters(a, b.bin)[part - 1];
    return b.bin == ALONE_BIN ? b.low : splitters_low(*a.pages.splitters, b.bin);
}

static __device__ inline ukey resident_high(const struct sort_passes_args &a,
                                            const struct resident_shared &b, uint32_t part)
{
    const ukey *splitters = resident_splitters(a, b.bin);
    if (!b.split) return resident_low(a, b, part + 1) - 1;
    if (part < splitters[SORT_SPLITTERS]) return splitters[part] - 1;
    return b.bin == ALONE_BIN ? b.high : splitters_high(*a.pages.splitters, b.bin);
}

/* Leaves the bin of these elements to the second step. */
static __device__ inline void resident_leave(const struct sort_passes_args &a,
                                             const struct resident_shared &b, uint32_t begin)
{
    const uint32_t bin = threadIdx.x, next = min(bin + 1, SORT_BINS - 1u);
    if (bin >= SORT_BINS || b.start[bin] > begin || (next > bin && b.start[next] <= begin)) return;
    a.pages.bins->left[bin] = a.pages.bins->lefts = 1;
}

/* Lists the leaves of a bin of which the block has stored the last tile: parts that begin in the
 * same interval of `each` keys.  A part with more than half of the keys that fit is a leaf, which
 * is divided again if it is too large; a part of equal keys is in order.  If a part does not even
 * fit in a tile, or there are too many leaves, the bin is left to the second step. */
static __device__ inline void resident_leaves(const struct sort_passes_args &a,
                                              struct resident_shared &b, struct pass_shared &s)
{
    enum { ALONE = 1u << 31 };
    const uint32_t part = threadIdx.x, bin = b.bin, leaf = a.pages.leaf;
    const bool again = bin == ALONE_BIN;
    uint32_t count = 0, *begin = s.counts;
    bool one = false, alone = false;
    if (part == 0) b.most = b.small = 0;
    if (part < SORT_BINS) {
        count = load_target(resident_status(a, b.tail) + part) & COUNT_MASK;
        one = count && b.split && resident_low(a, b, part) == resident_high(a, b, part);
        alone = count > leaf / 2 || one;
    }
    const uint32_t at = bins_scan(count, s.sums); /* also: the maxima are zero */
    if (part < SORT_BINS) {
        begin[part] = at;
        if (!one) atomicMax(&b.most, count);
        if (!alone) atomicMax(&b.small, count);
    }
    __syncthreads(); /* the beginnings, and the largest parts, are known */
    const uint32_t interval = alone ? ALONE | part : at / (leaf - b.small);
    uint32_t *intervals = begin + SORT_BINS; /* over the counters: all threads are done with them */
    if (part < SORT_BINS) intervals[part] = interval;
    __syncthreads(); /* the intervals are known */
    uint32_t keys = 0, next = part + 1;
    if (part < SORT_BINS && !one && (part == 0 || intervals[part - 1] != interval)) {
        while (next < SORT_BINS && intervals[next] == interval) next++;
        keys = (next < SORT_BINS ? begin[next] : b.size[bin]) - at;
    }
    const uint32_t index = bins_scan(keys != 0, s.sums);
    const uint32_t leaves = (uint32_t)__syncthreads_count(keys != 0);
    if (part == 0) {
        const uint32_t most = !again && SORT_BINS_WORKERS(a.common.n) ? (uint32_t)TILE : 0;
        b.leaf = b.most > max(leaf, most)
                     ? ~0u
                     : resident_take_leaves(a, again ? max(leaves, 1u) - 1 : leaves, b.start[bin]);
    }
    __syncthreads(); /* the number of the first leaf is known */
    if (b.leaf == ~0u) resident_leave(a, b, b.start[bin]);
    if (again && part == 0 && (leaves == 0 || b.leaf == ~0u)) a.pages.leaves[b.part].count = 1;
    if (keys == 0 || b.leaf == ~0u) return;
    const uint32_t mine = !again ? b.leaf + index : index ? b.leaf + index - 1 : b.part;
    resident_leaf(a, mine, b.start[bin] + at, keys, resident_low(a, b, part),
                  resident_high(a, b, next - 1));
    if (keys > leaf) resident_overs(a)[atomicAdd(&a.pages.bins->over, 1)] = mine;
}

/* Takes a leaf that is too large, as a bin of one tile, of which this block has the descriptors;
 * one thread. */
static __device__ inline void resident_take_over(const struct sort_passes_args &a,
                                                 struct resident_shared &b, struct pass_shared &s)
{
    const uint32_t t = atomicAdd(&a.pages.bins->over_taken, 1);
    b.here = 0;
    if (t >= load_relaxed(&a.pages.bins->over)) return;
    b.part = load_relaxed(&resident_overs(a)[t]);
    const struct sort_leaf leaf = a.pages.leaves[b.part];
    b.bin = ALONE_BIN;
    b.split = 1;
    b.low = (ukey)leaf.low;
    b.high = b.low + (ukey)bits_mask(leaf.bits);
    if (b.high < b.low) b.high = (ukey) ~(ukey)0;
    b.start[ALONE_BIN] = leaf.begin;
    b.size[ALONE_BIN] = b.here = leaf.count;
    b.at = leaf.begin;
    b.head = b.tail = s.tile = resident_rows(a) - SORT_BINS_WORKERS(a.common.n) + blockIdx.x;
    b.w.p.active = SORT_ACTIVE;
    b.w.p.source = b.w.p.target = SORT_OUT;
    b.w.p.first = b.w.p.last = 1;
    b.w.p.epoch = 0;
    b.w.pass = 0;
}

/* The group of ticket t, in the order of groups and then of passes. */
static __device__ inline void resident_enter_group(const struct sort_passes_args &a,
                                                   struct resident_shared &b, uint32_t tile)
{
    const uint32_t most = a.pages.group;
    const uint32_t bin = resident_below(b, tile + 1) - 1; /* the last one that begins up to tile */
    const uint32_t slab = b.first[bin] / most;
    b.group = b.first[resident_below(b, slab * most)];
    b.group_tiles = b.first[resident_below(b, (slab + 1) * most)] - b.group;
}

/* Takes a tile, when the preceding pass of its bin is stored; returns its number.  One thread. */
static __device__ inline uint32_t resident_take(const struct sort_passes_args &a,
                                                struct resident_shared &b)
{
    const uint32_t passes = b.divides ? 1 : b.passes;
    for (;;) {
        const uint32_t t = atomicAdd(&a.pages.bins->taken[b.divides], 1);
        b.here = 0;
        if (t / passes >= b.first[SORT_BINS]) return 0;
        if (t / passes >= b.group + b.group_tiles) resident_enter_group(a, b, t / passes);
        const uint32_t in_group = t - passes * b.group, pass = in_group / b.group_tiles;
        const uint32_t tile = b.group + in_group % b.group_tiles;
        const uint32_t bin = resident_below(b, tile + 1) - 1, digits = b.digits[bin];
        if (pass >= digits) continue; /* all keys of the bin have the same one */
        b.w.pass = (int)(b.divides ? digits - 1 : pass);
        b.w.p.active = b.active;
        b.w.p.source = b.w.p.target = SORT_OUT;
        b.w.p.first = pass == 0;
        b.w.p.last = b.divides || pass + 1 == digits;
        b.w.p.epoch = pass + !b.divides; /* 0 first: descriptors are cleared */
        b.bin = bin;
        b.head = b.first[bin];
        b.tail = b.first[bin + 1] - 1;
        b.at = b.start[bin] + (uint64_t)(tile - b.head) * TILE;
        b.here = (uint32_t)min((uint64_t)b.start[bin] + b.size[bin] - b.at, (uint64_t)TILE);
        if (pass) wait_acquire(&a.pages.bins->stored[b.w.p.epoch - 1][bin], b.tail - b.head + 1);
        return tile;
    }
}
#endif

#endif
