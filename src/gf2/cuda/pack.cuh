/*
 * gf2/cuda/pack.cuh - packs operands of a product as chunks (bits.cuh), and computes the sums of
 * parts.
 *
 * A block reads 1024 bits of its rows, full cache lines.  Outside of the matrix it writes zeros, so
 * that later kernels need not handle edges, strides or alignment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_PACK_CUH
#define ECHI_GF2_CUDA_PACK_CUH

#include "gf2/cuda/bits.cuh"
#include "gf2/cuda/mul.h"

static __device__ inline uint4 *chunk_of(const struct gf2_operand &a, uint64_t step, uint64_t chunk)
{
    return (uint4 *)a.out + (step * a.chunks + chunk) * (GF2_CHUNK_WORDS / 4);
}

/* The valid bits of word w, and of half word q. */
static __device__ inline uint64_t there(uint64_t cols, uint64_t w)
{
    if (64 * w >= cols) return 0;
    return cols - 64 * w < 64 ? ((uint64_t)1 << (cols - 64 * w)) - 1 : ~(uint64_t)0;
}

static __device__ inline uint32_t there_half(uint64_t cols, uint64_t q)
{
    return (uint32_t)(there(cols, q / 2) >> q % 2 * 32);
}

/* Rows are vectors, or with COLUMNS in the order of columns.  Eight lanes have 1024 bits of a row:
 * two of them have the half vectors of each of four steps. */
template <int COLUMNS>
static __device__ inline void pack_rows(const struct gf2_operand &a, uint32_t block)
{
    enum { EACH = GF2_PACK_ROWS / (GF2_MUL_THREADS / 8) };
    const uint32_t strips = (a.steps + 3) / 4, piece = threadIdx.x % 8;
    const uint32_t step = block % strips * 4 + piece / 2;
    const uint64_t first = (uint64_t)(block / strips) * GF2_PACK_ROWS + threadIdx.x / 8;
    const uint64_t w = (uint64_t)step * 4 + piece % 2 * 2;
    uint64_t row[EACH], sum[EACH][2];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint64_t vector = first + k * (GF2_MUL_THREADS / 8);
        row[k] = COLUMNS ? vector / 256 * 256 + gf2_column_bit((uint32_t)(vector % 256)) : vector;
        sum[k][0] = sum[k][1] = 0;
    }
#pragma unroll 1
    for (uint32_t i = 0; i < a.parts; i++) {
        const uint64_t *at = a.part[i].words + w;
        const uint64_t rows = a.part[i].rows;
        const uint64_t low = there(a.part[i].cols, w), high = there(a.part[i].cols, w + 1);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            sum[k][0] ^= row[k] < rows && low ? at[row[k] * a.stride] & low : 0;
            sum[k][1] ^= row[k] < rows && high ? at[row[k] * a.stride + 1] & high : 0;
        }
    }
    if (step >= a.steps) return;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint64_t vector = first + k * (GF2_MUL_THREADS / 8);
        chunk_of(a, step, vector / 256)[gf2_word_place(vector % 256, piece % 2 * 4) / 4] =
            make_uint4((uint32_t)sum[k][0], (uint32_t)(sum[k][0] >> 32), (uint32_t)sum[k][1],
                       (uint32_t)(sum[k][1] >> 32));
    }
}

/* Bit b of row r becomes bit r of row b. */
template <int STEP> static __device__ inline void transpose_step(uint32_t (&x)[32], uint32_t low)
{
#pragma unroll
    for (int k = 0; k < 32; k++) {
        if (k & STEP) continue;
        const uint32_t upper = x[k], lower = x[k + STEP];
        x[k] = bits_select(low, upper, lower << STEP);
        x[k + STEP] = bits_select(low, upper >> STEP, lower);
    }
}

static __device__ inline void transpose(uint32_t (&x)[32])
{
    transpose_step<16>(x, 0x0000ffff);
    transpose_step<8>(x, 0x00ff00ff);
    transpose_step<4>(x, 0x0f0f0f0f);
    transpose_step<2>(x, 0x33333333);
    transpose_step<1>(x, 0x55555555);
}

/* The intermediate place of a word of chunk `c` of four: pieces of 16 bytes are permuted, because
 * otherwise all lanes of a warp would write to four banks. */
static __device__ inline uint32_t turned_place(uint32_t c, uint32_t place)
{
    return c * GF2_CHUNK_WORDS + (place ^ (c * 2 + place / 1024) * 4);
}

/* Columns are vectors: one step of 1024 columns.  A thread transposes 32 x 32 bits. */
static __device__ inline void pack_columns(const struct gf2_operand &a, uint32_t block)
{
    __shared__ __align__(16) uint32_t chunks[4 * GF2_CHUNK_WORDS];
    const uint32_t step = block % a.steps, chunk = block / a.steps * 4;
    const uint32_t warp = threadIdx.x / 32, c = lane_id() / 8, t = lane_id() % 8 / 2;
    const uint64_t q = (uint64_t)chunk * 8 + lane_id(), first = (uint64_t)step * 256 + warp * 32;
    uint32_t x[32];
#pragma unroll
    for (int r = 0; r < 32; r++) x[r] = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < a.parts; i++) {
        const uint32_t *at = (const uint32_t *)(a.part[i].words + first * a.stride) + q;
        const uint32_t mask = there_half(a.part[i].cols, q);
        const uint64_t rows = mask && first < a.part[i].rows ? a.part[i].rows - first : 0;
#pragma unroll
        for (int r = 0; r < 32; r++) x[r] ^= r < rows ? at[2 * r * a.stride] & mask : 0;
    }
    transpose(x);
#pragma unroll
    for (uint32_t b = 0; b < 32; b++) {
        const uint32_t column = gf2_column(t, lane_id() % 2 * 32 + b);
        chunks[turned_place(c, gf2_word_place(column, warp))] = x[b];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < GF2_CHUNK_WORDS; i += GF2_MUL_THREADS) {
        const uint32_t from = i / (GF2_CHUNK_WORDS / 4), piece = i % (GF2_CHUNK_WORDS / 4);
        if (chunk + from < a.chunks)
            chunk_of(a, step, chunk + from)[piece] =
                ((const uint4 *)chunks)[turned_place(from, 4 * piece) / 4];
    }
}

#endif
