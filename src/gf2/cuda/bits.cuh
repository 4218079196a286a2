/*
 * gf2/cuda/bits.cuh - blocks of bits in the layout of tensor core operands and results.
 *
 * A chunk is 256 vectors of 256 bits, 8 KiB. Bits 32 q ... of a vector are one of its words.  An
 * operand of gf2_mul is stored as matrices of 8 vectors x 16 bytes (gf2_word_place), a right
 * operand of gf2_apply in the order in which a warp's lanes load 16 bytes each (gf2_column_place).
 * A chunk of the right operand has the 256 columns of four words of 64 bits, distributed so that in
 * the product the lanes of one t hold the columns of word t:
 *
 *     round r (of 16), fragment n (of 2), its columns 2 t + e  <->  word t, bit
 *         32 (r / 8) + 8 (2 n + e) + 7 - r % 8
 *
 * so that the lowest bits of four counts are the next bits of four bytes, and lanes exchange no
 * data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CUDA_BITS_CUH
#define ECHI_GF2_CUDA_BITS_CUH

#include <stdint.h>
#include "cuda/device/ptx.cuh"
#include "cuda/device/ptx_mma.cuh"
#include "cuda/device/warp.cuh"

/* GPUs on which mma.sync multiplies bits natively; other GPUs get no such kernel. */
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 1000)
#define GF2_MMA 1
#else
#define GF2_MMA 0
#endif

enum { GF2_CHUNK_WORDS = 2048 }; /* of 32 bits */

/* For gf2_apply: the place, in its chunk, of word q of the column that is bit b of word t of its
 * four. */
static __device__ inline uint32_t gf2_column_place(uint32_t t, uint32_t b, uint32_t q)
{
    const uint32_t byte = b % 32 / 8, r = b / 32 * 8 + 7 - b % 8;
    const uint32_t lane = (2 * t + byte % 2) * 4 + q % 4, part = byte / 2 * 2 + q / 4;
    return (r * 32 + lane) * 4 + part;
}

/* The column of its chunk that is bit b of word t of its four, and the place of word q of a
 * vector. */
static __device__ inline uint32_t gf2_column(uint32_t t, uint32_t b)
{
    const uint32_t byte = b % 32 / 8, r = b / 32 * 8 + 7 - b % 8;
    return (2 * r + byte / 2) * 8 + 2 * t + byte % 2;
}

static __device__ inline uint32_t gf2_word_place(uint32_t vector, uint32_t q)
{
    return vector / 8 * 64 + q / 4 * 32 + vector % 8 * 4 + q % 4;
}

/* The inverse of gf2_column: the bit among those of the four words, 64 t + b. */
static __device__ inline uint32_t gf2_column_bit(uint32_t column)
{
    const uint32_t r = column / 16, n = column / 8 % 2, t = column % 8 / 2, e = column % 2;
    return 64 * t + 32 * (r / 8) + 8 * (2 * n + e) + 7 - r % 8;
}

/* Four counts give bits 0, 8, 16 and 24 of the result; the other bits are undefined. */
static __device__ inline uint32_t gf2_parities(int32_t a, int32_t b, int32_t c, int32_t d)
{
    const uint32_t low = __byte_perm((uint32_t)a, (uint32_t)b, 0x0040);
    const uint32_t high = __byte_perm((uint32_t)c, (uint32_t)d, 0x4000);
    return __byte_perm(low, high, 0x7610);
}

/* The same for counts below 2^16, by multiplications, which use other execution units. */
static __device__ inline uint32_t gf2_parities_small(int32_t a, int32_t b, int32_t c, int32_t d)
{
    const uint32_t low = (uint32_t)a + (uint32_t)b * 65536;
    const uint32_t high = (uint32_t)c + (uint32_t)d * 65536;
    return __byte_perm(low, high, 0x6420);
}

/* Shifts bits 0, 8, 16 and 24 of next into the bytes of bits from below. */
static __device__ inline uint32_t gf2_append(uint32_t bits, uint32_t next)
{
    return bits_select(0x01010101u, next, bits + bits);
}

/* Lane i passes row i and receives column i of 32 x 32 bits. */
static __device__ inline uint32_t gf2_transpose_32(uint32_t row)
{
    uint32_t low = 0x0000ffffu;
#pragma unroll
    for (uint32_t step = 16; step; step /= 2) {
        const uint32_t other = __shfl_xor_sync(WARP_ALL, row, step);
        row = lane_id() & step ? (row & ~low) | ((other & ~low) >> step)
                               : (row & low) | ((other & low) << step);
        low ^= low << step / 2;
    }
    return row;
}

#endif
