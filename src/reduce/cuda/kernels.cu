/*
 * reduce/cuda/kernels.cu - reductions on the GPU, device code: two kernels for each kind.
 *
 *     reduce_KIND_segments   segments that one warp can reduce, and a list of the longer ones
 *     reduce_KIND_long       work that blocks share: arrays, long rows, listed segments
 *
 * Products of integers, bits and counts share one pair, which tests the kind at each vector.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce/cuda/long.cuh"

/* The number of blocks per multiprocessor for which there are registers: fewer for kernels with
 * more than four lanes in f64 per thread. */
enum {
    LONG_BLOCKS = 4,
    LONG_BLOCKS_F64 = KEY_BITS <= 16 && !REDUCE_EXACT ? 3 : 4,
    LONG_BLOCKS_VARIANCE = KEY_BITS <= 16 && !REDUCE_EXACT ? 2 : 4
};

/* ---- Floats in f32 and f64; integers in f64 ---- */

#if REDUCE_FLOAT && KEY_BITS < 64
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 3)
    reduce_sum_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_SUM>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS)
    reduce_sum_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_SUM>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 3)
    reduce_product_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_PRODUCT>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS)
    reduce_product_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_PRODUCT>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 2)
    reduce_dot_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_DOT>(a);
}
#endif

#if REDUCE_FLOAT
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_product64_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_PRODUCT64>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS_F64)
    reduce_product64_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_PRODUCT64>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_dot64_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_DOT64>(a);
}
#endif

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_sum64_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_SUM64>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS_F64)
    reduce_sum64_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_SUM64>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_variance_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_VARIANCE>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS_VARIANCE)
    reduce_variance_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_VARIANCE>(a);
}

/* ---- Integers modulo 2^64; bits and order of any type ---- */

#if !REDUCE_FLOAT
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 3)
    reduce_isum_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_ISUM>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS)
    reduce_isum_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_ISUM>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 3)
    reduce_max_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_MAX>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS)
    reduce_max_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_MAX>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 3)
    reduce_minmax_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_MINMAX>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS)
    reduce_minmax_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_MINMAX>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 3)
    reduce_arg_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_ARG>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS)
    reduce_arg_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_ARG>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 3)
    reduce_other_segments(const __grid_constant__ struct reduce_args a)
{
    reduce_segments<REDUCE_OTHER>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, LONG_BLOCKS)
    reduce_other_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_OTHER>(a);
}

extern "C" __global__ void __launch_bounds__(REDUCE_THREADS, 2)
    reduce_idot_long(const __grid_constant__ struct reduce_args a)
{
    reduce_long<REDUCE_IDOT>(a);
}
#endif
