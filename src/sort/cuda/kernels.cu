/*
 * sort/cuda/kernels.cu - LSD radix sort on the GPU, device code.
 *
 * Least significant digit first, 8 bits per pass; each pass reads and writes the data once (the
 * "onesweep" of Adinets and Merrill, arXiv 2206.01784, with the decoupled look-back of Merrill and
 * Garland 2016):
 *
 *     sort_histogram   reads the keys once and counts every digit of every pass; the start of each
 *                      bin; which passes can be skipped
 *     sort_onesweep    one pass, launched once per digit: in onesweep.cuh
 *     sort_finish      copies, if the remaining passes do not end in the output
 *     sort_lsd         all of these in one launch, if keys are skewed: in lsd.cuh
 *     sort_fill        instead of passes, writes keys of 8 bits from their histogram; like the
 *                      counting of 16-bit keys, it is in count.cuh
 *     sort_block_*     the entire sort of an array that fits in one block: in small.cuh
 *
 * Between passes keys are in the form of order_encode().  The plan is made and read on the device,
 * so nothing waits for the host, and a sort can be queued and captured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/common.cuh"
#include "sort/cuda/passes.cuh"
#include "sort/cuda/onesweep.cuh"
#include "sort/cuda/narrow.cuh"
#include "sort/cuda/staged.cuh"
#include "sort/cuda/lsd.cuh"
#include "sort/cuda/count.cuh"
#include "sort/cuda/small.cuh"

/* ---- The entire sort in one block ---- */

/* With fewer keys there are fewer items to skip and fewer counters to add. */

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

#if !SORT_BY_BINS(KEY_BYTES, VAL_BYTES) && !(KEY_BYTES == 2 && VAL_BYTES) /* these: words.cu */
extern "C" __global__ void __launch_bounds__(SORT_BLOCK_LARGE_THREADS)
    sort_block_large(const __grid_constant__ struct sort_common a)
{
    small_sort<SORT_BLOCK_LARGE_THREADS / 32, BLOCK_ITEMS>(a);
}
#endif
