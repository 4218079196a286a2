/*
 * sort/cuda/marks.cuh - a block writes sorted keys of which it knows where each value begins.
 *
 *     mark      the first place of each value, and places with which warps begin
 *     write     a place without a mark has the value of the last mark before it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MARKS_CUH
#define ECHI_SORT_CUDA_MARKS_CUH

#include "sort/cuda/vectors.cuh"

enum { MARKS_WARP = 32 * VECTOR_KEYS }; /* places that a warp writes at once */

/* The number of keys before this one in its vector.  This is the place of the first mark. */
static __device__ inline uint32_t marks_skew(const ukey *keys)
{
    return (uint32_t)((uintptr_t)keys / KEY_BYTES) % VECTOR_KEYS;
}

/* Marks the places from `at` on with a value, which occurs `count` times. */
static __device__ inline void marks_put(ukey *marks, uint32_t value, uint32_t at, uint32_t count)
{
    if (count == 0) return;
    marks[at] = (ukey)value;
    for (uint32_t p = at / MARKS_WARP * MARKS_WARP + MARKS_WARP; p < at + count; p += MARKS_WARP)
        marks[p] = (ukey)value;
}

/* Writes n keys, and clears the marks. */
template <int WARPS>
static __device__ inline void marks_write(const struct echi_order &o, uint4 *marks, ukey *out,
                                          uint32_t n)
{
    const uint32_t skew = marks_skew(out), end = n + skew;
#pragma unroll 1
    for (uint32_t from = 0; from < end; from += WARPS * MARKS_WARP) {
        const uint32_t at = from + threadIdx.x * VECTOR_KEYS;
        union key_vector v = {};
        if (at < end) {
            v.vector = marks[at / VECTOR_KEYS];
            marks[at / VECTOR_KEYS] = make_uint4(0, 0, 0, 0);
        }
        uint32_t value = 0;
#pragma unroll
        for (int i = 0; i < VECTOR_KEYS; i++) value = max(value, (uint32_t)v.key[i]);
#pragma unroll
        for (int step = 1; step < 32; step *= 2)
            value = max(value, __shfl_up_sync(WARP_ALL, value, step)); /* of low lanes: their own */
        value = __shfl_up_sync(WARP_ALL, value, 1);
        if (lane_id() == 0) value = 0;
#pragma unroll
        for (int i = 0; i < VECTOR_KEYS; i++) {
            value = max(value, (uint32_t)v.key[i]);
            v.key[i] = order_decode(o, (ukey)value);
        }
        if (at >= skew && at + VECTOR_KEYS <= end) {
            *(uint4 *)(out + at - skew) = v.vector;
            continue;
        }
#pragma unroll
        for (int i = 0; i < VECTOR_KEYS; i++)
            if (at + i >= skew && at + i < end) out[at + i - skew] = v.key[i];
    }
}

#endif
