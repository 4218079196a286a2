/*
 * arrange/cuda/vectors.cuh - the transpose of large matrices of elements of 4 bytes, in vectors of
 * 16 bytes. Rows of both matrices must begin at multiples of 16 bytes. All lines are evicted first
 * from the L2 cache, so that it keeps those that are not yet complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_VECTORS_CUH
#define ECHI_ARRANGE_CUDA_VECTORS_CUH

#include "arrange/cuda/word.cuh"

#if WORD_BYTES == 4

enum {
    VECTOR = 4, /* elements */
    VECTOR_PITCH =
        ARRANGE_VECTOR_EDGE + 1, /* so that the words of a column are in different banks */
    VECTORS_ACROSS = ARRANGE_VECTOR_EDGE / VECTOR,
    VECTORS = ARRANGE_VECTOR_EDGE * VECTORS_ACROSS / ARRANGE_THREADS /* per thread */
};

static __device__ inline void transpose_vectors(const struct arrange_transpose_args &a)
{
    enum { EDGE = ARRANGE_VECTOR_EDGE };
    __shared__ uint32_t tile[EDGE * VECTOR_PITCH];
    const uint32_t x = threadIdx.x % VECTORS_ACROSS * VECTOR, first = threadIdx.x / VECTORS_ACROSS;
    const uint32_t rows = ARRANGE_THREADS / VECTORS_ACROSS; /* that a block moves at once */
    for (uint64_t t = blockIdx.x; t < a.tiles; t += gridDim.x) {
        const uint64_t down = tiles_above(a, t);
        const uint64_t row = down * EDGE, column = (t - down * a.tiles_across) * EDGE;
        const uint32_t *from = (const uint32_t *)a.in + row * a.columns + column + x;
        uint32_t *to = (uint32_t *)a.out + column * a.rows + row + x;
        uint4 w[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            const uint32_t y = first + k * rows;
            if (row + y < a.rows && column + x < a.columns)
                w[k] = __ldcs((const uint4 *)(from + y * a.columns));
        }
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            uint32_t *at = tile + (first + k * rows) * VECTOR_PITCH + x;
            if (row + first + k * rows >= a.rows || column + x >= a.columns) continue;
            at[0] = w[k].x;
            at[1] = w[k].y;
            at[2] = w[k].z;
            at[3] = w[k].w;
        }
        __syncthreads(); /* the tile is complete */
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            const uint32_t c = first + k * rows;
            if (column + c >= a.columns || row + x >= a.rows) continue;
            const uint32_t *at = tile + x * VECTOR_PITCH + c;
            const uint4 v = { at[0], at[VECTOR_PITCH], at[2 * VECTOR_PITCH], at[3 * VECTOR_PITCH] };
            __stcs((uint4 *)(to + c * a.rows), v);
        }
        __syncthreads(); /* all threads have read the tile */
    }
}

#endif
#endif
