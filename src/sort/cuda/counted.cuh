/*
 * sort/cuda/counted.cuh - device code of short.cu: a block sorts a group of 8-bit or 16-bit keys of
 * any length, by counting them.
 *
 *     range     16 bits: the lowest and the highest key
 *     window    keys from, ..., from + bins - 1: how often each occurs, in shared memory; 16 bits
 *               per counter if the group has fewer than 2^16 keys
 *     few bins  the numbers of keys up to each; a thread finds the key of each place
 *     many      a warp has adjacent bins, and a lane writes the keys of its bins
 *
 * Few keys of 16 bits are read once (small_values.cuh).
 *
 * Keys without values are equal in all bits if they are equal, so nothing is moved.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_COUNTED_CUH
#define ECHI_SORT_CUDA_COUNTED_CUH

#ifndef COUNTED_WIDE
#define COUNTED_WIDE 0 /* 1: for few groups (counted.cu) */
#endif

#include "sort/cuda/chunk.cuh"
#if !POSITIONS && KEY_BITS == 16
#include "sort/cuda/small_values.cuh"
#endif

#if !POSITIONS && KEY_BITS <= 16
enum {
    COUNTED_THREADS = COUNTED_WIDE ? SORT_COUNTED_WIDE_THREADS : SORT_COUNTED_THREADS(KEY_BYTES),
    COUNTED_WARPS = COUNTED_THREADS / 32,
    COUNTED_EACH = 8,               /* loads in flight together ... */
    COUNTED_VECTOR = 4,             /* of as many keys each */
    COUNTED_RUN = 16,               /* equal keys that a lane writes */
    COUNTED_PLACES = 16 / KEY_BYTES /* keys of a vector that a thread writes */
};

#if KEY_BITS == 8
typedef uint32_t counted_four;
#else
typedef uint64_t counted_four;
#endif

struct counted_shared {
    uint32_t sums[COUNTED_WARPS], lowest[COUNTED_WARPS], highest[COUNTED_WARPS];
    struct group one;
};

/* A group, and the interval of encoded keys that is counted. */
struct counted {
    const ukey *in;
    ukey *out;
    uint32_t n, from, width;
    uint32_t half; /* 1: counters of 16 bits, two per word */
};

struct counted_range {
    uint32_t lowest, highest;
};

static __device__ inline void counted_add(const struct counted &c, uint32_t *words, uint32_t bin,
                                          uint32_t n)
{
    atomicAdd(&words[bin >> c.half], n << (bin & c.half) * 16);
}

/* Adds a key to the range, or to the count of equal successive keys, which is added at once. */
struct counted_run {
    struct counted_range range;
    uint32_t bin, n;
};

static __device__ inline void counted_key(const struct echi_order &o, const struct counted &c,
                                          uint32_t *words, ukey u, struct counted_run &r)
{
    const uint32_t e = order_encode(o, u), b = e - c.from;
    if (!words) {
        r.range.lowest = min(r.range.lowest, e);
        r.range.highest = max(r.range.highest, e);
    } else if (KEY_BITS == 8) {
        atomicAdd(&words[b], 1); /* the hardware combines those of a warp */
    } else if (b < c.width) {
        if (b != r.bin && r.n) {
            counted_add(c, words, r.bin, r.n);
            r.n = 0;
        }
        r.bin = b;
        r.n++;
    }
}

/* Counts the keys of the window, or returns the range of the thread's keys if words is NULL.  Keys
 * are loaded by fours; the loads of several fours are in flight together. */
static __device__ __noinline__ struct counted_range
counted_pass(const struct echi_order &o, const struct counted c, uint32_t *words)
{
    enum { ALL = COUNTED_EACH * COUNTED_THREADS };
    struct counted_run r = { { ~0u, 0 }, 0, 0 };
    const uint32_t before = (0u - (uint32_t)((uintptr_t)c.in / KEY_BYTES)) % COUNTED_VECTOR;
    const uint32_t head = min(c.n, before), fours = (c.n - head) / COUNTED_VECTOR;
    const uint32_t tail = head + fours * COUNTED_VECTOR, me = threadIdx.x;
    const counted_four *in = (const counted_four *)(c.in + head);
    for (uint32_t from = me; from < fours; from += ALL) {
        counted_four u[COUNTED_EACH];
#pragma unroll
        for (int j = 0; j < COUNTED_EACH; j++) {
            const uint32_t i = from + j * COUNTED_THREADS;
            u[j] = i < fours ? in[i] : counted_four{};
        }
#pragma unroll 1
        for (uint32_t i = from; i < min(fours, from + ALL); i += COUNTED_THREADS) {
            counted_four four = u[0];
#pragma unroll
            for (int j = 1; j < COUNTED_EACH; j++) u[j - 1] = u[j];
#pragma unroll
            for (int k = 0; k < COUNTED_VECTOR; k++, four >>= KEY_BITS)
                counted_key(o, c, words, (ukey)four, r);
        }
    }
    if (me < head) counted_key(o, c, words, c.in[me], r);
    if (me < c.n - tail) counted_key(o, c, words, c.in[tail + me], r);
    if (r.n) counted_add(c, words, r.bin, r.n);
    return r.range;
}

/* The sum over the threads before this one in the block; total: of all. */
static __device__ inline uint32_t counted_before(struct counted_shared &s, uint32_t own,
                                                 uint32_t &total)
{
    const uint32_t through = warp_scan(own);
    __syncthreads(); /* all threads have read the last sums */
    if (lane_id() == 31) s.sums[threadIdx.x / 32] = through;
    __syncthreads(); /* the sums are written */
    uint32_t before = through - own;
    total = 0;
    for (uint32_t w = 0; w < COUNTED_WARPS; w++) {
        if (w < threadIdx.x / 32) before += s.sums[w];
        total += s.sums[w];
    }
    return before;
}

/* ---- Range ---- */

static __device__ inline void counted_fold(struct counted_range &r)
{
#pragma unroll
    for (int step = 16; step; step /= 2) {
        r.lowest = min(r.lowest, __shfl_xor_sync(WARP_ALL, r.lowest, step));
        r.highest = max(r.highest, __shfl_xor_sync(WARP_ALL, r.highest, step));
    }
}

/* The range of all keys of the group. */
static __device__ inline struct counted_range
counted_range_of(const struct echi_order &o, const struct counted &c, struct counted_shared &s)
{
    struct counted_range r = counted_pass(o, c, NULL);
    counted_fold(r);
    if (lane_id() == 0) {
        s.lowest[threadIdx.x / 32] = r.lowest;
        s.highest[threadIdx.x / 32] = r.highest;
    }
    __syncthreads(); /* the ranges of the warps are written */
    r.lowest = s.lowest[lane_id() % COUNTED_WARPS];
    r.highest = s.highest[lane_id() % COUNTED_WARPS];
    counted_fold(r);
    return r;
}

/* ---- Few bins, at most one per thread ---- */

static __device__ inline uint32_t counted_of(const struct counted &c, const uint32_t *words,
                                             uint32_t bin)
{
    const uint32_t word = words[bin >> c.half] >> (bin & c.half) * 16;
    return c.half ? word & 0xffff : word;
}

/* Writes 16 bytes of keys from place `at` - skew on, of those that exist.  bin: of the first of
 * them; marks: the bins of other keys with which a bin begins, and zeros. */
static __device__ inline void counted_write_vector(const struct echi_order &o,
                                                   const struct counted &c, uint4 marks,
                                                   uint32_t bin, uint32_t at, uint32_t skew,
                                                   uint32_t total)
{
    union {
        uint4 vector;
        ukey key[COUNTED_PLACES];
    } v;
    v.vector = marks;
#pragma unroll
    for (int j = 0; j < COUNTED_PLACES; j++) {
        if (v.key[j]) bin = v.key[j];
        v.key[j] = order_decode(o, (ukey)(c.from + bin));
    }
    if (at >= skew && at + COUNTED_PLACES <= total + skew) {
        *(uint4 *)(c.out + at - skew) = v.vector;
        return;
    }
#pragma unroll
    for (int j = 0; j < COUNTED_PLACES; j++)
        if (at + j >= skew && at + j < total + skew) c.out[at + j - skew] = v.key[j];
}

/* Writes the keys of the window; returns how many. The counters are zero again.  A bin marks the
 * place with which it begins, so that a thread searches only the bin of its first place. */
static __device__ inline uint32_t counted_write_few(const struct echi_order &o,
                                                    const struct counted &c,
                                                    struct counted_shared &s, uint32_t *words)
{
    enum { ALL = COUNTED_THREADS * COUNTED_PLACES };
    const uint32_t me = threadIdx.x, own = me < c.width ? counted_of(c, words, me) : 0;
    const uint32_t skew = (uint32_t)((uintptr_t)c.out / KEY_BYTES) % COUNTED_PLACES;
    uint32_t *ends = words + COUNTED_THREADS; /* keys up to each bin */
    uint4 *marks = (uint4 *)(words + 2 * COUNTED_THREADS);
    uint32_t total, top = 1;
    const uint32_t before = counted_before(s, own, total);
    while (2 * top < c.width) top *= 2;
    if (me < c.width) {
        ends[me] = before + own;
        words[me] = 0; /* all counters are read */
    }
    for (uint32_t from = 0; from < total + skew; from += ALL) {
        const uint32_t at = from + me * COUNTED_PLACES, mark = before + skew - from;
        marks[me] = make_uint4(0, 0, 0, 0);
        __syncthreads(); /* the ends are known, and the marks are clear */
        if (own && mark < (uint32_t)ALL) ((ukey *)marks)[mark] = (ukey)me;
        __syncthreads(); /* the bins are marked */
        if (at >= total + skew) continue;
        const uint32_t first = at < skew ? 0 : at - skew;
        uint32_t bin = 0; /* the first one whose end is beyond the place */
        for (uint32_t step = top; step; step /= 2)
            if (bin + step <= c.width && ends[bin + step - 1] <= first) bin += step;
        counted_write_vector(o, c, marks[me], bin, at, skew, total);
    }
    __syncthreads(); /* all threads have read the ends */
    marks[me] = make_uint4(0, 0, 0, 0);
    if (me < c.width) ends[me] = 0;
    __syncthreads(); /* all counters are zero */
    return total;
}

/* ---- Many bins ---- */

static __device__ inline uint32_t counted_sum(const struct counted &c, const uint4 &b)
{
    if (!c.half) return b.x + b.y + b.z + b.w;
    return (b.x & 0xffff) + (b.x >> 16) + (b.y & 0xffff) + (b.y >> 16) + (b.z & 0xffff) +
           (b.z >> 16) + (b.w & 0xffff) + (b.w >> 16);
}

/* Writes the keys of a warp's adjacent bins, the lane's from `first` and from place `to` on.  The
 * warp writes a run of more than COUNTED_RUN keys. */
static __device__ inline void counted_write_bins(const struct echi_order &o,
                                                 const struct counted &c, uint4 b, uint32_t first,
                                                 uint32_t to)
{
#pragma unroll 1
    for (uint32_t j = 0; j < 4u << c.half; j++) {
        const uint32_t n = c.half ? b.x & 0xffff : b.x;
        const ukey key = order_decode(o, (ukey)(c.from + first + j));
        if (!c.half || j % 2) {
            b.x = b.y;
            b.y = b.z;
            b.z = b.w;
        } else {
            b.x >>= 16;
        }
        if (n <= COUNTED_RUN)
#pragma unroll 1
            for (uint32_t k = 0; k < n; k++) c.out[to + k] = key;
        uint32_t lanes = __ballot_sync(WARP_ALL, n > COUNTED_RUN);
        for (; lanes; lanes &= lanes - 1) {
            const int lane = __ffs((int)lanes) - 1;
            const uint32_t end = __shfl_sync(WARP_ALL, to + n, lane);
            const ukey there = (ukey)__shfl_sync(WARP_ALL, (uint32_t)key, lane);
            for (uint32_t k = __shfl_sync(WARP_ALL, to, lane) + lane_id(); k < end; k += 32)
                c.out[k] = there;
        }
        to += n;
    }
}

static __device__ inline uint32_t counted_write_many(const struct echi_order &o,
                                                     const struct counted &c,
                                                     struct counted_shared &s, uint32_t *words)
{
    const uint32_t bins = 4u << c.half; /* of a lane */
    const uint32_t rounds = (c.width + 32 * bins - 1) / (32 * bins), warp = warp_id();
    const uint32_t begin = rounds * warp / COUNTED_WARPS;
    const uint32_t end = rounds * (warp + 1) / COUNTED_WARPS;
    uint4 *vectors = (uint4 *)words;
    uint32_t sum = 0, total;
#pragma unroll 4
    for (uint32_t r = begin; r < end; r++) sum += counted_sum(c, vectors[r * 32 + lane_id()]);
    uint32_t to = __shfl_sync(WARP_ALL, counted_before(s, sum, total), 0); /* of the warp */
#pragma unroll 1
    for (uint32_t r = begin; r < end; r++) {
        const uint32_t i = r * 32 + lane_id();
        const uint4 b = vectors[i];
        const uint32_t own = counted_sum(c, b);
        if (!__any_sync(WARP_ALL, own != 0)) continue;
        if (own) vectors[i] = make_uint4(0, 0, 0, 0);
        const uint32_t through = warp_scan(own);
        counted_write_bins(o, c, b, i * bins, to + through - own);
        to += __shfl_sync(WARP_ALL, through, 31);
    }
    __syncthreads(); /* the counters are zero */
    return total;
}

/* ---- A group ---- */

/* Copies the keys of a group that is sorted in place, because windows read them again. */
static __device__ inline const ukey *counted_copy(const ukey *in, ukey *to, uint32_t n)
{
    for (uint32_t i = threadIdx.x; i < n; i += COUNTED_THREADS) to[i] = in[i];
    __syncthreads(); /* the copy can be read */
    return to;
}

static __device__ inline void counted_sort(const struct sort_short_args &a, const struct group &g,
                                           struct counted_shared &s, uint32_t *words)
{
    const struct echi_order &o = a.common.order;
    struct counted c = { (const ukey *)a.common.keys_in + g.in,
                         (ukey *)a.common.keys_out + g.out,
                         (uint32_t)g.n,
                         0,
                         0,
                         KEY_BITS == 16 && g.n < 1u << 16 };
    struct counted_range r = { 0, (1u << (KEY_BITS - 1)) * 2 - 1 };
    if (c.n == 0) return;
    if (KEY_BITS == 16) {
        if (a.common.keys_tmp) c.in = counted_copy(c.in, (ukey *)a.common.keys_tmp + g.in, c.n);
        r = counted_range_of(o, c, s);
    }
    const uint32_t most = a.window / 4 << c.half;
    for (c.from = r.lowest; c.from <= r.highest; c.from += most) {
        c.width = min(most, r.highest - c.from + 1);
        counted_pass(o, c, words);
        __syncthreads(); /* all keys are counted */
        c.out += KEY_BITS == 8 || c.width <= COUNTED_THREADS ? counted_write_few(o, c, s, words)
                                                             : counted_write_many(o, c, s, words);
    }
}

static __device__ inline void counted_groups(const struct sort_short_args &a, uint32_t *words)
{
    __shared__ struct counted_shared s;
    const uint64_t count = a.all ? a.groups.groups : list_count(a.groups, 0);
    bool clear = false; /* the counters are zero */
#if KEY_BITS == 16
    struct values_shared &values = *(struct values_shared *)words;
    bool ready = false; /* for few keys */
#endif
    for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
        if (threadIdx.x == 0) {
            s.one = group_at(a.groups, a.all || !a.groups.state ? i : a.groups.lists[0][i]);
            if (a.all) s.one.n = group_length(a.groups, i, s.one.in); /* checks it */
        }
        __syncthreads(); /* the group is known */
        const struct group g = s.one;
#if KEY_BITS == 16
        const ukey *in = (const ukey *)a.common.keys_in + g.in;
        ukey *out = (ukey *)a.common.keys_out + g.out;
        if (values_fit(in, g.n)) {
            if (!ready) values_clear<COUNTED_WARPS>(values);
            ready = true;
            if (g.n) values_sort<COUNTED_WARPS>(a.common.order, values, in, out, (uint32_t)g.n);
            clear = false;
            __syncthreads(); /* all threads have read the group, and the marks are clear */
            continue;
        }
        ready = true; /* after the counters of all values */
#endif
        if (!clear)
            for (uint32_t b = threadIdx.x; b < a.window / 4; b += COUNTED_THREADS) words[b] = 0;
        clear = true;
        __syncthreads(); /* the counters are zero */
        counted_sort(a, g, s, words);
        __syncthreads(); /* all threads have read the group */
    }
    if (a.reset) groups_reset(*a.groups.state);
}

#endif

#endif
