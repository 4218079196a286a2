/*
 * gf2/cuda/kernels.cu - element-wise operations on matrices over GF(2): device code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cuda/look.cuh"
#include "gf2/cuda/map.cuh"
#include "gf2/cuda/order.cuh"
#include "gf2/cuda/turn.cuh"

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_copy(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_COPY>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_add(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_ADD>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_gather_rows(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_GATHER_ROWS>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_zero(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_ZERO>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_identity(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_IDENTITY>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_random(const __grid_constant__ struct gf2_args a)
{
    map_random(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_clear(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_CLEAR>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_certificate(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_CERTIFICATE>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_unit(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_UNIT>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_lu(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_LU>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_spread(const __grid_constant__ struct gf2_args a)
{
    map_words<MAP_SPREAD>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_pack(const __grid_constant__ struct gf2_args a)
{
    pack_bytes(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_unpack(const __grid_constant__ struct gf2_args a)
{
    unpack_bytes(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS, 3)
    gf2_transpose(const __grid_constant__ struct gf2_args a)
{
    turn_tiles(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_gather_columns(const __grid_constant__ struct gf2_args a)
{
    gather_columns(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_gather_columns_wide(const __grid_constant__ struct gf2_args a)
{
    gather_columns_wide(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_count(const __grid_constant__ struct gf2_args a)
{
    look_words<false>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_equal(const __grid_constant__ struct gf2_args a)
{
    look_words<true>(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_look_below(const __grid_constant__ struct gf2_args a)
{
    look_below(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_look_first(const __grid_constant__ struct gf2_args a)
{
    look_first(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_solvable(const __grid_constant__ struct gf2_args a)
{
    write_solvable(a);
}

extern "C" __global__ void __launch_bounds__(GF2_ORDER_THREADS)
    gf2_order(const __grid_constant__ struct gf2_args a)
{
    complete_order(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_map(const __grid_constant__ struct gf2_args a)
{
    map_positions(a);
}

extern "C" __global__ void __launch_bounds__(GF2_ORDER_THREADS)
    gf2_find_free(const __grid_constant__ struct gf2_args a)
{
    find_free(a);
}

extern "C" __global__ void __launch_bounds__(GF2_THREADS)
    gf2_make_basis(const __grid_constant__ struct gf2_args a)
{
    make_basis(a);
}
