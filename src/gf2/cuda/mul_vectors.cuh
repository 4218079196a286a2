/*
 * gf2/cuda/mul_vectors.cuh - products with a few vectors: out = x a^T; a is read once, unpacked.
 *
 * A block has 64 rows of a, so that it computes full words of the result, and up to VECTORS rows of
 * x; a warp has eight rows, whose words its lanes combine with those of x.  One ballot gives the
 * parity of a sum over the lanes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_MUL_VECTORS_CUH
#define ECHI_GF2_CUDA_MUL_VECTORS_CUH

#include "gf2/cuda/mul_block.cuh"
#include "cuda/device/warp.cuh"

enum { VECTOR_ROWS = 8 }; /* of a warp */

template <int VECTORS>
static __device__ inline void multiply_vectors(const struct gf2_mul_vectors_args &a)
{
    __shared__ uint8_t bytes[VECTORS][8]; /* of a word of the result, one per warp */
    const uint32_t groups = (a.vectors + VECTORS - 1) / VECTORS, warp = threadIdx.x / 32;
    const uint64_t vector = blockIdx.x % groups * VECTORS, word = blockIdx.x / groups;
    const uint64_t row = word * 64 + warp * VECTOR_ROWS, *x = a.x + vector * a.x_stride;
    const uint64_t *rows[VECTOR_ROWS];
    uint32_t sum[VECTOR_ROWS][VECTORS]; /* of both halves of words: the parity is the same */
#pragma unroll
    for (int r = 0; r < VECTOR_ROWS; r++) {
        rows[r] = a.a + (row + r < a.rows ? row + r : a.rows - 1) * a.a_stride;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) sum[r][v] = 0;
    }
    for (uint64_t w = lane_id(); 64 * w < a.depth; w += 32) {
        const uint64_t left = a.depth - 64 * w;
        const uint64_t mask = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
        uint64_t bits[VECTOR_ROWS];
#pragma unroll
        for (int r = 0; r < VECTOR_ROWS; r++) bits[r] = rows[r][w] & mask;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const uint64_t other = vector + v < a.vectors ? x[v * a.x_stride + w] : 0;
#pragma unroll
            for (int r = 0; r < VECTOR_ROWS; r++) {
                sum[r][v] ^= (uint32_t)bits[r] & (uint32_t)other;
                sum[r][v] ^= (uint32_t)(bits[r] >> 32) & (uint32_t)(other >> 32);
            }
        }
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        uint32_t odd = 0;
#pragma unroll
        for (int r = 0; r < VECTOR_ROWS; r++)
            odd |= (__popc(__ballot_sync(WARP_ALL, __popc(sum[r][v]) & 1)) & 1u) << r;
        if (lane_id() == 0) bytes[v][warp] = (uint8_t)odd;
    }
    __syncthreads();
    if (threadIdx.x >= VECTORS) return;
    uint64_t value = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) value |= (uint64_t)bytes[threadIdx.x][i] << 8 * i;
    put(a.out, a.out_stride, vector + threadIdx.x, word, value);
}

#endif
