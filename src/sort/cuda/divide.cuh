/*
 * sort/cuda/divide.cuh - device code of divide.cu: from a key to its place in the table of a
 * division among ranks (sort/divide.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_DIVIDE_CUH
#define ECHI_SORT_CUDA_DIVIDE_CUH

#include "sort/cuda/divide.h"
#include "sort/cuda/lengths.cuh"

/* The offset in the range of the bins; a key outside it has the first or the last one. */
static __device__ inline ukey divide_offset(const struct sort_divide_args &a, ukey e)
{
    const ukey low = (ukey)a.low, span = (ukey)a.span;
    return e < low ? (ukey)0 : min((ukey)(e - low), span);
}

/* The bin at first. */
template <int LENGTHS>
static __device__ inline uint32_t divide_bin(const struct sort_divide_args &a, ukey x)
{
    return LENGTHS ? length_digit(x, a.lengths) : (uint32_t)(x >> a.shift);
}

static __device__ inline uint32_t divide_any_bin(const struct sort_divide_args &a, ukey x)
{
    return a.lengths ? divide_bin<1>(a, x) : divide_bin<0>(a, x);
}

/* The slot of a key whose bin is divided: in the table of this node. */
static __device__ inline uint32_t divide_slot(const struct sort_divide_args &a, uint32_t node,
                                              ukey x)
{
    const struct echi_divide_node n = a.nodes[node];
    return n.first + ((uint32_t)(x >> n.shift) & ((1u << n.bits) - 1));
}

#endif
