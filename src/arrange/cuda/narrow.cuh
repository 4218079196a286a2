/*
 * arrange/cuda/narrow.cuh - the transpose of elements of 1 and 2 bytes, four bytes at a time.
 *
 * A thread loads a square of 4 x 4 bytes (or 2 x 2 elements of 2 bytes) as one word from each row,
 * transposes it in registers, and stores the resulting rows, words again, in a tile that is written
 * by rows of the output. Rows of both matrices must begin at multiples of four bytes; otherwise
 * tile.cuh moves one element at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_NARROW_CUH
#define ECHI_ARRANGE_CUDA_NARROW_CUH

#include "arrange/cuda/word.cuh"

#if WORD_BYTES <= 2

enum {
    EACH = 4 / WORD_BYTES,  /* elements per word */
    EDGE_WORDS = 32,        /* words per tile edge, across; squares, down */
    PITCH = EDGE_WORDS + 1, /* so that the words of a column are in different banks */
    WARPS = ARRANGE_THREADS / 32,
    SQUARES = EDGE_WORDS / WARPS, /* per thread */
    EDGE = EDGE_WORDS * EACH      /* elements */
};

/* Lines of matrices that are larger than the L2 cache are evicted first, so that the cache keeps
 * the lines that are not yet complete. */
static __device__ inline uint32_t load_once(const uint32_t *at, bool streams)
{
    return streams ? __ldcs(at) : *at;
}

static __device__ inline void store_once(uint32_t *at, uint32_t word, bool streams)
{
    if (streams)
        __stcs(at, word);
    else
        *at = word;
}

/* Row c of the output's square consists of element c of each word. */
static __device__ inline void turn_square(uint32_t x[EACH])
{
#if WORD_BYTES == 1
    const uint32_t a = __byte_perm(x[0], x[1], 0x5140), b = __byte_perm(x[2], x[3], 0x5140);
    const uint32_t c = __byte_perm(x[0], x[1], 0x7362), d = __byte_perm(x[2], x[3], 0x7362);
    x[0] = __byte_perm(a, b, 0x5410);
    x[1] = __byte_perm(a, b, 0x7632);
    x[2] = __byte_perm(c, d, 0x5410);
    x[3] = __byte_perm(c, d, 0x7632);
#else
    const uint32_t a = __byte_perm(x[0], x[1], 0x5410);
    x[1] = __byte_perm(x[0], x[1], 0x7632);
    x[0] = a;
#endif
}

/* In each step the lanes of a warp store different rows of their squares: otherwise several would
 * access the same bank. */
static __device__ inline void put_square(uint32_t *tile, uint32_t lane, uint32_t square,
                                         const uint32_t x[EACH])
{
#pragma unroll
    for (int step = 0; step < EACH; step++) {
        const uint32_t c = (step + lane / (32 / EACH)) % EACH;
        uint32_t word = x[0];
#pragma unroll
        for (int k = 1; k < EACH; k++)
            if (c == k) word = x[k];
        tile[(lane * EACH + c) * PITCH + square] = word;
    }
}

static __device__ inline void transpose_narrow(const struct arrange_transpose_args &a)
{
    __shared__ uint32_t tile[EDGE * PITCH];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint64_t in_pitch = a.columns / EACH, out_pitch = a.rows / EACH; /* in words */
    for (uint64_t t = blockIdx.x; t < a.tiles; t += gridDim.x) {
        const uint64_t down = tiles_above(a, t);
        const uint64_t row = down * EDGE, column = (t - down * a.tiles_across) * EDGE;
        const uint32_t *from = (const uint32_t *)a.in + row * in_pitch + column / EACH;
        uint32_t *to = (uint32_t *)a.out + column * out_pitch + row / EACH;
        uint32_t x[SQUARES][EACH];
        const bool across = column + lane * EACH < a.columns;
#pragma unroll
        for (int s = 0; s < SQUARES; s++) {
            const uint32_t y = (warp + s * WARPS) * EACH;
#pragma unroll
            for (int k = 0; k < EACH; k++)
                if (across && row + y < a.rows)
                    x[s][k] = load_once(from + (y + k) * in_pitch + lane, a.streams);
        }
#pragma unroll
        for (int s = 0; s < SQUARES; s++)
            if (across && row + (warp + s * WARPS) * EACH < a.rows) {
                turn_square(x[s]);
                put_square(tile, lane, warp + s * WARPS, x[s]);
            }
        __syncthreads(); /* the tile is complete */
        const bool below = row + lane * EACH < a.rows;
#pragma unroll 8
        for (uint32_t c = warp; c < EDGE; c += WARPS)
            if (below && column + c < a.columns)
                store_once(to + c * out_pitch + lane, tile[c * PITCH + lane], a.streams);
        __syncthreads(); /* all threads have read the tile */
    }
}

#endif
#endif
