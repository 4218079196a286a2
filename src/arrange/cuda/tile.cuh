/*
 * arrange/cuda/tile.cuh - operations that use shared memory: transpose and reverse.
 *
 * Both read and write contiguous memory; the elements are reordered in shared memory.
 *
 * A row of a tile of a transpose has an odd number of elements, so that the words of a column are
 * in different banks. The host chooses the shape: square if the matrix is wide and tall, otherwise
 * whole rows or whole columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_TILE_CUH
#define ECHI_ARRANGE_CUDA_TILE_CUH

#include "arrange/cuda/word.cuh"

/* ---- Transpose ---- */

enum { TILE_WORDS = ARRANGE_TILE_WORDS(WORD_BYTES) };

static __device__ inline void load_tile(const struct arrange_transpose_args &a, uint64_t row,
                                        uint64_t column, uint32_t rows, uint32_t columns)
{
    word *tile = (word *)shared_bytes;
    const uint32_t width = a.tile_columns * a.words, pitch = a.pitch * a.words;
    const word *from = (const word *)a.in + (row * a.columns + column) * a.words;
    word w[TILE_WORDS];
#pragma unroll
    for (int k = 0; k < TILE_WORDS; k++) {
        const uint32_t j = threadIdx.x + k * ARRANGE_THREADS;
        const uint32_t r = divide(j, width, a.inverse_row), x = j - r * width;
        if (r < rows && x < columns * a.words) w[k] = from[r * a.columns * a.words + x];
    }
#pragma unroll
    for (int k = 0; k < TILE_WORDS; k++) {
        const uint32_t j = threadIdx.x + k * ARRANGE_THREADS;
        const uint32_t r = divide(j, width, a.inverse_row), x = j - r * width;
        if (r < rows && x < columns * a.words) tile[r * pitch + x] = w[k];
    }
}

static __device__ inline void store_tile(const struct arrange_transpose_args &a, uint64_t row,
                                         uint64_t column, uint32_t rows, uint32_t columns)
{
    const word *tile = (const word *)shared_bytes;
    const uint32_t height = a.tile_rows * a.words;
    word *to = (word *)a.out + (column * a.rows + row) * a.words;
#pragma unroll
    for (int k = 0; k < TILE_WORDS; k++) {
        const uint32_t j = threadIdx.x + k * ARRANGE_THREADS;
        const uint32_t c = divide(j, height, a.inverse_column), y = j - c * height;
        const uint32_t r = divide(y, a.words, a.inverse_words), part = y - r * a.words;
        if (c < columns && r < rows)
            to[c * a.rows * a.words + y] = tile[(r * a.pitch + c) * a.words + part];
    }
}

static __device__ inline void transpose_tiles(const struct arrange_transpose_args &a)
{
    for (uint64_t t = blockIdx.x; t < a.tiles; t += gridDim.x) {
        const uint64_t down = tiles_above(a, t);
        const uint64_t row = down * a.tile_rows,
                       column = (t - down * a.tiles_across) * a.tile_columns;
        const uint64_t below = a.rows - row, right = a.columns - column;
        const uint32_t rows = below < a.tile_rows ? (uint32_t)below : a.tile_rows;
        const uint32_t columns = right < a.tile_columns ? (uint32_t)right : a.tile_columns;
        load_tile(a, row, column, rows, columns);
        __syncthreads(); /* the tile is complete */
        store_tile(a, row, column, rows, columns);
        __syncthreads(); /* all threads have read the tile */
    }
}

/* ---- Reverse ---- */

/* Loads bytes in words of 16 where these are aligned, and returns the position of the first byte in
 * shared memory. Its offset from a word of 16 is the same as in memory. */
static __device__ inline const unsigned char *load_span(unsigned char *shared, const void *from,
                                                        uint32_t bytes)
{
    enum { AT_ONCE = 4 };
    const unsigned char *source = (const unsigned char *)from;
    unsigned char *start = shared + ((uintptr_t)source & 15);
    const uint32_t before = (uint32_t)(0 - (uintptr_t)source) & 15;
    const uint32_t head = before < bytes ? before : bytes, words = (bytes - head) / 16;
    const uint32_t tail = head + words * 16;
    const uint4 *source_words = (const uint4 *)(source + head);
    uint4 *start_words = (uint4 *)(start + head);
    for (uint32_t j = threadIdx.x; j < words; j += AT_ONCE * ARRANGE_THREADS) {
        uint4 w[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (j + k * ARRANGE_THREADS < words) w[k] = source_words[j + k * ARRANGE_THREADS];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (j + k * ARRANGE_THREADS < words) start_words[j + k * ARRANGE_THREADS] = w[k];
    }
    if (threadIdx.x < head) start[threadIdx.x] = source[threadIdx.x];
    if (threadIdx.x < bytes - tail) start[tail + threadIdx.x] = source[tail + threadIdx.x];
    return start;
}

/* Word j of the reversed elements. */
static __device__ inline word reversed(const struct arrange_reverse_args &a, const word *tile,
                                       uint32_t count, uint32_t j)
{
    const uint32_t e = divide(j, a.words, a.inverse), part = j - e * a.words;
    return tile[(count - 1 - e) * a.words + part];
}

/* Narrow words are combined into words of four bytes. */
static __device__ inline void store_reversed(const struct arrange_reverse_args &a,
                                             const unsigned char *span, uint64_t first,
                                             uint32_t count)
{
    const word *tile = (const word *)span;
    word *to = (word *)a.out + first * a.words;
    const uint32_t words = count * a.words;
#if WORD_BYTES >= 4
#pragma unroll 4
    for (uint32_t j = threadIdx.x; j < words; j += ARRANGE_THREADS)
        to[j] = reversed(a, tile, count, j);
#else
    enum { EACH = 4 / WORD_BYTES };
    const uint32_t before = ((uint32_t)(0 - (uintptr_t)to) & 3) / WORD_BYTES;
    const uint32_t head = before < words ? before : words, quads = (words - head) / EACH;
    const uint32_t tail = head + quads * EACH;
    uint32_t *to_quads = (uint32_t *)(to + head);
#pragma unroll 4
    for (uint32_t q = threadIdx.x; q < quads; q += ARRANGE_THREADS) {
        uint32_t quad = 0;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            quad |= (uint32_t)reversed(a, tile, count, head + q * EACH + k) << (8 * WORD_BYTES * k);
        to_quads[q] = quad;
    }
    if (threadIdx.x < head) to[threadIdx.x] = reversed(a, tile, count, threadIdx.x);
    if (threadIdx.x < words - tail)
        to[tail + threadIdx.x] = reversed(a, tile, count, tail + threadIdx.x);
#endif
}

static __device__ inline void reverse_tiles(const struct arrange_reverse_args &a)
{
    const unsigned char *in = (const unsigned char *)a.in;
    const uint32_t bytes = a.words * WORD_BYTES;
    const uint64_t n = a.in_place ? a.n / 2 : a.n, step = (uint64_t)gridDim.x * a.tile;
    unsigned char *other = shared_bytes + (a.tile * bytes + 31) / 16 * 16;
    for (uint64_t first = (uint64_t)blockIdx.x * a.tile; first < n; first += step) {
        const uint64_t left = n - first;
        const uint32_t count = left < a.tile ? (uint32_t)left : a.tile;
        const uint64_t mirror = a.n - first - count;
        const unsigned char *front = NULL;
        if (a.in_place) front = load_span(other, in + first * bytes, count * bytes);
        const unsigned char *back = load_span(shared_bytes, in + mirror * bytes, count * bytes);
        __syncthreads(); /* both tiles are loaded before either is written */
        store_reversed(a, back, first, count);
        if (a.in_place) store_reversed(a, front, mirror, count);
        __syncthreads(); /* all threads have read the tiles */
    }
}

#endif
