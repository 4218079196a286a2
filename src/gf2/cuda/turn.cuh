/*
 * gf2/cuda/turn.cuh - transposes of matrices over GF(2), and gathers of their columns.
 *
 * A block transposes a tile of 256 squares of 32 x 32 bits, one per thread, in registers.  Tiles
 * are read and written through shared memory, row by row:
 *
 *     rows of a  ->  shared: [row][words across + 1]  ->  one square per thread
 *     rows of out  <-  shared: the same for the transposed tile  <-  one square per thread
 *
 * Columns are gathered 32 rows at a time: their squares are transposed into shared memory, where a
 * column of 32 rows is then a word; the words are read in order and transposed back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_TURN_CUH
#define ECHI_GF2_CUDA_TURN_CUH

#include "gf2/cuda/map.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* ---- Transpose ---- */

enum {
    TURN_ROWS_EACH = 16, /* words of 64 bits that a thread loads and stores */
    /* the tallest tile, and the padding between squares */
    TURN_WORDS = (32 << (8 - GF2_TURN_MIN)) * ((1 << GF2_TURN_MIN) + 1) + 16 * 33
};

/* The place of a word of the tile in shared memory: vertically adjacent squares are padded so that
 * the threads of a warp, which have squares in a row and then in the next rows, use different
 * banks. */
static __device__ inline uint32_t turn_in(uint32_t row, uint32_t word, uint32_t across_bits)
{
    return row * ((1u << across_bits) + 1) + 16 * (((row >> 5) + 1) >> 1) + word;
}

static __device__ inline uint32_t turn_out(uint32_t row, uint32_t word, uint32_t across_bits)
{
    return row * ((1u << across_bits) + 1) + 2 * (row >> 5) + word;
}

static __device__ inline void turn_load(const struct gf2_args &a, uint32_t *tile, uint64_t row0,
                                        uint64_t word0)
{
    const uint32_t bits = a.tile_bits - 1; /* 64-bit words across */
    const uint64_t words = words_of(a.a.cols);
    uint64_t value[TURN_ROWS_EACH];
#pragma unroll
    for (int k = 0; k < TURN_ROWS_EACH; k++) {
        const uint32_t i = k * GF2_THREADS + threadIdx.x;
        const uint64_t row = row0 + (i >> bits), word = word0 + (i & ((1u << bits) - 1));
        value[k] = row < a.a.rows && word < words ? word_at(a.a, row, word) : 0;
    }
#pragma unroll
    for (int k = 0; k < TURN_ROWS_EACH; k++) {
        const uint32_t i = k * GF2_THREADS + threadIdx.x;
        const uint32_t to = turn_in(i >> bits, 2 * (i & ((1u << bits) - 1)), a.tile_bits);
        tile[to] = (uint32_t)value[k];
        tile[to + 1] = (uint32_t)(value[k] >> 32);
    }
}

static __device__ inline void turn_store(const struct gf2_args &a, const uint32_t *tile,
                                         uint64_t row0, uint64_t word0)
{
    const uint32_t across = 8 - a.tile_bits, bits = across - 1;
    const uint64_t words = words_of(a.out.cols);
#pragma unroll
    for (int k = 0; k < TURN_ROWS_EACH; k++) {
        const uint32_t i = k * GF2_THREADS + threadIdx.x;
        const uint64_t row = row0 + (i >> bits), word = word0 + (i & ((1u << bits) - 1));
        if (row >= a.out.rows || word >= words) continue;
        const uint32_t from = turn_out(i >> bits, 2 * (i & ((1u << bits) - 1)), across);
        store_masked(&a.out.words[row * a.out.stride + word],
                     tile[from] | (uint64_t)tile[from + 1] << 32, columns_below(a.out.cols, word));
    }
}

static __device__ inline void turn_tiles(const struct gf2_args &a)
{
    __shared__ uint32_t tile[TURN_WORDS];
    const uint32_t across = a.tile_bits, down = 8 - across;
    const uint32_t x = threadIdx.x & ((1u << across) - 1), y = threadIdx.x >> across;
    for (uint64_t t = blockIdx.x; t < a.tiles; t += gridDim.x) {
        const uint64_t tile_y = t / a.tiles_across, tile_x = t - tile_y * a.tiles_across;
        uint32_t square[32];
        turn_load(a, tile, tile_y * (32u << down), tile_x * (1u << (across - 1)));
        __syncthreads(); /* the tile is written */
#pragma unroll
        for (int i = 0; i < 32; i++) square[i] = tile[turn_in(32 * y + i, x, across)];
        __syncthreads(); /* all threads have loaded a square */
        turn_thread(square);
#pragma unroll
        for (int i = 0; i < 32; i++) tile[turn_out(32 * x + i, y, down)] = square[i];
        __syncthreads(); /* all squares are written */
        turn_store(a, tile, tile_x * (32u << across), tile_y * (1u << (down - 1)));
        __syncthreads(); /* the tile may be overwritten */
    }
}

/* ---- Gather of columns ---- */

static __device__ inline uint32_t column_of_order(const struct gf2_args &a, uint64_t i, bool says)
{
    if (i >= a.out.cols) return 0xffffffffu;
    const uint32_t column = a.order[i];
    if (column < a.limit) return column;
    if (says) report_error(a.data_error, ECHI_INDEX_TOO_LARGE, i);
    return 0xffffffffu;
}

/* Transposes 32 rows into shared memory: each column becomes a word. */
static __device__ inline void turn_rows(const struct gf2_args &a, uint32_t *columns, uint64_t row0)
{
    const uint64_t row = row0 + lane_id(), words = words_of(a.a.cols);
    const uint64_t warp = threadIdx.x / 32, warps = GF2_THREADS / 32;
    for (uint64_t part = warp; part * GF2_PART_WORDS < words; part += warps) {
        uint64_t value[GF2_PART_WORDS];
#pragma unroll
        for (int k = 0; k < GF2_PART_WORDS; k++) {
            const uint64_t word = part * GF2_PART_WORDS + k;
            value[k] = row < a.a.rows && word < words ? word_at(a.a, row, word) : 0;
        }
#pragma unroll
        for (int k = 0; k < GF2_PART_WORDS; k++) {
            const uint64_t column = (part * GF2_PART_WORDS + k) * 64 + lane_id();
            const uint32_t low = turn_warp((uint32_t)value[k]);
            const uint32_t high = turn_warp((uint32_t)(value[k] >> 32));
            if (column < a.a.cols) columns[column] = low;
            if (column + 32 < a.a.cols) columns[column + 32] = high;
        }
    }
}

/* Block b of `units` that share the same 32 rows computes every `units`-th part of the result. */
static __device__ inline void gather_columns(const struct gf2_args &a)
{
    uint32_t *columns = (uint32_t *)shared_bytes;
    const uint64_t words = words_of(a.out.cols), warps = a.units * (GF2_THREADS / 32);
    for (uint64_t t = blockIdx.x; t < a.tiles; t += gridDim.x) {
        const uint64_t group = t / a.units, share = t - group * a.units;
        const uint64_t row = group * 32 + lane_id();
        turn_rows(a, columns, group * 32);
        __syncthreads(); /* the columns are written */
        for (uint64_t part = share * (GF2_THREADS / 32) + threadIdx.x / 32;
             part * GF2_PART_WORDS < words; part += warps) {
#pragma unroll
            for (int k = 0; k < GF2_PART_WORDS; k++) {
                const uint64_t word = part * GF2_PART_WORDS + k, column = word * 64 + lane_id();
                const uint32_t from_low = column_of_order(a, column, group == 0);
                const uint32_t from_high = column_of_order(a, column + 32, group == 0);
                const uint32_t low = turn_warp(from_low < a.limit ? columns[from_low] : 0);
                const uint32_t high = turn_warp(from_high < a.limit ? columns[from_high] : 0);
                if (row < a.out.rows && word < words)
                    store_masked(&a.out.words[row * a.out.stride + word],
                                 low | (uint64_t)high << 32, columns_below(a.out.cols, word));
            }
        }
        __syncthreads(); /* they may be overwritten */
    }
}

/* The same for rows that are too long for shared memory: a lane reads a column's bit of one row
 * after the other. */
static __device__ inline void gather_columns_wide(const struct gf2_args &a)
{
    const uint64_t words = words_of(a.out.cols), warps = (uint64_t)gridDim.x * (GF2_THREADS / 32);
    const uint64_t warp = (uint64_t)blockIdx.x * (GF2_THREADS / 32) + threadIdx.x / 32;
    const uint64_t groups = ((uint64_t)a.out.rows + 31) / 32;
    for (uint64_t t = warp; t < groups * words; t += warps) {
        const uint64_t group = t / words, word = t - group * words, column = word * 64 + lane_id();
        const uint64_t row0 = group * 32, left = a.out.rows - row0;
        const uint32_t from_low = column_of_order(a, column, group == 0);
        const uint32_t from_high = column_of_order(a, column + 32, group == 0);
        uint32_t low = 0, high = 0;
#pragma unroll 8
        for (uint32_t r = 0; r < 32; r++) {
            uint64_t l = 0, h = 0;
            if (r < left && from_low < a.limit)
                l = word_at(a.a, row0 + r, from_low / 64) >> (from_low & 63) & 1;
            if (r < left && from_high < a.limit)
                h = word_at(a.a, row0 + r, from_high / 64) >> (from_high & 63) & 1;
            const uint32_t l_row = __ballot_sync(WARP_ALL, l != 0);
            const uint32_t h_row = __ballot_sync(WARP_ALL, h != 0);
            if (lane_id() == r) low = l_row, high = h_row;
        }
        if (lane_id() < left)
            store_masked(&a.out.words[(row0 + lane_id()) * a.out.stride + word],
                         low | (uint64_t)high << 32, columns_below(a.out.cols, word));
    }
}

#endif
