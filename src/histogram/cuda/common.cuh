/*
 * histogram/cuda/common.cuh - code that the histogram's kernels share: the map from elements to
 * counters, and arrays as vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_CUDA_COMMON_CUH
#define ECHI_HISTOGRAM_CUDA_COMMON_CUH

#include "cuda/device/data_error.cuh"
#include "histogram/cuda/common.h"
#include "cuda/device/instance.cuh"
#include "cuda/device/warp.cuh"

#define INLINE  static __device__ inline
#define KEY     ukey
#define SLOT    uint32_t
#define NAME(x) x##_32
#include "histogram/bins_slot.h"
#undef SLOT
#undef NAME
#define SLOT    uint64_t
#define NAME(x) x##_64
#include "histogram/bins_slot.h"
#undef SLOT
#undef NAME

enum { VECTOR = 16 / KEY_BYTES, LOADS = KEY_BYTES == 1 ? 2 : 4 };

/* In addition to the kinds of maps: one that is not known at compile time, and counters that are
 * the values themselves. */
enum { HISTOGRAM_ANY = 100, HISTOGRAM_DIRECT };
static const uint32_t NO_SLOT = (uint32_t)ECHI_NO_SLOT;

/* Dynamic shared memory; each kernel defines its layout. */
extern __shared__ __align__(16) unsigned char shared_bytes[];

union keys {
    uint4 vector;
    ukey key[VECTOR];
};

/* The edges: merged, in shared memory, or the caller's. */
struct edges {
    const ukey *at;
    bool raw;
};

/* A map whose kind is known at compile time, except HISTOGRAM_ANY. */
template <int KIND>
static __device__ inline uint32_t slot_of(const struct echi_bins &b, struct edges edges, ukey u)
{
    if (KIND == ECHI_BINS_SHIFT) return slot_shift_32(&b, u);
    if (KIND == ECHI_BINS_SCALE) return slot_scale_32(&b, u);
    if (KIND == ECHI_BINS_EDGES) return slot_edges_32(&b, edges.at, u, false);
#if KEY_BITS == 16
    if (KIND == ECHI_BINS_F16) return slot_f32_32(&b, echi_f32_of_f16(u));
    if (KIND == ECHI_BINS_BF16) return slot_f32_32(&b, echi_f32_of_bf16((uint32_t)u));
#elif KEY_BITS == 32
    if (KIND == ECHI_BINS_FLOAT) return slot_f32_32(&b, echi_f32_of_bits(u));
#elif KEY_BITS == 64
    if (KIND == ECHI_BINS_FLOAT) return slot_f64_32(&b, bins_double(u));
#endif
    return slot_any_32(&b, edges.at, u);
}

/* Each thread of the grid checks some of the edges, and reports one that is not greater than the
 * previous. */
static __device__ inline void check_edges(const struct histogram_args &a)
{
    if (a.x.kind != ECHI_BINS_EDGES) return;
    const ukey *edges = (const ukey *)a.edges;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t i = 1 + thread; i <= a.x.bins; i += step) {
        ukey e = bins_merged_32(&a.x.order, edges[i]);
        bool is_nan = a.x.order.float_mask && e == (ukey)a.x.order.last;
        if (is_nan || e <= bins_merged_32(&a.x.order, edges[i - 1]))
            report_error(a.data_error, ECHI_EDGES_NOT_RISING, i);
    }
}

/* The array as aligned vectors of 16 bytes, and the elements before and after them. */
struct body {
    const ukey *in;
    uint64_t head, vectors, tail; /* elements before; vectors; the first element after */
};

static __device__ inline struct body body_of(const void *in, uint64_t n)
{
    struct body b;
    b.in = (const ukey *)in;
    b.head = (uint64_t)(-(intptr_t)in & 15) / KEY_BYTES;
    if (b.head > n) b.head = n;
    b.vectors = (n - b.head) / VECTOR;
    b.tail = b.head + b.vectors * VECTOR;
    return b;
}

/* Sets the counters of the block to zero. */
static __device__ inline void clear_table(uint32_t *table, uint32_t words)
{
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) table[i] = 0;
}

/* The sum over the columns of counter k; lanes begin at different banks. */
static __device__ inline uint64_t sum_columns(const uint32_t *table, uint32_t k, uint32_t bits)
{
    const uint32_t mask = (1u << bits) - 1, turn = k >> (HISTOGRAM_COLUMN_BITS - bits);
    uint64_t sum = 0;
    for (uint32_t j = 0; j <= mask; j++) sum += table[(k << bits) | ((j + turn) & mask)];
    return sum;
}

static __device__ inline void add_count(uint64_t *counts, uint64_t counter, uint64_t by)
{
    if (by) atomicAdd((unsigned long long *)counts + counter, (unsigned long long)by);
}

#endif
