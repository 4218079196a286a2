/*
 * sort/cuda/passes.cuh - the steps before and after the passes of an LSD radix sort.
 *
 *     sort_histogram   reads the keys once and counts every digit of every pass; its last block
 *                      finds the start of each bin, and which passes can be skipped
 *     sort_finish      copies, if the remaining passes do not end in the output
 *
 * lsd.cuh uses the same functions in persistent blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_PASSES_CUH
#define ECHI_SORT_CUDA_PASSES_CUH

#include "sort/cuda/common.cuh"
#include "sort/cuda/passes.h"
#include "sort/cuda/vectors.cuh"

/* ---- Histograms of all passes ---- */

static __device__ inline void count_key(const struct sort_common &a, uint32_t (*bins)[SORT_BINS],
                                        ukey u)
{
    ukey e = order_encode(a.order, u);
#pragma unroll
    for (int pass = 0; pass < KEY_BYTES; pass++)
        if (pass < a.passes) atomicAdd(&bins[pass][digit_of(a, e, pass)], 1);
}

/* Whether the digits are bytes of the key, or their inverses. */
static __device__ inline bool counts_bytes(const struct sort_common &a)
{
    return order_inverts(a.order) && a.begin_bit == 0 && a.end_bit == KEY_BITS;
}

/* The counter of a byte: keys of lanes are 16 apart, and must not share a bank in a ramp. */
static __device__ inline uint32_t byte_counter(uint32_t byte)
{
    return byte ^ byte >> 5;
}

/* Counts the bytes of a thread's keys, which takes a sixth of the instructions for their digits. */
static __device__ inline void count_bytes(const struct key_vectors &v, const ukey *keys, uint64_t n,
                                          uint32_t (*bins)[SORT_BINS])
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t i = thread; i < v.count; i += VECTOR_LOADS * threads) {
        union key_vector load[VECTOR_LOADS];
        vectors_load(v.body, v.count, i, threads, load);
#pragma unroll
        for (int j = 0; j < VECTOR_LOADS; j++) {
            if (i + j * threads >= v.count) break;
            uint32_t words[] = { load[j].vector.x, load[j].vector.y, load[j].vector.z,
                                 load[j].vector.w };
#pragma unroll
            for (int k = 0; k < 4; k++) words[k] ^= words[k] >> 5 & 0x07070707;
#pragma unroll
            for (int k = 0; k < 16; k++)
                atomicAdd(&bins[k % KEY_BYTES][words[k / 4] >> (k % 4 * 8) & 255], 1);
        }
    }
#pragma unroll
    for (int k = 0; k < KEY_BYTES; k++) {
        if (thread < v.head) atomicAdd(&bins[k][byte_counter(keys[thread] >> (8 * k) & 255)], 1);
        if (thread < n - v.tail)
            atomicAdd(&bins[k][byte_counter(keys[v.tail + thread] >> (8 * k) & 255)], 1);
    }
}

/* The grid counts the digits of all keys; bins is the block's privatised histogram, in shared
 * memory. */
static __device__ inline void count_digits(const struct sort_passes_args &a,
                                           uint32_t (*bins)[SORT_BINS])
{
    const ukey *keys = (const ukey *)a.common.keys_in;
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

    rank_clear(&bins[0][0], KEY_BYTES * SORT_BINS);
    __syncthreads(); /* the counters are clear */

    const struct key_vectors v = key_vectors_of(keys, a.common.n);
    uint64_t flips = 0;
    const bool bytes = counts_bytes(a.common);
    if (bytes) {
        flips = a.common.order.sign ^ a.common.order.flip;
        count_bytes(v, keys, a.common.n, bins);
    }
    for (uint64_t i = thread; !bytes && i < v.count; i += VECTOR_LOADS * threads) {
        union key_vector load[VECTOR_LOADS];
        vectors_load(v.body, v.count, i, threads, load);
#pragma unroll
        for (int j = 0; j < VECTOR_LOADS; j++)
            if (i + j * threads < v.count)
#pragma unroll
                for (int k = 0; k < VECTOR_KEYS; k++) count_key(a.common, bins, load[j].key[k]);
    }
    if (!bytes && thread < v.head) count_key(a.common, bins, keys[thread]);
    if (!bytes && thread < a.common.n - v.tail) count_key(a.common, bins, keys[v.tail + thread]);
    __syncthreads(); /* every key of the block is counted */

    for (int i = threadIdx.x; i < a.common.passes * SORT_BINS; i += blockDim.x) {
        const uint32_t pass = i / SORT_BINS, bin = i % SORT_BINS;
        const uint32_t digit = bin ^ (uint32_t)(flips >> (8 * pass) & 255);
        const uint32_t count = bins[pass][bytes ? byte_counter(bin) : bin];
        if (count) atomicAdd((unsigned long long *)&a.counts->histogram[pass][digit], count);
    }
}

/* ---- The starts of the bins, and the active passes ---- */

static __device__ inline void plan_passes(const struct sort_passes_args &a, const uint32_t *active)
{
    struct sort_state *state = a.state;
    int count = 0, done = 0;
#pragma unroll 1
    for (int pass = 0; pass < a.common.passes; pass++) count += active[pass];
    uint32_t source = SORT_IN;
#pragma unroll 1
    for (int pass = 0; pass < a.common.passes; pass++) {
        struct sort_pass *p = &state->pass[pass];
        *p = {};
        if (!active[pass]) continue;
        p->active = 1;
        /* Out of place, the last pass ends in the output and the previous ones alternate.  In
         * place, the first pass cannot write to its input, and the last ends in the output only if
         * the number of passes is even. */
        uint32_t to_out = a.common.in_place ? done & 1 : (count - 1 - done) % 2 == 0;
        p->target = to_out || a.pages.state ? SORT_OUT : SORT_TMP;
        p->source = source;
        p->first = done == 0;
        p->last = done == count - 1;
        p->epoch = done;
        if (a.pages.state && pass == 0 && !a.common.in_place && !a.pages.group)
            p->active |= SORT_ACTIVE_DIRECT;
        source = p->target;
        done++;
    }
    bool there = source == SORT_OUT || (count == 0 && a.common.stays);
    state->finish = there ? 0 : 1 + source;
}

struct passes_plan_shared {
    uint64_t sums[SORT_BINS / 32];
    uint32_t active[SORT_PASSES];
    uint32_t last; /* whether the block is the last one of sort_histogram */
};

/* Finds the start of a bin; returns the number of its keys. */
static __device__ inline uint64_t plan_bin(const struct sort_passes_args &a,
                                           struct passes_plan_shared &s, int pass)
{
    const uint32_t bin = threadIdx.x, warp = bin / 32;
    uint64_t count = bin < SORT_BINS ? load_relaxed_u64(&a.counts->histogram[pass][bin]) : 0;
    if (bin < SORT_BINS) a.counts->histogram[pass][bin] = 0;
    uint64_t inclusive = warp_scan_u64(count);
    if (bin < SORT_BINS && lane_id() == 31) s.sums[warp] = inclusive;
    int constant = __syncthreads_or(count == a.common.n); /* also: the sums are written */
    if (bin == 0) s.active[pass] = !constant;
    uint64_t before = 0;
#pragma unroll 1
    for (uint32_t w = 0; w < warp && w < SORT_BINS / 32; w++) before += s.sums[w];
    if (bin < SORT_BINS) a.state->base[pass][0][bin] = before + inclusive - count;
    __syncthreads(); /* sums may be written again, active is complete */
    return count;
}

/* By one block of at least 32 SORT_PASSES threads: a warp finds the starts of the bins of a pass,
 * a lane those of eight adjacent bins. */
static __device__ inline void plan_digits(const struct sort_passes_args &a,
                                          struct passes_plan_shared &s)
{
    enum { EACH = SORT_BINS / 32 };
    const uint32_t pass = threadIdx.x / 32, lane = lane_id();
    if (pass < (uint32_t)a.common.passes) {
        uint64_t *counts = a.counts->histogram[pass] + lane * EACH;
        uint64_t *base = a.state->base[pass][0] + lane * EACH, count[EACH], sum = 0;
        bool constant = false;
#pragma unroll
        for (int i = 0; i < EACH; i++) count[i] = load_relaxed_u64(&counts[i]);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            counts[i] = 0;
            sum += count[i];
            constant |= count[i] == a.common.n;
        }
        uint64_t before = warp_scan_u64(sum) - sum;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            base[i] = before;
            before += count[i];
        }
        constant = __any_sync(WARP_ALL, constant);
        if (lane == 0) s.active[pass] = !constant;
    }
    __syncthreads(); /* active is complete */
    if (threadIdx.x == 0) plan_passes(a, s.active);
}

/* Clears what the passes need. */
static __device__ inline void clear_passes(const struct sort_passes_args &a)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t i = thread; i < a.clear_bytes / 16; i += step)
        ((uint4 *)a.clear)[i] = make_uint4(0, 0, 0, 0);
    if (thread < SORT_PASSES) a.state->tiles_taken[thread] = 0;
}

/* Whether the block is the last one that has counted. */
static __device__ inline bool count_ends(const struct sort_passes_args &a,
                                         struct passes_plan_shared &s)
{
    __syncthreads(); /* every thread has added its counters */
    if (threadIdx.x == 0) {
        __threadfence(); /* orders what the block has added before its atomic */
        s.last = atomicAdd((unsigned long long *)&a.counts->finished, 1ull) == gridDim.x - 1;
        __threadfence(); /* ... and what other blocks added before */
    }
    __syncthreads(); /* it is known whether the block is the last */
    return s.last;
}

extern "C" __global__ void __launch_bounds__(SORT_HISTOGRAM_THREADS)
    sort_histogram(const __grid_constant__ struct sort_passes_args a)
{
    __shared__ uint32_t bins[KEY_BYTES][SORT_BINS];
    __shared__ struct passes_plan_shared s;
    wait_for_earlier();
    if (a.pages.most && a.pages.splitters->planned) return;
    clear_passes(a);
    count_digits(a, bins);
    if (!count_ends(a, s)) return;
    plan_digits(a, s);
    if (threadIdx.x == 0) a.counts->finished = 0;
}

/* ---- If the passes do not end in the output ---- */

static __device__ inline void copy_to_output(const struct sort_passes_args &a)
{
    if (!a.state->finish) return;
    const uint32_t from = a.state->finish - 1;
    const ukey *keys = keys_of(a.common, from);
    ukey *keys_out = (ukey *)a.common.keys_out;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (!a.common.discard_keys)
        for (uint64_t i = first; i < a.common.n; i += step) keys_out[i] = keys[i];
#if VAL_BYTES
    const uval *values = (const uval *)(from == SORT_IN ? a.common.values_in : a.common.values_tmp);
    uval *values_out = (uval *)a.common.values_out;
#if VAL_BYTES <= 8
    if (a.common.index && from == SORT_IN)
        for (uint64_t i = first; i < a.common.n; i += step) values_out[i] = (uval)i;
    else
#endif
        for (uint64_t i = first; i < a.common.n; i += step) values_out[i] = values[i];
#endif
}

extern "C" __global__ void __launch_bounds__(SORT_MOVE_THREADS)
    sort_finish(const __grid_constant__ struct sort_passes_args a)
{
    wait_for_earlier();
    copy_to_output(a);
}

#endif
