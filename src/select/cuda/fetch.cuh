/*
 * select/cuda/fetch.cuh - copies elements of any size at the positions that a tile selects.
 *
 * Positions are ascending, so that the lanes of a warp read nearby memory, and only selected
 * elements are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_FETCH_CUH
#define ECHI_SELECT_CUDA_FETCH_CUH

#include "select/cuda/word.cuh"

/* to[r] = from[local[r]] for r < count, of `words` words each; by the whole block. */
template <int BYTES>
static __device__ inline void fetch_words(void *to, const void *from, const uint16_t *local,
                                          uint32_t count, uint64_t words)
{
    const struct word<BYTES> *source = (const struct word<BYTES> *)from;
    struct word<BYTES> *target = (struct word<BYTES> *)to;
    enum { AT_ONCE = BYTES == 16 ? 2 : 4 }; /* loaded before the first is stored */
    if (words == 1) {
        for (uint32_t r = threadIdx.x; r < count; r += AT_ONCE * blockDim.x) {
            struct word<BYTES> x[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                x[k] = source[local[min(r + k * blockDim.x, count - 1)]];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (r + k * blockDim.x < count) target[r + k * blockDim.x] = x[k];
        }
        return;
    }
    uint32_t lanes = 2; /* lanes per element */
    while (lanes < 32 && lanes < words) lanes *= 2;
    for (uint32_t r = threadIdx.x / lanes; r < count; r += blockDim.x / lanes)
        for (uint64_t part = threadIdx.x % lanes; part < words; part += lanes)
            target[r * words + part] = source[local[r] * words + part];
}

static __device__ inline void fetch(void *to, const void *from, const uint16_t *local,
                                    uint32_t count, uint64_t words, uint32_t word_bytes)
{
    switch (word_bytes) {
    case 1:
        fetch_words<1>(to, from, local, count, words);
        break;
    case 2:
        fetch_words<2>(to, from, local, count, words);
        break;
    case 4:
        fetch_words<4>(to, from, local, count, words);
        break;
    case 8:
        fetch_words<8>(to, from, local, count, words);
        break;
    default:
        fetch_words<16>(to, from, local, count, words);
        break;
    }
}

#endif
