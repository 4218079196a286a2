/*
 * gf2/cuda/batch.cu - many small eliminations over GF(2), device code: one matrix per group of
 * lanes, per block in registers, or per block in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cuda/batch_lanes.cuh"
#include "gf2/cuda/batch_memory.cuh"
#include "gf2/cuda/batch_rows.cuh"

extern "C" __global__ void __launch_bounds__(BATCH_LANE_THREADS)
    gf2_batch_lanes1(const __grid_constant__ struct gf2_batch_args a)
{
    eliminate_in_lanes<1>(a);
}

extern "C" __global__ void __launch_bounds__(BATCH_LANE_THREADS)
    gf2_batch_lanes2(const __grid_constant__ struct gf2_batch_args a)
{
    eliminate_in_lanes<2>(a);
}

extern "C" __global__ void __launch_bounds__(BATCH_LANE_THREADS)
    gf2_batch_lanes4(const __grid_constant__ struct gf2_batch_args a)
{
    eliminate_in_lanes<4>(a);
}

extern "C" __global__ void __launch_bounds__(BATCH_ROWS)
    gf2_batch_rows4(const __grid_constant__ struct gf2_batch_args a)
{
    eliminate_in_rows<4>(a);
}

extern "C" __global__ void __launch_bounds__(BATCH_ROWS)
    gf2_batch_rows8(const __grid_constant__ struct gf2_batch_args a)
{
    eliminate_in_rows<8>(a);
}

extern "C" __global__ void __launch_bounds__(BATCH_ROWS)
    gf2_batch_rows16(const __grid_constant__ struct gf2_batch_args a)
{
    eliminate_in_rows<16>(a);
}

extern "C" __global__ void __launch_bounds__(BATCH_ROWS)
    gf2_batch_rows32(const __grid_constant__ struct gf2_batch_args a)
{
    eliminate_in_rows<32>(a);
}

extern "C" __global__ void __launch_bounds__(BATCH_ROWS / 2)
    gf2_batch_rows64(const __grid_constant__ struct gf2_batch_args a)
{
    eliminate_in_rows<64>(a);
}

extern "C" __global__ void __launch_bounds__(BATCH_MEMORY_THREADS)
    gf2_batch_memory(const __grid_constant__ struct gf2_batch_args a)
{
    eliminate_in_memory(a);
}
