/*
 * sort/cuda/count.cuh - counting sort of keys of 8 and 16 bits without values.
 *
 *     sort_fill          writes keys of 8 bits from the histogram of sort_histogram
 *
 *     sort_count         counts keys of 16 bits in shared memory: one read
 *     sort_count_plan    adds the counts of all blocks; the start of each value in the output
 *     sort_count_fill    writes the keys
 *
 * A counter has 16 bits.  If a block counts so many keys that it may overflow, and the counter
 * reaches half its range, this half is added to the counter in
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
#include "sort/cuda/marks.cuh"

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
    COUNT_SPILL = 1 << 15 /* when a counter reaches this, it is moved to memory */
};
static_assert(SORT_COUNT_THREADS * VECTOR_LOADS * VECTOR_KEYS == SORT_COUNT_STEP &&
                  (int)SORT_COUNT_STEP <= (int)COUNT_SPILL,
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
    if (!a.spills) {
        atomicAdd(&p.bins[bin / 2], count << half);
        return;
    }
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
    if (!a.counts) {
        for (uint32_t w = me; w < p.values / 2; w += SORT_COUNT_THREADS) {
            unsigned long long *to = (unsigned long long *)a.begins + p.first + 2 * w;
            const uint32_t both = p.bins[w];
            if (both & 0xffff) atomicAdd(to, (unsigned long long)(both & 0xffff));
            if (both >> 16) atomicAdd(to + 1, (unsigned long long)(both >> 16));
        }
        return;
    }
    uint4 *to = (uint4 *)(a.counts + group * SORT_VALUES + p.first);
    for (uint32_t w = me; w < p.values / 8; w += SORT_COUNT_THREADS)
        to[w] = ((const uint4 *)p.bins)[w];
}

/* Adds the counts of SORT_COUNT_COARSE values: a warp adds those of some groups.  Converts the sums
 * to the starts of the values. */
extern "C" __global__ void __launch_bounds__(SORT_COUNT_THREADS)
    sort_count_plan(const __grid_constant__ struct sort_count_args a)
{
    enum { WARPS_ALL = SORT_COUNT_THREADS / 32, EACH = 8 };
    static_assert((int)SORT_COUNT_COARSE == 32 * EACH, "a lane has a vector of counts");
    __shared__ __align__(16) uint32_t parts[WARPS_ALL][SORT_COUNT_COARSE];
    __shared__ uint64_t sums[SORT_COUNT_COARSE / 32];
    const uint32_t warp = threadIdx.x / 32, lane = lane_id(), me = threadIdx.x;
    const uint32_t first = blockIdx.x * SORT_COUNT_COARSE;
    const uint4 *counts = (const uint4 *)(a.counts + first) + lane;
    uint4 low = make_uint4(0, 0, 0, 0), high = low; /* the values 0, 2, 4, 6 and 1, 3, 5, 7 */
    wait_for_earlier();
#pragma unroll 4
    for (uint32_t g = warp; a.counts && g < a.groups; g += WARPS_ALL) {
        const uint4 v = counts[(uint64_t)g * (SORT_VALUES / EACH)];
        low.x += v.x & 0xffff;
        low.y += v.y & 0xffff;
        low.z += v.z & 0xffff;
        low.w += v.w & 0xffff;
        high.x += v.x >> 16;
        high.y += v.y >> 16;
        high.z += v.z >> 16;
        high.w += v.w >> 16;
    }
    uint4 *part = (uint4 *)&parts[warp][lane * EACH];
    part[0] = make_uint4(low.x, high.x, low.y, high.y);
    part[1] = make_uint4(low.z, high.z, low.w, high.w);
    __syncthreads(); /* the sums of all warps are written */
    uint64_t count = 0, through = 0;
    if (me < SORT_COUNT_COARSE) {
        uint32_t sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS_ALL; w++) sum += parts[w][me];
        count = sum + (a.spills ? a.begins[first + me] : 0);
        through = warp_scan_u64(count);
        if (lane == 31) sums[warp] = through;
    }
    __syncthreads(); /* the sums of 32 values each are written */
    if (me >= SORT_COUNT_COARSE) return;
    for (uint32_t w = 0; w < warp; w++) through += sums[w];
    a.begins[first + me] = through - count;
    if (me == SORT_COUNT_COARSE - 1) a.sums[blockIdx.x] = through;
    if (first + me == 0) a.begins[SORT_VALUES] = 0;
}

/* The starts of SORT_COUNT_COARSE values each, and n. */
struct count_coarse {
    uint64_t begins[SORT_COUNT_PLANS + 1], sums[SORT_MOVE_THREADS / 32];
};

static __device__ inline void count_load_coarse(const struct sort_count_args &a,
                                                struct count_coarse &c)
{
    static_assert((int)SORT_COUNT_PLANS == (int)SORT_MOVE_THREADS, "a thread has one");
    const uint64_t count = a.sums[threadIdx.x];
    uint64_t through = warp_scan_u64(count);
    if (lane_id() == 31) c.sums[threadIdx.x / 32] = through;
    __syncthreads(); /* the sums of the warps are written */
    for (uint32_t w = 0; w < threadIdx.x / 32; w++) through += c.sums[w];
    c.begins[threadIdx.x] = through - count;
    if (threadIdx.x == 0) c.begins[SORT_COUNT_PLANS] = a.common.n;
    __syncthreads(); /* the starts are written */
}

static __device__ inline uint64_t count_begin(const struct sort_count_args &a,
                                              const struct count_coarse &c, uint32_t value)
{
    return c.begins[value / SORT_COUNT_COARSE] + a.begins[value];
}

/* The value at output position i: the last that begins at or before it.  By all threads. */
static __device__ inline uint32_t value_at(const struct sort_count_args &a,
                                           const struct count_coarse &c, uint64_t i)
{
    static_assert((int)SORT_COUNT_COARSE == (int)SORT_MOVE_THREADS, "a thread has a value");
    uint32_t value = 0;
#pragma unroll
    for (uint32_t step = SORT_COUNT_PLANS / 2; step; step /= 2)
        if (c.begins[value + step] <= i) value += step;
    const uint64_t begin = a.begins[value * SORT_COUNT_COARSE + threadIdx.x];
    return value * SORT_COUNT_COARSE + (uint32_t)__syncthreads_count(begin <= i - c.begins[value]) -
           1; /* a reduction only */
}

/* Writes a key n times. */
static __device__ inline void count_fill_key(ukey *out, uint32_t n, ukey key)
{
    const uint32_t word = key * 0x00010001u, skew = marks_skew(out), end = n + skew;
    for (uint32_t at = threadIdx.x * VECTOR_KEYS; at < end; at += SORT_MOVE_THREADS * VECTOR_KEYS) {
        if (at >= skew && at + VECTOR_KEYS <= end) {
            *(uint4 *)(out + at - skew) = make_uint4(word, word, word, word);
            continue;
        }
#pragma unroll
        for (int i = 0; i < VECTOR_KEYS; i++)
            if (at + i >= skew && at + i < end) out[at + i - skew] = key;
    }
}

/* Marks the places of the values from `low` to `high` in [first, last), of which the first is `to`.
 * Values are loaded by SORT_COUNT_COARSE; those that have no keys are skipped. */
static __device__ inline void count_mark(const struct sort_count_args &a,
                                         const struct count_coarse &c, uint32_t low, uint32_t high,
                                         uint64_t first, uint64_t last, ukey *marks, uint32_t to)
{
    enum { EACH = 4 }; /* loads in flight together */
    for (uint32_t g = low / SORT_COUNT_COARSE; g <= high / SORT_COUNT_COARSE; g += EACH) {
        uint64_t begin[EACH], end[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            begin[j] = end[j] = 0;
            if (g + j > high / SORT_COUNT_COARSE || c.begins[g + j] == c.begins[g + j + 1])
                continue;
            const uint32_t v = (g + j) * SORT_COUNT_COARSE + threadIdx.x;
            begin[j] = count_begin(a, c, v);
            end[j] = count_begin(a, c, v + 1);
        }
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            begin[j] = max(begin[j], first);
            end[j] = min(end[j], last);
            if (begin[j] < end[j])
                marks_put(marks, (g + j) * SORT_COUNT_COARSE + threadIdx.x,
                          (uint32_t)(begin[j] - first) + to, (uint32_t)(end[j] - begin[j]));
        }
    }
}

/* A block writes tiles whose vectors are aligned. */
extern "C" __global__ void __launch_bounds__(SORT_MOVE_THREADS)
    sort_count_fill(const __grid_constant__ struct sort_count_args a)
{
    enum { TILE = SORT_MOVE_THREADS * 4 * VECTOR_KEYS };
    __shared__ struct count_coarse coarse;
    __shared__ uint4 marks[TILE / VECTOR_KEYS];
    ukey *out = (ukey *)a.common.keys_out;
    const uint64_t n = a.common.n, skew = marks_skew(out);
    for (uint32_t i = threadIdx.x; i < TILE / VECTOR_KEYS; i += SORT_MOVE_THREADS)
        marks[i] = make_uint4(0, 0, 0, 0);
    wait_for_earlier();
    count_load_coarse(a, coarse); /* also a barrier: the marks are clear */
    for (uint64_t tile = (uint64_t)blockIdx.x * TILE; tile < n + skew;
         tile += (uint64_t)gridDim.x * TILE) {
        const uint64_t first = tile ? tile - skew : 0, last = min(tile + TILE - skew, n);
        const uint32_t low = value_at(a, coarse, first), high = value_at(a, coarse, last - 1);
        if (low == high) {
            count_fill_key(out + first, (uint32_t)(last - first),
                           order_decode(a.common.order, (ukey)low));
            continue;
        }
        count_mark(a, coarse, low, high, first, last, (ukey *)marks, marks_skew(out + first));
        __syncthreads(); /* the places are marked */
        marks_write<SORT_MOVE_THREADS / 32>(a.common.order, marks, out + first,
                                            (uint32_t)(last - first));
        __syncthreads(); /* the marks are clear */
    }
}
#endif

#endif
