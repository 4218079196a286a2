/*
 * gf2/cuda/mul_block.cuh - blocks of a product of packed matrices: their position, their operands,
 * and the stores of their words.
 *
 * A block is 128 x 256 bits of the result.  Its operands are loaded in stages of GF2_MUL_STEPS
 * steps of 256 bits of depth: [step][128 rows], then [step][256 columns], in the order of chunks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_MUL_BLOCK_CUH
#define ECHI_GF2_CUDA_MUL_BLOCK_CUH

#include "gf2/cuda/bits.cuh"
#include "gf2/cuda/mul.h"

extern __shared__ __align__(16) unsigned char shared_bytes[];

enum {
    STEPS = GF2_MUL_STEPS,
    A_PIECES = GF2_MUL_ROWS * 2, /* of 16 bytes, of one step */
    B_PIECES = GF2_MUL_COLUMNS * 2,
    STAGE_PIECES = STEPS * (A_PIECES + B_PIECES)
};

static_assert(STAGE_PIECES * 16 == (int)GF2_MUL_STAGE_BYTES, "the host gives other stages");

/* Block `number` of the result: bands of block rows, column by column. */
static __device__ inline void place_block(const struct gf2_mul_args &a, uint32_t number,
                                          uint32_t *row, uint32_t *column)
{
    const uint32_t band = number / (GF2_MUL_BAND * a.column_blocks);
    const uint32_t within = number % (GF2_MUL_BAND * a.column_blocks);
    const uint32_t left = a.row_blocks - band * GF2_MUL_BAND;
    const uint32_t height = min(left, (uint32_t)GF2_MUL_BAND);
    *row = band * GF2_MUL_BAND + within % height;
    *column = within / height;
}

/* The operands' pieces of a block at the first step, and the stride from step to step. */
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

/* Only one thread writes a word of the result; an addition is not waited for. */
static __device__ inline void put(const struct gf2_target &target, uint64_t stride, uint64_t row,
                                  uint64_t w, uint64_t value)
{
    if (row >= target.rows || 64 * w >= target.cols) return;
    const uint64_t left = target.cols - 64 * w;
    const uint64_t mask = left < 64 ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0;
    uint64_t *at = target.words + row * stride + w;
    if (target.add)
        atomicXor((unsigned long long *)at, (unsigned long long)(value & mask));
    else
        *at = ~mask ? (*at & ~mask) | (value & mask) : value;
}

#endif
