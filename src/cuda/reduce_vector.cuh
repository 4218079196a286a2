/*
 * cuda/reduce_vector.cuh - 16 bytes of elements at any address that elements can have.
 *
 *     memory      |  .  .  a  b | c  d  .  . |       two aligned loads and a shift, where both lie
 *     vector               a  b   c  d               within the array; else element by element
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_REDUCE_VECTOR_CUH
#define ECHI_CUDA_REDUCE_VECTOR_CUH

#include "instance.cuh"
#include "reduce.h"

enum {
    VECTOR = 16 / KEY_BYTES, /* elements */
    LINE = ECHI_LINE_BYTES / KEY_BYTES,
    CHUNK = ECHI_CHUNK_BYTES / KEY_BYTES
};

struct vector {
    uint32_t w[4];
};

static __device__ inline ukey vector_element(const struct vector &v, int i)
{
#if KEY_BITS == 64
    return (uint64_t)v.w[2 * i + 1] << 32 | v.w[2 * i];
#else
    return (ukey)(v.w[i * KEY_BYTES / 4] >> i * KEY_BITS % 32);
#endif
}

static __device__ inline struct vector vector_at(const char *at)
{
    uint4 u = __ldg((const uint4 *)at);
    struct vector v = { { u.x, u.y, u.z, u.w } };
    return v;
}

/* The 16 bytes that begin `shift` bytes, not 0, past a multiple of 16. */
static __device__ inline struct vector vector_shifted(const char *at, uint32_t shift)
{
    struct vector low = vector_at(at - shift), high = vector_at(at - shift + 16), v;
    uint32_t w[8] = { low.w[0],  low.w[1],  low.w[2],  low.w[3],
                      high.w[0], high.w[1], high.w[2], high.w[3] };
#pragma unroll
    for (int i = 0; i < 6; i++) w[i] = shift & 8 ? w[i + 2] : w[i];
#pragma unroll
    for (int i = 0; i < 5; i++) w[i] = shift & 4 ? w[i + 1] : w[i];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v.w[i] = KEY_BYTES >= 4 ? w[i] : __funnelshift_r(w[i], w[i + 1], 8 * (shift & 3));
    return v;
}

/* The first `count` elements, and `fill` for the others. */
static __device__ inline struct vector vector_some(const ukey *at, uint32_t count, ukey fill)
{
    struct vector v = { { 0, 0, 0, 0 } };
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        ukey u = i < count ? at[i] : fill;
#if KEY_BITS == 64
        v.w[2 * i] = (uint32_t)u;
        v.w[2 * i + 1] = (uint32_t)(u >> 32);
#else
        v.w[i * KEY_BYTES / 4] |= (uint32_t)u << i * KEY_BITS % 32;
#endif
    }
    return v;
}

/* All bits of the first `count` elements in word i. */
static __device__ inline uint32_t vector_mask(int i, uint32_t count)
{
    int bits = (int)count * KEY_BITS - 32 * i;
    return bits >= 32 ? ~0u : bits > 0 ? (1u << bits) - 1 : 0;
}

/* Lines within the array, 512 bytes apart: all of them, or with ALL 0 the first `lines`. */
template <int LINES, int ALL>
static __device__ inline void vector_lines(const char *at, uint32_t lines,
                                           struct vector (&v)[LINES])
{
#pragma unroll
    for (int i = 0; i < LINES; i++)
        if (ALL || i < lines) v[i] = vector_at(at + 512 * i);
}

static __device__ inline struct vector vector_anywhere(const char *at, uint32_t shift)
{
    return shift ? vector_shifted(at, shift) : vector_at(at);
}

#endif
