/*
 * sort/cuda/skewed.cuh - detects from a sample whether keys are skewed, so that MSD digits would
 * need many levels.
 *
 *     sample    one key from each of 2048 parts of the input
 *     sort      by a bitonic network
 *     compare   adjacent different keys of the sample: how many pairs share their first bits?
 *
 *         spread     | .   . .    .  .   .  . |
 *         skewed     |... .              ... .|
 *
 * Bits count from the first in which keys differ.  If many such pairs share that many bits, many
 * keys would do so after two or three levels, and the remaining keys would be skewed again.  Input
 * that seems to be in order does not count as skewed: the levels detect order and copy the input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SKEWED_CUH
#define ECHI_SORT_CUDA_SKEWED_CUH

#include "sort/cuda/msd_plan.cuh"

enum {
    SKEWED_THREADS = SORT_SKEWED_THREADS,
    SKEWED_KEYS = 2 * SKEWED_THREADS, /* of the sample */
    SKEWED_BITS = SORT_SKEWED_BITS(KEY_BYTES, VAL_BYTES),
    SKEWED_SHARE = SORT_SKEWED_SHARE(KEY_BYTES, VAL_BYTES),
    SKEWED_LENGTH_BITS = 12,         /* the same for skewed_by_length() */
    SKEWED_NEAR = 64,                /* keys of a sample, whose distance shows how dense keys are */
    SKEWED_DENSE = 45,               /* of 100 keys are so dense that passes are faster */
    SKEWED_TAIL = VAL_BYTES ? 8 : 0, /* keys at each end that may be outside the range of digits */
    SKEWED_FLOATS = KEY_BYTES == 4 && VAL_BYTES == 4, /* packed_map.cuh */
    SKEWED_EQUAL = SORT_SKEWED_EQUAL(VAL_BYTES) * SKEWED_KEYS / 100
};

static __device__ inline ukey skewed_shuffle(ukey e, uint32_t step)
{
#if KEY_BYTES == 8
    return __shfl_xor_sync(WARP_ALL, (unsigned long long)e, (int)step);
#else
    return __shfl_xor_sync(WARP_ALL, e, (int)step);
#endif
}

/* Key t of a sample, one from each part of the input. */
static __device__ inline ukey skewed_sample(const struct sort_common &a, uint32_t t, uint32_t part)
{
    const uint32_t at = sample_position(t, part);
#if VAL_BYTES
    return pairs_key(a, SORT_IN, ((const ukey *)a.keys_in)[at]);
#else
    return order_encode(a.order, ((const ukey *)a.keys_in)[at]);
#endif
}

/* Sorts a block's keys with a bitonic network; a thread has keys 2 me and 2 me + 1; keys is shared
 * memory for SKEWED_KEYS, and contains the result. */
static __device__ inline void skewed_sort(ukey *keys, ukey (&e)[2])
{
    const uint32_t me = threadIdx.x;
    for (uint32_t size = 2; size <= SKEWED_KEYS; size *= 2) {
        const bool up = !(2 * me & size);
        for (uint32_t step = size / 4; step; step /= 2) { /* within threads */
            const bool keep_less = !(me & step) == up;
            ukey other[2];
            if (step >= 32) {
                __syncthreads(); /* all threads have read */
                keys[me] = e[0];
                keys[me + SKEWED_THREADS] = e[1];
                __syncthreads(); /* the keys are written */
                other[0] = keys[me ^ step];
                other[1] = keys[(me ^ step) + SKEWED_THREADS];
            } else {
                other[0] = skewed_shuffle(e[0], step);
                other[1] = skewed_shuffle(e[1], step);
            }
            e[0] = (e[0] < other[0]) == keep_less ? e[0] : other[0];
            e[1] = (e[1] < other[1]) == keep_less ? e[1] : other[1];
        }
        const ukey low = e[0] < e[1] ? e[0] : e[1], high = e[0] < e[1] ? e[1] : e[0];
        e[0] = up ? low : high;
        e[1] = up ? high : low;
    }
    __syncthreads(); /* all threads have read */
    keys[2 * me] = e[0];
    keys[2 * me + 1] = e[1];
    __syncthreads(); /* the sample is sorted */
}

/* The order of adjacent keys of a sample, enum sort_seen; e are keys 2 me and 2 me + 1 in input
 * order. keys is shared memory for SKEWED_KEYS, and contains the sample. */
static __device__ inline uint32_t skewed_order(ukey *keys, const ukey (&e)[2])
{
    const uint32_t me = threadIdx.x, next = min(2 * me + 2, (uint32_t)SKEWED_KEYS - 1);
    keys[2 * me] = e[0];
    keys[2 * me + 1] = e[1];
    __syncthreads(); /* the sample is written */
    const bool falls = __syncthreads_or(e[0] > e[1] || e[1] > keys[next]);
    const bool rises = __syncthreads_or(e[0] < e[1] || e[1] < keys[next]);
    return (falls ? (uint32_t)SORT_SEEN_FALL : 0) | (rises ? (uint32_t)SORT_SEEN_RISE : 0);
}

/* The number of low bits in which the keys of a sample differ that is sorted, or in order. */
static __device__ inline uint32_t skewed_top(const ukey *keys)
{
    return 64 - __clzll((long long)(uint64_t)(keys[0] ^ keys[SKEWED_KEYS - 1]));
}

/* The number of low bits in which the keys of a sorted sample differ, without the bits that the
 * digits of few keys outside the range of the others do not need. */
static __device__ inline uint32_t skewed_range(const ukey *keys)
{
#if VAL_BYTES
    return msd_first_shift(keys[SKEWED_TAIL], keys[SKEWED_KEYS - 1 - SKEWED_TAIL]) +
           SORT_DIGIT_BITS;
#else
    return skewed_top(keys);
#endif
}

#if VAL_BYTES && KEY_BYTES == 4
/* Whether two levels make no leaves of many keys, so that levels take longer than passes: the bins
 * of the second level are estimated from the distance of the sample's keys. */
static __device__ inline bool skewed_dense(const msd_args &a, const ukey *keys, uint32_t range)
{
    const uint32_t me = threadIdx.x;
    if (range <= 2 * SORT_DIGIT_BITS) return false;
    const uint64_t width = (uint64_t)1 << (range - 2 * SORT_DIGIT_BITS);
    int dense = 0;
#pragma unroll
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t i = min(2 * me + k, (uint32_t)(SKEWED_KEYS - 1 - SKEWED_NEAR));
        const uint64_t span = keys[i + SKEWED_NEAR] - keys[i];
        dense += __syncthreads_count(span && a.common.n * SKEWED_NEAR * width >
                                                 span * SKEWED_KEYS * msd_leaf(a));
    }
    return dense * 100 >= SKEWED_DENSE * SKEWED_KEYS;
}
#endif

/* Whether keys are skewed, after skewed_order(). Sorts the sample. */
static __device__ inline bool skewed_found(const msd_args &a, ukey *keys, ukey (&e)[2])
{
    (void)a;
    const uint32_t me = threadIdx.x, next = min(2 * me + 2, (uint32_t)SKEWED_KEYS - 1);
    skewed_sort(keys, e);
    const int rest = max((int)skewed_range(keys) - SKEWED_BITS, 0);
    const ukey differ[] = { (ukey)(e[0] ^ e[1]), (ukey)(e[1] ^ keys[next]) };
    int different = 0, sharing = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        different += __syncthreads_count(differ[k] != 0);
        sharing += __syncthreads_count(differ[k] != 0 && differ[k] >> rest == 0);
    }
    const uint32_t far = min(2 * me + SKEWED_EQUAL, (uint32_t)SKEWED_KEYS - 1);
    const bool equal = __syncthreads_or(far == 2 * me + SKEWED_EQUAL && e[0] == keys[far]);
    const bool skewed = sharing * 100 >= different * SKEWED_SHARE;
    if (KEY_BYTES == 8) return skewed;
    if (!VAL_BYTES) return skewed && !equal;
#if VAL_BYTES && KEY_BYTES == 4
    return skewed || equal || skewed_dense(a, keys, skewed_range(keys));
#else
    return skewed || equal;
#endif
}

#if !VAL_BYTES
/* Whether bins by length divide the keys of a sorted sample well: few adjacent ones share many bits
 * below the first bit of their distance from `low`. */
static __device__ inline bool skewed_by_length(const ukey *keys, const ukey (&e)[2], ukey low)
{
    const uint32_t me = threadIdx.x, next = min(2 * me + 2, (uint32_t)SKEWED_KEYS - 1);
    const ukey after[] = { e[1], keys[next] };
    int different = 0, sharing = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const ukey differ = e[k] ^ after[k];
        different += __syncthreads_count(differ != 0);
        sharing += __syncthreads_count(differ != 0 && bits_of(after[k] - low) >=
                                                          bits_of(differ) + SKEWED_LENGTH_BITS);
    }
    return sharing * 100 < different * SKEWED_SHARE;
}
#endif

#if PAIRS_PACKED
/* The number of low bits in which the keys of the sorted sample differ, if msd_packed.cuh may sort
 * them and the first 16 of these bits are evenly distributed; otherwise 0. */
static __device__ inline uint32_t skewed_even(const msd_args &a, const ukey *keys)
{
    int sharing = -1; /* the last key has no successor */
    if (!a.packed || !a.common.plain) return 0;
    const uint32_t me = threadIdx.x, next = min(2 * me + 2, (uint32_t)SKEWED_KEYS - 1);
    const uint32_t top = skewed_top(keys);
    if (top <= 2 * SORT_DIGIT_BITS) return 0;
    const ukey differ[] = { (ukey)(keys[2 * me] ^ keys[2 * me + 1]),
                            (ukey)(keys[2 * me + 1] ^ keys[next]) };
#pragma unroll
    for (int k = 0; k < 2; k++)
        sharing += __syncthreads_count(differ[k] >> (top - 2 * SORT_DIGIT_BITS) == 0);
    return sharing <= SORT_PACKED_SHARED ? top : 0;
}

/* The range of a map of the keys of a sorted sample (packed_map.cuh); false if many of them are
 * equal, or the range is short.  The longest gap is left out if it is long. */
static __device__ inline bool skewed_map(const msd_args &a, const ukey *keys)
{
    __shared__ unsigned long long gap; /* its length, and the key before it */
    const uint32_t me = threadIdx.x;
    int different = 0;
    if (me == 0) gap = 0;
    __syncthreads(); /* for the maximum */
    unsigned long long longest = 0;
#pragma unroll
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t i = 2 * me + k, next = min(i + 1, (uint32_t)SKEWED_KEYS - 1);
        const ukey length = keys[next] - keys[i];
        longest = max(longest, (unsigned long long)length << 32 | i);
        different += __syncthreads_count(length != 0);
    }
    atomicMax(&gap, longest);
    __syncthreads(); /* the longest gap is known */
    struct sort_map m = {};
    const ukey low = keys[0], high = keys[SKEWED_KEYS - 1], length = (ukey)(gap >> 32);
    const uint32_t before = (uint32_t)gap;
    m.lower = low;
    m.gap = m.above = ~0u;
    if (length / 2 > (high - low) / 8) {
        m.above = keys[before + 1];
        m.gap = keys[before] - low + 1;
        m.lower = m.above - m.gap - 1;
    }
    const uint32_t span = high - m.lower, bits = bits_of(span);
    if (different < SKEWED_KEYS / 16 * 15 || span < SORT_PACKED_PIECES * 2) return false;
    m.shift = bits - bits_of(SORT_PACKED_PIECES - 1);
    m.last = (SORT_PACKED_PIECES << m.shift) - 1;
    const uint32_t down = min((m.last - span) / 2, low); /* for keys beyond the sample */
    m.low = low - down;
    m.lower -= down;
    if (m.gap != ~0u) m.gap += down;
    a.lists.skewed_leaves[me] = 0; /* the counts of the pieces */
#pragma unroll
    for (uint32_t k = 0; k < 2; k++)
        a.lists.skewed_leaves[SORT_PACKED_PIECES + k * SKEWED_THREADS + me] =
            keys[k * SKEWED_THREADS + me];
    if (me == 0) a.lists.msd->map = m;
    return true;
}

/* Leaves the keys to msd_packed.cuh, which may leave them to the levels. */
static __device__ inline void skewed_pack(const msd_args &a, uint32_t even)
{
    for (uint32_t i = threadIdx.x; i < SORT_BINS * SORT_MSD_ROW / 2; i += SKEWED_THREADS)
        ((uint2 *)a.lists.counts[1])[i] = make_uint2(0, 0);
    if (threadIdx.x != 0) return;
    a.lists.msd->segments[0] = a.lists.msd->tiles[0] = 0;
    a.lists.msd->even = even;
}
#endif

/* Leaves the sort to sort_lsd: the levels find no segments, and no input that is in order. */
static __device__ inline void skewed_leave(const msd_args &a)
{
    a.lists.msd->segments[0] = a.lists.msd->tiles[0] = 0;
    a.lists.msd->seen = SORT_SEEN_BOTH;
    a.lists.msd->skewed = 1;
}

#if VAL_BYTES
/* Like sort_msd_begin, after sampling. */
extern "C" __global__ void __launch_bounds__(SORT_SKEWED_THREADS)
    sort_skewed_begin(const __grid_constant__ msd_args a)
{
    __shared__ ukey keys[SKEWED_KEYS];
    wait_for_earlier();
    const uint32_t me = threadIdx.x, part = (uint32_t)a.common.n / SKEWED_KEYS;
    ukey low = 0, high = (ukey) ~(ukey)0;
    uint32_t seen = 0;
    bool skewed = false;
    uint32_t even = 0;
    bool maps = false;
    if (part) {
        ukey e[2];
#pragma unroll
        for (uint32_t k = 0; k < 2; k++) e[k] = skewed_sample(a.common, 2 * me + k, part);
        seen = skewed_order(keys, e);
        if (seen == SORT_SEEN_BOTH) {
            skewed = skewed_found(a, keys, e);
#if PAIRS_PACKED
            if (!skewed) even = skewed_even(a, keys);
            if (!even) maps = a.packed && skewed_map(a, keys);
#endif
            if (SKEWED_FLOATS && !even && a.common.order.float_mask) skewed = true;
        }
        low = keys[SKEWED_TAIL];
        high = keys[SKEWED_KEYS - 1 - SKEWED_TAIL];
    }
    if (me < SORT_BINS) msd_begin_counts(a, seen);
    if (me == 0) {
        msd_begin_digit(a, min(low, high), max(low, high));
        msd_begin_copy(a, seen);
        if (skewed) skewed_leave(a);
        if (maps) a.lists.msd->mapping = SORT_MAPS;
    }
#if PAIRS_PACKED
    if (even) skewed_pack(a, even);
#endif
}
#endif

#endif
