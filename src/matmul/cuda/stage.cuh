/*
 * matmul/cuda/stage.cuh - what products by FMA and by tensor cores have in common: copies to shared
 * memory in stages, and the places of tiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CUDA_STAGE_CUH
#define ECHI_MATMUL_CUDA_STAGE_CUH

#include "cuda/device/ptx_async.cuh"
#include "matmul/cuda/real.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define MATMUL_ASYNC 0
#else
#define MATMUL_ASYNC (MATMUL_TYPE < 2)
#endif

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* Copies one element to shared memory; complete after the next wait. */
static __device__ inline void copy_element(real *to, const element *from)
{
#if MATMUL_ASYNC && MATMUL_TYPE == 0
    copy_async_4(to, from);
#elif MATMUL_ASYNC
    copy_async_8(to, from);
#else
    *to = real_of(*from);
#endif
}

/* The same for 16 bytes; elements of two bytes are copied one by one. */
static __device__ inline void copy_vector(real *to, const element *from)
{
#if MATMUL_ASYNC
    copy_async_16(to, from);
#elif MATMUL_TYPE < 2
    *(real_vector *)to = *(const real_vector *)from;
#else
    *to = real_of(*from);
#endif
}

/* Waits until the copies of the next stage are complete. */
template <int STAGES> static __device__ inline void wait_copies(void)
{
#if MATMUL_ASYNC
    copy_wait<STAGES - 2>();
#endif
}

static __device__ inline void end_stage(void)
{
#if MATMUL_ASYNC
    copy_commit();
#endif
}

static __device__ inline const void *matrix_at(const void *array, uint32_t list, uint64_t step,
                                               uint32_t bytes, uint64_t i)
{
    return list ? ((const void *const *)array)[i] : (const char *)array + i * step * bytes;
}

/* Blocks process tiles in bands of MATMUL_BAND rows of tiles, first down the rows of a band. */
struct tile_place {
    uint64_t row, column;
};

static __device__ inline struct tile_place tile_place_of(const struct matmul_args &args,
                                                         uint64_t tile)
{
    const uint64_t band = MATMUL_BAND * args.column_tiles, first = tile / band * MATMUL_BAND;
    const uint64_t left = args.row_tiles - first;
    const uint64_t rows = left < MATMUL_BAND ? left : (uint64_t)MATMUL_BAND;
    struct tile_place place;
    place.row = first + tile % band % rows;
    place.column = tile % band / rows;
    return place;
}

/* The rows or columns of a tile.  The last tile begins earlier if it would have invalid ones, so
 * that all of its copies are those of other tiles; it stores only its own elements. */
struct tile_part {
    uint64_t first, own;
};

static __device__ inline struct tile_part tile_part_of(uint64_t tile, uint32_t length, uint64_t all)
{
    struct tile_part part;
    part.own = tile * length;
    part.first = all - part.own < length && all >= length ? all - length : part.own;
    return part;
}

#endif
