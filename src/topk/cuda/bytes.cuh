/*
 * topk/cuda/bytes.cuh - kernels of top-k selections from one long array of keys of 8 bits.
 *
 *     topk_bins_8   counts the elements of each key in each chunk, and in the array
 *     topk_list_8   the key of rank k is known exactly: lists the elements with a lower key, and
 *                   the first ones with this key; a chunk that has none of them is not read again
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_CUDA_BYTES_CUH
#define ECHI_TOPK_CUDA_BYTES_CUH

#include "topk/cuda/count.cuh"

static __device__ inline uint64_t byte_chunks(const struct topk_args &a)
{
    return (a.cols + a.chunk - 1) / a.chunk;
}

struct bins_elements {
    uint32_t *bins; /* by the bits of the keys */
    template <int UNROLL>
    __device__ inline void batch(const vector_of<uint8_t> (&vectors)[UNROLL], uint64_t)
    {
#pragma unroll
        for (int j = 0; j < 16 * UNROLL; j++) atomicAdd(bins + vectors[j / 16].of[j % 16], 1);
    }
    __device__ inline void single(uint8_t key, uint64_t, bool valid)
    {
        if (valid) atomicAdd(bins + key, 1);
    }
};

extern "C" __global__ void __launch_bounds__(TOPK_FILTER_THREADS)
    topk_bins_8(const __grid_constant__ struct topk_args a)
{
    __shared__ uint32_t bins[TOPK_BYTES];
    const uint64_t chunks = byte_chunks(a);
    wait_for_earlier();
    for (uint64_t c = blockIdx.x; c < chunks; c += gridDim.x) {
        struct bins_elements elements = { bins };
        if (threadIdx.x < TOPK_BYTES) bins[threadIdx.x] = 0;
        __syncthreads(); /* the counters are zero */
        block_vectors<2>((const uint8_t *)a.in, c * a.chunk, min((c + 1) * a.chunk, a.cols),
                         elements);
        __syncthreads(); /* all keys are counted */
        if (threadIdx.x >= TOPK_BYTES) continue;
        const uint32_t e = key_of(a, (ukey)threadIdx.x), count = bins[threadIdx.x];
        a.chunk_bins[e * chunks + c] = count;
        if (count) atomicAdd(&a.totals->bins[e], count);
    }
}

/* The sum of the threads' numbers, in all of them. */
static __device__ inline uint32_t block_sum(uint32_t x, uint32_t *sums)
{
    uint32_t all = 0;
    x = warp_scan(x);
    if (lane_id() == 31) sums[threadIdx.x / 32] = x;
    __syncthreads(); /* the sums of warps are written */
    for (uint32_t w = 0; w < blockDim.x / 32; w++) all += sums[w];
    __syncthreads(); /* all threads have read */
    return all;
}

/* Lists the elements of chunk c with a key less than s.bin, and the first ones equal to it. */
static __device__ inline void list_chunk(const struct topk_args &a, struct narrow_shared &s,
                                         uint64_t c, uint32_t k, uint64_t *sums)
{
    const uint64_t chunks = byte_chunks(a), first = c * a.chunk;
    const uint32_t pivot = s.bin, below = s.before, need = k - below;
    const uint32_t *equals = a.chunk_bins + pivot * chunks;
    const uint32_t better =
        block_sum(threadIdx.x < pivot ? a.chunk_bins[threadIdx.x * chunks + c] : 0, s.sums);
    uint64_t before = need;
    if (equals[c]) before = count_before(equals, 0, c, need, sums);
    if (better == 0 && before >= need) return;
    word *to = (word *)a.candidates, *ties = to + below;
    if (threadIdx.x == 0) {
        sums[0] = atomicAdd((unsigned long long *)&a.longs->better, (unsigned long long)better);
        s.slots = 0;
    }
    __syncthreads(); /* the place is known */
    to += sums[0];
    count_collect(
        count_keys_of<uint8_t>(a, first, (uint32_t)min((uint64_t)a.chunk, a.cols - first)), pivot,
        pivot, before < need ? need - (uint32_t)before : 0, &s.slots, TOPK_TIES + (uint32_t)before,
        s.sums, [&](uint32_t at, ekey e, uint32_t i) {
            (at < TOPK_TIES ? to + at : ties + (at - TOPK_TIES))[0] =
                word_of(e, (uint32_t)first + i);
        });
    __syncthreads(); /* all threads have read the places */
}

extern "C" __global__ void __launch_bounds__(TOPK_FILTER_THREADS)
    topk_list_8(const __grid_constant__ struct topk_args a)
{
    __shared__ struct narrow_shared s;
    __shared__ uint64_t sums[TOPK_FILTER_THREADS / 32];
    wait_for_earlier();
    const struct group group = group_at(a, 0);
    if (group.k == 0) return;
    if (threadIdx.x < TOPK_BYTES) s.bins[threadIdx.x] = a.totals->bins[threadIdx.x];
    __syncthreads(); /* the counts are loaded */
    find_bin(s, TOPK_BYTES, (uint32_t)group.k);
    for (uint64_t c = blockIdx.x; c < byte_chunks(a); c += gridDim.x)
        list_chunk(a, s, c, (uint32_t)group.k, sums);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        a.longs->pivot = s.bin;
        a.longs->room = a.row_room;
    }
}

#endif
