/*
 * sort/cuda/pages_place.cuh - kernels before and after passes in pages that do not depend on the
 * key: pages_steps.cuh.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_PAGES_PLACE_CUH
#define ECHI_SORT_CUDA_PAGES_PLACE_CUH

#include "sort/cuda/pages_steps.cuh"

extern "C" __global__ void __launch_bounds__(SORT_BINS)
    sort_pages_begin(const __grid_constant__ struct sort_passes_args a)
{
    __shared__ struct pages_begin_shared s;
    const struct sort_pass p = a.state->pass[a.common.level];
    if (pages_used(a, p)) pages_begin(a, p, a.common.level, s);
}

extern "C" __global__ void __launch_bounds__(SORT_PAGES_THREADS, SORT_PAGES_BLOCKS)
    sort_pages_place(const __grid_constant__ struct sort_passes_args a)
{
    pages_place(a);
}

#endif
