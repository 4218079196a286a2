/*
 * is_sorted/cuda/kernels.cu - finds the first key out of order on the GPU: one kernel.
 *
 *     array    . . a b | c d e f | g h i j | k . . .        vectors of 16 bytes, four per thread
 *     warps    |<---- part 0 ---->|<---- part 1 ---->|      parts are taken in ascending order
 *
 * Each thread compares its keys with those before them, in words of several keys (words.cuh). The
 * key before a vector comes from the lane below; lane 31 reads the one before the part. This test
 * distinguishes -0 from +0 and one NaN from another, so it may report keys that are in order, but
 * it never misses a key. A vector that it reports, or that the array does not fill, is compared
 * exactly.
 *
 * A warp that finds a key out of order stores its position in words->found and stops. Others stop
 * when they get to a part after that position. The last block to finish writes the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/device/warp.cuh"
#include "is_sorted/cuda/common.h"
#include "is_sorted/cuda/words.cuh"

enum { PART = IS_SORTED_PART_BYTES / KEY_BYTES }; /* keys */

static const uint64_t NONE = ~(uint64_t)0;

struct vector {
    uword w[WORDS];
};

static __device__ inline struct vector vector_at(const char *at)
{
    struct vector v;
    const uint4 u = __ldg((const uint4 *)at);
#if KEY_BITS == 64
    v.w[0] = (uint64_t)u.y << 32 | u.x;
    v.w[1] = (uint64_t)u.w << 32 | u.z;
#else
    v.w[0] = u.x, v.w[1] = u.y, v.w[2] = u.z, v.w[3] = u.w;
#endif
    return v;
}

/* A word whose last key is in[i]. */
static __device__ inline uword word_ending(const struct is_sorted_args &a, uint64_t i)
{
    return (uword)__ldg((const ukey *)a.in + i) << (WORD_BITS - KEY_BITS);
}

/* The first position out of order among the keys of the vector that begins at key `first`, counted
 * including the skew; NONE: there is none. */
template <int STRICT>
static __device__ uint64_t exact(const struct is_sorted_args &a, uint64_t first)
{
    const ukey *in = (const ukey *)a.in;
    for (int j = 0; j < VECTOR; j++) {
        const uint64_t i = first + j - a.skew;
        if (first + j <= a.skew || i >= a.n) continue;
        const ukey before = order_merge(a.order, order_encode(a.order, __ldg(in + i - 1)));
        const ukey now = order_merge(a.order, order_encode(a.order, __ldg(in + i)));
        if (STRICT ? now <= before : now < before) return i;
    }
    return NONE;
}

/* Loads the vectors of a part that the array does not fill: of a vector in part, its last key.
 * Sets the bits of vectors to compare exactly in *edges, and of those within the array in *within.
 */
static __device__ inline void load_edge(const struct is_sorted_args &a, const char *base,
                                        uint64_t first, struct vector (&v)[IS_SORTED_VECTORS],
                                        uint32_t *within, uint32_t *edges)
{
    const uint64_t end = a.skew + a.n;
    *within = *edges = 0;
#pragma unroll
    for (int j = 0; j < IS_SORTED_VECTORS; j++) {
        const uint64_t at = first + (uint64_t)(32 * j + lane_id()) * VECTOR;
        const struct vector zeros = {};
        v[j] = zeros;
        if (at >= end || at + VECTOR <= a.skew) continue;
        *within |= 1u << j;
        if (at <= a.skew || at + VECTOR > end) *edges |= 1u << j;
        if (at >= a.skew && at + VECTOR <= end)
            v[j] = vector_at(base + at * KEY_BYTES);
        else if (at + VECTOR <= end)
            v[j].w[WORDS - 1] = word_ending(a, at + VECTOR - 1 - a.skew);
    }
}

/* The vectors of a part that may have a key out of order, one bit each. */
template <int STRICT, int FLOAT>
static __device__ inline uint32_t suspects_of(const struct is_sorted_args &a, uint64_t first)
{
    const char *base = (const char *)a.in - a.skew * KEY_BYTES;
    struct vector v[IS_SORTED_VECTORS];
    uint32_t within = ~0u, edges = 0, suspects = 0;
    uword kept = 0; /* lane 31: the last word before this row of vectors */
    if (lane_id() == 31 && first > a.skew) kept = word_ending(a, first - 1 - a.skew);
    if (first > a.skew && first + PART <= a.skew + a.n) {
#pragma unroll
        for (int j = 0; j < IS_SORTED_VECTORS; j++)
            v[j] = vector_at(base + first * KEY_BYTES + (32 * j + lane_id()) * 16);
    } else {
        load_edge(a, base, first, v, &within, &edges);
    }
    kept = word_encode<STRICT, FLOAT>(a.order, kept);
#pragma unroll
    for (int j = 0; j < IS_SORTED_VECTORS; j++) {
#pragma unroll
        for (int i = 0; i < WORDS; i++) v[j].w[i] = word_encode<STRICT, FLOAT>(a.order, v[j].w[i]);
        const uword last = v[j].w[WORDS - 1], sent = lane_id() == 31 ? kept : last;
        uword bad = 0, before = __shfl_sync(WARP_ALL, sent, (lane_id() + 31) & 31);
        kept = last;
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            bad |= word_bad<STRICT>(v[j].w[i], word_before(before, v[j].w[i]));
            before = v[j].w[i];
        }
        if (bad & word_tops()) suspects |= 1u << j;
    }
    return (suspects & within) | edges;
}

/* Reports the first position out of order of a part; false: there is none. */
template <int STRICT>
static __device__ bool report(const struct is_sorted_args &a, uint64_t first, uint32_t suspects)
{
    for (int j = 0; j < IS_SORTED_VECTORS; j++) {
        uint64_t position = NONE;
        if (suspects >> j & 1)
            position = exact<STRICT>(a, first + (uint64_t)(32 * j + lane_id()) * VECTOR);
        const uint32_t lanes = __ballot_sync(WARP_ALL, position != NONE);
        if (lanes == 0) continue;
        if (lane_id() == (uint32_t)__ffs((int)lanes) - 1)
            atomicMax((unsigned long long *)&a.words->found, (unsigned long long)~position);
        return true;
    }
    return false;
}

/* Whether the known position is less than `first`, so that no further key matters. */
static __device__ inline bool is_over(const struct is_sorted_args &a, uint64_t first)
{
    unsigned long long found = 0;
    if (lane_id() == 0) found = load_relaxed_u64(&a.words->found);
    found = ~__shfl_sync(WARP_ALL, found, 0);
    return found < a.n && found + a.skew <= first;
}

template <int STRICT, int FLOAT> static __device__ inline void look(const struct is_sorted_args &a)
{
    const uint64_t step = (uint64_t)gridDim.x * IS_SORTED_WARPS;
    uint64_t part = (uint64_t)blockIdx.x * IS_SORTED_WARPS + threadIdx.x / 32;
    for (uint32_t turn = 0; part < a.parts; part += step, turn++) {
        const uint64_t first = part * PART;
        if (turn % IS_SORTED_TURNS == 1 && is_over(a, first)) return;
        const uint32_t suspects = suspects_of<STRICT, FLOAT>(a, first);
        if (__any_sync(WARP_ALL, suspects != 0) && report<STRICT>(a, first, suspects)) return;
    }
}

extern "C" __global__ void __launch_bounds__(IS_SORTED_THREADS, IS_SORTED_BLOCKS)
    is_sorted_look(const __grid_constant__ struct is_sorted_args a)
{
    wait_for_earlier();
#if KEY_BITS > 8
    if (a.order.float_mask) {
        if (a.strict)
            look<1, 1>(a);
        else
            look<0, 1>(a);
    } else
#endif
        if (a.strict)
        look<1, 0>(a);
    else
        look<0, 0>(a);

    __syncthreads(); /* every warp of the block has reported */
    if (threadIdx.x) return;
    /* A block counts itself after it has reported: the last one sees the positions of all. */
    if (add_acq_rel(&a.words->blocks, 1) != gridDim.x - 1) return;
    const uint64_t found = load_relaxed_u64(&a.words->found);
    *a.position = found ? ~found : a.n;
    a.words->found = 0;
    a.words->blocks = 0;
}
