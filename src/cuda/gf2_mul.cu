/*
 * cuda/gf2_mul.cu - products over GF(2) on the GPU, device half.
 *
 *     gf2_pack_rows      rows as left operands, gf2_pack_columns columns as right ones, and
 *     gf2_pack_turned    rows as right ones: chunks of 8 KiB (gf2_bits.cuh), zeros beyond the
 *                        matrix, so that nothing after it knows of edges, strides or alignment
 *     gf2_mul            their product: a block has 128 x 256 bits of the result as counts in
 *                        registers of eight warps; a ninth has the operands brought by bulk copies,
 *                        four stages deep, so that no warp waits for another (sm_90)
 *     gf2_mul_copied     the same by copies of all threads, between barriers (sm_80)
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

/* The same of 32 bits. */
static __device__ inline uint32_t sum_half(const struct gf2_pack_args &a, uint64_t row, uint64_t q)
{
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < GF2_MUL_PARTS; i++) {
        if (i >= (int)a.parts) break;
        const struct gf2_source &part = a.part[i];
        if (row >= part.rows || 32 * q >= part.cols) continue;
        const uint64_t left = part.cols - 32 * q;
        const uint32_t mask = left < 32 ? ((uint32_t)1 << left) - 1 : ~(uint32_t)0;
        sum ^= ((const uint32_t *)(part.words + row * a.stride))[q] & mask;
    }
    return sum;
}

/* A block makes one chunk; those along a row follow one another. */
static __device__ inline uint4 *chunk_of(const struct gf2_pack_args &a)
{
    const uint64_t step = blockIdx.x % a.steps, chunk = blockIdx.x / a.steps;
    return (uint4 *)a.out + (step * a.chunks + chunk) * (GF2_CHUNK_WORDS / 4);
}

/* A warp makes two tiles of a chunk; a lane has four words of each.  Lanes go along the rows, so
 * that no word has to change lanes. */
template <int COLUMNS> static __device__ inline void pack_rows(const struct gf2_pack_args &a)
{
    const uint64_t first = (uint64_t)(blockIdx.x / a.steps) * 256;
    const uint64_t q = (uint64_t)(blockIdx.x % a.steps) * 8 + lane_id() % 4;
    const uint32_t g = lane_id() / 4;
    uint4 *out = chunk_of(a);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t tile = threadIdx.x / 32 + 8 * i;
        uint4 piece;
        if (COLUMNS) {
            const uint32_t bit = tile / 8 * 32 + 7 - tile % 8 + g % 2 * 8;
            const uint64_t row = first + g / 2 * 64 + bit;
            piece = make_uint4(sum_half(a, row, q), sum_half(a, row, q + 4),
                               sum_half(a, row + 16, q), sum_half(a, row + 16, q + 4));
        } else {
            const uint64_t row = first + 16 * tile + g;
            piece = make_uint4(sum_half(a, row, q), sum_half(a, row + 8, q),
                               sum_half(a, row, q + 4), sum_half(a, row + 8, q + 4));
        }
        out[tile * 32 + lane_id()] = piece;
    }
}

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_pack_rows(const __grid_constant__ struct gf2_pack_args a)
{
    pack_rows<0>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS)
    gf2_pack_turned(const __grid_constant__ struct gf2_pack_args a)
{
    pack_rows<1>(a);
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
    uint4 *out = chunk_of(a);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < GF2_CHUNK_WORDS / 4; i += GF2_MUL_THREADS)
        out[i] = ((const uint4 *)chunk)[i];
}

/* ---- The product ---- */

#if GF2_MMA
enum {
    STEPS = GF2_MUL_STEPS,
    TILES = GF2_MUL_ROWS / 32,         /* of 16 rows, for a warp: there are two rows of warps */
    PAIRS = GF2_MUL_COLUMNS / 64,      /* of 16 columns, for a warp: and four columns */
    WARPS = 8,                         /* that multiply */
    A_PIECES = GF2_MUL_ROWS / 16 * 32, /* of 16 bytes, of one step */
    B_PIECES = GF2_MUL_COLUMNS / 16 * 32,
    STAGE_PIECES = STEPS * (A_PIECES + B_PIECES)
};

static_assert(STAGE_PIECES * 16 == (int)GF2_MUL_STAGE_BYTES, "the host gives other stages");

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

/* The operands' pieces of a block at the first step, and from a step to the next. */
struct operands {
    const uint4 *a, *b;
    uint64_t a_step, b_step;
};

static __device__ inline struct operands operands_of(const struct gf2_mul_args &a, uint32_t row,
                                                     uint32_t column)
{
    struct operands o;
    o.a = (const uint4 *)a.a + (uint64_t)row * A_PIECES;
    o.b = (const uint4 *)a.b + (uint64_t)column * B_PIECES;
    o.a_step = (uint64_t)a.a_chunks * (GF2_CHUNK_WORDS / 4);
    o.b_step = (uint64_t)a.b_chunks * (GF2_CHUNK_WORDS / 4);
    return o;
}

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
            const uint4 piece = left[x * A_PIECES + m * 32];
            a[m][0] = piece.x, a[m][1] = piece.y, a[m][2] = piece.z, a[m][3] = piece.w;
        }
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            const uint4 piece = right[x * B_PIECES + p * 32];
            b[p][0][0] = piece.x, b[p][0][1] = piece.y;
            b[p][1][0] = piece.z, b[p][1][1] = piece.w;
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

/* Parities to shared memory, [row][8 words of 32 bits].  Two warps share a word, each of which has
 * four bits of every byte: those of even columns of warps go first. */
template <int ODD>
static __device__ inline void gather(const int32_t (&count)[TILES][PAIRS][2][4], uint32_t *result)
{
    const uint32_t warp = threadIdx.x / 32, column = warp % 4;
    const uint32_t g = lane_id() / 4, t = lane_id() % 4;
    if (column % 2 != ODD || warp >= WARPS) return;
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

#if GF2_MMA
/* All threads; only those of the warps that multiply have counts. */
static __device__ inline void finish(const struct gf2_mul_args &a,
                                     const int32_t (&count)[TILES][PAIRS][2][4],
                                     uint32_t row_block, uint32_t column_block)
{
    uint32_t *result = (uint32_t *)shared_bytes;
    __syncthreads(); /* the last stages have been read */
    gather<0>(count, result);
    __syncthreads();
    gather<1>(count, result);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < GF2_MUL_ROWS * 4; i += blockDim.x)
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
    place_block(a, &row_block, &column_block);
    struct operands o = operands_of(a, row_block, column_block);
    clear(count);
    for (uint32_t turn = 0; turn < a.steps / STEPS; turn++) {
        for (; fetched < turn + STAGES; fetched++) { /* at first several */
            if (fetched == turn + STAGES - 1) {
                copy_wait<STAGES - 2>();
                __syncthreads(); /* this stage is there for all, and the one before done with */
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

#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000)
/* Has the stages filled as they are emptied. */
static __device__ inline void bring(const struct gf2_mul_args &a, struct operands o, uint4 *stages,
                                    uint64_t *full, uint64_t *empty)
{
    uint32_t slot = 0, parity = 1;
    for (uint32_t turn = 0; turn < a.steps / STEPS; turn++) {
        uint4 *stage = stages + slot * STAGE_PIECES;
        while (!mbarrier_try_wait(empty + slot, parity)) continue;
        mbarrier_arrive_expect(full + slot, GF2_MUL_STAGE_BYTES);
#pragma unroll
        for (int x = 0; x < STEPS; x++) {
            copy_bulk(stage + x * A_PIECES, o.a, A_PIECES * 16, full + slot);
            copy_bulk(stage + STEPS * A_PIECES + x * B_PIECES, o.b, B_PIECES * 16, full + slot);
            o.a += o.a_step;
            o.b += o.b_step;
        }
        if (++slot == GF2_MUL_STAGES) slot = 0, parity ^= 1;
    }
}
#endif

extern "C" __global__ void __launch_bounds__(GF2_MUL_THREADS + 32, 1)
    gf2_mul(const __grid_constant__ struct gf2_mul_args a)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000)
    __shared__ uint64_t full[GF2_MUL_STAGES], empty[GF2_MUL_STAGES];
    uint4 *stages = (uint4 *)shared_bytes;
    int32_t count[TILES][PAIRS][2][4];
    uint32_t row_block, column_block, slot = 0, parity = 0;
    place_block(a, &row_block, &column_block);
    if (threadIdx.x == 0)
        for (int i = 0; i < GF2_MUL_STAGES; i++) {
            mbarrier_init(full + i, 1);
            mbarrier_init(empty + i, WARPS);
        }
    __syncthreads(); /* the barriers are there */
    if (threadIdx.x >= GF2_MUL_THREADS) {
        if (threadIdx.x == GF2_MUL_THREADS)
            bring(a, operands_of(a, row_block, column_block), stages, full, empty);
        __syncwarp();
    } else {
        clear(count);
        for (uint32_t turn = 0; turn < a.steps / STEPS; turn++) {
            while (!mbarrier_try_wait(full + slot, parity)) continue;
            multiply(stages + slot * STAGE_PIECES, count);
            __syncwarp(); /* all lanes have read the stage */
            if (lane_id() == 0) mbarrier_arrive(empty + slot);
            if (++slot == GF2_MUL_STAGES) slot = 0, parity ^= 1;
        }
    }
    finish(a, count, row_block, column_block);
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
