/*
 * sort/cuda/msd_value.cuh - digits of floats that are linear in value, for values that are evenly
 * distributed in a range: half of the floats in [0, 1) have one exponent, and so the same first
 * bits.
 *
 *     quantise  the position of a key in a range, in VALUE_BITS: value * scale + offset, rounded;
 *               keys beyond the range get the first or the last, NaN the maximum
 *     digit     some bits of that; for descending order, of the distance to the maximum
 *     first     the minimum key of a quantised value, by bisection: rounding is monotone
 *     choose    a range, from a sample; whether quantised values are better than bits
 *
 *         values    |.|.|.|.|.|.|.|.|     of [0, 1)
 *         bits      |.|.|.|.|: :|#######|
 *
 * Digits of two levels are by value, digits of the levels below are of bits.  Keys are stored in
 * encoded form, as in all other cases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_VALUE_CUH
#define ECHI_SORT_CUDA_MSD_VALUE_CUH

#include "cuda/device/block_range.cuh"
#include "sort/cuda/msd.cuh"

#if KEY_BYTES == 4
typedef float real;
enum { VALUE_BITS = 22 };
#else
typedef double real;
enum { VALUE_BITS = 20 };
#endif

enum {
    VALUE_SAMPLES = 4, /* per thread */
    VALUE_ALL = SORT_BUCKETS_THREADS * VALUE_SAMPLES,
    VALUE_LOG = SORT_DIGIT_BITS,
    VALUE_BINS = 1 << VALUE_LOG,
    VALUE_EVEN = VALUE_ALL * (VALUE_ALL / VALUE_BINS), /* see value_uneven() */
    VALUE_TAIL = VALUE_ALL / 64, /* the part of the sample that a range may exclude at either end */
    VALUE_ROUNDS = 4,
    VALUE_FINE_LOG = KEY_BYTES == 4 ? 11 : 12
};

struct value_map {
    real scale, offset;
    uint32_t flip; /* all ones for descending order, otherwise 0 */
};

static __device__ inline struct value_map value_map_of(const msd_args &a)
{
    struct value_map m = { (real)a.buckets->scale, (real)a.buckets->offset,
                           (uint32_t)a.common.order.flip };
    return m;
}

/* Some bits of a key's quantised value, from its bits u as in the input. */
#if KEY_BYTES == 4
static __device__ inline uint32_t value_digit(const struct value_map &m, ukey u, uint32_t shift,
                                              uint32_t bits)
{
    /* Maps [0, 1] to [1.5 * 2^23, 2^24), whose low mantissa bits are an integer; NaN become 0,
     * which is the last.  The factor is slightly less than a power of two, and the value is rounded
     * only once, so that digits of any shift are consistent. */
    const float x = __saturatef(__fmaf_rn(__uint_as_float(u), m.scale, m.offset));
    const float parts = __uint_as_float((126 + VALUE_BITS - shift) << 23 | 0x7fffff);
    const float last = __uint_as_float(0x4b400000 + ((1u << (VALUE_BITS - shift)) - 1));
    const uint32_t quantised = __float_as_uint(__fmaf_ru(x, -parts, last));
    return (quantised ^ m.flip) & ((1u << bits) - 1);
}
#else
static __device__ inline uint32_t value_digit(const struct value_map &m, ukey u, uint32_t shift,
                                              uint32_t bits)
{
    /* From 2^20 on, the high word of a double ends with its integer part. */
    const double y = __fma_rn(__longlong_as_double((long long)u), m.scale, m.offset);
    const int quantised = y < 0x1p21 ? max(__double2hiint(y), 0x41300000) : 0x413fffff;
    return ((uint32_t)quantised ^ m.flip) >> shift & ((1u << bits) - 1);
}
#endif

/* The minimum key, in the form of order_encode(), whose quantised value is at least this one; 0 if
 * there is none. */
static __device__ inline ukey value_first(const struct echi_order &o, const struct value_map &m,
                                          uint32_t quantised)
{
    ukey e = 0;
    if (quantised == 0 || quantised >> VALUE_BITS) return 0;
#pragma unroll 4
    for (int bit = KEY_BITS - 1; bit >= 0; bit--) {
        const ukey next = e | (ukey)1 << bit;
        if (value_digit(m, order_decode(o, (ukey)(next - 1)), 0, VALUE_BITS) < quantised) e = next;
    }
    return e;
}

/* ---- Choice: by a block of SORT_BUCKETS_THREADS ---- */

struct value_shared {
    uint32_t bins[1 << VALUE_FINE_LOG];
    ukey low[SORT_BUCKETS_THREADS / 32], high[SORT_BUCKETS_THREADS / 32];
    uint32_t sum;
    uint32_t first, last; /* first and last bin that are not in the tails */
};

/* The sum over the block. */
static __device__ inline uint32_t value_sum(struct value_shared &s, uint32_t x)
{
    __syncthreads(); /* all threads have read the last sum */
    if (threadIdx.x == 0) s.sum = 0;
    __syncthreads(); /* the sum is clear */
    const uint32_t sum = warp_sum(x);
    if (lane_id() == 0 && sum) atomicAdd(&s.sum, sum);
    __syncthreads(); /* all is added */
    return s.sum;
}

/* Counts the sample by bins. */
static __device__ inline void value_count(struct value_shared &s, uint32_t bins,
                                          const uint32_t (&bin)[VALUE_SAMPLES])
{
    __syncthreads(); /* all threads have read the counters */
    for (uint32_t i = threadIdx.x; i < bins; i += SORT_BUCKETS_THREADS) s.bins[i] = 0;
    __syncthreads(); /* they are clear */
#pragma unroll
    for (int j = 0; j < VALUE_SAMPLES; j++) atomicAdd(&s.bins[bin[j]], 1);
    __syncthreads(); /* the sample is counted */
}

/* The sum of the squared counts of VALUE_BINS, minus the expectation for independent keys:
 * VALUE_EVEN if the distribution is even, more otherwise. */
static __device__ inline uint32_t value_uneven(struct value_shared &s)
{
    const uint32_t me = threadIdx.x, count = me < VALUE_BINS ? s.bins[me] : 0;
    return value_sum(s, count * count) - VALUE_ALL;
}

/* The number of sampled keys in bins of more than `most` keys. */
static __device__ inline uint32_t value_above(struct value_shared &s, uint64_t most,
                                              const uint32_t (&bin)[VALUE_SAMPLES])
{
    uint32_t above = 0;
#pragma unroll
    for (int j = 0; j < VALUE_SAMPLES; j++) above += s.bins[bin[j]] > most;
    return value_sum(s, above);
}

/* Finds the bins that contain the sample without its tails. */
static __device__ inline void value_trim(struct value_shared &s)
{
    enum { EACH = VALUE_BINS / 32 };
    if (threadIdx.x < 32) {
        const uint32_t lane = lane_id();
        uint32_t sum = 0;
        for (uint32_t j = 0; j < EACH; j++) sum += s.bins[lane * EACH + j];
        uint32_t before = warp_scan(sum) - sum;
        for (uint32_t j = 0; j < EACH; j++) {
            const uint32_t bin = lane * EACH + j, after = before + s.bins[bin];
            if (before <= VALUE_TAIL && after > VALUE_TAIL) s.first = bin;
            if (before < VALUE_ALL - VALUE_TAIL && after >= VALUE_ALL - VALUE_TAIL) s.last = bin;
            before = after;
        }
    }
    __syncthreads(); /* they are found */
}

static __device__ inline struct value_map value_map_from(double low, double high)
{
    struct value_map m = {};
#if KEY_BYTES == 4
    m.scale = (real)(-1 / (high - low));
    m.offset = (real)(-(double)m.scale * high);
#else
    m.scale = 0x1p20 / (high - low);
    m.offset = 0x1p20 - low * m.scale;
#endif
    return m;
}

static __device__ inline bool value_finite(double x)
{
    return x - x == 0;
}

static __device__ inline bool value_usable(const struct value_map &m)
{
    return m.scale != 0 && value_finite(m.scale) && value_finite(m.offset);
}

static __device__ inline double value_of(ukey u)
{
#if KEY_BYTES == 4
    return (double)__uint_as_float(u);
#else
    return __longlong_as_double((long long)u);
#endif
}

/* A slightly larger range, which contains the keys outside of the sample's range.  If it is almost
 * a power of two, so is the width of a bin. */
static __device__ inline struct value_map value_map_around(double low, double high)
{
    const int exponent = __double2hiint(high - low) & 0x7ff00000, parts = 6 << 20;
    const double grid = __hiloint2double(max(exponent - parts, 1 << 20), 0);
    return value_map_from(floor(low / grid) * grid, ceil(high / grid) * grid);
}

/* The costs of a choice, as fractions of a level of all keys: counting the second level, which is
 * not needed for even values, is a quarter; so are buckets by a table; a third level is the
 * fraction that it moves, plus a half because it exists. */
enum {
    VALUE_COUNT = VALUE_ALL / 4,
    VALUE_TABLE = VALUE_ALL / 4,
    VALUE_THIRD = VALUE_ALL / 2,
    VALUE_SOME = VALUE_ALL / 256, /* a smaller fraction is not worth another level */
    VALUE_NEARLY = VALUE_EVEN / 20 * 21
};

/* The cost of bins of bits; bins of at most `most` sampled keys make leaves by one more digit. */
static __device__ inline uint32_t value_cost_of_bits(struct value_shared &s,
                                                     const ukey (&e)[VALUE_SAMPLES], uint32_t bits,
                                                     uint32_t bin_bits, uint64_t most)
{
    const ukey mask = (ukey)bits_mask(bits);
    const uint32_t fine = min(bits, (uint32_t)VALUE_FINE_LOG);
    uint32_t bin[VALUE_SAMPLES];
#pragma unroll
    for (int j = 0; j < VALUE_SAMPLES; j++)
        bin[j] = (uint32_t)((e[j] & mask) >> (bits - VALUE_LOG));
    value_count(s, VALUE_BINS, bin);
    const bool even = value_uneven(s) <= VALUE_NEARLY;
#pragma unroll
    for (int j = 0; j < VALUE_SAMPLES; j++) bin[j] = (uint32_t)((e[j] & mask) >> (bits - fine));
    value_count(s, 1 << VALUE_FINE_LOG, bin);
    const uint32_t third = value_above(s, most << (bin_bits > fine ? bin_bits - fine : 0), bin);
    return (even ? 0 : VALUE_COUNT + VALUE_TABLE) + third + (third > VALUE_SOME ? VALUE_THIRD : 0);
}

/* Whether quantised values in a range cost less than `cost`; if so, m is their map. */
static __device__ inline bool value_fit(const msd_args &a, struct value_shared &s,
                                        const ukey (&e)[VALUE_SAMPLES], uint32_t cost,
                                        uint64_t most, struct value_map &m)
{
    ukey u[VALUE_SAMPLES], least = (ukey) ~(ukey)0, greatest = 0;
#pragma unroll
    for (int j = 0; j < VALUE_SAMPLES; j++) {
        u[j] = order_decode(a.common.order, e[j]);
        if (!value_finite(value_of(u[j]))) continue;
        least = key_min(least, e[j]);
        greatest = key_max(greatest, e[j]);
    }
    block_range(s.low, s.high, least, greatest);
    if (least >= greatest) return false;
    const double one = value_of(order_decode(a.common.order, least));
    const double other = value_of(order_decode(a.common.order, greatest));
    double low = min(one, other), high = max(one, other);
    /* Excluded tails need a third level. */
    const uint32_t trimmed =
        VALUE_COUNT + (a.common.n / (VALUE_ALL / VALUE_TAIL) > a.leaf ? VALUE_THIRD : 0);
    for (int round = 0; round < VALUE_ROUNDS; round++) {
        m = value_map_from(low, high);
        if (!value_usable(m)) return false;
        uint32_t bin[VALUE_SAMPLES];
#pragma unroll
        for (int j = 0; j < VALUE_SAMPLES; j++)
            bin[j] = value_digit(m, u[j], VALUE_BITS - VALUE_LOG, VALUE_LOG);
        value_count(s, VALUE_BINS, bin);
        const uint32_t uneven = value_uneven(s);
        const bool nearly = uneven <= VALUE_NEARLY;
        if (round == 0 && uneven <= VALUE_EVEN / 4 * 5) {
            const uint32_t third = nearly ? 0 : value_above(s, most, bin);
            m = value_map_around(low, high);
            return value_usable(m) &&
                   (nearly ? 0 : VALUE_COUNT) + third + (third > VALUE_SOME ? VALUE_THIRD : 0) <
                       cost;
        }
        if (trimmed >= cost) return false;
        value_trim(s);
        if (s.last - s.first >= VALUE_BINS / 4 * 3)
            return uneven <= 4 * VALUE_EVEN && trimmed + value_above(s, most, bin) < cost;
        const double step = (high - low) / VALUE_BINS;
        high = low + step * (s.last + 1);
        low = low + step * s.first;
    }
    return false;
}

/* Whether bins by value are better than bins of bits for a sample, whose keys lie in a range of
 * 2^bits; if so, m is their map.  All threads of the block get the same result. */
static __device__ inline bool value_choose(const msd_args &a, struct value_shared &s,
                                           const ukey (&e)[VALUE_SAMPLES], uint32_t bits,
                                           struct value_map &m)
{
    /* The part of the sample that corresponds to the maximum number of keys of which two digits
     * make leaves. */
    const uint64_t most = SORT_LEAF_FULL((uint64_t)a.leaf) * VALUE_BINS * VALUE_ALL / a.common.n;
    const uint32_t cost = value_cost_of_bits(s, e, bits, (uint32_t)a.bin_bits, most);
    return cost && value_fit(a, s, e, cost, most, m);
}

#endif
