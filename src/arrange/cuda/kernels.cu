/*
 * arrange/cuda/kernels.cu - kernels that move elements of words of one size: by index, by a fixed
 * rule, or through tiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/cuda/move.cuh"
#include "arrange/cuda/narrow.cuh"
#include "arrange/cuda/quads.cuh"
#include "arrange/cuda/tile.cuh"
#include "arrange/cuda/vectors.cuh"

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_move(const __grid_constant__ struct arrange_move_args a)
{
    wait_for_earlier();
    move_words(a);
}

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_gather(const __grid_constant__ struct arrange_move_args a)
{
    wait_for_earlier();
    if (a.from == ARRANGE_INDEX_U32)
        gather_words<uint32_t>(a);
    else
        gather_words<unsigned long long>(a);
}

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_move_wide(const __grid_constant__ struct arrange_move_args a)
{
    wait_for_earlier();
    move_wide(a);
}

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_swap(const __grid_constant__ struct arrange_move_args a)
{
    wait_for_earlier();
    swap_wide(a);
}

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_transpose(const __grid_constant__ struct arrange_transpose_args a)
{
    wait_for_earlier();
    transpose_tiles(a);
}

#if WORD_BYTES <= 2
extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_transpose_narrow(const __grid_constant__ struct arrange_transpose_args a)
{
    wait_for_earlier();
    transpose_narrow(a);
}

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_transpose_quads(const __grid_constant__ struct arrange_transpose_args a)
{
    wait_for_earlier();
    transpose_quads(a);
}
#endif

#if WORD_BYTES == 4
extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_transpose_vectors(const __grid_constant__ struct arrange_transpose_args a)
{
    wait_for_earlier();
    transpose_vectors(a);
}
#endif

extern "C" __global__ void __launch_bounds__(ARRANGE_THREADS)
    arrange_reverse(const __grid_constant__ struct arrange_reverse_args a)
{
    wait_for_earlier();
    reverse_tiles(a);
}
