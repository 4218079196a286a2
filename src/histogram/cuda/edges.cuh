/*
 * histogram/cuda/edges.cuh - bins given by edges that fit in shared memory, one channel.
 *
 *     element --linear--> cell --> first and last candidate --binary search--> counter
 *
 * Cells divide the range from the first edge to the last into equal pieces, several per edge. A
 * lookup of the cell leaves only the edges in that cell to search; none or one if the edges are
 * nearly evenly spaced. The map from elements to cells only has to be monotone, as each rounded
 * operation is: an element near the border of two cells is in the same cell as an edge of the same
 * value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_CUDA_EDGES_CUH
#define ECHI_HISTOGRAM_CUDA_EDGES_CUH

#include "histogram/cuda/shared.cuh"

enum { EDGE_BLOCKS = KEY_BITS == 64 ? 1 : (int)FULL_BLOCKS };

/* How the cell of a key is computed: for floats by a multiplication, for integers by a shift. */
struct cells {
    uint32_t *at; /* [count] edges before the cell, and edges up to its end << 16 */
    const ukey *edges;
    float lower, factor;
    ukey first;
    uint32_t shift, last; /* last: the last cell */
};

static __device__ inline float value_of(const struct histogram_args &a, ukey u)
{
#if KEY_BITS == 16
    return a.cell_kind == HISTOGRAM_CELLS_F16 ? echi_f32_of_f16(u) : echi_f32_of_bf16((uint32_t)u);
#elif KEY_BITS == 64
    return (float)bins_double(u);
#else
    return echi_f32_of_bits((uint32_t)u);
#endif
}

/* u is the caller's key, e the merged encoded key. */
template <bool FLOAT>
static __device__ inline uint32_t cell_of(const struct histogram_args &a, const struct cells &c,
                                          ukey u, ukey e)
{
    if (FLOAT) { /* NaN becomes 0; no conversion overflows */
        float t = (value_of(a, u) - c.lower) * c.factor;
        return (uint32_t)(int32_t)fminf(fmaxf(t, 0.0f), (float)c.last);
    }
    const ukey d = e > c.first ? (ukey)(e - c.first) : (ukey)0;
    return (uint32_t)min((unsigned long long)(d >> c.shift), (unsigned long long)c.last);
}

/* Whether the edges are ascending. Edges that are not are reported and the cells are not built,
 * because a cell would have several writers. */
static __device__ inline bool edges_rise(const struct histogram_args &a, const ukey *edges)
{
    bool rise = true;
    for (uint32_t i = 1 + threadIdx.x; i <= (uint32_t)a.x.bins; i += blockDim.x) {
        bool is_nan = a.x.order.float_mask && edges[i] == (ukey)a.x.order.last;
        rise = rise && edges[i - 1] < edges[i] && !is_nan;
    }
    return __syncthreads_and(rise); /* every edge was checked */
}

template <bool FLOAT>
static __device__ void make_cells(const struct histogram_args &a, const struct cells &c)
{
    const ukey *in = (const ukey *)a.edges;
    uint16_t *half = (uint16_t *)c.at;
    const uint32_t end = (uint32_t)a.x.bins;
    for (uint32_t i = threadIdx.x; i <= end; i += blockDim.x) {
        const int32_t mine = (int32_t)cell_of<FLOAT>(a, c, in[i], c.edges[i]);
        const int32_t before = i ? (int32_t)cell_of<FLOAT>(a, c, in[i - 1], c.edges[i - 1]) : -1;
        const int32_t after = i < end ? (int32_t)cell_of<FLOAT>(a, c, in[i + 1], c.edges[i + 1])
                                      : (int32_t)c.last + 1;
        for (int32_t k = before + 1; k < mine; k++) c.at[k] = i | i << 16;
        if (before < mine) half[2 * mine] = (uint16_t)i;
        if (mine < after) half[2 * mine + 1] = (uint16_t)(i + 1);
        for (int32_t k = mine + 1; i == end && k <= (int32_t)c.last; k++)
            c.at[k] = (i + 1) | (i + 1) << 16;
    }
}

template <bool FLOAT>
static __device__ inline void count_between(const struct histogram_args &a,
                                            const struct counting &c, const struct cells &cells,
                                            ukey u)
{
    const ukey e = bins_merged_32(&a.x.order, u);
    const uint32_t both = cells.at[cell_of<FLOAT>(a, cells, u, e)];
    uint32_t from = both & 0xffff, to = both >> 16;
    if (FLOAT && e == (ukey)a.x.order.last) from = to = (uint32_t)a.x.bins + 1; /* NaN */
    while (from < to) {
        const uint32_t middle = (from + to) / 2;
        if (cells.edges[middle] <= e)
            from = middle + 1;
        else
            to = middle;
    }
    count_slot(a, c, slot_after_32(&a.x, cells.edges, e, from, false), 0);
}

template <bool FLOAT>
static __device__ void count_cells(const struct histogram_args &a, const struct counting &c,
                                   const struct cells &cells)
{
    const struct body b = body_of(a.in, a.n);
    const uint32_t group = blockIdx.x / a.parts, groups = gridDim.x / a.parts;
    const uint64_t thread = (uint64_t)group * blockDim.x + threadIdx.x;
    const uint64_t threads = (uint64_t)groups * blockDim.x;
    const uint4 *vectors = (const uint4 *)(b.in + b.head);
    for (uint64_t i = thread; i < b.vectors; i += threads) {
        union keys load;
        load.vector = vectors[i];
#pragma unroll
        for (int k = 0; k < VECTOR; k++) count_between<FLOAT>(a, c, cells, load.key[k]);
    }
    const uint64_t ends = b.head + (a.n - b.tail);
    if (thread < ends)
        count_between<FLOAT>(a, c, cells,
                             b.in[thread < b.head ? thread : b.tail + (thread - b.head)]);
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_THREADS, EDGE_BLOCKS)
    histogram_edges(const __grid_constant__ struct histogram_args a)
{
    struct counting c = begin_counting(a);
    struct cells cells;
    ukey *edges = shared_edges(a);
    cells.edges = edges;
    cells.at = (uint32_t *)(edges + (2u << a.x.top));
    cells.last = a.cells - 1;
    clear_table(cells.at, a.cells);
    copy_edges(a, edges);
    __syncthreads(); /* the counters are zero, the edges are copied */

    const bool is_float = a.cell_kind != HISTOGRAM_CELLS_WHOLE;
    const ukey *raw = (const ukey *)a.edges;
    cells.lower = value_of(a, raw[0]);
    cells.factor = (float)a.cells / (value_of(a, raw[a.x.bins]) - cells.lower);
    cells.first = edges[0];
    cells.shift = 0;
    while ((ukey)(edges[a.x.bins] - edges[0]) >> cells.shift > cells.last) cells.shift++;
    const bool rise = edges_rise(a, edges);
    if (rise && is_float)
        make_cells<true>(a, cells);
    else if (rise)
        make_cells<false>(a, cells);
    __syncthreads(); /* the cells are complete */

    if (rise && is_float)
        count_cells<true>(a, c, cells);
    else if (rise)
        count_cells<false>(a, c, cells);
    __syncthreads(); /* every element of the block is counted */

    end_counting(a, c);
}

#endif
