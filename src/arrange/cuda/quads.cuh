/*
 * arrange/cuda/quads.cuh - the transpose of elements whose size is not a multiple of four bytes, or
 * whose rows do not begin at multiples of four.
 *
 * Memory is read and written by quads, which are aligned words of four bytes. In shared memory,
 * each row of a tile begins with a quad. Quads of the output are put together from the words of one
 * or more elements; those at the ends of a row of a tile are written by words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_QUADS_CUH
#define ECHI_ARRANGE_CUDA_QUADS_CUH

#include "arrange/cuda/word.cuh"

#if WORD_BYTES <= 2

enum { QUAD_WORDS = 4 / WORD_BYTES };

/* A tile: its place and size in the input. */
struct quad_tile {
    const word *from; /* its first element */
    word *to;
    uint32_t rows, columns;
};

/* QUAD_WORDS words, from one or two quads; words outside of the input are not read. */
static __device__ inline uint32_t load_quad(const struct arrange_transpose_args &a, const word *at)
{
    const word *begin = (const word *)a.in, *end = begin + a.rows * a.columns * a.words;
    const uint32_t offset = (uint32_t)((uintptr_t)at & 3);
    const uint32_t *quads = (const uint32_t *)((const unsigned char *)at - offset);
    if ((const word *)quads >= begin && (const word *)(quads + 2) <= end)
        return __funnelshift_r(quads[0], offset ? quads[1] : 0, 8 * offset);
    uint32_t quad = 0;
#pragma unroll
    for (int i = 0; i < QUAD_WORDS; i++)
        if (at + i < end) quad |= (uint32_t)at[i] << (8 * WORD_BYTES * i);
    return quad;
}

/* Rows of the tile begin with a quad. The last quad of a row can contain words after the row. */
static __device__ inline void load_quads(const struct arrange_transpose_args &a,
                                         const struct quad_tile &t)
{
    uint32_t *tile = (uint32_t *)shared_bytes;
    const uint32_t across = arrange_quads(a.tile_columns * a.words, WORD_BYTES);
    const uint64_t step = a.columns * a.words;
    uint32_t quad[ARRANGE_QUADS];
#pragma unroll
    for (int k = 0; k < ARRANGE_QUADS; k++) {
        const uint32_t j = threadIdx.x + k * ARRANGE_THREADS;
        const uint32_t r = divide(j, across, a.inverse_row), q = j - r * across;
        if (r < t.rows && q * QUAD_WORDS < t.columns * a.words)
            quad[k] = load_quad(a, t.from + r * step + q * QUAD_WORDS);
    }
#pragma unroll
    for (int k = 0; k < ARRANGE_QUADS; k++) {
        const uint32_t j = threadIdx.x + k * ARRANGE_THREADS;
        const uint32_t r = divide(j, across, a.inverse_row), q = j - r * across;
        if (r < t.rows && q * QUAD_WORDS < t.columns * a.words) tile[r * a.pitch + q] = quad[k];
    }
}

/* Writes the words of a quad that are in the row: words first ... first + QUAD_WORDS - 1 of
 * `count`; the quad begins with word max(first, 0). */
static __device__ inline void store_quad(word *row, int32_t first, uint32_t count, uint32_t quad)
{
    if (first >= 0 && (uint32_t)first + QUAD_WORDS <= count) {
        *(uint32_t *)(row + first) = quad;
        return;
    }
    for (int32_t at = max(first, 0); at < min(first + QUAD_WORDS, (int32_t)count); at++) {
        row[at] = (word)quad;
        quad >>= 8 * WORD_BYTES;
    }
}

/* The words of a quad are those of one or more elements of a column, each in its row of the
 * tile. */
static __device__ inline void store_quads(const struct arrange_transpose_args &a,
                                          const struct quad_tile &t)
{
    const word *tile = (const word *)shared_bytes;
    const uint32_t across = arrange_quads(a.tile_rows * a.words, WORD_BYTES);
    const uint32_t count = t.rows * a.words, pitch = a.pitch * QUAD_WORDS;
    const uint64_t step = a.rows * a.words;
#pragma unroll 4
    for (int k = 0; k < ARRANGE_QUADS; k++) {
        const uint32_t j = threadIdx.x + k * ARRANGE_THREADS;
        const uint32_t c = divide(j, across, a.inverse_column), q = j - c * across;
        if (c >= t.columns) continue;
        word *row = t.to + c * step;
        const int32_t first =
            (int32_t)(q * QUAD_WORDS) - (int32_t)(((uintptr_t)row & 3) / WORD_BYTES);
        const uint32_t y = (uint32_t)max(first, 0);
        if (y >= count) continue;
        const uint32_t r = divide(y, a.words, a.inverse_words);
        uint32_t part = y - r * a.words, quad = 0;
        const word *from = tile + r * pitch + c * a.words + part;
#pragma unroll
        for (int i = 0; i < QUAD_WORDS; i++) {
            if (y + i < count) quad |= (uint32_t)*from << (8 * WORD_BYTES * i);
            part++;
            from += part == a.words ? pitch - a.words + 1 : 1;
            if (part == a.words) part = 0;
        }
        store_quad(row, first, count, quad);
    }
}

static __device__ inline void transpose_quads(const struct arrange_transpose_args &a)
{
    for (uint64_t i = blockIdx.x; i < a.tiles; i += gridDim.x) {
        const uint64_t down = tiles_above(a, i);
        const uint64_t row = down * a.tile_rows,
                       column = (i - down * a.tiles_across) * a.tile_columns;
        const uint64_t below = a.rows - row, right = a.columns - column;
        const struct quad_tile t = {
            (const word *)a.in + (row * a.columns + column) * a.words,
            (word *)a.out + (column * a.rows + row) * a.words,
            below < a.tile_rows ? (uint32_t)below : a.tile_rows,
            right < a.tile_columns ? (uint32_t)right : a.tile_columns,
        };
        load_quads(a, t);
        __syncthreads(); /* the tile is complete */
        store_quads(a, t);
        __syncthreads(); /* all threads have read the tile */
    }
}

#endif
#endif
