/*
 * select/cuda/count.cuh - flags of 16 elements as bits, and the number of flags in a range.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_COUNT_CUH
#define ECHI_SELECT_CUDA_COUNT_CUH

#include "select/cuda/tile.cuh"

/* The top bits of four bytes as bits 0 ... 3: the products of the factor's bits do not collide. */
static __device__ inline uint32_t top_bits(uint32_t x)
{
    return ((x & 0x80808080u) >> 7) * 0x10204080u >> 28;
}

/* Bytes that are not zero, as bits. */
static __device__ inline uint32_t nonzero_bytes(uint32_t x)
{
    return top_bits(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x);
}

static __device__ inline uint32_t vector_bits(const uint4 &v)
{
    return nonzero_bytes(v.x) | nonzero_bytes(v.y) << 4 | nonzero_bytes(v.z) << 8 |
           nonzero_bytes(v.w) << 12;
}

/* Flags of a vector: bits, or bytes that are not zero. */
static __device__ inline uint32_t count_vector(const struct select_args &a, const uint4 &v)
{
    if (a.source == SELECT_BYTES) return (uint32_t)__popc((int)vector_bits(v));
    return (uint32_t)(__popc((int)v.x) + __popc((int)v.y) + __popc((int)v.z) + __popc((int)v.w));
}

/* By a warp: the number of flags of elements begin ... end - 1.  Packed flags begin at bytes. */
static __device__ inline uint32_t count_flags(const struct select_args &a, uint64_t begin,
                                              uint64_t end)
{
    const uint32_t shift = a.source == SELECT_BITS ? 3 : 0;
    const uint8_t *from = a.flags + (begin >> shift), *to = a.flags + (end >> shift);
    const uint8_t *first = from + (-(uintptr_t)from & 15), *last = to - ((uintptr_t)to & 15);
    uint32_t own = 0;
    if (first > last) first = last = to;
#pragma unroll 4
    for (const uint8_t *at = first + lane_id() * 16; at < last; at += 32 * 16)
        own += count_vector(a, __ldcs((const uint4 *)at));
    for (const uint8_t *at = from + lane_id(); at < first; at += 32)
        own += shift ? (uint32_t)__popc(*at) : *at != 0;
    for (const uint8_t *at = last + lane_id(); at < to; at += 32)
        own += shift ? (uint32_t)__popc(*at) : *at != 0;
    if (shift && end % 8 && lane_id() == 0) own += (uint32_t)__popc(*to & ((1 << end % 8) - 1));
    return (uint32_t)warp_sum_u64(own);
}

#endif
