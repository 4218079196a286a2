/*
 * gf2/cuda/mul.cu - products over GF(2) on the GPU, device code.
 *
 *     gf2_pack_operands  packs rows and columns in the order of chunks, gf2_pack_turned rows and
 *                        the rows of a right operand that is given transposed: pack.cuh
 *     gf2_mul            their product by groups of four warps (sm_90a): mul_groups.cuh
 *     gf2_mul_copied     the same by warps (sm_80): a block has 128 x 256 bits of the result as
 *                        counts in registers; all threads copy operands, between barriers
 *     gf2_mul_vector     the product of a matrix with one vector, gf2_mul_vectors with several:
 *                        mul_vectors.cuh
 *     gf2_mul_tables     the product by the method of the four Russians, from unpacked matrices;
 *                        gf2_mul_turn first transposes the right one if it is given transposed
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include "gf2/cuda/mul.h"
#include "gf2/cuda/mul_groups.cuh"
#include "gf2/cuda/mul_vectors.cuh"
#include "gf2/cuda/pack.cuh"
#include "gf2/cuda/tables.cuh"

/* ---- Packed operands ---- */

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_pack_operands(const __grid_constant__ struct gf2_pack_args a)
{
    wait_for_earlier();
    if (blockIdx.x < a.left_blocks)
        pack_rows<0>(a.left, blockIdx.x);
    else
        pack_columns(a.right, blockIdx.x - a.left_blocks);
}

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_pack_turned(const __grid_constant__ struct gf2_pack_args a)
{
    wait_for_earlier();
    if (blockIdx.x < a.left_blocks)
        pack_rows<0>(a.left, blockIdx.x);
    else
        pack_rows<1>(a.right, blockIdx.x - a.left_blocks);
}

/* ---- The product by groups ---- */

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL) /* other architectures have no
                                                                     such kernel */
extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS + 32, 1)
    gf2_mul(const __grid_constant__ struct gf2_mul_args a)
{
    __shared__ uint64_t full[GF2_MUL_STAGES], empty[GF2_MUL_STAGES];
    uint4 *stages = (uint4 *)shared_bytes;
    if (threadIdx.x == 0)
        for (int i = 0; i < GF2_MUL_STAGES; i++) {
            mbarrier_init(full + i, 1);
            mbarrier_init(empty + i, GROUP_WARPS);
        }
    wait_for_earlier();
    __syncthreads(); /* the barriers are initialised */
    if (threadIdx.x < GF2_MUL_THREADS)
        multiply_groups(a, stages, full, empty);
    else if (threadIdx.x == GF2_MUL_THREADS)
        bring(a, stages, full, empty);
}
#endif

/* ---- The product by warps ---- */

#if GF2_MMA
enum {
    TILES = GF2_MUL_ROWS / 32,   /* of 16 rows, per warp: there are two rows of warps */
    PAIRS = GF2_MUL_COLUMNS / 64 /* of 16 columns, per warp: and four columns */
};

static __device__ inline void multiply(const uint4 *stage, int32_t (&count)[TILES][PAIRS][2][4])
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    const uint4 *left = stage + warp / 4 * TILES * 32 + lane;
    const uint4 *right = stage + STEPS * A_PIECES + warp % 4 * PAIRS * 32 + lane;
#pragma unroll
    for (int x = 0; x < STEPS; x++) {
        uint32_t a[TILES][4], b[PAIRS][2][2];
#pragma unroll
        for (int m = 0; m < TILES; m++) {
            uint32_t part[4];
            load_matrices(part, left + x * A_PIECES + m * 32);
            a[m][0] = part[0], a[m][1] = part[2], a[m][2] = part[1], a[m][3] = part[3];
        }
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            uint32_t part[4];
            load_matrices(part, right + x * B_PIECES + p * 32);
            b[p][0][0] = part[0], b[p][0][1] = part[1];
            b[p][1][0] = part[2], b[p][1][1] = part[3];
        }
#pragma unroll
        for (int m = 0; m < TILES; m++)
#pragma unroll
            for (int p = 0; p < PAIRS; p++) {
                mma_and(count[m][p][0], a[m], b[p][0]);
                mma_and(count[m][p][1], a[m], b[p][1]);
            }
    }
}

static __device__ inline void clear(int32_t (&count)[TILES][PAIRS][2][4])
{
#pragma unroll
    for (int m = 0; m < TILES; m++)
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
#pragma unroll
            for (int i = 0; i < 8; i++) count[m][p][i / 4][i % 4] = 0;
}

/* Writes parities to shared memory, [row][8 words of 32 bits].  Two warps share a word, and each
 * has four bits of every byte: the warps in even columns write first. */
template <int ODD>
static __device__ inline void gather(const int32_t (&count)[TILES][PAIRS][2][4], uint32_t *result)
{
    const uint32_t warp = threadIdx.x / 32, column = warp % 4;
    const uint32_t g = lane_id() / 4, t = lane_id() % 4;
    if (column % 2 != ODD) return;
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
        *at = ODD ? *at | bits : bits << 4;
    }
}

static __device__ inline void finish(const struct gf2_mul_args &a,
                                     const int32_t (&count)[TILES][PAIRS][2][4], uint32_t row_block,
                                     uint32_t column_block)
{
    uint32_t *result = (uint32_t *)shared_bytes;
    __syncthreads(); /* the last stages have been read */
    gather<0>(count, result);
    __syncthreads();
    gather<1>(count, result);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < GF2_MUL_ROWS * 4; i += GF2_MUL_THREADS)
        for (uint32_t x = 0; x < a.targets; x++)
            put(a.target[x], a.stride, (uint64_t)row_block * GF2_MUL_ROWS + i / 4,
                (uint64_t)column_block * 4 + i % 4, ((const uint64_t *)result)[i]);
}
#endif

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS, 1)
    gf2_mul_copied(const __grid_constant__ struct gf2_mul_args a)
{
#if GF2_MMA
    enum { STAGES = GF2_MUL_STAGES_COPIED };
    uint4 *stages = (uint4 *)shared_bytes;
    int32_t count[TILES][PAIRS][2][4];
    uint32_t row_block, column_block, slot = 0, fetched = 0;
    wait_for_earlier();
    place_block(a, blockIdx.x, &row_block, &column_block);
    struct operands o = operands_of(a, row_block, column_block);
    clear(count);
    for (uint32_t turn = 0; turn < a.steps / STEPS; turn++) {
        for (; fetched < turn + STAGES; fetched++) { /* several at the start */
            if (fetched == turn + STAGES - 1) {
                copy_wait<STAGES - 2>();
                __syncthreads(); /* this stage is loaded for all threads, and the previous one has
                                    been read */
            }
            uint4 *stage = stages + fetched % STAGES * STAGE_PIECES + threadIdx.x;
            for (int x = 0; x < STEPS && fetched < a.steps / STEPS; x++) {
#pragma unroll
                for (int i = 0; i < A_PIECES; i += GF2_MUL_THREADS)
                    copy_async_16(stage + x * A_PIECES + i, o.a + threadIdx.x + i);
#pragma unroll
                for (int i = 0; i < B_PIECES; i += GF2_MUL_THREADS)
                    copy_async_16(stage + STEPS * A_PIECES + x * B_PIECES + i,
                                  o.b + threadIdx.x + i);
                o.a += o.a_step;
                o.b += o.b_step;
            }
            copy_commit();
        }
        multiply(stages + slot * STAGE_PIECES, count);
        slot = slot + 1 == STAGES ? 0 : slot + 1;
    }
    copy_wait<0>();
    finish(a, count, row_block, column_block);
#endif
}

/* ---- A few vectors ---- */

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_mul_vector(const __grid_constant__ struct gf2_mul_vectors_args a)
{
    wait_for_earlier();
    multiply_vectors<1>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_mul_vectors(const __grid_constant__ struct gf2_mul_vectors_args a)
{
    wait_for_earlier();
    multiply_vectors<GF2_MUL_VECTORS>(a);
}

/* ---- With tables ---- */

extern "C" __global__ void __launch_bounds__(TABLES_THREADS)
    gf2_mul_tables(const __grid_constant__ struct gf2_mul_tables_args a)
{
    __shared__ struct tables_shared s;
    struct gf2_factors f;
    wait_for_earlier();
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
    tables_multiply(f, blockIdx.x / strips * GF2_MUL_TABLE_ROWS, blockIdx.x % strips * TABLES_WORDS,
                    0, s);
}

/* A warp transposes 32 x 32 bits at a time; a block 64 columns of 128 rows. */
extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_mul_turn(const __grid_constant__ struct gf2_mul_turn_args a)
{
    const uint64_t strips = (a.cols + 63) / 64, word = blockIdx.x % strips;
    const uint32_t warp = threadIdx.x / 32;
    wait_for_earlier();
    const uint64_t row = blockIdx.x / strips * 128 + warp % 4 * 32 + lane_id();
    const uint64_t bits = row < a.rows ? a.in[row * a.in_stride + word] : 0;
    const uint32_t column = gf2_transpose_32((uint32_t)(bits >> 32 * (warp / 4)));
    const uint64_t to = word * 64 + warp / 4 * 32 + lane_id();
    const uint64_t half = blockIdx.x / strips * 4 + warp % 4;
    if (to < a.cols && half < 2 * a.out_stride)
        ((uint32_t *)(a.out + to * a.out_stride))[half] = column;
}
