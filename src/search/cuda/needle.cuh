/*
 * search/cuda/needle.cuh - device code of all searches: needles as they are compared; positions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SEARCH_CUDA_NEEDLE_CUH
#define ECHI_SEARCH_CUDA_NEEDLE_CUH

#include "cuda/device/merge_path.cuh"
#include "cuda/device/warp.cuh"
#include "search/cuda/common.h"

/* A needle as it is compared: its position is the number of keys with a lower code, or n. */
struct needle {
    ukey code;
    bool after_all;
};

static __device__ inline struct needle needle_of(const struct search_args &a, ukey key)
{
    const ukey code = merge_form(a.order, key);
    struct needle x = { (ukey)(code + (a.upper ? 1 : 0)), false };
    x.after_all = a.upper && x.code == 0;
    return x;
}

static __device__ inline struct needle needle_at(const struct search_args &a, uint64_t i)
{
    return needle_of(a, __ldcs((const ukey *)a.needles + i));
}

static __device__ inline void store_position(const struct search_args &a, uint64_t i, uint64_t at)
{
    if (a.index_bytes == 8)
        __stcs((unsigned long long *)a.positions + i, (unsigned long long)at);
    else
        __stcs((unsigned *)a.positions + i, (unsigned)at);
}

#endif
