/*
 * sort/cuda/msd_buckets.cuh - the first level of a sort of many keys without values, by buckets of
 * about equally many keys, for any distribution of the keys.
 *
 *     sort_buckets_begin     divides the range of a sample into 2^bin_bits bins
 *     sort_buckets_count     counts the keys of each bin: one read
 *     sort_buckets_plan      at most 256 buckets: each is an aligned power of two of bins
 *     sort_buckets_scatter   moves keys by a table from bins to buckets; if that gains little, all
 *                            buckets have equally many bins, and are a digit of sort_msd_scatter
 *
 *         bins       |.|.|.|.|.|.|.|.|:|:|:|:|#|#|#|#|
 *         buckets    |       |       |   |   |#|#|#|#|
 *
 * For floats the bins may be by value instead: bins of equal width in value (msd_value.cuh).  All
 * buckets then have equally many bins, and are a digit of sort_msd_floats.  If many keys of the
 * sample are in the first bin, bins are by length (lengths.cuh).
 *
 * Keys that differ from the sample in other bits are counted in the first or the last bin.  If the
 * bins of a bucket are small enough for leaves, they are its segment's digits, and its keys are not
 * counted again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_BUCKETS_CUH
#define ECHI_SORT_CUDA_MSD_BUCKETS_CUH

#include "sort/cuda/lengths.cuh"
#include "sort/cuda/skewed.cuh"
#include "sort/cuda/msd_value.cuh"

static_assert((int)SORT_BUCKETS_THREADS == (int)SORT_SKEWED_THREADS, "a block for both samples");
enum {
    BUCKETS_THREADS = SORT_BUCKETS_THREADS,
    BUCKETS_WARPS = BUCKETS_THREADS / 32,
    BUCKETS_SAMPLES = 4, /* per thread */
    BUCKETS = SORT_BINS,
    BUCKET_LOG = SORT_DIGIT_BITS,
    BUCKETS_NEAR = 25, /* of 100 keys in the first bin: bins are by length */
    BUCKETS_ENDS = 200 /* leaves: a bucket of at most this size probably becomes leaves after one
                          level */
};

/* Clears the counters of the levels. */
static __device__ inline void buckets_clear(const msd_args &a)
{
    const uint32_t me = threadIdx.x;
    for (uint32_t i = me; i < 1u << a.bin_bits; i += BUCKETS_THREADS) {
        a.bins[i] = 0;
        a.bin_bucket[i] = 0;
    }
    if (me < SORT_MSD_ROW) a.lists.counts[0][me] = 0;
    if (me <= SORT_MSD_LEVELS + 1) a.lists.msd->segments[me] = a.lists.msd->tiles[me] = 0;
    if (me == 0) msd_clear(a);
}

/* Whether many keys of the sample are in the first bin of 2^shift keys. */
static __device__ inline bool buckets_near(const ukey (&e)[BUCKETS_SAMPLES], ukey low,
                                           uint32_t shift)
{
    int near = 0;
#pragma unroll
    for (int j = 0; j < BUCKETS_SAMPLES; j++)
        near += __syncthreads_count((ukey)(e[j] - low) >> shift == 0);
    return near >= BUCKETS_NEAR * BUCKETS_THREADS * BUCKETS_SAMPLES / 100;
}

/* Where a number of random length begins in the keys of a sample, or 0, like echi_divide.cut; all
 * threads, of which thread 0 gets the result.  zeros: shared memory. */
static __device__ inline uint32_t buckets_cut(const ukey *keys, uint32_t *zeros, uint32_t bits)
{
    static_assert(SORT_ZEROS == 4, "bits of set");
    uint32_t above = 0, cut = 0;
    for (uint32_t bit = threadIdx.x / 32; bit < KEY_BITS; bit += BUCKETS_WARPS) {
        uint32_t with = 0;
        for (uint32_t i = lane_id(); i < SKEWED_KEYS; i += 32) {
            const ukey e = keys[i], set = e | e << 1 | e << 2 | e << 3;
            with += set >> bit & 1;
        }
        with = warp_sum(with);
        if (lane_id() == 0) zeros[bit] = SKEWED_KEYS - with;
    }
    __syncthreads(); /* all counts are written */
    for (uint32_t bit = bits; bit > 0 && (cut == 0 || cut == bits); bit--) {
        if (zeros[bit - 1] >= SORT_ZEROS_MANY(SKEWED_KEYS) &&
            zeros[bit - 1] >= above + SORT_ZEROS_MORE(SKEWED_KEYS))
            cut = bit;
        above = zeros[bit - 1];
    }
    return cut;
}

extern "C" __global__ void __launch_bounds__(SORT_BUCKETS_THREADS)
    sort_buckets_begin(const __grid_constant__ msd_args a)
{
    __shared__ struct value_shared values;
    __shared__ ukey keys[SKEWED_KEYS];
    __shared__ uint32_t zeros[KEY_BITS];
    wait_for_earlier();
    const uint32_t me = threadIdx.x;
    const uint32_t samples = BUCKETS_THREADS * BUCKETS_SAMPLES, n = (uint32_t)a.common.n;
    const uint32_t part = max(n / samples, 1u);
    ukey e[BUCKETS_SAMPLES];
#pragma unroll
    for (uint32_t j = 0; j < BUCKETS_SAMPLES; j++) {
        const uint32_t at = min(sample_position(me * BUCKETS_SAMPLES + j, part), n - 1);
        e[j] = order_encode(a.common.order, ((const ukey *)a.common.keys_in)[at]);
    }
    ukey low = e[0], high = e[0];
#pragma unroll
    for (int j = 1; j < BUCKETS_SAMPLES; j++) {
        low = key_min(low, e[j]);
        high = key_max(high, e[j]);
    }
    buckets_clear(a);
    block_range(values.low, values.high, low, high); /* also: all counters are clear */
    struct sort_buckets t = {};
    t.bits = max(bits_of(low ^ high), (uint32_t)a.bin_bits); /* a bucket is a digit of keys */
    struct value_map map = {};
    ukey half[] = { e[0], e[BUCKETS_SAMPLES / 2] };
    const uint32_t seen = n >= samples ? skewed_order(keys, half) : 0;
    const bool by_value = a.floats && n >= samples && value_choose(a, values, e, t.bits, map);
    bool skewed = false;
    t.low = low & ~bits_mask(t.bits);
    if (!by_value && seen == SORT_SEEN_BOTH) {
        const bool near = buckets_near(e, (ukey)t.low, t.bits - a.bin_bits);
        if (a.adaptive)
            skewed = skewed_found(a, keys, half);
        else if (near)
            skewed_sort(keys, half);
        if (near && skewed_by_length(keys, half, (ukey)t.low)) {
            skewed = false;
            while (length_digits(t.bits, t.lengths + 1) <= 1u << a.bin_bits) t.lengths++;
            t.cut = buckets_cut(keys, zeros, t.bits);
        }
    }
    if (me != 0) return;
    msd_begin_copy(a, seen);
    if (skewed) skewed_leave(a);
    if (by_value) {
        t.by_value = 1;
        t.scale = (double)map.scale;
        t.offset = (double)map.offset;
        t.low = 0;
        t.bits = VALUE_BITS;
    }
    t.shift = t.bits - a.bin_bits;
    t.least = ~0ull;
    *a.buckets = t;
}

/* The map from a key to its bin, and from a bin to its bucket. */
struct buckets_table {
    const uint8_t *bucket_of;
    ukey low, span; /* the bins cover the keys low + [0, span] */
    uint32_t shift, lengths;
    struct value_map map;     /* if bins are by value */
    struct length_map digits; /* of a segment by length */
};

static __device__ inline struct buckets_table buckets_table_of(const msd_args &a)
{
    struct buckets_table t = {
        a.bin_bucket,     (ukey)a.buckets->low, (ukey)bits_mask(a.buckets->bits),
        a.buckets->shift, a.buckets->lengths,   value_map_of(a),
        length_map{}
    };
    return t;
}

/* LENGTHS: whether bins are by length. */
template <int LENGTHS>
static __device__ inline uint32_t buckets_bin(const struct buckets_table &t, ukey e)
{
    ukey x = e - t.low;
    if (x > t.span) x = e < t.low ? (ukey)0 : t.span;
    return LENGTHS ? length_digit(x, t.lengths) : (uint32_t)(x >> t.shift);
}

/* ---- Counts ---- */

struct buckets_found {
    ukey least, most; /* minimum key below and maximum key above all bins */
};

/* The kind of bins: of keys as they are, of encoded keys, of values, or of encoded keys by
 * length. */
enum buckets_count { COUNT_PLAIN, COUNT_ENCODED, COUNT_VALUES, COUNT_LENGTHS };

template <int KIND>
static __device__ inline void buckets_count_key(const msd_args &a, const struct buckets_table &t,
                                                uint32_t *bins, ukey u, struct buckets_found &found)
{
    if (KIND == COUNT_VALUES) {
        atomicAdd(&bins[value_digit(t.map, u, t.shift, (uint32_t)a.bin_bits)], 1);
        return;
    }
    const ukey e = KIND == COUNT_PLAIN ? u : order_encode(a.common.order, u);
    if ((ukey)(e - t.low) > t.span) {
        if (e < t.low && e < found.least) found.least = e;
        if (e > t.low && e > found.most) found.most = e;
    }
    atomicAdd(&bins[buckets_bin<KIND == COUNT_LENGTHS>(t, e)], 1);
}

/* Counts the keys of [from, to). */
template <int KIND>
static __device__ inline void buckets_count_range(const msd_args &a, const struct buckets_table &t,
                                                  uint32_t *bins, uint64_t from, uint64_t to,
                                                  struct buckets_found &found)
{
    const ukey *keys = (const ukey *)a.common.keys_in, *mine = keys + from;
    const uint64_t count = to - from;
    const struct key_vectors v = key_vectors_of(mine, count);
    for (uint64_t i = threadIdx.x; i < v.count; i += VECTOR_LOADS * BUCKETS_THREADS) {
        union key_vector load[VECTOR_LOADS];
        vectors_load<uint64_t>(v.body, v.count, i, BUCKETS_THREADS, load);
#pragma unroll
        for (int j = 0; j < VECTOR_LOADS; j++)
            if (i + j * BUCKETS_THREADS < v.count)
#pragma unroll
                for (int k = 0; k < VECTOR_KEYS; k++)
                    buckets_count_key<KIND>(a, t, bins, load[j].key[k], found);
    }
    const uint64_t ends[] = { threadIdx.x, v.tail + threadIdx.x }, stops[] = { v.head, count };
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (ends[k] < stops[k]) buckets_count_key<KIND>(a, t, bins, mine[ends[k]], found);
}

extern "C" __global__ void __launch_bounds__(SORT_BUCKETS_THREADS)
    sort_buckets_count(const __grid_constant__ msd_args a)
{
    __shared__ unsigned long long least, most;
    uint32_t *bins = (uint32_t *)shared_bytes;
    wait_for_earlier();
    if (msd_copied(a) || a.lists.msd->skewed) return;
    const uint32_t all = 1u << a.bin_bits;
    const uint64_t each = a.common.n / gridDim.x + (a.common.n % gridDim.x != 0);
    const uint64_t from = min(a.common.n, blockIdx.x * each), to = min(a.common.n, from + each);
    const struct buckets_table t = buckets_table_of(a);
    rank_clear(bins, all);
    if (threadIdx.x == 0) {
        least = ~0ull;
        most = 0;
    }
    __syncthreads(); /* the counters are clear */
    struct buckets_found found = { (ukey) ~(ukey)0, 0 };
    if (t.lengths)
        buckets_count_range<COUNT_LENGTHS>(a, t, bins, from, to, found);
    else if (order_plain(a.common.order))
        buckets_count_range<COUNT_PLAIN>(a, t, bins, from, to, found);
    else if (a.buckets->by_value)
        buckets_count_range<COUNT_VALUES>(a, t, bins, from, to, found);
    else
        buckets_count_range<COUNT_ENCODED>(a, t, bins, from, to, found);
    if (found.least < t.low) atomicMin(&least, (unsigned long long)found.least);
    if (found.most) atomicMax(&most, (unsigned long long)found.most);
    __syncthreads(); /* every key is counted */
    for (uint32_t bin = threadIdx.x; bin < all; bin += BUCKETS_THREADS)
        if (bins[bin]) atomicAdd(&a.bins[bin], bins[bin]);
    if (threadIdx.x != 0) return;
    if (least != ~0ull) atomicMin((unsigned long long *)&a.buckets->least, least);
    if (most) atomicMax((unsigned long long *)&a.buckets->most, most);
}

/* ---- Plan: one block ---- */

struct buckets_plan {
    uint32_t sums[BUCKETS_WARPS];
    uint32_t buckets, ending;
    uint32_t first[BUCKETS]; /* bin of each bucket */
    uint8_t log[BUCKETS];    /* it has 2^log bins */
    ukey bound[BUCKETS + 1]; /* for even buckets by value: the first key of each */
};

/* Converts the counts of the bins to their starts, in begin[2^bin_bits + 1]. */
static __device__ inline void buckets_begins(const msd_args &a, struct buckets_plan &p,
                                             uint32_t *begin)
{
    const uint32_t all = 1u << a.bin_bits, steps = (all + BUCKETS_THREADS - 1) / BUCKETS_THREADS;
    const uint32_t warp = threadIdx.x / 32, lane = lane_id(), mine = warp * steps * 32 + lane;
    uint32_t sum = 0;
    for (uint32_t j = 0; j < steps; j++) {
        const uint32_t bin = mine + j * 32, count = bin < all ? a.bins[bin] : 0;
        const uint32_t inclusive = warp_scan(count);
        if (bin < all) begin[bin] = sum + inclusive - count;
        sum += __shfl_sync(WARP_ALL, inclusive, 31);
    }
    if (lane == 31) p.sums[warp] = sum;
    __syncthreads(); /* the sums of all warps are written */
    uint32_t before = 0;
    for (uint32_t w = 0; w < warp; w++) before += p.sums[w];
    for (uint32_t j = 0; j < steps; j++)
        if (mine + j * 32 < all) begin[mine + j * 32] += before;
    if (threadIdx.x == 0) begin[all] = (uint32_t)a.common.n;
    __syncthreads(); /* the starts of all bins are written */
}

/* Whether a bucket begins at this bin, that is, no larger bucket contains it.  The bucket has the
 * maximum number 2^*log of bins with which it is aligned and has at most cap keys; or one bin. */
static __device__ inline bool bucket_at_bin(const msd_args &a, const uint32_t *begin, uint32_t bin,
                                            uint32_t cap, uint32_t *log)
{
    const uint32_t aligned = bin ? (uint32_t)__ffs((int)bin) - 1 : (uint32_t)a.bin_bits;
    const uint32_t before = bin - (1u << aligned), after = bin + (1u << aligned);
    if (bin && begin[after] - begin[before] <= cap) return false;
    uint32_t k = 0;
    while (k < aligned && begin[bin + (2u << k)] - begin[bin] <= cap) k++;
    *log = k;
    return begin[bin + (1u << k)] != begin[bin];
}

/* Buckets of equally many bins. */
static __device__ inline void buckets_even(const msd_args &a, struct buckets_plan &p)
{
    const uint32_t me = threadIdx.x, even = a.bin_bits - BUCKET_LOG;
    if (me < BUCKETS) {
        p.first[me] = me << even;
        p.log[me] = (uint8_t)even;
    }
    if (me == 0) p.buckets = BUCKETS;
    __syncthreads(); /* the buckets are written */
}

/* The first key of each even bucket by value. */
static __device__ inline void buckets_bounds(const msd_args &a, const struct sort_buckets &t,
                                             struct buckets_plan &p)
{
    const uint32_t c = threadIdx.x;
    if (c <= BUCKETS)
        p.bound[c] =
            value_first(a.common.order, value_map_of(a), c << (t.shift + a.bin_bits - BUCKET_LOG));
    __syncthreads(); /* the keys are written */
}

/* Buckets of about equally many keys: uses the smallest cap that makes few enough buckets. */
static __device__ inline void buckets_equal(const msd_args &a, struct buckets_plan &p,
                                            const uint32_t *begin)
{
    const uint32_t me = threadIdx.x, all = 1u << a.bin_bits, n = (uint32_t)a.common.n;
    for (uint32_t part = 160;; part /= 2) {
        const uint32_t cap = part ? n / part : n;
        uint32_t found = 0, log;
        if (me == 0) p.buckets = 0;
        __syncthreads(); /* the counter is clear */
        for (uint32_t bin = me; bin < all; bin += BUCKETS_THREADS)
            found += bucket_at_bin(a, begin, bin, cap, &log);
        if (found) atomicAdd(&p.buckets, found);
        __syncthreads(); /* all are counted */
        const bool few = p.buckets <= BUCKETS;
        __syncthreads(); /* all threads have read whether they are few enough */
        if (!few) continue;
        if (me == 0) p.buckets = 0;
        __syncthreads(); /* the counter is clear */
        for (uint32_t bin = me; bin < all; bin += BUCKETS_THREADS)
            if (bucket_at_bin(a, begin, bin, cap, &log)) {
                const uint32_t c = atomicAdd(&p.buckets, 1);
                p.first[c] = bin;
                p.log[c] = (uint8_t)log;
            }
        __syncthreads(); /* the buckets are written */
        return;
    }
}

/* The number of keys in buckets that one more level probably turns into leaves. */
static __device__ inline uint32_t buckets_ending(const msd_args &a, struct buckets_plan &p,
                                                 const uint32_t *begin)
{
    const uint32_t me = threadIdx.x;
    if (me == 0) p.ending = 0;
    __syncthreads(); /* the sum is clear */
    if (me < p.buckets) {
        const uint32_t first = p.first[me];
        const uint32_t count = begin[first + (1u << p.log[me])] - begin[first];
        if (count && count <= BUCKETS_ENDS * a.leaf) atomicAdd(&p.ending, count);
    }
    __syncthreads(); /* all are added */
    return p.ending;
}

/* Chooses the buckets; returns whether keys are mapped to them by a table. */
static __device__ inline bool buckets_choose(const msd_args &a, const struct sort_buckets &t,
                                             struct buckets_plan &p, const uint32_t *begin)
{
    const uint32_t n = (uint32_t)a.common.n;
    const bool outside = t.least != ~0ull || t.most != 0;
    if (t.lengths) {
        buckets_equal(a, p, begin);
        return true;
    }
    buckets_even(a, p);
    if (t.by_value) {
        buckets_bounds(a, t, p);
        return false;
    }
    const uint32_t even = buckets_ending(a, p, begin);
    if (!outside && even >= n / 4 * 3) return false;
    __syncthreads(); /* all threads have read the sum */
    buckets_equal(a, p, begin);
    const uint32_t equal = buckets_ending(a, p, begin);
    if (outside || equal > even + n / 2) return true;
    __syncthreads(); /* all threads have read the sum and the buckets */
    buckets_even(a, p);
    return false;
}

/* The range of keys of a bucket by value, or of the only bin that contains its keys. */
static __device__ inline void buckets_range(const msd_args &a, const struct sort_buckets &t,
                                            const struct buckets_plan &p, uint32_t c,
                                            uint32_t first, uint32_t bins, uint64_t &low,
                                            uint64_t &high)
{
    const struct value_map map = value_map_of(a);
    low = p.bound[c];
    high = (ukey)(p.bound[c + 1] - 1);
    if (bins == 1u << p.log[c]) return;
    low = value_first(a.common.order, map, first << t.shift);
    high = (ukey)(value_first(a.common.order, map, (first + bins) << t.shift) - 1);
}

/* Digits by length for a bucket whose keys differ from `low` in `rest`, if they have few values
 * above the cut, or only zeros between `rest` and the cut; false otherwise. */
static __device__ inline bool buckets_by_length(const struct sort_buckets &t,
                                                struct sort_segment &s, uint64_t low, uint64_t rest)
{
    const uint32_t top = bits_of(rest);
    const uint64_t zeros = bits_mask(t.cut) & ~rest;
    if (t.cut <= 2 * SORT_DIGIT_BITS || top <= 2 * SORT_DIGIT_BITS) return false;
    if (top > t.cut + ECHI_TOP_UPPER || (top <= t.cut && low & zeros)) return false;
    s.known = SORT_BY_LENGTH;
    s.shift = top;
    s.bits = min(t.cut, top);
    return true;
}

/* One bucket, by one warp: its bins' entries in the table, and its keys' next stage: leaves, or a
 * segment of the next level, whose counts may be known. */
static __device__ inline void buckets_add(const msd_args &a, const struct sort_buckets &t,
                                          const struct buckets_plan &p, const uint32_t *begin,
                                          uint32_t c)
{
    const uint32_t lane = lane_id();
    uint32_t first = p.first[c], log = p.log[c], bins = 1u << log, most = 0, only = 0;
    const uint32_t at = begin[first], count = begin[first + bins] - at;
    for (uint32_t b = lane; b < bins; b += 32) {
        const uint32_t here = begin[first + b + 1] - begin[first + b];
        a.bin_bucket[first + b] = (uint8_t)c;
        most = max(most, here);
        if (here == count) only = first + b;
    }
#pragma unroll
    for (int step = 16; step; step /= 2) {
        most = max(most, __shfl_xor_sync(WARP_ALL, most, step));
        only = max(only, __shfl_xor_sync(WARP_ALL, only, step));
    }
    if (lane == 0) a.lists.counts[0][c] = at;
    if (count == 0) return;
    if (most == count) { /* treat it as a bucket of this bin */
        first = only;
        log = 0;
        bins = 1;
    }

    /* The first and the last bucket contain the keys outside all bins. */
    const uint32_t last =
        t.lengths ? length_digits(t.bits, t.lengths) - 1 : (uint32_t)(bits_mask(t.bits) >> t.shift);
    uint64_t rest = bits_mask(log + t.shift);
    uint64_t low = t.low + ((uint64_t)first << t.shift), high = low + rest;
    uint32_t shift = t.shift;
    bool inside = true, by_value = t.by_value, even = true;
    if (t.lengths) {
        low = t.low + length_first(first, t.lengths);
        high = t.low + (ukey)(length_first(min(first + bins, last + 1), t.lengths) - 1);
        rest = bits_mask(bits_of(low ^ high));
        shift = first >> t.lengths > 1 ? (first >> t.lengths) - 1 : 0;
        even = first + bins <= 2u << t.lengths || log <= t.lengths; /* bins of one width */
    }
    if (by_value) {
        buckets_range(a, t, p, c, first, bins, low, high);
        by_value = bins > 1 || (first != 0 && first != last); /* such bins can be divided by
                                                                 value */
        rest = bits_mask(bits_of(low ^ high));
    }
    if (first == 0 && t.least != ~0ull) {
        low = t.least;
        inside = false;
    }
    if (first <= last && last < first + bins && t.most != 0) {
        high = t.most;
        inside = false;
    }
    if (!inside) rest = bits_mask(bits_of(low ^ high));
    const bool large = count > a.leaf, equal = rest == 0;
    uint32_t index = 0;
    if (!large || equal) {
        const uint32_t pieces = (count - 1) / a.leaf + 1;
        if (lane == 0) index = atomicAdd(&a.lists.msd->leaves, pieces);
        index = __shfl_sync(WARP_ALL, index, 0);
        for (uint32_t i = lane; i < pieces; i += 32)
            msd_add_leaf(a, index + i, at + i * a.leaf, min(a.leaf, count - i * a.leaf), SORT_TMP,
                         low, high - low, ~0ull, even);
        return;
    }
    /* Bins are the digits if they make leaves, or if digits of more bits would not make leaves
     * either. */
    struct sort_segment s = {};
    const bool by_length = inside && buckets_by_length(t, s, low, rest);
    const bool counted =
        inside && even && !by_length && log > 0 && log <= SORT_DIGIT_BITS &&
        (most <= a.leaf || (most < count / 2 && count >> SORT_DIGIT_BITS > a.leaf));
    uint32_t first_tile = 0;
    if (lane == 0) {
        index = atomicAdd(&a.lists.msd->segments[1], 1);
        first_tile = atomicAdd(&a.lists.msd->tiles[1], msd_tiles(count));
        s.begin = at;
        s.count = count;
        s.first_tile = first_tile;
        s.source = SORT_TMP;
        if (by_value) {
            s.known = SORT_BY_VALUE;
            s.prefix = (uint64_t)first << t.shift;
        }
        if (counted) {
            s.known |= SORT_COUNTED;
            s.shift = shift;
            s.bits = log;
        } else if (!by_length) {
            msd_choose_digit(a, s, by_value ? bits_mask(log + t.shift) : rest, 1);
        }
        a.lists.segments[1][index] = s;
    }
    index = __shfl_sync(WARP_ALL, index, 0);
    first_tile = __shfl_sync(WARP_ALL, first_tile, 0);
    uint32_t *counts = msd_counts(a, 1, index);
    for (uint32_t b = lane; b < SORT_BINS; b += 32)
        counts[b] = counted && b < bins ? begin[first + b + 1] - begin[first + b] : 0;
    if (lane == 0) *(uint64_t *)(counts + SORT_BINS) = counted ? rest : 0;
    for (uint32_t i = lane; i < msd_tiles(count); i += 32)
        a.lists.tile_of[1][first_tile + i] = index;
}

extern "C" __global__ void __launch_bounds__(SORT_BUCKETS_THREADS)
    sort_buckets_plan(const __grid_constant__ msd_args a)
{
    __shared__ struct buckets_plan p;
    uint32_t *begin = (uint32_t *)shared_bytes;
    wait_for_earlier();
    if (msd_copied(a) || a.lists.msd->skewed) return;
    const struct sort_buckets t = *a.buckets;
    buckets_begins(a, p, begin);
    const bool table = buckets_choose(a, t, p, begin);
    for (uint32_t c = threadIdx.x / 32; c < p.buckets; c += BUCKETS_WARPS)
        buckets_add(a, t, p, begin, c);
    if (threadIdx.x != 0) return;
    a.buckets->table = table;
    if (table) return;
    struct sort_segment s = {};
    s.count = (uint32_t)a.common.n;
    s.source = SORT_IN;
    s.bits = BUCKET_LOG;
    s.shift = t.shift + a.bin_bits - BUCKET_LOG;
    s.moves = SORT_MOVES;
    s.known = t.by_value ? SORT_BY_VALUE : 0;
    a.lists.segments[0][0] = s;
    a.lists.msd->segments[0] = 1;
    a.lists.msd->tiles[0] = msd_tiles((uint32_t)a.common.n);
}

#endif
