/*
 * gf2_panel.cuh - finds the pivots of a panel of a matrix of bits, by one block.
 *
 * A panel is 32 * WORDS columns.  Only pivot rows are reduced, and only their bits in the panel.
 * The pivot rows that clear the pivot columns of a row follow from its bits in these columns:
 * gf2_sum() returns which original pivot rows must be added to it.
 *
 *     matrix   row i begins at a + i * stride, in words; bit j is bit j % 32 of word j / 32
 *     state    first: number of pivots of all preceding panels; count: of this panel; column[q]:
 *              the column of pivot q within the panel; sum[q]: the original pivot rows whose sum
 *              is pivot row q
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_GF2_PANEL_CUH
#define LADDER_GF2_PANEL_CUH

#include "ladder.cuh"

#define GF2_NONE 0xffffffffu

template <int WORDS> struct gf2_state {
    uint32_t first, count;
    uint32_t column[32 * WORDS];
    uint32_t sum[32 * WORDS][WORDS];
};

/* Bits column ... column + width - 1 of a row, at most 32; bits beyond the row are zero. */
static __device__ inline uint32_t gf2_bits(const uint32_t *row, uint64_t stride, uint64_t column,
                                           unsigned width)
{
    uint64_t at = column / 32, bits = at < stride ? row[at] : 0;
    if (column % 32 + width > 32 && at + 1 < stride) bits |= (uint64_t)row[at + 1] << 32;
    return (uint32_t)(bits >> column % 32) & (width < 32 ? (1u << width) - 1 : ~0u);
}

/* The pivot rows to add to a row with these bits in the panel. */
template <int WORDS>
static __device__ inline void gf2_sum(const gf2_state<WORDS> *state, const uint32_t *bits,
                                      uint32_t *sum)
{
    for (unsigned j = 0; j < WORDS; j++) sum[j] = 0;
    for (unsigned q = 0; q < state->count; q++) {
        unsigned column = state->column[q];
        uint32_t all = 0u - (bits[column / 32] >> column % 32 & 1);
        for (unsigned j = 0; j < WORDS; j++) sum[j] ^= state->sum[q][j] & all;
    }
}

/* Finds the pivots of columns begin ... begin + width - 1, and swaps their rows to the top. */
template <int WORDS>
static __device__ inline void gf2_panel(uint32_t *a, uint64_t n, uint64_t stride, uint64_t begin,
                                        unsigned width, gf2_state<WORDS> *state)
{
    __shared__ uint32_t pivots[32 * WORDS][WORDS], mask[WORDS], bits[WORDS], found;
    __shared__ gf2_state<WORDS> now;
    const unsigned t = threadIdx.x, threads = blockDim.x, each = width < 32 ? width : 32;
    if (t == 0) now.first = state->first + state->count;
    if (t == 0) now.count = 0;
    for (unsigned c = 0; c < width; c++) {
        /* Bit c of a row, after the additions, is the parity of its bits under a mask: bit c and
         * the bits in the columns of pivots that have bit c. */
        if (t < WORDS) mask[t] = t == c / 32 ? 1u << c % 32 : 0;
        if (t == 0) found = GF2_NONE;
        __syncthreads(); /* the mask is initialised, the previous column is done */
        const unsigned p = now.count;
        const uint64_t top = (uint64_t)now.first + p;
        for (unsigned q = t; q < p; q += threads)
            if (pivots[q][c / 32] >> c % 32 & 1)
                atomicOr(&mask[now.column[q] / 32], 1u << now.column[q] % 32);
        __syncthreads(); /* the mask is complete */
        int any = 0;
        for (uint64_t from = top; from < n && !any; from += threads) {
            const uint64_t row = from + t;
            uint32_t parity = 0;
            for (unsigned j = 0; j < WORDS && row < n; j++)
                parity ^= mask[j] & gf2_bits(a + row * stride, stride, begin + 32 * j, each);
            if (__popc(parity) & 1) atomicMin(&found, (uint32_t)row);
            any = __syncthreads_or(__popc(parity) & 1); /* all have searched */
        }
        if (!any) continue;
        for (uint64_t j = begin / 32 + t; j < stride; j += threads) {
            uint32_t x = a[found * stride + j];
            a[found * stride + j] = a[top * stride + j];
            a[top * stride + j] = x;
        }
        __syncthreads(); /* the row is swapped */
        if (t < WORDS) {
            bits[t] = gf2_bits(a + top * stride, stride, begin + 32 * t, each);
            pivots[p][t] = bits[t];
            now.sum[p][t] = t == p / 32 ? 1u << p % 32 : 0;
        }
        if (t == 0) now.column[p] = c;
        __syncthreads(); /* its bits are written */
        for (unsigned q = t; q < p; q += threads)
            if (bits[now.column[q] / 32] >> now.column[q] % 32 & 1)
                for (unsigned j = 0; j < WORDS; j++) {
                    atomicXor(&pivots[p][j], pivots[q][j]);
                    atomicXor(&now.sum[p][j], now.sum[q][j]);
                }
        __syncthreads(); /* the previous pivots are added to it */
        for (unsigned q = t; q < p; q += threads)
            if (pivots[q][c / 32] >> c % 32 & 1)
                for (unsigned j = 0; j < WORDS; j++) {
                    pivots[q][j] ^= pivots[p][j];
                    now.sum[q][j] ^= now.sum[p][j];
                }
        if (t == 0) now.count = p + 1;
    }
    __syncthreads(); /* the last pivot is done */
    for (unsigned q = t; q < now.count; q += threads) {
        state->column[q] = now.column[q];
        for (unsigned j = 0; j < WORDS; j++) state->sum[q][j] = now.sum[q][j];
    }
    if (t == 0) state->first = now.first;
    if (t == 0) state->count = now.count;
}

/* The pivot rows to add to each row: sums [n][WORDS]; one thread per row. */
template <int WORDS>
static __device__ inline void gf2_sums(const uint32_t *a, uint64_t n, uint64_t stride,
                                       uint64_t begin, unsigned width,
                                       const gf2_state<WORDS> *state, uint32_t *sums)
{
    const uint64_t row = global_thread(), q = row - state->first;
    uint32_t bits[WORDS], sum[WORDS];
    if (row >= n) return;
    for (unsigned j = 0; j < WORDS; j++)
        bits[j] = gf2_bits(a + row * stride, stride, begin + 32 * j, width < 32 ? width : 32);
    gf2_sum<WORDS>(state, bits, sum);
    for (unsigned j = 0; j < WORDS; j++) {
        /* A pivot row becomes its sum, which already includes itself. */
        if (q < state->count) sum[j] = state->sum[q][j] ^ (j == q / 32 ? 1u << q % 32 : 0);
        sums[row * WORDS + j] = sum[j];
    }
}

/* Copies the pivot rows, from word begin / 32 on, for kernels that change them. */
template <int WORDS>
static __device__ inline void gf2_keep(const uint32_t *a, uint64_t stride, uint64_t begin,
                                       const gf2_state<WORDS> *state, uint32_t *rows)
{
    for (uint64_t i = global_thread(); i < state->count * stride; i += global_threads())
        if (i % stride >= begin / 32) rows[i] = a[state->first * stride + i];
}

/* Word j of copied pivot row q; zero beyond the last. */
template <int WORDS>
static __device__ inline uint32_t gf2_pivot(const gf2_state<WORDS> *state, const uint32_t *rows,
                                            uint64_t stride, unsigned q, uint64_t j)
{
    return q < state->count && j < stride ? rows[q * stride + j] : 0;
}

#endif
