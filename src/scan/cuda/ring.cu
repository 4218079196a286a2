/*
 * scan/cuda/ring.cu - scans of large arrays on GPUs from sm_90 on.
 *
 *     scan_sum_ring, scan_other_ring   one array, forward; other is a product of floats
 *     scan_sum_ring_segments           look-back stops where segments begin
 *
 * Elements of 32 and 64 bits: scans of smaller elements are not limited by memory bandwidth.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#include "scan/cuda/ring.cuh"
#else
/* The host never launches these kernels on such GPUs. */
#include "scan/cuda/value.cuh"
template <int OP, int SEGMENTED> static __device__ inline void scan_ring(const struct scan_args &a)
{
    (void)a;
}
#endif

extern "C" __global__ void __launch_bounds__(SCAN_RING_WARPS * 32, 1)
    scan_sum_ring(const __grid_constant__ struct scan_args a)
{
    scan_ring<SUM, 0>(a);
}

#if KEY_BITS == 32
extern "C" __global__ void __launch_bounds__(SCAN_RING_WARPS * 32, 1)
    scan_sum_ring_segments(const __grid_constant__ struct scan_args a)
{
    scan_ring<SUM, 1>(a);
}
#endif

#if SCAN_FLOAT
extern "C" __global__ void __launch_bounds__(SCAN_RING_WARPS * 32, 1)
    scan_other_ring(const __grid_constant__ struct scan_args a)
{
    scan_ring<OTHER, 0>(a);
}
#endif
