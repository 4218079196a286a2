/*
 * arrange/cuda/word.cuh - the word of this module, from WORD_BYTES, and division by a number that
 * the host knows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_CUDA_WORD_CUH
#define ECHI_ARRANGE_CUDA_WORD_CUH

#include <stdint.h>
#include "arrange/cuda/common.h"

/* So that editors and readers see one concrete instance. */
#ifndef WORD_BYTES
#define WORD_BYTES 4
#endif

#if WORD_BYTES == 1
typedef uint8_t word;
#elif WORD_BYTES == 2
typedef uint16_t word;
#elif WORD_BYTES == 4
typedef uint32_t word;
#elif WORD_BYTES == 8
typedef uint64_t word;
#else
typedef uint4 word;
#endif

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* x / d, if inverse is 2^32 / d rounded up and x d < 2^32; d = 1 has no inverse. */
static __device__ inline uint32_t divide(uint32_t x, uint32_t d, uint32_t inverse)
{
    return d == 1 ? x : __umulhi(x, inverse);
}

/* The row of tiles that a tile of a transpose is in; tiles follow each other along rows. */
static __device__ inline uint64_t tiles_above(const struct arrange_transpose_args &a, uint64_t tile)
{
    return a.tiles >> 32 ? tile / a.tiles_across : (uint32_t)tile / (uint32_t)a.tiles_across;
}

#endif
