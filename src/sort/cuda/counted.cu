/*
 * sort/cuda/counted.cu - sorts rows or segments of 16-bit keys without values, one per block of
 * many threads: if there are few, this takes less time than sort_short_block (short.cu).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define COUNTED_WIDE 1
#include "sort/cuda/counted.cuh"

extern "C" __global__ void __launch_bounds__(SORT_COUNTED_WIDE_THREADS)
    sort_counted(const __grid_constant__ struct sort_short_args a)
{
    wait_for_earlier();
    counted_groups(a, (uint32_t *)shared_bytes);
}
