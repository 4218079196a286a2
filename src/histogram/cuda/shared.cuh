/*
 * histogram/cuda/shared.cuh - counters in shared memory: a table per block, of all bins or of a
 * part of them.
 *
 *     element --map--> counter --atomicAdd--> table[counter][column of the lane] --sum--> counts
 *
 * With few bins each lane has its own column of counters, so that no two lanes of a warp collide in
 * a bank; with more bins there are fewer columns. If a block cannot hold all bins, they are divided
 * among blocks that read the same elements at the same time: the first read of an element is from
 * memory, the others are from the L2 cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_CUDA_SHARED_CUH
#define ECHI_HISTOGRAM_CUDA_SHARED_CUH

#include "histogram/cuda/common.cuh"

/* Limits registers to those of this many blocks. */
enum { FULL_BLOCKS = MULTIPROCESSOR_THREADS / HISTOGRAM_THREADS };

/* The state of a thread that counts elements. */
struct counting {
    uint32_t *table; /* counter 0 of the thread's column */
    struct edges edges;
    uint32_t first, count; /* counters of the part */
    uint32_t column_bits;
};

#if KEY_BITS == 64
typedef uint64_t wide_key;
#else
typedef uint32_t wide_key;
#endif

/* Elements in no bin are not counted. */
static __device__ inline bool drops(const struct echi_bins &x)
{
    return x.below == ECHI_NO_SLOT && x.above == ECHI_NO_SLOT && x.nan == ECHI_NO_SLOT;
}

/* Half the instructions, if counters are values and all other values are dropped. */
static __device__ inline bool is_direct(const struct histogram_args &a)
{
    const struct echi_bins &x = a.x;
    bool same = x.kind == ECHI_BINS_SHIFT && !x.shift && !x.order.sign && !x.first && !x.offset;
    return same && x.span < x.bins && x.below == ECHI_NO_SLOT && x.above == ECHI_NO_SLOT &&
           a.channels == 1 && !a.in_y;
}

static __device__ inline void count_at(const struct counting &c, uint32_t at)
{
    if (at < c.count) atomicAdd(&c.table[at << c.column_bits], 1u);
}

static __device__ inline void count_direct(const struct counting &c, ukey u)
{
    wide_key at = (wide_key)u - c.first;
    if (at < c.count) atomicAdd(&c.table[(uint32_t)at << c.column_bits], 1u);
}

static __device__ inline void count_slot(const struct histogram_args &a, const struct counting &c,
                                         uint32_t slot, uint32_t channel)
{
    if (slot != NO_SLOT) count_at(c, slot + channel * (uint32_t)a.stride - c.first);
}

/* ---- Tables, for all kernels that count in shared memory ---- */

static __device__ inline uint32_t table_words(const struct histogram_args &a)
{
    return a.part_counters << a.column_bits;
}

/* Sets the counters of the block to zero. */
static __device__ inline struct counting begin_counting(const struct histogram_args &a)
{
    struct counting c;
    const uint32_t part = blockIdx.x % a.parts;
    c.column_bits = a.column_bits;
    c.table = (uint32_t *)shared_bytes + (threadIdx.x & ((1u << a.column_bits) - 1));
    c.first = part * a.part_counters;
    c.count = min(a.part_counters, (uint32_t)a.counters - min(c.first, (uint32_t)a.counters));
    c.edges.at = (const ukey *)a.edges;
    c.edges.raw = !a.shared_edges;
    clear_table((uint32_t *)shared_bytes, table_words(a));
    check_edges(a);
    return c;
}

/* A small array has one group, which is the only writer of its counters: they need not be
 * cleared. */
static __device__ inline void end_counting(const struct histogram_args &a, const struct counting &c)
{
    const bool single = gridDim.x == a.parts;
    for (uint32_t k = threadIdx.x; k < c.count; k += blockDim.x) {
        uint64_t sum = sum_columns((uint32_t *)shared_bytes, k, a.column_bits);
        uint64_t counter = c.first + k;
        if (single)
            a.counts[counter] = sum + (a.add ? a.counts[counter] : 0);
        else
            add_count(a.counts, counter, sum);
    }
}

/* The edges are stored after the counters. */
static __device__ inline ukey *shared_edges(const struct histogram_args &a)
{
    return (ukey *)((uint32_t *)shared_bytes + ((table_words(a) + 1) & ~1u));
}

static __device__ inline void copy_edges(const struct histogram_args &a, ukey *edges)
{
    for (uint32_t i = threadIdx.x; i < (2u << a.x.top) - 1; i += blockDim.x)
        edges[i] = i <= a.x.bins ? bins_merged_32(&a.x.order, ((const ukey *)a.edges)[i])
                                 : (ukey)UINT64_MAX;
}

/* ---- One channel, even bins ---- */

/* Counts u, with a map whose kind is known at compile time. DROP: elements in no bin are not
 * counted. */
template <int KIND, bool DROP>
static __device__ inline void count_key(const struct histogram_args &a, const struct counting &c,
                                        ukey u)
{
    const struct echi_bins &b = a.x;
    if (KIND == HISTOGRAM_DIRECT) {
        count_direct(c, u);
    } else if (!DROP) {
        count_slot(a, c, slot_of<KIND>(b, c.edges, u), 0);
    } else if (KIND == ECHI_BINS_SHIFT) {
        if (holds_whole_32(&b, u)) count_at(c, bin_shift_32(&b, u) - c.first);
    } else if (KIND == ECHI_BINS_SCALE) {
        if (holds_whole_32(&b, u)) count_at(c, bin_scale_32(&b, u) - c.first);
#if KEY_BITS == 64
    } else {
        const double x = bins_double(u);
        if (holds_f64_32(&b, x)) count_at(c, bin_f64_32(&b, x) - c.first);
    }
#else
    } else {
        const float x = KIND == ECHI_BINS_F16    ? echi_f32_of_f16((uint32_t)u)
                        : KIND == ECHI_BINS_BF16 ? echi_f32_of_bf16((uint32_t)u)
                                                 : echi_f32_of_bits((uint32_t)u);
        if (holds_f32_32(&b, x)) count_at(c, bin_f32_32(&b, x) - c.first);
    }
#endif
}

/* The elements of the block's group: groups divide the elements; all parts of a group read the same
 * ones. N loads are in flight: as many as the map leaves registers for. */
template <int KIND, bool DROP, int N>
static __device__ void count_keys(const struct histogram_args &a, const struct counting &c)
{
    const struct body b = body_of(a.in, a.n);
    const uint32_t group = blockIdx.x / a.parts, groups = gridDim.x / a.parts;
    const uint64_t thread = (uint64_t)group * blockDim.x + threadIdx.x;
    const uint64_t threads = (uint64_t)groups * blockDim.x;
    const uint4 *vectors = (const uint4 *)(b.in + b.head);
    uint64_t i = thread;
    for (; i + (N - 1) * threads < b.vectors; i += N * threads) {
        union keys load[N];
#pragma unroll
        for (int j = 0; j < N; j++) load[j].vector = vectors[i + j * threads];
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int k = 0; k < VECTOR; k++) count_key<KIND, DROP>(a, c, load[j].key[k]);
    }
    for (; N > 1 && i < b.vectors; i += threads) {
        union keys load;
        load.vector = vectors[i];
#pragma unroll
        for (int k = 0; k < VECTOR; k++) count_key<KIND, DROP>(a, c, load.key[k]);
    }
    /* The elements before and after the vectors, one per thread. */
    const uint64_t ends = b.head + (a.n - b.tail);
    if (thread < ends)
        count_key<KIND, DROP>(a, c, b.in[thread < b.head ? thread : b.tail + (thread - b.head)]);
}

enum { MAP_LOADS = KEY_BITS == 32 ? 2 : 1 };

template <int KIND>
static __device__ inline void count_kind(const struct histogram_args &a, const struct counting &c)
{
    if (drops(a.x))
        count_keys<KIND, true, MAP_LOADS>(a, c);
    else
        count_keys<KIND, false, MAP_LOADS>(a, c);
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_THREADS, FULL_BLOCKS)
    histogram_shared(const __grid_constant__ struct histogram_args a)
{
    const struct counting c = begin_counting(a);
    __syncthreads(); /* the counters are zero */

    if (is_direct(a))
        count_keys<HISTOGRAM_DIRECT, true, 4>(a, c);
    else if (a.x.kind == ECHI_BINS_SHIFT)
        count_kind<ECHI_BINS_SHIFT>(a, c);
#if KEY_BITS < 64
    else if (a.x.kind == ECHI_BINS_SCALE)
        count_kind<ECHI_BINS_SCALE>(a, c);
#endif
#if KEY_BITS == 16
    else if (a.x.kind == ECHI_BINS_F16)
        count_kind<ECHI_BINS_F16>(a, c);
    else
        count_kind<ECHI_BINS_BF16>(a, c);
#elif KEY_BITS > 16
    else
        count_kind<ECHI_BINS_FLOAT>(a, c);
#endif
    __syncthreads(); /* every element of the block is counted */

    end_counting(a, c);
}

#endif
