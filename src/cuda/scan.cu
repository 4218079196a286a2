/*
 * cuda/scan.cu - scans on the GPU, device half: each element is read once and written once.
 *
 *     scan_sum, scan_min, scan_other      tiles with look-back: one array, or rows longer than a
 *                                         tile
 *     scan_*_rows                         shorter rows, by warps
 *     scan_*_heads                        tiles with look-back, which stops where segments begin
 *     scan_heads_offsets, scan_heads_keys say where they begin, one bit a position
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan_rows.cuh"
#include "scan_tile.cuh"
#include "complain.cuh"

/* Blocks of short rows that a multiprocessor is to hold: as many as there are registers for. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { RESIDENT = KEY_BITS == 8 ? 3 : 4 }; /* 1,024 threads at most */
#else
enum { RESIDENT = KEY_BITS == 8 ? 3 : SCAN_64 || KEY_BITS == 16 ? 4 : 5 };
#endif

extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_sum(const __grid_constant__ struct scan_args a)
{
    scan_tiles<SUM, 0>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_THREADS, RESIDENT)
    scan_sum_rows(const __grid_constant__ struct scan_args a)
{
    scan_rows<SUM>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_sum_heads(const __grid_constant__ struct scan_args a)
{
    scan_tiles<SUM, 1>(a);
}

#if !SCAN_FLOAT && !SCAN_WIDE
extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_min(const __grid_constant__ struct scan_args a)
{
    scan_tiles<MIN, 0>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_THREADS, RESIDENT)
    scan_min_rows(const __grid_constant__ struct scan_args a)
{
    scan_rows<MIN>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_min_heads(const __grid_constant__ struct scan_args a)
{
    scan_tiles<MIN, 1>(a);
}
#endif

extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_other(const __grid_constant__ struct scan_args a)
{
    scan_tiles<OTHER, 0>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_THREADS, RESIDENT)
    scan_other_rows(const __grid_constant__ struct scan_args a)
{
    scan_rows<OTHER>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_other_heads(const __grid_constant__ struct scan_args a)
{
    scan_tiles<OTHER, 1>(a);
}

/* ---- Where segments begin ---- */

#if !SCAN_FLOAT && !SCAN_WIDE
/* A segment's first position, for each that is not empty; the bits are clear. */
extern "C" __global__ void __launch_bounds__(SCAN_HEADS_THREADS)
    scan_heads_offsets(const __grid_constant__ struct scan_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t s = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; s <= a.segments; s += step) {
        uint64_t end = a.offsets[s], begin = s ? a.offsets[s - 1] : end;
        if (end > a.columns)
            complain(a.complaint, ECHI_OFFSETS_PAST_END, s);
        else if (end < begin)
            complain(a.complaint, ECHI_OFFSETS_DECREASE, s);
        else if (begin < end) {
            uint64_t i = a.backward ? a.columns - end : begin;
            atomicOr(&a.heads[i / 32], 1u << i % 32);
        }
    }
}

#if KEY_BITS == 64
typedef unsigned long long moved_key;
#else
typedef uint32_t moved_key;
#endif

/* A run's first position; a warp makes a word of 32. */
extern "C" __global__ void __launch_bounds__(SCAN_HEADS_THREADS)
    scan_heads_keys(const __grid_constant__ struct scan_args a)
{
    enum { EACH = 8 };
    const ukey *keys = (const ukey *)a.keys;
    const uint64_t n = a.columns, words = (n + 31) / 32;
    const uint64_t warps = (uint64_t)gridDim.x * (SCAN_HEADS_THREADS / 32);
    const uint64_t warp = (uint64_t)blockIdx.x * (SCAN_HEADS_THREADS / 32) + threadIdx.x / 32;
    for (uint64_t w = warp; w < words; w += EACH * warps) {
        ukey mine[EACH], before[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const uint64_t i = (w + k * warps) * 32 + lane_id();
            mine[k] = before[k] = 0;
            if (i < n) mine[k] = keys[a.backward ? n - 1 - i : i];
            if (i < n && i && lane_id() == 0) before[k] = keys[a.backward ? n - i : i - 1];
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const uint64_t i = (w + k * warps) * 32 + lane_id();
            const ukey below = (ukey)__shfl_up_sync(WARP_ALL, (moved_key)mine[k], 1);
            if (lane_id()) before[k] = below;
            bool head = order_merge(a.key_order, order_encode(a.key_order, mine[k])) !=
                        order_merge(a.key_order, order_encode(a.key_order, before[k]));
            uint32_t bits = __ballot_sync(WARP_ALL, i < n && (head || i == 0));
            if (lane_id() == 0 && w + k * warps < words) a.heads[w + k * warps] = bits;
        }
    }
}
#endif
