/*
 * gf2/cuda/map.cuh - operations over GF(2) that compute each word independently.
 *
 * A thread computes GF2_EACH words in consecutive rows; all are loaded before the first is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_MAP_CUH
#define ECHI_GF2_CUDA_MAP_CUH

#include "gf2/random.h"
#include "cuda/device/data_error.cuh"
#include "gf2/cuda/common.h"
#include "gf2/cuda/word.cuh"

/* The position of a thread in a tile whose threads have `each` consecutive rows. */
struct place {
    uint64_t row, unit;
    uint32_t step; /* rows from one of them to the next */
};

static __device__ inline struct place place_of(const struct gf2_args &a, uint64_t tile,
                                               uint32_t each)
{
    const uint32_t across = 1u << a.tile_bits;
    const uint64_t down =
        a.tiles >> 32 ? tile / a.tiles_across : (uint32_t)tile / (uint32_t)a.tiles_across;
    struct place p;
    p.step = GF2_THREADS >> a.tile_bits;
    p.row = down * each * p.step + (threadIdx.x >> a.tile_bits);
    p.unit = (tile - down * a.tiles_across) * across + (threadIdx.x & (across - 1));
    return p;
}

enum map_what {
    MAP_COPY,
    MAP_ADD,
    MAP_GATHER_ROWS,
    MAP_ZERO,
    MAP_IDENTITY,
    MAP_CLEAR,
    MAP_CERTIFICATE,
    MAP_UNIT,
    MAP_LU,
    MAP_SPREAD
};

static __device__ inline uint64_t word_at(const struct gf2_matrix &m, uint64_t row, uint64_t word)
{
    return m.words[row * m.stride + word];
}

/* 64 bits of a row from any position on; bits outside of the row's words are 0. */
static __device__ inline uint64_t bits_at(const struct gf2_matrix &m, uint64_t row, int64_t bit)
{
    const int64_t word = bit >> 6, last = (int64_t)words_of(m.cols) - 1;
    const uint32_t shift = (uint32_t)bit & 63;
    uint64_t low = 0, high = 0;
    if (word >= 0 && word <= last) low = word_at(m, row, (uint64_t)word);
    if (shift && word + 1 <= last) high = word_at(m, row, (uint64_t)(word + 1));
    return shift ? low >> shift | high << (64 - shift) : low;
}

static __device__ inline uint64_t row_of_order(const struct gf2_args &a, uint64_t row,
                                               uint64_t word)
{
    const uint32_t from = a.order[row];
    return from < a.limit ? word_at(a.a, from, word) : 0;
}

static __device__ inline uint64_t lower_and_upper(const struct gf2_args &a, uint64_t row,
                                                  uint64_t word)
{
    const uint32_t rank = *a.rank;
    const uint64_t lower = columns_below(row < rank ? row : rank, word);
    const uint64_t upper = row < rank ? ~columns_below(row, word) : 0;
    return (lower ? word_at(a.b, row, word) & lower : 0) |
           (upper ? word_at(a.a, row, word) & upper : 0);
}

static __device__ inline uint64_t unit_at(uint64_t row, uint64_t word)
{
    return row / 64 == word ? (uint64_t)1 << (row & 63) : 0;
}

static __device__ inline uint64_t unit_beyond(const struct gf2_args &a, uint64_t row, uint64_t word)
{
    const uint32_t rank = *a.rank;
    if (row >= rank) return unit_at(row, word);
    const uint64_t inside = columns_below(rank, word);
    return inside ? word_at(a.a, row, word) & inside : 0;
}

template <int WHAT>
static __device__ inline uint64_t map_word(const struct gf2_args &a, uint64_t row, uint64_t word)
{
    switch (WHAT) {
    case MAP_COPY:
        return bits_at(a.a, row, (int64_t)(word * 64 + a.a_bit) - (int64_t)a.out_bit);
    case MAP_ADD:
        return word_at(a.a, row, word) ^ word_at(a.b, row, word);
    case MAP_GATHER_ROWS:
        return row_of_order(a, row, word);
    case MAP_IDENTITY:
        return unit_at(row, word);
    case MAP_CLEAR:
        return word_at(a.out, row, word) & ~a.mask[word];
    case MAP_CERTIFICATE:
        return a.first[row] == 0xffffffffu ? 0 : word_at(a.b, a.first[row], word);
    case MAP_UNIT:
        return unit_beyond(a, row, word);
    case MAP_LU:
        return lower_and_upper(a, row, word);
    case MAP_SPREAD:
        return word_at(a.a, row, word);
    default:
        return 0;
    }
}

/* The row of out that receives row `row`; none: its number of rows. */
template <int WHAT>
static __device__ inline uint64_t map_row(const struct gf2_args &a, uint64_t row)
{
    if (WHAT != MAP_SPREAD) return row;
    if (row >= *a.rank) return a.out.rows;
    const uint32_t to = a.positions[row];
    return to < a.out.rows ? to : a.out.rows;
}

template <int WHAT> static __device__ inline void map_words(const struct gf2_args &a)
{
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        const struct place p = place_of(a, tile, GF2_EACH);
        uint64_t value[GF2_EACH];
        if (p.unit >= a.units) continue;
        uint64_t mask = columns_below(a.out.cols, p.unit);
        if (WHAT == MAP_COPY) mask &= ~columns_below(a.out_bit, p.unit);
#pragma unroll
        for (int k = 0; k < GF2_EACH; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step;
            if (row < a.rows) value[k] = map_word<WHAT>(a, row, p.unit);
        }
#pragma unroll
        for (int k = 0; k < GF2_EACH; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step;
            if (row >= a.rows) break;
            const uint64_t to = map_row<WHAT>(a, row);
            if (to < a.out.rows)
                store_masked(&a.out.words[to * a.out.stride + p.unit], value[k], mask);
            if (WHAT == MAP_GATHER_ROWS && p.unit == 0 && a.order[row] >= a.limit)
                report_error(a.data_error, ECHI_INDEX_TOO_LARGE, row);
        }
    }
}

/* Nothing is loaded, so a thread computes one word after the other, which needs less code. */
static __device__ inline void map_random(const struct gf2_args &a)
{
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        const struct place p = place_of(a, tile, GF2_EACH);
        if (p.unit >= a.units) continue;
        const uint64_t mask = columns_below(a.out.cols, p.unit);
#pragma unroll 1
        for (uint32_t k = 0; k < GF2_EACH; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step;
            if (row >= a.rows) break;
            store_masked(&a.out.words[row * a.out.stride + p.unit],
                         echi_gf2_random_word(a.seed, a.threshold, row, p.unit), mask);
        }
    }
}

/* ---- A byte for each bit ---- */

/* Loads eight bytes of an array of n bytes; only those from `at` to `end` are used. */
static __device__ inline uint64_t load_eight(const uint8_t *bytes, uint64_t n, uint64_t at,
                                             uint64_t end)
{
    const uint32_t shift = (uint32_t)((uintptr_t)(bytes + at) & 7);
    if (shift <= at && at - shift + 16 <= n && at + 8 <= end) {
        const uint64_t *words = (const uint64_t *)(bytes + at - shift);
        return shift ? words[0] >> 8 * shift | words[1] << (64 - 8 * shift) : words[0];
    }
    uint64_t eight = 0;
    for (uint32_t i = 0; i < 8 && at + i < end; i++) eight |= (uint64_t)bytes[at + i] << 8 * i;
    return eight;
}

/* A thread computes one byte of a row: 8 bits. */
static __device__ inline void pack_bytes(const struct gf2_args &a)
{
    uint8_t *out = (uint8_t *)a.out.words;
    const uint64_t n = (uint64_t)a.out.rows * a.out.cols;
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        const struct place p = place_of(a, tile, GF2_EACH);
        uint64_t eight[GF2_EACH];
        if (p.unit >= a.units) continue;
        const uint64_t left = a.out.cols - 8 * p.unit;
#pragma unroll
        for (int k = 0; k < GF2_EACH; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step, begin = row * a.out.cols;
            if (row < a.rows)
                eight[k] = load_eight(a.bytes, n, begin + 8 * p.unit, begin + a.out.cols);
        }
#pragma unroll
        for (int k = 0; k < GF2_EACH; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step;
            if (row >= a.rows) break;
            uint8_t *at = out + row * a.out.stride * 8 + p.unit;
            uint32_t bits =
                (uint32_t)((eight[k] & 0x0101010101010101u) * 0x0102040810204080u >> 56);
            const uint32_t mask = left < 8 ? (1u << left) - 1 : 0xffu;
            if (left < 8) bits = (*at & ~mask) | (bits & mask);
            *at = (uint8_t)bits;
        }
    }
}

/* A thread writes the bytes of a row in one aligned word of eight. */
static __device__ inline void unpack_bytes(const struct gf2_args &a)
{
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        const struct place p = place_of(a, tile, GF2_EACH);
        if (p.unit >= a.units) continue;
        uint32_t bits[GF2_EACH];
#pragma unroll
        for (int k = 0; k < GF2_EACH; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step;
            const uint32_t shift = (uint32_t)((uintptr_t)(a.bytes + row * a.a.cols) & 7);
            const int64_t column = (int64_t)(8 * p.unit) - shift;
            if (row < a.rows && column < (int64_t)a.a.cols)
                bits[k] = (uint32_t)bits_at(a.a, row, column) & 0xff;
        }
#pragma unroll
        for (int k = 0; k < GF2_EACH; k++) {
            const uint64_t row = p.row + (uint64_t)k * p.step;
            if (row >= a.rows) break;
            uint8_t *begin = a.bytes + row * a.a.cols;
            const uint32_t shift = (uint32_t)((uintptr_t)begin & 7);
            const int64_t column = (int64_t)(8 * p.unit) - shift;
            if (column >= (int64_t)a.a.cols) continue;
            uint64_t eight = (uint64_t)bits[k] * 0x0101010101010101u & 0x8040201008040201u;
            eight = ((eight + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
            if (column >= 0 && column + 8 <= (int64_t)a.a.cols) {
                *(uint64_t *)(begin + column) = eight;
                continue;
            }
            for (int i = 0; i < 8; i++)
                if (column + i >= 0 && column + i < (int64_t)a.a.cols)
                    begin[column + i] = (uint8_t)(eight >> 8 * i);
        }
    }
}

#endif
