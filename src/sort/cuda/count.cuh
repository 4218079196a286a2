/*
 * sort/cuda/count.cuh - counting sort of keys of 8 and 16 bits without values.
 *
 *     sort_fill          writes keys of 8 bits from the histogram of sort_histogram
 *
 *     sort_count         counts keys of 16 bits in shared memory: one read
 *     sort_count_plan    the start of each value in the output
 *     sort_count_fill    writes the keys
 *
 * A counter has 16 bits.  When it reaches half its range, this half is added to the counter in
 * global memory.  A block adds at most the other half between two barriers, so that no counter
 * overflows.  If shared memory cannot hold a counter for every value, a.parts blocks read the same
 * keys, and each counts its part of the values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_COUNT_CUH
#define ECHI_SORT_CUDA_COUNT_CUH

#include "sort/cuda/common.cuh"
#include "sort/cuda/count.h"
#include "sort/cuda/passes.h"
#include "sort/cuda/vectors.cuh"

#if KEY_BYTES == 1 && VAL_BYTES == 0
/* The bin of output position i: the last nonempty one that begins at or before it. */
static __device__ inline uint32_t bin_at(const uint64_t *begin, uint64_t i)
{
    uint32_t bin = 0;
#pragma unroll
    for (uint32_t step = SORT_BINS / 2; step; step /= 2)
        if (begin[bin + step] <= i) bin += step;
    return bin;
}

extern "C" __global__ void __launch_bounds__(SORT_MOVE_THREADS)
    sort_fill(const __grid_constant__ struct sort_passes_args a)
{
    enum { VECTOR = 16 };
    __shared__ uint64_t begin[SORT_BINS + 1];
    wait_for_earlier();
    for (int bin = threadIdx.x; bin < SORT_BINS; bin += blockDim.x)
        begin[bin] = a.state->base[0][0][bin];
    if (threadIdx.x == 0) begin[SORT_BINS] = a.common.n;
    __syncthreads(); /* the bins are written */

    /* Aligned vectors of 16 keys; the first and the last may extend past the ends of the array. */
    ukey *out = (ukey *)a.common.keys_out;
    const uint64_t skew = (uint64_t)out & (VECTOR - 1), end = a.common.n + skew;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x * VECTOR;
    for (uint64_t v = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) * VECTOR; v < end;
         v += step) {
        uint64_t first = v < skew ? 0 : v - skew, last = min(v + VECTOR - skew, a.common.n);
        uint32_t bin = bin_at(begin, first);
        if (v >= skew && last - first == VECTOR && begin[bin + 1] >= last) { /* one value */
            uint32_t word = order_decode(a.common.order, (ukey)bin) * 0x01010101u;
            *(uint4 *)(out + first) = make_uint4(word, word, word, word);
            continue;
        }
        for (uint64_t i = first; i < last; i++) {
            while (begin[bin + 1] <= i) bin++;
            out[i] = order_decode(a.common.order, (ukey)bin);
        }
    }
}
#endif

#if KEY_BYTES == 2 && VAL_BYTES == 0

enum {
    COUNT_SPILL = 1 << 15, /* when a counter reaches this, it is moved to memory */
    COUNT_COARSE = 256     /* the start of every COUNT_COARSE-th value is kept in shared memory */
};
static_assert(SORT_COUNT_THREADS * VECTOR_LOADS * VECTOR_KEYS <= COUNT_SPILL,
              "a counter may overflow between two barriers");

/* Counters of the values [first, first + values). */
struct count_part {
    uint32_t *bins; /* two counters per word */
    uint32_t first, values;
};

/* Counts `count` keys u; at most COUNT_SPILL per block between two barriers. */
static __device__ inline void count_add(const struct sort_count_args &a, const struct count_part &p,
                                        ukey u, uint32_t count)
{
    const uint32_t value = order_encode(a.common.order, u), bin = value - p.first,
                   half = bin % 2 * 16;
    if (bin >= p.values) return;
    const uint32_t old = atomicAdd(&p.bins[bin / 2], count << half) >> half & 0xffff;
    if (old >= COUNT_SPILL || old + count < COUNT_SPILL) return;
    atomicSub(&p.bins[bin / 2], (uint32_t)COUNT_SPILL << half);
    atomicAdd((unsigned long long *)&a.begins[value], (unsigned long long)COUNT_SPILL);
}

/* Sorted keys have long runs: a vector of equal keys is one addition. */
static __device__ inline void count_vector_add(const struct sort_count_args &a,
                                               const struct count_part &p,
                                               const union key_vector &v)
{
    const uint32_t x = v.vector.x;
    if (x == v.vector.y && x == v.vector.z && x == v.vector.w && x >> 16 == (x & 0xffff)) {
        count_add(a, p, v.key[0], VECTOR_KEYS);
    } else {
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS; k++) count_add(a, p, v.key[k], 1);
    }
}

extern "C" __global__ void __launch_bounds__(SORT_COUNT_THREADS)
    sort_count(const __grid_constant__ struct sort_count_args a)
{
    const uint32_t me = threadIdx.x, parts = a.parts;
    const uint64_t group = blockIdx.x / parts, groups = gridDim.x / parts;
    struct count_part p = { (uint32_t *)shared_bytes, 0, SORT_VALUES / parts };
    p.first = blockIdx.x % parts * p.values;
    rank_clear(p.bins, p.values / 2);
    __syncthreads(); /* the counters are clear */
    wait_for_earlier();

    /* The next vectors are loaded while these are counted. */
    const ukey *keys = (const ukey *)a.common.keys_in;
    const struct key_vectors v = key_vectors_of(keys, a.common.n);
    const uint64_t each = SORT_COUNT_THREADS * VECTOR_LOADS, step = groups * each;
    union key_vector now[VECTOR_LOADS], next[VECTOR_LOADS];
    vectors_load<uint64_t>(v.body, v.count, group * each + me, SORT_COUNT_THREADS, now);
    for (uint64_t at = group * each; at < v.count; at += step) {
        vectors_load<uint64_t>(v.body, v.count, at + step + me, SORT_COUNT_THREADS, next);
#pragma unroll
        for (int j = 0; j < VECTOR_LOADS; j++)
            if (at + me + j * SORT_COUNT_THREADS < v.count) count_vector_add(a, p, now[j]);
        __syncthreads(); /* large counters have been moved to memory */
#pragma unroll
        for (int j = 0; j < VECTOR_LOADS; j++) now[j].vector = next[j].vector;
    }
    if (group == 0 && me < v.head) count_add(a, p, keys[me], 1);
    if (group == 0 && me < a.common.n - v.tail) count_add(a, p, keys[v.tail + me], 1);
    __syncthreads(); /* every key of the block is counted */
    for (uint32_t w = me; w < p.values / 2; w += SORT_COUNT_THREADS) {
        unsigned long long *to = (unsigned long long *)a.begins + p.first + 2 * w;
        const uint32_t both = p.bins[w];
        if (both & 0xffff) atomicAdd(to, (unsigned long long)(both & 0xffff));
        if (both >> 16) atomicAdd(to + 1, (unsigned long long)(both >> 16));
    }
}

/* Converts counts to the starts of the values; one block, each warp a part of the values. */
extern "C" __global__ void __launch_bounds__(SORT_COUNT_THREADS)
    sort_count_plan(const __grid_constant__ struct sort_count_args a)
{
    enum { WARPS_ALL = SORT_COUNT_THREADS / 32, STEPS = SORT_VALUES / SORT_COUNT_THREADS };
    __shared__ uint64_t sums[WARPS_ALL];
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    wait_for_earlier();
    uint64_t *mine = a.begins + warp * (STEPS * 32) + lane, sum = 0;
#pragma unroll 16
    for (int j = 0; j < STEPS; j++) sum += mine[j * 32];
    sum = warp_scan_u64(sum);
    if (lane == 31) sums[warp] = sum;
    __syncthreads(); /* the sums of all warps are written */
    uint64_t before = 0;
    for (uint32_t w = 0; w < warp; w++) before += sums[w];
#pragma unroll 8
    for (int j = 0; j < STEPS; j++) {
        const uint64_t count = mine[j * 32], inclusive = warp_scan_u64(count);
        mine[j * 32] = before + inclusive - count;
        before += __shfl_sync(WARP_ALL, (unsigned long long)inclusive, 31);
    }
    if (threadIdx.x == 0) a.begins[SORT_VALUES] = a.common.n;
}

/* The value at output position i: the last that begins at or before it and occurs. */
static __device__ inline uint32_t value_at(const struct sort_count_args &a, const uint64_t *coarse,
                                           uint64_t i)
{
    uint32_t value = 0;
#pragma unroll
    for (uint32_t step = SORT_VALUES / COUNT_COARSE / 2; step; step /= 2)
        if (coarse[value + step] <= i) value += step;
    value *= COUNT_COARSE;
#pragma unroll
    for (uint32_t step = COUNT_COARSE / 2; step; step /= 2)
        if (a.begins[value + step] <= i) value += step;
    return value;
}

/*
 * Writes positions [first, last) of the output, at most one vector.  The next value is usually
 * value + 1.  If that does not occur, the next one is searched for: between the negative and the
 * positive numbers of a sample of bf16 lie 30,000 values that do not occur.
 */
static __device__ inline void count_fill_vector(const struct sort_count_args &a,
                                                const uint64_t *coarse, uint64_t first,
                                                uint64_t last)
{
    ukey *out = (ukey *)a.common.keys_out;
    union key_vector v;
    uint32_t value = value_at(a, coarse, first);
    uint64_t stop = a.begins[value + 1];
    for (int k = 0; k < VECTOR_KEYS; k++) {
        const uint64_t at = first + k;
        if (at >= stop && at < last) {
            stop = a.begins[++value + 1];
            if (at >= stop) {
                value = value_at(a, coarse, at);
                stop = a.begins[value + 1];
            }
        }
        v.key[k] = order_decode(a.common.order, (ukey)value);
    }
    if (last - first == VECTOR_KEYS) {
        *(uint4 *)(out + first) = v.vector;
    } else {
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS; k++)
            if (first + k < last) out[first + k] = v.key[k];
    }
}

/* A warp writes VECTOR_LOADS aligned vectors per lane; the vectors at the ends of the array may be
 * partial. */
extern "C" __global__ void __launch_bounds__(SORT_MOVE_THREADS)
    sort_count_fill(const __grid_constant__ struct sort_count_args a)
{
    enum { EACH = 32 * VECTOR_LOADS * VECTOR_KEYS };
    __shared__ uint64_t coarse[SORT_VALUES / COUNT_COARSE];
    wait_for_earlier();
    for (uint32_t i = threadIdx.x; i < SORT_VALUES / COUNT_COARSE; i += blockDim.x)
        coarse[i] = a.begins[i * COUNT_COARSE];
    __syncthreads(); /* the starts of some values are in shared memory */
    ukey *out = (ukey *)a.common.keys_out;
    const uint64_t skew = (uint64_t)((uintptr_t)out & 15) / KEY_BYTES, end = a.common.n + skew;
    const uint64_t warps = (uint64_t)gridDim.x * (SORT_MOVE_THREADS / 32);
    const uint64_t warp = (uint64_t)blockIdx.x * (SORT_MOVE_THREADS / 32) + threadIdx.x / 32;
    for (uint64_t v = warp * EACH; v < end; v += warps * EACH) {
        const uint64_t from = v < skew ? 0 : v - skew;
        const uint32_t value = value_at(a, coarse, from);
        if (v >= skew && v + EACH <= end && a.begins[value + 1] >= from + EACH) { /* one value */
            const uint32_t word = order_decode(a.common.order, (ukey)value) * 0x00010001u;
#pragma unroll
            for (int j = 0; j < VECTOR_LOADS; j++)
                ((uint4 *)(out + from))[j * 32 + lane_id()] = make_uint4(word, word, word, word);
            continue;
        }
#pragma unroll
        for (int j = 0; j < VECTOR_LOADS; j++) {
            const uint64_t at = v + (j * 32 + lane_id()) * VECTOR_KEYS;
            const uint64_t first = at < skew ? 0 : at - skew;
            const uint64_t last = min(at + VECTOR_KEYS - skew, a.common.n);
            if (at < end && first < last) count_fill_vector(a, coarse, first, last);
        }
    }
}
#endif

#endif
