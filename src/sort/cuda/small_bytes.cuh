/*
 * sort/cuda/small_bytes.cuh - a block sorts few 8-bit keys without values: it counts them, and
 * marks where each value begins (marks.cuh).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SMALL_BYTES_CUH
#define ECHI_SORT_CUDA_SMALL_BYTES_CUH

#include "sort/cuda/block.h"
#include "sort/cuda/marks.cuh"

enum { BYTES_VALUES = 256, BYTES_EACH = 4 /* keys of a load */ };

/* Counts the keys. */
template <int WARPS>
static __device__ inline void bytes_count(const struct echi_order &o, uint32_t *counts,
                                          const ukey *in, uint32_t n)
{
    const uint32_t before = (uint32_t)(uintptr_t)in % BYTES_EACH, end = before + n;
#pragma unroll 4
    for (uint32_t at = threadIdx.x * BYTES_EACH; at < end; at += 32 * WARPS * BYTES_EACH) {
        uint32_t u = 0, exist = (1 << BYTES_EACH) - 1;
        if (at >= before && at + BYTES_EACH <= end) {
            u = *(const uint32_t *)(in + at - before);
        } else {
            exist = 0;
#pragma unroll
            for (int i = 0; i < BYTES_EACH; i++)
                if (at + i >= before && at + i < end) {
                    u |= (uint32_t)in[at + i - before] << 8 * i;
                    exist |= 1u << i;
                }
        }
        if (exist == (1 << BYTES_EACH) - 1 && u == (u & 0xff) * 0x01010101) {
            atomicAdd(&counts[order_encode(o, (ukey)u)], (uint32_t)BYTES_EACH);
            continue;
        }
#pragma unroll
        for (int i = 0; i < BYTES_EACH; i++) /* the hardware combines additions of a warp */
            if (exist >> i & 1) atomicAdd(&counts[order_encode(o, (ukey)(u >> 8 * i))], 1);
    }
}

/* Sorts n keys.  Before and afterwards, the counts of all values and the marks are zero. */
template <int WARPS>
static __device__ inline void bytes_sort(const struct echi_order &o, uint32_t *counts,
                                         uint32_t (&sums)[BYTES_VALUES / 32], uint4 *marks,
                                         const ukey *in, ukey *out, uint32_t n)
{
    const uint32_t me = threadIdx.x;
    uint32_t own = 0, through = 0;
    bytes_count<WARPS>(o, counts, in, n);
    __syncthreads(); /* the keys are counted */
    if (me < BYTES_VALUES) {
        own = counts[me];
        counts[me] = 0;
        through = warp_scan(own);
        if (lane_id() == 31) sums[me / 32] = through;
    }
    __syncthreads(); /* the sums of 32 values each are written */
    if (me < BYTES_VALUES) {
        uint32_t at = marks_skew(out) + through - own;
#pragma unroll
        for (int w = 0; w < BYTES_VALUES / 32; w++) at += (uint32_t)w < me / 32 ? sums[w] : 0;
        marks_put((ukey *)marks, me, at, own);
    }
    __syncthreads(); /* the places are marked */
    marks_write<WARPS>(o, marks, out, n);
}

#endif
