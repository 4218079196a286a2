/*
 * cuda/histogram_shared.cuh - counters in shared memory: a table for each block, of all the bins or
 * of a part of them.
 *
 *     element --map--> counter --atomicAdd--> table[counter][column of my lane] --sum--> counts
 *
 * Few bins have a column of counters for each lane, so that no two lanes of a warp meet in one
 * bank; more bins have fewer columns.  More bins than a block can hold are split among blocks that
 * read the same elements, at the same time: memory gives each element once, the L2 cache again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_HISTOGRAM_SHARED_CUH
#define ECHI_CUDA_HISTOGRAM_SHARED_CUH

#include "histogram_common.cuh"

/* What a thread needs to count an element. */
struct counting {
    uint32_t *table;
    struct edges edges;
    uint32_t first, count; /* counters of the part */
    uint32_t column;
};

#if KEY_BITS == 64
typedef uint64_t wide_key;
#else
typedef uint32_t wide_key;
#endif

/* Half the instructions, where counters are values and all others are dropped. */
static __device__ inline bool is_direct(const struct histogram_args &a)
{
    const struct echi_bins &x = a.x;
    bool same = x.kind == ECHI_BINS_SHIFT && !x.shift && !x.order.sign && !x.first && !x.offset;
    return same && x.span < x.bins && x.below == ECHI_NO_SLOT && x.above == ECHI_NO_SLOT &&
           a.channels == 1 && !a.in_y;
}

static __device__ inline void count_direct(const struct histogram_args &a, const struct counting &c,
                                           ukey u)
{
    wide_key at = (wide_key)u - c.first;
    if (at < c.count) atomicAdd(&c.table[((uint32_t)at << a.column_bits) | c.column], 1u);
}

static __device__ inline void count_slot(const struct histogram_args &a, const struct counting &c,
                                         uint32_t slot, uint32_t channel)
{
    uint32_t at = slot + channel * (uint32_t)a.stride - c.first;
    if (slot != NO_SLOT && at < c.count)
        atomicAdd(&c.table[(at << a.column_bits) | c.column], 1u);
}

template <int KIND>
static __device__ inline void count_vector(const struct histogram_args &a,
                                           const struct counting &c, const union keys &keys,
                                           uint32_t channel)
{
#pragma unroll
    for (int k = 0; k < VECTOR; k++) {
        if (KIND == HISTOGRAM_DIRECT) {
            count_direct(a, c, keys.key[k]);
            continue;
        }
        count_slot(a, c, slot_of<KIND>(a.x, c.edges, keys.key[k]), channel);
        if (a.channels > 1 && ++channel == a.channels) channel = 0;
    }
}

/* The elements of the block's group: groups share them out, the parts of a group all see them. */
template <int KIND>
static __device__ void count_elements(const struct histogram_args &a, const struct counting &c)
{
    const struct body b = body_of(a.in, a.n);
    const uint32_t group = blockIdx.x / a.parts, groups = gridDim.x / a.parts;
    const uint64_t thread = (uint64_t)group * blockDim.x + threadIdx.x;
    const uint64_t threads = (uint64_t)groups * blockDim.x;
    const uint4 *vectors = (const uint4 *)(b.in + b.head);
    uint32_t channel = 0, step = 0; /* of vector i; from one to the next */
    if (a.channels > 1) {
        channel = (uint32_t)((b.head + thread * VECTOR) % a.channels);
        step = (uint32_t)(threads * VECTOR % a.channels);
    }
    for (uint64_t i = thread; i < b.vectors; i += LOADS * threads) {
        union keys load[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * threads < b.vectors) load[j].vector = vectors[i + j * threads];
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            if (i + j * threads < b.vectors) count_vector<KIND>(a, c, load[j], channel);
            channel += step;
            if (channel >= a.channels) channel -= a.channels;
        }
    }
    /* The ends, one element a thread. */
    const uint64_t ends = b.head + (a.n - b.tail);
    if (thread < ends) {
        uint64_t i = thread < b.head ? thread : b.tail + (thread - b.head);
        count_slot(a, c, slot_of<KIND>(a.x, c.edges, b.in[i]), (uint32_t)(i % a.channels));
    }
}

static __device__ void count_pairs(const struct histogram_args &a, const struct counting &c)
{
    const ukey *x = (const ukey *)a.in, *y = (const ukey *)a.in_y;
    const uint32_t group = blockIdx.x / a.parts, groups = gridDim.x / a.parts;
    const uint64_t thread = (uint64_t)group * blockDim.x + threadIdx.x;
    const uint64_t threads = (uint64_t)groups * blockDim.x;
    for (uint64_t i = thread; i < a.n; i += LOADS * threads) {
        ukey u[LOADS], v[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * threads < a.n) {
                u[j] = x[i + j * threads];
                v[j] = y[i + j * threads];
            }
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * threads < a.n)
                count_slot(a, c, slot_pair_32(&a.x, &a.y, u[j], v[j]), 0);
    }
}

static __device__ inline void count_by_kind(const struct histogram_args &a,
                                            const struct counting &c)
{
    switch (a.in_y         ? (int)HISTOGRAM_ANY
            : is_direct(a) ? (int)HISTOGRAM_DIRECT
                           : (int)a.x.kind) {
    case HISTOGRAM_ANY:
        count_pairs(a, c);
        break;
    case HISTOGRAM_DIRECT:
        count_elements<HISTOGRAM_DIRECT>(a, c);
        break;
    case ECHI_BINS_SHIFT:
        count_elements<ECHI_BINS_SHIFT>(a, c);
        break;
    case ECHI_BINS_SCALE:
        count_elements<ECHI_BINS_SCALE>(a, c);
        break;
#if KEY_BITS == 16
    case ECHI_BINS_F16:
        count_elements<ECHI_BINS_F16>(a, c);
        break;
    case ECHI_BINS_BF16:
        count_elements<ECHI_BINS_BF16>(a, c);
        break;
#elif KEY_BITS > 16
    case ECHI_BINS_FLOAT:
        count_elements<ECHI_BINS_FLOAT>(a, c);
        break;
#endif
    case ECHI_BINS_EDGES:
        if (!c.edges.raw)
            count_elements<ECHI_BINS_EDGES>(a, c);
        else
            count_elements<HISTOGRAM_ANY>(a, c);
        break;
    default:
        count_elements<HISTOGRAM_ANY>(a, c);
    }
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_THREADS)
    histogram_shared(const __grid_constant__ struct histogram_args a)
{
    uint32_t *table = (uint32_t *)shared_bytes;
    const uint32_t part = blockIdx.x % a.parts;
    struct counting c;
    c.table = table;
    c.first = part * a.part_counters;
    c.count = min(a.part_counters, (uint32_t)a.counters - min(c.first, (uint32_t)a.counters));
    c.column = threadIdx.x & ((1u << a.column_bits) - 1);
    c.edges.at = (const ukey *)a.edges;
    c.edges.raw = !a.shared_edges;
    const uint32_t words = a.part_counters << a.column_bits;
    clear_table(table, words);
    check_edges(a);
    if (a.shared_edges) {
        ukey *edges = (ukey *)(table + ((words + 1) & ~1u));
        for (uint32_t i = threadIdx.x; i < (2u << a.x.top) - 1; i += blockDim.x)
            edges[i] = i <= a.x.bins ? bins_merged_32(&a.x.order, ((const ukey *)a.edges)[i])
                                     : (ukey)UINT64_MAX;
        c.edges.at = edges;
    }
    __syncthreads(); /* the counters are clear, the edges are there */

    count_by_kind(a, c);
    __syncthreads(); /* every element of the block is counted */

    /* The one group of a small array is the only to write its counters: none need be cleared. */
    const bool alone = gridDim.x == a.parts;
    for (uint32_t k = threadIdx.x; k < c.count; k += blockDim.x) {
        uint64_t sum = sum_columns(table, k, a.column_bits), counter = c.first + k;
        if (alone)
            a.counts[counter] = sum + (a.add ? a.counts[counter] : 0);
        else
            add_count(a.counts, counter, sum);
    }
}

#endif
