/*
 * sort/cuda/kernels.cu - radix sort on the GPU, device half.
 *
 * Least significant digit first, 8 bits a pass, each pass one read and one write of the data (the
 * "onesweep" of Adinets and Merrill, arXiv 2206.01784, over decoupled look-back, Merrill and
 * Garland 2016):
 *
 *     sort_histogram   reads the keys once and counts every digit of every pass
 *     sort_plan        where each bin begins; which passes can be left out
 *     sort_onesweep    one pass, once a digit: in onesweep.cuh
 *     sort_finish      copies, when the passes that remain do not end in the output
 *     sort_lsd         all of these in one launch, if keys are skewed: in lsd.cuh
 *     sort_fill        instead of passes, writes keys of 8 bits from their histogram; this, and how
 *                      keys of 16 bits are counted, is in count.cuh
 *     sort_block_*     all of it for an array that one block can hold: in small.cuh
 *
 * Between passes keys are in the form of order_encode().  Nothing returns to the host: the plan is
 * made and read on the device, so that a sort can be queued and captured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/common.cuh"
#include "sort/cuda/passes.cuh"
#include "sort/cuda/onesweep.cuh"
#include "sort/cuda/lsd.cuh"
#include "sort/cuda/count.cuh"
#include "sort/cuda/small.cuh"

/* ---- All of it in one block ---- */

/* The fewer keys, the fewer items to step over and counters to add up. */

extern "C" __global__ void __launch_bounds__(SORT_BLOCK_SMALL_THREADS)
    sort_block_small(const __grid_constant__ struct sort_common a)
{
    small_sort<SORT_BLOCK_SMALL_THREADS / 32, SORT_BLOCK_SMALL_ITEMS>(a);
}

extern "C" __global__ void __launch_bounds__(SORT_BLOCK_MEDIUM_THREADS)
    sort_block_medium(const __grid_constant__ struct sort_common a)
{
    small_sort<SORT_BLOCK_MEDIUM_THREADS / 32, SORT_BLOCK_MEDIUM_ITEMS>(a);
}

#if !SORT_BY_BINS(KEY_BYTES, VAL_BYTES)
extern "C" __global__ void __launch_bounds__(SORT_BLOCK_LARGE_THREADS)
    sort_block_large(const __grid_constant__ struct sort_common a)
{
    small_sort<SORT_BLOCK_LARGE_THREADS / 32, BLOCK_ITEMS>(a);
}
#endif
