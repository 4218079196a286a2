/*
 * gf2/cuda/order.cuh - completes orders of columns: first the given columns and then the others;
 * and makes the basis of a nullspace.
 *
 * One block marks the given columns, one bit each, and computes the number of marks before each
 * word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_ORDER_CUH
#define ECHI_GF2_CUDA_ORDER_CUH

#include "gf2/cuda/map.cuh"

/* ---- Marks ---- */

static __device__ inline void clear_marks(const struct gf2_args &a)
{
    for (uint64_t w = threadIdx.x; w * 32 < a.limit; w += GF2_ORDER_THREADS) a.marks[w] = 0;
    __syncthreads(); /* all marks are clear */
}

/* Marks a column; returns whether it was marked before. */
static __device__ inline bool mark(const struct gf2_args &a, uint32_t column)
{
    const uint32_t bit = 1u << (column & 31);
    return atomicOr(&a.marks[column / 32], bit) & bit;
}

/* The marks of word w as written by all threads; bits beyond the last column count as marked. */
static __device__ inline uint32_t marks_at(const struct gf2_args &a, uint64_t w)
{
    if (w * 32 >= a.limit) return 0xffffffffu;
    const uint64_t left = a.limit - w * 32;
    return load_relaxed(&a.marks[w]) | (left < 32 ? 0xffffffffu << left : 0);
}

/* The sum of x over the preceding threads of the block; *all becomes the total. */
static __device__ inline uint32_t before_in_block(uint32_t x, uint32_t *all)
{
    __shared__ uint32_t sums[GF2_ORDER_THREADS / 32];
    const uint32_t warp = threadIdx.x / 32, scanned = warp_scan(x);
    if (lane_id() == 31) sums[warp] = scanned;
    __syncthreads(); /* the sums of all warps are written */
    uint32_t before = 0, sum = 0;
    for (uint32_t i = 0; i < GF2_ORDER_THREADS / 32; i++) {
        if (i < warp) before += sums[i];
        sum += sums[i];
    }
    __syncthreads(); /* the sums may be overwritten */
    *all = sum;
    return before + scanned - x;
}

/* ---- Orders ---- */

/* The order in which two equal positions were marked is undefined: one thread checks them again in
 * order and reports the first duplicate. */
static __device__ inline void report_twice(const struct gf2_args &a, const uint32_t *from,
                                           uint64_t count)
{
    clear_marks(a);
    if (threadIdx.x != 0) return;
    for (uint64_t i = 0; i < count && from[i] < a.limit; i++) {
        if (!mark(a, from[i])) continue;
        report_error(a.data_error, ECHI_ORDER_TWICE, i);
        return;
    }
}

static __device__ inline void complete_order(const struct gf2_args &a)
{
    const uint32_t *from = a.order ? a.order : a.positions;
    const uint64_t count = a.order ? a.columns : *a.rank;
    bool twice = false;
    clear_marks(a);
    for (uint64_t i = threadIdx.x; i < count && i < a.limit; i += GF2_ORDER_THREADS) {
        const uint32_t column = from[i];
        const bool inside = column < a.limit;
        a.full[i] = inside ? column : 0;
        if (!inside) {
            report_error(a.data_error, ECHI_ORDER_TOO_LARGE, i);
        } else if (mark(a, column)) {
            twice = true;
        } else if (a.inverse) {
            a.inverse[column] = (uint32_t)i;
        }
    }
    twice = __syncthreads_or(twice); /* all marks are set */
    uint64_t place = count < a.limit ? count : a.limit;
    for (uint64_t w0 = 0; w0 * 32 < a.limit; w0 += GF2_ORDER_THREADS) {
        uint32_t free = ~marks_at(a, w0 + threadIdx.x), all;
        uint64_t at = place + before_in_block((uint32_t)__popc(free), &all);
        for (; free; free &= free - 1, at++) {
            const uint32_t bit = (uint32_t)__ffs((int)free) - 1;
            const uint32_t column = (uint32_t)(w0 + threadIdx.x) * 32 + bit;
            if (at < a.limit) a.full[at] = column; /* more remain if an order is invalid */
            if (a.inverse) a.inverse[column] = (uint32_t)(at < a.limit ? at : a.limit - 1);
        }
        place += all;
    }
    if (twice) report_twice(a, from, count < a.limit ? count : a.limit);
}

static __device__ inline void map_positions(const struct gf2_args &a)
{
    const uint64_t count = *a.rank, step = (uint64_t)gridDim.x * GF2_THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * GF2_THREADS + threadIdx.x; i < count; i += step) {
        const uint32_t position = a.positions[i];
        if (position < a.limit) a.positions[i] = a.order[position];
    }
}

/* ---- The basis of a nullspace ---- */

/* The columns with pivots, the number of them before each 32, and the columns without pivots. */
static __device__ inline void find_free(const struct gf2_args &a)
{
    const uint64_t rank = *a.rank, dim = a.limit - rank;
    clear_marks(a);
    for (uint64_t i = threadIdx.x; i < rank; i += GF2_ORDER_THREADS)
        if (a.positions[i] < a.limit) mark(a, a.positions[i]);
    __syncthreads(); /* all marks are set */
    uint64_t place = 0;
    for (uint64_t w0 = 0; w0 * 32 < a.limit; w0 += GF2_ORDER_THREADS) {
        const uint64_t w = w0 + threadIdx.x;
        uint32_t free = ~marks_at(a, w), all;
        uint64_t at = place + before_in_block((uint32_t)__popc(free), &all);
        if (w * 32 < a.limit) a.marks_before[w] = (uint32_t)(w * 32 - at);
        for (; free; free &= free - 1, at++)
            a.left[at] = (uint32_t)w * 32 + (uint32_t)__ffs((int)free) - 1;
        place += all;
    }
    if (threadIdx.x == 0) {
        *a.dim = (uint32_t)dim;
        if (dim > a.out.rows) report_error(a.data_error, ECHI_BASIS_TOO_SHORT, dim - 1);
    }
}

/* 32 bits of the vector of column `column`: a one there, and for each pivot the bit of its row. */
static __device__ inline uint32_t basis_bits(const struct gf2_args &a, uint64_t w, uint32_t column)
{
    uint32_t bits = column / 32 == w ? 1u << (column & 31) : 0;
    uint32_t marks = a.marks[w];
    const uint64_t *from = a.a.words + column / 64;
    uint64_t row = a.marks_before[w];
#pragma unroll 4
    for (; marks; marks &= marks - 1, row++) {
        const uint32_t one = (uint32_t)(from[row * a.a.stride] >> (column & 63)) & 1;
        bits |= one << (__ffs((int)marks) - 1);
    }
    return bits;
}

/* A warp computes GF2_PART_WORDS words of 32 rows. */
static __device__ inline void make_basis(const struct gf2_args &a)
{
    const uint64_t dim = a.limit - *a.rank, words = words_of(a.out.cols);
    const uint64_t parts = (words + GF2_PART_WORDS - 1) / GF2_PART_WORDS;
    const uint64_t groups = ((uint64_t)a.out.rows + 31) / 32;
    const uint64_t warps = (uint64_t)gridDim.x * (GF2_THREADS / 32);
    const uint64_t warp = (uint64_t)blockIdx.x * (GF2_THREADS / 32) + threadIdx.x / 32;
    for (uint64_t t = warp; t < groups * parts; t += warps) {
        const uint64_t row = t / parts * 32 + lane_id();
        if (row >= a.out.rows) continue;
        const uint32_t column = row < dim ? a.left[row] : 0;
        for (uint64_t k = 0, word = t % parts * GF2_PART_WORDS; k < GF2_PART_WORDS; k++, word++) {
            if (word >= words) break;
            uint64_t bits = 0;
            if (row < dim) {
                bits = basis_bits(a, 2 * word, column);
                if ((2 * word + 1) * 32 < a.limit)
                    bits |= (uint64_t)basis_bits(a, 2 * word + 1, column) << 32;
            }
            store_masked(&a.out.words[row * a.out.stride + word], bits,
                         columns_below(a.out.cols, word));
        }
    }
}

#endif
