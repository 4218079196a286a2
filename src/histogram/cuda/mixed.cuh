/*
 * histogram/cuda/mixed.cuh - counters in shared memory for the cases that shared.cuh does not
 * cover: several channels, two dimensions, and maps that need many registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_CUDA_MIXED_CUH
#define ECHI_HISTOGRAM_CUDA_MIXED_CUH

#include "histogram/cuda/shared.cuh"

/* Not inlined, because several vectors are loaded at a time; a loop, if the map needs many
 * instructions. */
template <int KIND>
static __device__ __noinline__ void count_vector(const struct histogram_args &a, struct counting c,
                                                 uint4 vector, uint32_t channel)
{
    union keys keys;
    keys.vector = vector;
#pragma unroll(KIND == HISTOGRAM_ANY || KIND == ECHI_BINS_EDGES ? 1 : VECTOR)
    for (int k = 0; k < VECTOR; k++) {
        count_slot(a, c, slot_of<KIND>(a.x, c.edges, keys.key[k]), channel);
        if (a.channels > 1 && ++channel == a.channels) channel = 0;
    }
}

/* The elements of the block's group: groups divide the elements; all parts of a group read the same
 * ones. */
template <int KIND>
static __device__ void count_elements(const struct histogram_args &a, const struct counting &c)
{
    const struct body b = body_of(a.in, a.n);
    const uint32_t group = blockIdx.x / a.parts, groups = gridDim.x / a.parts;
    const uint64_t thread = (uint64_t)group * blockDim.x + threadIdx.x;
    const uint64_t threads = (uint64_t)groups * blockDim.x;
    const uint4 *vectors = (const uint4 *)(b.in + b.head);
    uint32_t channel = 0, step = 0; /* of vector i; increment to the next vector */
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
            if (i + j * threads < b.vectors) count_vector<KIND>(a, c, load[j].vector, channel);
            channel += step;
            if (channel >= a.channels) channel -= a.channels;
        }
    }
    /* The elements before and after the vectors, one per thread. */
    const uint64_t ends = b.head + (a.n - b.tail);
    if (thread < ends) {
        uint64_t i = thread < b.head ? thread : b.tail + (thread - b.head);
        count_slot(a, c, slot_of<KIND>(a.x, c.edges, b.in[i]), (uint32_t)(i % a.channels));
    }
}

static __device__ __noinline__ void count_pair(const struct histogram_args &a, struct counting c,
                                               ukey u, ukey v)
{
    count_slot(a, c, slot_pair_32(&a.x, &a.y, u, v), 0);
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
            if (i + j * threads < a.n) count_pair(a, c, u[j], v[j]);
    }
}

static __device__ inline void count_by_kind(const struct histogram_args &a,
                                            const struct counting &c)
{
    switch (a.in_y ? (int)HISTOGRAM_ANY : (int)a.x.kind) {
    case HISTOGRAM_ANY:
        count_pairs(a, c);
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
        count_elements<ECHI_BINS_EDGES>(a, c);
        break;
    default:
        count_elements<HISTOGRAM_ANY>(a, c);
    }
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_THREADS)
    histogram_mixed(const __grid_constant__ struct histogram_args a)
{
    struct counting c = begin_counting(a);
    if (a.shared_edges) {
        ukey *edges = shared_edges(a);
        copy_edges(a, edges);
        c.edges.at = edges;
    }
    __syncthreads(); /* the counters are zero, the edges are copied */

    count_by_kind(a, c);
    __syncthreads(); /* every element of the block is counted */

    end_counting(a, c);
}

#endif
