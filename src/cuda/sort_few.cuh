/*
 * cuda/sort_few.cuh - few keys that crowd: least significant digit first, all passes in the launch
 * that else does the levels which evenly distributed keys do not have.
 *
 *     look      while other blocks count the first digit, one looks at a sample: would levels leave
 *               many keys together?                                            few_look()
 *     pass      a block counts its keys and says so; all meet; its keys of a digit go after those
 *               of lower digits, and after those of blocks before; all meet     few_sort()
 *
 *     rows    | 0 1 2 ... 15 | 16 17 ... 31 | 32 ...    counters of a block
 *     sums    |      0       |      1       |  2        and of a group of them
 *
 * A block needs the sums of all groups and the rows before its own in its group: loads that do not
 * wait for each other, where a look-back over as many tiles is a chain.  While a block that holds
 * its keys in registers ranks them, the others come; where there are too many keys for that, they
 * are read twice.
 *
 * Keys lie in the buffers as they are, not in the form of order_encode(): nobody knows which pass
 * is the last that moves any.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SORT_FEW_CUH
#define ECHI_CUDA_SORT_FEW_CUH

#include "block_range.cuh"
#include "sort_crowd.cuh"

enum {
#if VAL_BYTES
    FEW_THREADS = PAIRS_THREADS,
    FEW_ITEMS = MSD_ITEMS,
#else
    FEW_THREADS = SORT_MSD_THREADS,
    FEW_ITEMS = SORT_FEW_THREAD_BYTES / KEY_BYTES,
#endif
    FEW_WARPS = FEW_THREADS / 32,
    FEW_TILE = FEW_THREADS * FEW_ITEMS,
    FEW_SAMPLE = SORT_FEW_SAMPLES * FEW_THREADS,
    FEW_BINS = 2048
};

/* ---- Do keys crowd? ---- */

struct few_sample {
    uint32_t alike[FEW_BINS]; /* keys by their first bits */
    uint32_t equal[FEW_BINS]; /* ... by all of them */
    ukey lows[FEW_WARPS], highs[FEW_WARPS];
};

static __device__ inline uint32_t few_hash(uint64_t x)
{
    return (uint32_t)((x * 0x9e3779b97f4a7c15ull) >> 32) % FEW_BINS;
}

/* By the block that counts none: a.first->crowd is 1 where many keys of a sample share their first
 * bits with more keys than some leaves have.  Bits count from the first in which keys differ. */
static __device__ __noinline__ void few_look(const struct sort_args &a, struct few_sample &s)
{
    const uint32_t me = threadIdx.x, n = (uint32_t)a.n, part = n / FEW_SAMPLE;
    if (!part) return;
    const bool equal_too = n <= SORT_FEW_EQUAL(KEY_BYTES);
    const bool full = n > SORT_BINS * (msd_leaf(a) / 16 * 15);
    const uint32_t digits = full || KEY_BYTES == 8 ? 2 * SORT_DIGIT_BITS - 1 : SORT_DIGIT_BITS;
    const uint32_t leaves = SORT_FEW_LEAVES(KEY_BYTES, VAL_BYTES);
    const uint32_t many = min((uint32_t)((uint64_t)msd_leaf(a) * (leaves * FEW_SAMPLE) / n) + 4,
                              (uint32_t)FEW_SAMPLE / 8); /* no more: what is tested is small */
    ukey e[SORT_FEW_SAMPLES], low = (ukey) ~(ukey)0, high = 0;
    rank_clear(s.alike, FEW_BINS);
    rank_clear(s.equal, FEW_BINS);
#pragma unroll
    for (uint32_t k = 0; k < SORT_FEW_SAMPLES; k++) {
        e[k] = crowd_sample(a, k * FEW_THREADS + me, part);
        low = key_min(low, e[k]);
        high = key_max(high, e[k]);
    }
    block_range(s.lows, s.highs, low, high); /* also: the counters are clear */
    const uint32_t bits = 64 - __clzll((long long)(uint64_t)(low ^ high));
    const uint32_t rest = bits > digits ? bits - digits : 0;
    int different = 0, together = 0;
#pragma unroll
    for (int k = 0; k < SORT_FEW_SAMPLES; k++) {
        atomicAdd(&s.alike[few_hash((uint64_t)e[k] >> rest)], 1);
        different += __syncthreads_count(atomicAdd(&s.equal[few_hash(e[k])], 1) == 0);
    }
    __syncthreads(); /* every key is counted */
#pragma unroll
    for (int k = 0; k < SORT_FEW_SAMPLES; k++) {
        const uint32_t alike = s.alike[few_hash((uint64_t)e[k] >> rest)];
        const uint32_t equal = s.equal[few_hash(e[k])];
        together += __syncthreads_count(alike > many && (equal_too || 2 * equal < alike));
    }
    if (me == 0 && different >= SORT_FEW_DIFFERENT && together * 100 >= SORT_FEW_SHARE * FEW_SAMPLE)
        a.first->crowd = 1;
}

/* ---- Passes ---- */

struct few_shared {
    union {
        uint32_t counts[FEW_WARPS * SORT_BINS]; /* while ranking */
        ukey keys[FEW_TILE];                    /* then the tile by digit */
#if VAL_BYTES
        uval values[FEW_TILE];
#endif
    };
    uint32_t before[SORT_BINS]; /* keys of each digit in blocks before this one of its group */
    uint32_t next[SORT_BINS];   /* how many keys of each digit; then where the next one goes */
    uint32_t target[SORT_BINS]; /* a key of this digit and rank r of the tile goes to target + r */
    uint32_t sums[MSD_WORDS];
    uint32_t zero; /* which the compiler does not know: what it is added to is computed again after
                      a barrier, and not kept in registers until then */
};

struct few_pass {
    int pass;
    uint32_t source, target; /* enum sort_buffer */
};

static __device__ inline uint32_t few_digit(const struct sort_args &a, const struct few_pass &p,
                                            ukey u)
{
    return digit_of(a, order_encode(a.order, u), p.pass);
}

/* The sums of a pass: those of odd ones lie after those of even ones. */
static __device__ inline uint32_t *few_sums(const struct sort_args &a, int pass)
{
    return a.few_sums + (pass & 1) * (SORT_FEW_BLOCKS / SORT_FEW_GROUP * SORT_BINS);
}

/* Counts the digits of keys [from, to) in s.next. */
static __device__ inline void few_count(const struct sort_args &a, const struct few_pass &p,
                                        struct few_shared &s, uint32_t from, uint32_t to)
{
    const ukey *in = keys_of(a, p.source);
    rank_clear(s.next, SORT_BINS);
    __syncthreads(); /* the counters are clear */
    for (uint32_t i = from + threadIdx.x; i < to; i += FEW_TILE) {
        ukey key[FEW_ITEMS];
#pragma unroll
        for (uint32_t k = 0; k < FEW_ITEMS; k++)
            if (i + k * FEW_THREADS < to) key[k] = in[i + k * FEW_THREADS];
#pragma unroll
        for (uint32_t k = 0; k < FEW_ITEMS; k++)
            if (i + k * FEW_THREADS < to) atomicAdd(&s.next[few_digit(a, p, key[k])], 1);
    }
    __syncthreads(); /* every key is counted */
}

/* Says how many keys of its digit thread `bin` has, to be known to all when they have met. */
static __device__ inline void few_publish(const struct sort_args &a, const struct few_pass &p,
                                          uint32_t count)
{
    uint32_t *sums = few_sums(a, p.pass);
    const uint32_t bin = threadIdx.x, group = blockIdx.x / SORT_FEW_GROUP;
    if (bin >= SORT_BINS) return;
    a.few_counts[blockIdx.x * SORT_BINS + bin] = count;
    if (count) atomicAdd(&sums[group * SORT_BINS + bin], count);
}

/* One thread says that the block has come; everything before was seen by all of the block. */
static __device__ inline void few_arrive(const struct sort_args &a)
{
    if (threadIdx.x == 0) add_acq_rel(&a.msd->meetings, 1);
}

static __device__ inline void few_wait(const struct sort_args &a, uint32_t meetings)
{
    if (threadIdx.x == 0) wait_acquire(&a.msd->meetings, meetings * gridDim.x);
    __syncthreads(); /* what all blocks wrote before they came can be read */
}

/* Where the block's keys of each digit go, in s.next; false: there is one digit.  Threads from
 * SORT_BINS on add up the rows, the others the sums. */
static __device__ inline bool few_place(const struct sort_args &a, const struct few_pass &p,
                                        struct few_shared &s)
{
    enum { GROUP = SORT_FEW_GROUP };
    const uint32_t bin = threadIdx.x % SORT_BINS, group = blockIdx.x / GROUP;
    const uint32_t groups = (gridDim.x + GROUP - 1) / GROUP;
    const uint32_t *sums = few_sums(a, p.pass) + bin;
    const uint32_t *rows = a.few_counts + group * GROUP * SORT_BINS + bin;
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
            few_sums(a, p.pass + 1)[group * SORT_BINS + bin] = 0;
#pragma unroll
        for (uint32_t k = 0; k < GROUP - 1; k++)
            if (k < blockIdx.x % GROUP) before += rows[k * SORT_BINS];
        s.before[bin] = before;
    }
    const uint32_t base = bins_scan(total, s.sums); /* also: the rows are added up */
    if (threadIdx.x < SORT_BINS) s.next[bin] = base + before + s.before[bin];
    return !__syncthreads_or(threadIdx.x < SORT_BINS && total == (uint32_t)a.n); /* also: next */
}

/* Keys [at, at + here) in registers, at most a tile: as many items a thread as that needs. */
struct few_tile {
    uint32_t at, here, items;
    int mine, ranks;        /* how many of its items, and of the ranks that it writes, exist */
    uint32_t count, offset; /* thread `bin`: keys of this digit, and of lower ones */
    ukey key[FEW_ITEMS];
    uint32_t slot[FEW_ITEMS]; /* digits, then ranks */
};

static __device__ inline void few_move_values(const struct sort_args &a, const struct few_pass &p,
                                              struct few_shared &s, const struct few_tile &t,
                                              const uint32_t (&digits)[FEW_ITEMS / 4 + 1])
{
#if VAL_BYTES
    const uint32_t mine = threadIdx.x / 32 * (32 * t.items) + lane_id();
    const uval *in = values_of(a, p.source) + t.at;
    uval *out = (uval *)values_of(a, p.target);
    uval value[FEW_ITEMS];
#if VAL_BYTES <= 8
    if (p.source == SORT_IN && a.index)
#pragma unroll
        for (uint32_t i = 0; i < FEW_ITEMS; i++) value[i] = (uval)(t.at + mine + 32 * i);
    else
#endif
#pragma unroll
        for (int i = 0; i < FEW_ITEMS; i++)
            if (i < t.mine) value[i] = in[mine + 32 * i];
    __syncthreads(); /* every thread has read its keys */
#pragma unroll
    for (int i = 0; i < FEW_ITEMS; i++)
        if (i < t.mine) s.values[t.slot[i]] = value[i];
    __syncthreads(); /* the values lie by digits */
#pragma unroll
    for (int i = 0; i < FEW_ITEMS; i++) {
        const uint32_t rank = threadIdx.x + i * FEW_THREADS;
        const uint32_t digit = digits[i / 4] >> i % 4 * 8 & (SORT_BINS - 1);
        if (i < t.ranks) out[s.target[digit] + rank] = s.values[rank];
    }
#endif
}

static __device__ inline void few_load(const struct sort_args &a, const struct few_pass &p,
                                       struct few_shared &s, struct few_tile &t, uint32_t at,
                                       uint32_t here)
{
    const uint32_t me = threadIdx.x;
    t.at = at;
    t.here = here;
    t.items = (here + FEW_THREADS - 1) / FEW_THREADS;
    const uint32_t mine = me / 32 * (32 * t.items) + lane_id();
    const ukey *in = keys_of(a, p.source) + at + mine;
    t.mine = mine < here ? (int)min(t.items, (here - mine + 31) / 32) : 0;
    t.ranks = me < here ? (int)((here - me + FEW_THREADS - 1) / FEW_THREADS) : 0;
    uint32_t *row = s.counts + me / 32 * SORT_BINS;
#pragma unroll
    for (int i = 0; i < FEW_ITEMS; i++) t.key[i] = i < t.mine ? in[32 * i] : (ukey)0;
    rank_clear(s.counts, FEW_WARPS * SORT_BINS);
    __syncthreads(); /* the counters are clear */
#pragma unroll
    for (int i = 0; i < FEW_ITEMS; i++) {
        t.slot[i] = i < t.mine ? few_digit(a, p, t.key[i]) : SORT_BINS - 1; /* past the end: last */
        if (i < t.mine) atomicAdd(&row[t.slot[i]], 1);
    }
    __syncthreads(); /* every warp has counted */
    t.count = me < SORT_BINS ? rank_column<FEW_WARPS>(s.counts, me) : 0;
}

static __device__ inline void few_rank(struct few_shared &s, struct few_tile &t)
{
    const uint32_t me = threadIdx.x;
    if (me < SORT_BINS) rank_offsets<FEW_WARPS>(s.counts, me, t.offset);
    __syncthreads(); /* the rows say where each warp's keys of a digit begin */
    rank_keys<FEW_ITEMS>(s.counts + me / 32 * SORT_BINS + s.zero, t.slot, (int)t.items);
}

static __device__ inline void few_move(const struct sort_args &a, const struct few_pass &p,
                                       struct few_shared &s, struct few_tile &t)
{
    const uint32_t me = threadIdx.x;
    ukey *out = (ukey *)keys_of(a, p.target);
    uint32_t digits[FEW_ITEMS / 4 + 1] = {}; /* of the ranks it writes, in bytes */
    if (me < SORT_BINS) {
        s.target[me] = s.next[me] - t.offset;
        s.next[me] += t.count;
    }
    __syncthreads(); /* every warp is done with the counters */
#pragma unroll
    for (int i = 0; i < FEW_ITEMS; i++)
        if (i < t.mine) s.keys[t.slot[i]] = t.key[i];
    __syncthreads(); /* the tile lies by digits, and their targets are there */
    const bool skip = a.discard_keys && p.pass == a.passes - 1;
#pragma unroll
    for (int i = 0; i < FEW_ITEMS; i++) {
        const uint32_t rank = me + i * FEW_THREADS;
        if (i >= t.ranks) break;
        const ukey u = s.keys[rank];
        const uint32_t digit = few_digit(a, p, u);
        digits[i / 4] |= digit << i % 4 * 8;
        if (!skip) out[s.target[digit] + rank] = u;
    }
    few_move_values(a, p, s, t, digits);
    __syncthreads(); /* everyone has read the tile and the targets */
}

/* Copies [from, to), where the last pass that moved keys did not end in the output. */
static __device__ inline void few_finish(const struct sort_args &a, uint32_t source, uint32_t from,
                                         uint32_t to)
{
    const ukey *in = keys_of(a, source);
    ukey *out = (ukey *)a.keys_out;
    if (source == SORT_OUT) return;
    for (uint32_t i = from + threadIdx.x; i < to; i += FEW_THREADS) {
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

/* One pass; returns whether it moved anything.  A block that can hold its keys counts them as it
 * ranks them, and while it ranks the others come; else it reads them twice. */
static __device__ inline bool few_pass_over(const struct sort_args &a, const struct few_pass &p,
                                            struct few_shared &s, uint32_t from, uint32_t to,
                                            bool held, uint32_t meetings)
{
    bool moves = true;
    if (!held) {
        few_count(a, p, s, from, to);
        few_publish(a, p, s.next[threadIdx.x % SORT_BINS]);
        __syncthreads(); /* that is said */
        few_arrive(a);
        few_wait(a, meetings);
        moves = few_place(a, p, s);
    }
    for (uint32_t at = from; moves && (at < to || at == from); at += FEW_TILE) {
        struct few_tile t;
        few_load(a, p, s, t, at, min(to - at, (uint32_t)FEW_TILE));
        if (held) few_publish(a, p, t.count);
        t.offset = bins_scan(t.count, s.sums); /* also: that is said */
        if (held) few_arrive(a);
        few_rank(s, t);
        if (held) {
            few_wait(a, meetings);
            moves = few_place(a, p, s);
        }
        if (moves) few_move(a, p, s, t);
    }
    return moves;
}

/* Sorts; all blocks of the grid call it, and run together. */
static __device__ inline void few_sort(const struct sort_args &a, struct few_shared &s)
{
    const uint32_t n = (uint32_t)a.n, least = n / gridDim.x + 1;
    const uint32_t each = (least + FEW_THREADS - 1) / FEW_THREADS * FEW_THREADS;
    const uint32_t from = min(n, blockIdx.x * each), to = min(n, from + each);
    uint32_t source = SORT_IN, meetings = 0;
    if (threadIdx.x == 0) s.zero = 0;
    for (int pass = 0; pass < a.passes; pass++) {
        const struct few_pass p = { pass, source,
                                    source == (uint32_t)SORT_TMP ? (uint32_t)SORT_OUT
                                                                 : (uint32_t)SORT_TMP };
        if (few_pass_over(a, p, s, from, to, each <= FEW_TILE, ++meetings)) source = p.target;
        msd_meet(a, ++meetings);
    }
    few_finish(a, source, from, to);
}

#endif
