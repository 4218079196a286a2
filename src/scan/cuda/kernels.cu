/*
 * scan/cuda/kernels.cu - scans on the GPU, device code: each element is read once and written once.
 *
 *     scan_sum, scan_min                  tiles with look-back: one array, or rows longer than a
 *                                         tile
 *     scan_*_short                        one array of few tiles
 *     scan_*_held                         one array that fits in shared memory
 *     scan_*_rows                         shorter rows, by warps
 *     scan_*_segments                     tiles with look-back, which stops at segment heads
 *     scan_other                          the same with or without segments
 *     scan_flags_offsets, scan_flags_keys write the heads, one bit per position
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan/cuda/held.cuh"
#include "scan/cuda/rows.cuh"
#include "scan/cuda/tile.cuh"
#include "cuda/device/data_error.cuh"

/* The number of blocks of short rows per multiprocessor: as many as there are registers for. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { RESIDENT = KEY_BITS == 8 ? 3 : 4 }; /* at most 1,024 threads */
#else
enum { RESIDENT = KEY_BITS == 8 ? 3 : SCAN_64 || KEY_BITS == 16 ? 4 : 5 };
#endif

#if !SCAN_WIDE
extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_sum(const __grid_constant__ struct scan_args a)
{
    scan_tiles<SUM, 0>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_SHORT_THREADS *SHORT_MOST, SHORT_BLOCKS)
    scan_sum_short(const __grid_constant__ struct scan_args a)
{
    scan_short<SUM>(a);
}

#if KEY_BITS >= 32
extern "C" __global__ void __launch_bounds__(SCAN_HELD_THREADS, 1)
    scan_sum_held(const __grid_constant__ struct scan_args a)
{
    scan_held<SUM>(a);
}
#endif

extern "C" __global__ void __launch_bounds__(SCAN_THREADS, RESIDENT)
    scan_sum_rows(const __grid_constant__ struct scan_args a)
{
    scan_rows<SUM>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_sum_segments(const __grid_constant__ struct scan_args a)
{
    scan_tiles<SUM, 1>(a);
}
#endif

#if !SCAN_FLOAT && !SCAN_WIDE && !SCAN_WORDS
extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_min(const __grid_constant__ struct scan_args a)
{
    scan_tiles<MIN, 0>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_SHORT_THREADS *SHORT_MOST, SHORT_BLOCKS)
    scan_min_short(const __grid_constant__ struct scan_args a)
{
    scan_short<MIN>(a);
}

#if KEY_BITS >= 32
extern "C" __global__ void __launch_bounds__(SCAN_HELD_THREADS, 1)
    scan_min_held(const __grid_constant__ struct scan_args a)
{
    scan_held<MIN>(a);
}
#endif

extern "C" __global__ void __launch_bounds__(SCAN_THREADS, RESIDENT)
    scan_min_rows(const __grid_constant__ struct scan_args a)
{
    scan_rows<MIN>(a);
}

extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_min_segments(const __grid_constant__ struct scan_args a)
{
    scan_tiles<MIN, 1>(a);
}
#endif

extern "C" __global__ void __launch_bounds__(SCAN_WARPS * 32, 2)
    scan_other(const __grid_constant__ struct scan_args a)
{
    scan_tiles<OTHER, 1>(a);
}

#if SCAN_WORDS
extern "C" __global__ void __launch_bounds__(SCAN_SHORT_THREADS *SHORT_MOST, SHORT_BLOCKS)
    scan_other_short(const __grid_constant__ struct scan_args a)
{
    scan_short<OTHER>(a);
}
#endif

extern "C" __global__ void __launch_bounds__(SCAN_THREADS, RESIDENT)
    scan_other_rows(const __grid_constant__ struct scan_args a)
{
    scan_rows<OTHER>(a);
}

/* ---- Heads of segments ---- */

#if !SCAN_FLOAT && !SCAN_WIDE
/* Sets the bit of the first position of each nonempty segment; the bits are clear before. */
extern "C" __global__ void __launch_bounds__(SCAN_FLAGS_THREADS)
    scan_flags_offsets(const __grid_constant__ struct scan_args a)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    wait_for_earlier();
    for (uint64_t s = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; s <= a.segments; s += step) {
        uint64_t end = echi_index_at(a.offsets, a.offsets_index, s);
        uint64_t begin = s ? echi_index_at(a.offsets, a.offsets_index, s - 1) : end;
        if (end > a.columns)
            report_error(a.data_error, ECHI_OFFSETS_PAST_END, s);
        else if (end < begin)
            report_error(a.data_error, ECHI_OFFSETS_DECREASE, s);
        else if (begin < end) {
            uint64_t i = a.backward ? a.columns - end : begin;
            atomicOr(&a.flags[i / 32], 1u << i % 32);
        }
    }
}

#if KEY_BITS == 64
typedef unsigned long long moved_key;
#else
typedef uint32_t moved_key;
#endif

enum { FLAG_KEYS = KEY_BYTES == 8 ? 2 : 4, FLAG_TILES = 4 };

union flag_keys {
    uint4 all;
    ukey key[FLAG_KEYS];
};

/* A form that is the same for equal keys. */
static __device__ inline ukey one_form(const struct echi_order &o, ukey u)
{
    return order_merge(o, order_encode(o, u));
}

/* The flags of positions from i on; position 0 has a flag. */
static __device__ inline uint32_t flags_at(const struct scan_args &a, uint64_t i,
                                           const union flag_keys &k, ukey before)
{
    const uint64_t n = a.columns;
    uint32_t bits = 0;
#pragma unroll
    for (int j = 0; j < FLAG_KEYS; j++) {
        if (i + j < n && (k.key[j] != before || i + j == 0)) bits |= 1u << j;
        before = k.key[j];
    }
    return bits;
}

/* Sets the bit of the first position of each run; lanes have a few adjacent keys, and together
 * compose words. */
extern "C" __global__ void __launch_bounds__(SCAN_FLAGS_THREADS)
    scan_flags_keys(const __grid_constant__ struct scan_args a)
{
    enum { SPAN = 32 * FLAG_KEYS, LANES = 32 / FLAG_KEYS }; /* keys per warp; lanes per word */
    const ukey *keys = (const ukey *)a.keys;
    const uint64_t n = a.columns, warps = (uint64_t)gridDim.x * (SCAN_FLAGS_THREADS / 32);
    const uint64_t warp = (uint64_t)blockIdx.x * (SCAN_FLAGS_THREADS / 32) + warp_id();
    const bool merge = a.key_order.float_mask != 0; /* other types are equal if their bits are */
    const bool vectors = FLAG_KEYS * KEY_BYTES == 16 && !a.backward && ((uintptr_t)keys & 15) == 0;
    wait_for_earlier();
    for (uint64_t span = warp * FLAG_TILES; span * SPAN < n; span += warps * FLAG_TILES) {
        union flag_keys k[FLAG_TILES];
        ukey before[FLAG_TILES];
#pragma unroll
        for (int t = 0; t < FLAG_TILES; t++) {
            const uint64_t i = (span + t) * SPAN + lane_id() * FLAG_KEYS;
            before[t] = 0;
            if (vectors && i < n && n - i >= FLAG_KEYS) {
                k[t].all = *(const uint4 *)(keys + i);
            } else {
#pragma unroll
                for (int j = 0; j < FLAG_KEYS; j++) {
                    k[t].key[j] = 0;
                    if (i + j < n) k[t].key[j] = keys[a.backward ? n - 1 - i - j : i + j];
                }
            }
            if (lane_id() == 0 && i && i < n) before[t] = keys[a.backward ? n - i : i - 1];
        }
#pragma unroll
        for (int t = 0; t < FLAG_TILES; t++) {
            const uint64_t i = (span + t) * SPAN + lane_id() * FLAG_KEYS;
            if (merge) {
#pragma unroll
                for (int j = 0; j < FLAG_KEYS; j++)
                    k[t].key[j] = one_form(a.key_order, k[t].key[j]);
                before[t] = one_form(a.key_order, before[t]);
            }
            const ukey last = (ukey)__shfl_up_sync(WARP_ALL, (moved_key)k[t].key[FLAG_KEYS - 1], 1);
            if (lane_id()) before[t] = last;
            uint32_t bits = flags_at(a, i, k[t], before[t]) << lane_id() % LANES * FLAG_KEYS;
#pragma unroll
            for (int step = 1; step < LANES; step *= 2)
                bits |= __shfl_xor_sync(WARP_ALL, bits, step);
            if (lane_id() % LANES == 0 && i < n) a.flags[i / 32] = bits;
        }
    }
}
#endif
