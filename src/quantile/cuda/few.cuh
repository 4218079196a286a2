/*
 * quantile/cuda/few.cuh - the element of a rank of a small array, by one block and with one launch.
 *
 *     range     the lowest and the highest key; narrow keys: all keys
 *     digits    counts the keys of 256 equal parts of the interval, and continues in one part,
 *               until few keys are left or all of them are equal
 *     list      few keys with their positions, of which each thread ranks one
 *     ties      many equal keys: a warp counts those of a part of the array; only if the position
 *               is needed
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_FEW_CUH
#define ECHI_QUANTILE_CUDA_FEW_CUH

#include "quantile/cuda/find.cuh"

enum { FEW_WARPS = QUANTILE_FEW_THREADS / 32, FEW_EACH = 8, FEW_LIST = 64 };

struct few_shared {
    uint32_t bins[QUANTILE_BINS];
    wkey keys[FEW_LIST];
    uint32_t positions[FEW_LIST];
    wkey lowest[FEW_WARPS], highest[FEW_WARPS];
    uint32_t counts[FEW_WARPS];
    uint32_t listed, digit, left, count;
};

/* The interval of keys that is searched: 2^bits keys from low on. */
struct few_interval {
    wkey low;
    uint32_t bits;
};

static __device__ inline bool few_has(const struct few_interval &v, wkey e)
{
    return e >= v.low && (v.bits >= KEY_BITS || (wkey)(e - v.low) >> v.bits == 0);
}

enum few_what { FEW_RANGE, FEW_COUNT, FEW_COLLECT };

/* ---- A pass ---- */

struct few_range {
    wkey lowest, highest;
};

/* Processes every element; the loads of FEW_EACH elements are in flight together.  FEW_RANGE
 * returns the range of the thread's keys.  FEW_COUNT counts parts of 2^shift keys each, and adds
 * the count of equal successive parts at once.  FEW_COLLECT lists keys and positions. */
static __device__ __noinline__ struct few_range few_pass(const struct quantile_args &a,
                                                         struct few_shared &s, enum few_what what,
                                                         struct few_interval v, uint32_t shift)
{
    const ukey *in = (const ukey *)a.in;
    const uint32_t n = (uint32_t)a.n;
    struct few_range range = { ~(wkey)0, 0 };
    uint32_t bin = 0, run = 0;
    for (uint32_t from = threadIdx.x; from < n; from += FEW_EACH * QUANTILE_FEW_THREADS) {
        ukey u[FEW_EACH];
#pragma unroll
        for (int j = 0; j < FEW_EACH; j++) {
            const uint32_t i = from + j * QUANTILE_FEW_THREADS;
            u[j] = i < n ? in[i] : (ukey)0;
        }
#pragma unroll 1
        for (uint32_t i = from; i < min(n, from + FEW_EACH * QUANTILE_FEW_THREADS);
             i += QUANTILE_FEW_THREADS) {
            const wkey e = merged(a, u[0]);
#pragma unroll
            for (int j = 1; j < FEW_EACH; j++) u[j - 1] = u[j];
            if (what == FEW_RANGE) {
                range.lowest = min(range.lowest, e);
                range.highest = max(range.highest, e);
            } else if (!few_has(v, e)) {
                continue;
            } else if (what == FEW_COLLECT) {
                const uint32_t to = atomicAdd(&s.listed, 1);
                s.keys[to] = e;
                s.positions[to] = i;
            } else {
                const uint32_t b = (uint32_t)((wkey)(e - v.low) >> shift);
                if (b != bin && run) {
                    atomicAdd(&s.bins[bin], run);
                    run = 0;
                }
                bin = b;
                run++;
            }
        }
    }
    if (run) atomicAdd(&s.bins[bin], run);
    return range;
}

/* ---- Range ---- */

static __device__ inline void warp_range(struct few_range &f)
{
#pragma unroll
    for (int step = 16; step; step /= 2) {
        f.lowest = min(f.lowest, __shfl_xor_sync(WARP_ALL, f.lowest, step));
        f.highest = max(f.highest, __shfl_xor_sync(WARP_ALL, f.highest, step));
    }
}

static __device__ inline struct few_interval few_begin(const struct quantile_args &a,
                                                       struct few_shared &s)
{
    struct few_interval all = { 0, KEY_BITS };
    if (KEY_BITS <= 16 || a.n <= FEW_LIST) return all;
    struct few_range f = few_pass(a, s, FEW_RANGE, all, 0);
    warp_range(f);
    if (lane_id() == 0) {
        s.lowest[threadIdx.x / 32] = f.lowest;
        s.highest[threadIdx.x / 32] = f.highest;
    }
    __syncthreads(); /* the ranges of the warps are known */
    f.lowest = s.lowest[lane_id()];
    f.highest = s.highest[lane_id()];
    warp_range(f);
    all.low = f.lowest;
    all.bits = 0;
    for (uint64_t span = f.highest - f.lowest; span; span /= 2) all.bits++;
    return all;
}

/* ---- Digits ---- */

/* Continues in the part of the interval that has the element; left: its rank there. */
static __device__ inline void few_digit(const struct quantile_args &a, struct few_shared &s,
                                        struct few_interval &v, uint32_t &left, uint32_t &count)
{
    enum { EACH_BINS = QUANTILE_BINS / 32 };
    const uint32_t shift = v.bits > QUANTILE_DIGIT ? v.bits - QUANTILE_DIGIT : 0;
    if (threadIdx.x < QUANTILE_BINS) s.bins[threadIdx.x] = 0;
    __syncthreads(); /* the bins are zero */
    few_pass(a, s, FEW_COUNT, v, shift);
    __syncthreads(); /* all keys are counted */
    if (threadIdx.x < 32) {
        uint32_t sum = 0, digit = lane_id() * EACH_BINS;
        for (int j = 0; j < EACH_BINS; j++) sum += s.bins[digit + j];
        const uint32_t through = warp_scan(sum);
        uint32_t before = through - sum;
        if (left >= before && left < through) {
            while (left >= before + s.bins[digit]) before += s.bins[digit++];
            s.digit = digit;
            s.left = left - before;
            s.count = s.bins[digit];
        }
    }
    __syncthreads(); /* the part is known */
    v.low += (wkey)s.digit << shift;
    v.bits = shift;
    left = s.left;
    count = s.count;
}

/* ---- Results ---- */

static __device__ inline void few_write(const struct quantile_args &a, uint32_t position)
{
    if (a.out) *(ukey *)a.out = ((const ukey *)a.in)[position];
    if (a.index) store_number(a.index, a.index_bytes, 0, position);
}

/* The element among those of the interval, at most FEW_LIST. */
static __device__ inline void few_list(const struct quantile_args &a, struct few_shared &s,
                                       const struct few_interval &v, uint32_t left)
{
    if (threadIdx.x == 0) s.listed = 0;
    __syncthreads(); /* the list is empty */
    few_pass(a, s, FEW_COLLECT, v, 0);
    __syncthreads(); /* the list is complete */
    const uint32_t count = s.listed;
    if (threadIdx.x >= count) return;
    const wkey own = s.keys[threadIdx.x];
    const uint32_t position = s.positions[threadIdx.x];
    uint32_t rank = 0;
#pragma unroll 4
    for (uint32_t j = 0; j < count; j++) {
        const wkey e = s.keys[j];
        rank += e < own || (e == own && s.positions[j] < position);
    }
    if (rank == left) few_write(a, position);
}

/* The element `left` of those that equal a key. */
static __device__ inline void few_tie(const struct quantile_args &a, struct few_shared &s, wkey key,
                                      uint32_t left)
{
    const uint32_t n = (uint32_t)a.n, part = (n + FEW_WARPS - 1) / FEW_WARPS, warp = warp_id();
    const uint32_t first = min(part * warp, n), end = min(first + part, n);
    uint32_t own = 0;
#pragma unroll 4
    for (uint32_t i = first + lane_id(); i < end; i += 32) own += key_at(a, i) == (ukey)key;
    own = (uint32_t)warp_sum_u64(own);
    if (lane_id() == 0) s.counts[warp] = own;
    __syncthreads(); /* the counts of the warps are known */
    const uint32_t other = s.counts[lane_id()], through = warp_scan(other);
    const uint32_t before = __shfl_sync(WARP_ALL, through - other, (int)warp);
    if (left < before || left - before >= own) return;
    left -= before;
    for (uint32_t from = first; from < end; from += 32) {
        const uint32_t i = from + lane_id();
        const bool equal = i < end && key_at(a, i) == (ukey)key;
        const uint32_t which = __ballot_sync(WARP_ALL, equal), count = (uint32_t)__popc(which);
        if (equal && (uint32_t)__popc(which & lanes_below()) == left) few_write(a, i);
        if (left < count) return;
        left -= count;
    }
}

extern "C" __global__ void __launch_bounds__(QUANTILE_FEW_THREADS)
    quantile_few(const __grid_constant__ struct quantile_args a)
{
    __shared__ struct few_shared s;
    wait_for_earlier();
    uint32_t left = (uint32_t)a.list_of.ranks[0], count = (uint32_t)a.n;
    struct few_interval v = few_begin(a, s);
    while (count > FEW_LIST && v.bits) few_digit(a, s, v, left, count);
    if (count <= FEW_LIST) {
        few_list(a, s, v, left);
    } else if (a.index || is_ambiguous(a, v.low)) {
        few_tie(a, s, v.low, left);
    } else if (threadIdx.x == 0) {
        *(ukey *)a.out = (ukey)quantile_bits_of_key(&a.order, KEY_BYTES, a.nan, v.low);
    }
}

#endif
