/*
 * cuda/gf2_mul_vectors.cuh - products with a few vectors: out = x a^T, a read once as it lies.
 *
 * A block has 64 rows of a, so that it makes whole words of the result, and up to VECTORS rows of
 * x; a warp has ROWS rows at a time, whose words its lanes meet with those of x.  The parity of all
 * that was added up is one ballot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_GF2_MUL_VECTORS_CUH
#define ECHI_CUDA_GF2_MUL_VECTORS_CUH

#include "gf2_mul_block.cuh"
#include "warp.cuh"

/* The rows' products from `row` on, a bit each, for every vector. */
template <int VECTORS, int ROWS>
static __device__ inline void multiply_rows(const struct gf2_mul_vectors_args &a, uint64_t row,
                                            uint64_t vector, uint32_t (&bits)[VECTORS])
{
    uint64_t sum[ROWS][VECTORS];
    const uint64_t *rows[ROWS], *x = a.x + vector * a.x_stride;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        rows[r] = a.a + (row + r < a.rows ? row + r : a.rows - 1) * a.a_stride;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) sum[r][v] = 0;
    }
    for (uint64_t w = lane_id(); 64 * w < a.depth; w += 32) {
        const uint64_t left = a.depth - 64 * w;
        const uint64_t mask = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
        uint64_t word[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) word[r] = rows[r][w];
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const uint64_t other = vector + v < a.vectors ? x[v * a.x_stride + w] & mask : 0;
#pragma unroll
            for (int r = 0; r < ROWS; r++) sum[r][v] ^= word[r] & other;
        }
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        bits[v] = 0;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const uint32_t odd = __popcll((long long)sum[r][v]) & 1;
            bits[v] |= (__popc(__ballot_sync(WARP_ALL, odd)) & 1u) << r;
        }
    }
}

template <int VECTORS, int ROWS>
static __device__ inline void multiply_vectors(const struct gf2_mul_vectors_args &a)
{
    __shared__ uint8_t bytes[VECTORS][8]; /* of a word of the result, one a warp */
    const uint32_t groups = (a.vectors + VECTORS - 1) / VECTORS, warp = threadIdx.x / 32;
    const uint64_t vector = blockIdx.x % groups * VECTORS, word = blockIdx.x / groups;
    uint32_t all[VECTORS] = { 0 };
#pragma unroll 1
    for (int first = 0; first < 8; first += ROWS) {
        uint32_t bits[VECTORS];
        multiply_rows<VECTORS, ROWS>(a, word * 64 + warp * 8 + first, vector, bits);
#pragma unroll
        for (int v = 0; v < VECTORS; v++) all[v] |= bits[v] << first;
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        if (lane_id() == 0) bytes[v][warp] = (uint8_t)all[v];
    __syncthreads();
    if (threadIdx.x >= VECTORS) return;
    uint64_t value = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) value |= (uint64_t)bytes[threadIdx.x][i] << 8 * i;
    put(a.out, a.out_stride, vector + threadIdx.x, word, value);
}

#endif
