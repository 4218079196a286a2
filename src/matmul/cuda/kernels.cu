/*
 * matmul/cuda/kernels.cu - products of matrices on the GPU, device code.
 *
 *     matmul_large, _medium, _small   c in tiles of 128 x 128, 64 x 128 (f64: 64 x 128, 64 x 64),
 *                                     32 x 32
 *     matmul_square                   f32: tiles of 64 x 64
 *     matmul_tensor_large and so on   f64, on FP64 tensor cores: 128 x 128, 64 x 64, 32 x 32
 *     matmul_scale                    c = beta c
 *     matvec_rows, _rows_many         a level of a matrix-vector product, one row or several at a
 *                                     time
 *     matvec_columns, _columns_wide   a level of a transposed product, by elements or by vectors
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/device/ptx.cuh"
#include "matmul/cuda/tensor.cuh"
#include "matmul/cuda/tile.cuh"
#include "matmul/cuda/vector.cuh"

/* Template arguments: elements of a lane, warps of a block and stages; fragments of a warp and
 * warps. */
#define TILE(size)                                                                                 \
    MATMUL_TILE_ROWS(size, MATMUL_TYPE) / (LANE_ROWS * MATMUL_WARP_ROWS(size, MATMUL_TYPE)),       \
        MATMUL_TILE_COLS(size, MATMUL_TYPE) / (LANE_COLS * MATMUL_WARP_COLS(size, MATMUL_TYPE)),   \
        MATMUL_WARP_ROWS(size, MATMUL_TYPE), MATMUL_WARP_COLS(size, MATMUL_TYPE),                  \
        MATMUL_STAGES(size, MATMUL_MORE_STAGES)
#define TILE_THREADS(size) MATMUL_TILE_THREADS(size, MATMUL_TYPE)
#define TENSOR_TILE(size)                                                                          \
    TENSOR_TILE_ROWS(size) / (16 * TENSOR_WARP_ROWS(size)),                                        \
        TENSOR_TILE_COLS(size) / (8 * TENSOR_WARP_COLS(size)), TENSOR_WARP_ROWS(size),             \
        TENSOR_WARP_COLS(size)

#if MATMUL_TENSOR
extern "C" __global__ void __launch_bounds__(TENSOR_TILE_THREADS(0), 1)
    matmul_tensor_large(const __grid_constant__ struct matmul_args args)
{
    tensor_tiles<TENSOR_TILE(0)>(args);
}

extern "C" __global__ void __launch_bounds__(TENSOR_TILE_THREADS(1), 2)
    matmul_tensor_medium(const __grid_constant__ struct matmul_args args)
{
    tensor_tiles<TENSOR_TILE(1)>(args);
}

extern "C" __global__ void __launch_bounds__(TENSOR_TILE_THREADS(2), 4)
    matmul_tensor_small(const __grid_constant__ struct matmul_args args)
{
    tensor_tiles<TENSOR_TILE(2)>(args);
}
#endif

#if !MATMUL_TENSOR || !defined(__CUDA_ARCH__) /* the emulator has both */
extern "C" __global__ void __launch_bounds__(TILE_THREADS(0), 2)
    matmul_large(const __grid_constant__ struct matmul_args args)
{
    matmul_tiles<false, TILE(0)>(args);
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS(1), 3)
    matmul_medium(const __grid_constant__ struct matmul_args args)
{
    matmul_tiles<false, TILE(1)>(args);
}

#if MATMUL_TYPE == 0
extern "C" __global__ void __launch_bounds__(TILE_THREADS(2), 4)
    matmul_square(const __grid_constant__ struct matmul_args args)
{
    matmul_tiles<false, TILE(2)>(args);
}
#endif

extern "C" __global__ void __launch_bounds__(TILE_THREADS(3), MATMUL_TYPE == 0 ? 8 : 6)
    matmul_small(const __grid_constant__ struct matmul_args args)
{
    matmul_tiles<true, TILE(3)>(args);
}
#endif

extern "C" __global__ void matmul_scale(const __grid_constant__ struct matmul_args args)
{
    wait_for_earlier();
    const real beta = (real)args.beta;
    const uint64_t each = args.m * args.n, step = (uint64_t)gridDim.x * blockDim.x;
    const uint32_t c_bytes = args.wide ? sizeof(float) : sizeof(element);
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < each * args.count;
         i += step) {
        void *c = (void *)matrix_at(args.c, args.list, args.c_step, c_bytes, i / each);
        const uint64_t at = i % each / args.n * args.c_stride + i % each % args.n;
        if (sizeof(element) == 2 && args.wide)
            ((float *)c)[at] = beta == 0 ? 0 : (float)quiet(beta * ((float *)c)[at]);
        else
            ((element *)c)[at] = beta == 0 ? 0 : element_of(beta * real_of(((element *)c)[at]));
    }
}

#if MATMUL_TYPE < 2
extern "C" __global__ void __launch_bounds__(MATVEC_THREADS)
    matvec_rows(const __grid_constant__ struct matvec_args args)
{
    wait_for_earlier();
    matvec_row_chunks<1>(args);
}

extern "C" __global__ void __launch_bounds__(MATVEC_THREADS, 4)
    matvec_rows_many(const __grid_constant__ struct matvec_args args)
{
    wait_for_earlier();
    matvec_row_chunks<MATVEC_MANY>(args);
}

extern "C" __global__ void __launch_bounds__(MATVEC_THREADS)
    matvec_columns(const __grid_constant__ struct matvec_args args)
{
    wait_for_earlier();
    matvec_column_chunks<1>(args);
}

extern "C" __global__ void __launch_bounds__(MATVEC_THREADS)
    matvec_columns_wide(const __grid_constant__ struct matvec_args args)
{
    wait_for_earlier();
    matvec_column_chunks<REAL_VECTOR>(args);
}
#endif
