/*
 * cuda/gf2_mul.cu - products over GF(2) on the GPU, device half.
 *
 *     gf2_pack_rows      rows as left operands, gf2_pack_columns columns as right ones, and
 *     gf2_pack_turned    rows as right ones: chunks of 8 KiB (gf2_bits.cuh), zeros beyond the
 *                        matrix, so that nothing after it knows of edges, strides or alignment
 *     gf2_mul            their product: a block has 160 x 256 bits of the result as counts in
 *                        registers; chunks come by asynchronous copies, three stages deep
 *     gf2_mul_tables     the product by four Russians, of the matrices as they lie; gf2_mul_turn
 *                        turns the right one over before it where it is given transposed
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include "gf2_bits.cuh"
#include "gf2_mul.h"
#include "gf2_tables.cuh"
#include "ptx_async.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* ---- Operands in the order of lanes ---- */

/* Word w of a row of the sum of parts. */
static __device__ inline uint64_t sum_word(const struct gf2_pack_args &a, uint64_t row, uint64_t w)
{
    uint64_t sum = 0;
#pragma unroll
    for (int i = 0; i < GF2_MUL_PARTS; i++) {
        if (i >= (int)a.parts) break;
        const struct gf2_source &part = a.part[i];
        if (row >= part.rows || 64 * w >= part.cols) continue;
        const uint64_t left = part.cols - 64 * w;
        const uint64_t mask = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
        sum ^= part.words[row * a.stride + w] & mask;
    }
    return sum;
}

static __device__ inline void store_chunk(const struct gf2_pack_args &a, const uint32_t *chunk)
{
    uint4 *out = (uint4 *)a.out + (uint64_t)blockIdx.x * (GF2_CHUNK_WORDS / 4);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < GF2_CHUNK_WORDS / 4; i += GF2_MUL_THREADS)
        out[i] = ((const uint4 *)chunk)[i];
}

/* A block makes one chunk: a thread has a row of 256 bits. */
template <int COLUMNS>
static __device__ inline void pack_rows(const struct gf2_pack_args &a, uint32_t *chunk)
{
    const uint64_t row = (uint64_t)(blockIdx.x / a.steps) * 256 + threadIdx.x;
    const uint64_t word = (uint64_t)(blockIdx.x % a.steps) * 4;
#pragma unroll
    for (uint32_t w = 0; w < 4; w++) {
        const uint64_t bits = sum_word(a, row, word + w);
#pragma unroll
        for (uint32_t q = 2 * w; q < 2 * w + 2; q++) {
            const uint32_t place = COLUMNS
                                       ? gf2_column_place(threadIdx.x / 64, threadIdx.x % 64, q)
                                       : gf2_row_place(threadIdx.x, q);
            chunk[place] = (uint32_t)(bits >> 32 * (q % 2));
        }
    }
    store_chunk(a, chunk);
}

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_pack_rows(const __grid_constant__ struct gf2_pack_args a)
{
    __shared__ __align__(16) uint32_t chunk[GF2_CHUNK_WORDS];
    pack_rows<0>(a, chunk);
}

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_pack_turned(const __grid_constant__ struct gf2_pack_args a)
{
    __shared__ __align__(16) uint32_t chunk[GF2_CHUNK_WORDS];
    pack_rows<1>(a, chunk);
}

/* Warp q has 32 rows of 256 columns, which its lanes transpose. */
extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_pack_columns(const __grid_constant__ struct gf2_pack_args a)
{
    __shared__ __align__(16) uint32_t chunk[GF2_CHUNK_WORDS];
    const uint64_t row = (uint64_t)(blockIdx.x % a.steps) * 256 + threadIdx.x;
    const uint64_t word = (uint64_t)(blockIdx.x / a.steps) * 4;
    const uint32_t q = threadIdx.x / 32;
#pragma unroll
    for (uint32_t w = 0; w < 4; w++) {
        const uint64_t bits = sum_word(a, row, word + w);
        const uint32_t low = gf2_transpose_32((uint32_t)bits);
        const uint32_t high = gf2_transpose_32((uint32_t)(bits >> 32));
        chunk[gf2_column_place(w, lane_id(), q)] = low;
        chunk[gf2_column_place(w, 32 + lane_id(), q)] = high;
    }
    store_chunk(a, chunk);
}

/* ---- The product ---- */

#if GF2_MMA
enum {
    STAGES = GF2_MUL_STAGES,
    STEPS = GF2_MUL_STEPS,
    TILES = GF2_MUL_ROWS / 32,      /* of 16 rows, for a warp: there are two rows of warps */
    PAIRS = GF2_MUL_COLUMNS / 64,   /* of 16 columns, for a warp: and four columns */
    A_PIECES = GF2_MUL_ROWS / 16 * 32, /* of 16 bytes, of one step */
    B_PIECES = GF2_MUL_COLUMNS / 16 * 32,
    STAGE_PIECES = STEPS * (A_PIECES + B_PIECES)
};

/* Which block of the result: bands of block rows, column by column. */
static __device__ inline void place_block(const struct gf2_mul_args &a, uint32_t *row,
                                          uint32_t *column)
{
    const uint32_t band = blockIdx.x / (GF2_MUL_BAND * a.column_blocks);
    const uint32_t within = blockIdx.x % (GF2_MUL_BAND * a.column_blocks);
    const uint32_t left = a.row_blocks - band * GF2_MUL_BAND;
    const uint32_t height = min(left, (uint32_t)GF2_MUL_BAND);
    *row = band * GF2_MUL_BAND + within % height;
    *column = within / height;
}

/* Queues a stage's copies; beyond the last step there is nothing. */
static __device__ inline void fetch(const struct gf2_mul_args &a, uint32_t row_block,
                                    uint32_t column_block, uint32_t step, uint4 *stage)
{
    const uint4 *left = (const uint4 *)a.a, *right = (const uint4 *)a.b;
#pragma unroll
    for (int x = 0; x < STEPS; x++) {
        if (step + x >= a.steps) break;
        for (uint32_t i = threadIdx.x; i < A_PIECES; i += GF2_MUL_THREADS) {
            const uint32_t tile = row_block * (GF2_MUL_ROWS / 16) + i / 32;
            copy_async_16(stage + x * A_PIECES + i,
                          left + ((uint64_t)(tile / 16) * a.steps + step + x) * 512 +
                              tile % 16 * 32 + i % 32);
        }
        for (uint32_t i = threadIdx.x; i < B_PIECES; i += GF2_MUL_THREADS)
            copy_async_16(stage + STEPS * A_PIECES + x * B_PIECES + i,
                          right + ((uint64_t)column_block * a.steps + step + x) * 512 + i);
    }
    copy_commit();
}

static __device__ inline void multiply(const uint4 *stage, uint32_t steps,
                                       int32_t (&count)[TILES][PAIRS][2][4])
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    const uint4 *left = stage + warp / 4 * TILES * 32 + lane;
    const uint4 *right = stage + STEPS * A_PIECES + warp % 4 * PAIRS * 32 + lane;
#pragma unroll
    for (int x = 0; x < STEPS; x++) {
        if (x >= (int)steps) break;
        uint32_t a[TILES][4];
#pragma unroll
        for (int m = 0; m < TILES; m++) {
            const uint4 piece = left[x * A_PIECES + m * 32];
            a[m][0] = piece.x, a[m][1] = piece.y, a[m][2] = piece.z, a[m][3] = piece.w;
        }
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            const uint4 piece = right[x * B_PIECES + p * 32];
            const uint32_t first[2] = { piece.x, piece.y }, second[2] = { piece.z, piece.w };
#pragma unroll
            for (int m = 0; m < TILES; m++) {
                mma_and(count[m][p][0], a[m], first);
                mma_and(count[m][p][1], a[m], second);
            }
        }
    }
}

/* Parities to shared memory, [row][8 words of 32 bits].  Two warps share a word: each has four bits
 * of every byte. */
static __device__ inline void gather(const int32_t (&count)[TILES][PAIRS][2][4], uint32_t *result)
{
    const uint32_t warp = threadIdx.x / 32, column = warp % 4;
    const uint32_t g = lane_id() / 4, t = lane_id() % 4;
    for (int turn = 0; turn < 2; turn++) {
        if ((int)(column % 2) == turn)
#pragma unroll
            for (int h = 0; h < 2 * TILES; h++) {
                const int m = h / 2, c = h % 2 * 2;
                uint32_t bits = 0;
#pragma unroll
                for (int p = 0; p < PAIRS; p++)
                    bits = gf2_append(bits, gf2_parities(count[m][p][0][c], count[m][p][0][c + 1],
                                                         count[m][p][1][c], count[m][p][1][c + 1]));
                const uint32_t row = (warp / 4 * TILES + m) * 16 + h % 2 * 8 + g;
                uint32_t *at = result + row * 8 + 2 * t + column / 2;
                *at = turn ? *at | bits : bits << 4;
            }
        __syncthreads();
    }
}

static __device__ inline void put(const struct gf2_target &target, uint64_t stride, uint64_t row,
                                  uint64_t w, uint64_t value)
{
    if (row >= target.rows || 64 * w >= target.cols) return;
    const uint64_t left = target.cols - 64 * w;
    const uint64_t mask = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
    uint64_t *at = target.words + row * stride + w;
    if (target.add)
        *at ^= value & mask;
    else
        *at = ~mask ? (*at & ~mask) | (value & mask) : value;
}
#endif

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS, 1)
    gf2_mul(const __grid_constant__ struct gf2_mul_args a)
{
#if GF2_MMA
    uint4 *stages = (uint4 *)shared_bytes;
    int32_t count[TILES][PAIRS][2][4];
    uint32_t row_block, column_block;
    place_block(a, &row_block, &column_block);
#pragma unroll
    for (int i = 0; i < TILES * PAIRS * 8; i++) ((int32_t *)count)[i] = 0;
    for (int i = 0; i < STAGES - 1; i++)
        fetch(a, row_block, column_block, i * STEPS, stages + i * STAGE_PIECES);
    uint32_t slot = 0;
    for (uint32_t step = 0; step < a.steps; step += STEPS) {
        copy_wait<STAGES - 2>();
        __syncthreads(); /* this stage is there for all, and the one before is done with */
        const uint32_t ahead = slot ? slot - 1 : STAGES - 1;
        fetch(a, row_block, column_block, step + (STAGES - 1) * STEPS,
              stages + ahead * STAGE_PIECES);
        multiply(stages + slot * STAGE_PIECES, a.steps - step, count);
        slot = slot + 1 == STAGES ? 0 : slot + 1;
    }
    copy_wait<0>();
    __syncthreads();
    gather(count, (uint32_t *)shared_bytes);
    const uint64_t *result = (const uint64_t *)shared_bytes;
    for (uint32_t i = threadIdx.x; i < GF2_MUL_ROWS * 4; i += GF2_MUL_THREADS)
        for (uint32_t x = 0; x < a.targets; x++)
            put(a.target[x], a.stride, (uint64_t)row_block * GF2_MUL_ROWS + i / 4,
                (uint64_t)column_block * 4 + i % 4, result[i]);
#endif
}

/* ---- By tables ---- */

extern "C" __global__ void __launch_bounds__(TABLES_THREADS)
    gf2_mul_tables(const __grid_constant__ struct gf2_mul_tables_args a)
{
    __shared__ struct tables_shared s;
    struct gf2_factors f;
    f.x = a.a;
    f.x_row = a.a_stride;
    f.x_word = 1;
    f.y = a.b;
    f.y_row = a.b_stride;
    f.y_word = 1;
    f.depth = a.depth;
    f.out = a.out;
    f.out_stride = a.out_stride;
    f.first = 0;
    f.rows = a.rows;
    f.words = (a.cols + 63) / 64;
    f.last_mask = ~(uint64_t)0 >> (0 - a.cols) % 64;
    f.add = a.add;
    const uint64_t strips = (f.words + TABLES_WORDS - 1) / TABLES_WORDS;
    tables_multiply(f, blockIdx.x / strips * GF2_MUL_TABLE_ROWS,
                    blockIdx.x % strips * TABLES_WORDS, 0, s);
}

/* A warp turns 32 x 32 bits at a time; a block 64 columns of 128 rows. */
extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_mul_turn(const __grid_constant__ struct gf2_mul_turn_args a)
{
    const uint64_t strips = (a.cols + 63) / 64, word = blockIdx.x % strips;
    const uint32_t warp = threadIdx.x / 32;
    const uint64_t row = blockIdx.x / strips * 128 + warp % 4 * 32 + lane_id();
    const uint64_t bits = row < a.rows ? a.in[row * a.in_stride + word] : 0;
    const uint32_t column = gf2_transpose_32((uint32_t)(bits >> 32 * (warp / 4)));
    const uint64_t to = word * 64 + warp / 4 * 32 + lane_id();
    const uint64_t half = blockIdx.x / strips * 4 + warp % 4;
    if (to < a.cols && half < 2 * a.out_stride)
        ((uint32_t *)(a.out + to * a.out_stride))[half] = column;
}
