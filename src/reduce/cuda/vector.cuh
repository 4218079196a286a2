/*
 * reduce/cuda/vector.cuh - loads of 16 bytes of elements at any address that is aligned to an
 * element.
 *
 *     memory      |  .  .  a  b | c  d  .  . |       two aligned loads and a shift, if both are
 *     vector               a  b   c  d               within the array; otherwise element by element
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_VECTOR_CUH
#define ECHI_REDUCE_CUDA_VECTOR_CUH

#include "cuda/device/instance.cuh"
#include "reduce/cuda/common.h"

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

/* VECTORS vectors at any address, as the aligned vectors that contain them: loaded now, and shifted
 * after all other loads have been issued.  SHIFTED 0: they are aligned themselves. */
template <int VECTORS, int SHIFTED> struct raw {
    struct vector v[VECTORS + SHIFTED];
};

/* Loads the aligned vectors that contain the first `bytes` bytes from `shift` bytes past `at`
 * on. */
template <int VECTORS, int SHIFTED>
static __device__ inline void raw_load(const char *at, uint32_t shift, uint32_t bytes,
                                       struct raw<VECTORS, SHIFTED> &raw)
{
    const uint32_t end = bytes && SHIFTED ? shift + bytes : bytes;
#pragma unroll
    for (int i = 0; i < VECTORS + SHIFTED; i++) {
        struct vector none = { { 0, 0, 0, 0 } };
        raw.v[i] = none;
        if (16 * i < end) raw.v[i] = vector_at(at + 16 * i);
    }
}

template <int VECTORS, int SHIFTED>
static __device__ inline void raw_shift(const struct raw<VECTORS, SHIFTED> &raw, uint32_t shift,
                                        struct vector (&v)[VECTORS])
{
    enum { WORDS = 4 * VECTORS };
    uint32_t w[WORDS + 4 * SHIFTED];
#pragma unroll
    for (int i = 0; i < WORDS + 4 * SHIFTED; i++) w[i] = raw.v[i / 4].w[i % 4];
#pragma unroll
    for (int i = 0; SHIFTED && i < WORDS + 2; i++) w[i] = shift & 8 ? w[i + 2] : w[i];
#pragma unroll
    for (int i = 0; SHIFTED && i < WORDS + 1; i++) w[i] = shift & 4 ? w[i + 1] : w[i];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        v[i / 4].w[i % 4] = KEY_BYTES >= 4 || !SHIFTED
                                ? w[i]
                                : __funnelshift_r(w[i], w[i + SHIFTED], 8 * (shift & 3));
}

/* The elements from `from` to `to` of the vector at `at`, and `fill` for the others. */
static __device__ inline struct vector vector_between(const ukey *at, uint32_t from, uint32_t to,
                                                      ukey fill)
{
    struct vector v = { { 0, 0, 0, 0 } };
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        const ukey u = i >= from && i < to ? at[i] : fill;
#if KEY_BITS == 64
        v.w[2 * i] = (uint32_t)u;
        v.w[2 * i + 1] = (uint32_t)(u >> 32);
#else
        v.w[i * KEY_BYTES / 4] |= (uint32_t)u << i * KEY_BITS % 32;
#endif
    }
    return v;
}

/* The first `count` elements, and zeros for the others: for one or two vectors of an array, as a
 * function call. */
static __device__ __noinline__ struct vector vector_at_end(const ukey *at, uint32_t count)
{
    return vector_between(at, 0, count, 0);
}

/* All bits of the first `count` elements in word i. */
static __device__ inline uint32_t vector_mask(int i, uint32_t count)
{
    if (KEY_BITS >= 32) return i * 4 / KEY_BYTES < (int)count ? ~0u : 0;
    int bits = (int)count * KEY_BITS - 32 * i;
    return bits >= 32 ? ~0u : bits > 0 ? (1u << bits) - 1 : 0;
}

/* The first `count` elements of a vector, and `fill` for the others. */
static __device__ inline struct vector vector_filled(struct vector v, uint32_t count, ukey fill)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t mask = vector_mask(i, count);
        uint32_t filling = (uint32_t)((uint64_t)fill >> (KEY_BITS == 64 ? 32 * (i % 2) : 0));
        if (KEY_BITS == 8) filling *= 0x01010101u;
        if (KEY_BITS == 16) filling *= 0x00010001u;
        v.w[i] = (v.w[i] & mask) | (filling & ~mask);
    }
    return v;
}

/* Lines within the array, 512 bytes apart: all of them or, with ALL 0, the first `lines`. */
template <int LINES, int ALL>
static __device__ inline void vector_lines(const char *at, uint32_t lines,
                                           struct vector (&v)[LINES])
{
#pragma unroll
    for (int i = 0; i < LINES; i++)
        if (ALL || i < lines) v[i] = vector_at(at + 512 * i);
}

#endif
