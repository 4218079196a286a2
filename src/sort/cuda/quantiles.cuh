/*
 * sort/cuda/quantiles.cuh - a block sorts a sample, and divides it at its quantiles.
 *
 *     sample      | a b c c | c c c c | c c d e | f g h i |     sorted; SORT_BINS parts
 *     splitters             c                   f               the first key of each part but the
 *                           c + 1                               first; once, if they are equal, and
 *                                                               then also the next key
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_QUANTILES_CUH
#define ECHI_SORT_CUDA_QUANTILES_CUH

#include "cuda/device/block_rank.cuh"

static __device__ inline uint32_t quantiles_other(uint32_t e, uint32_t lanes)
{
    return __shfl_xor_sync(WARP_ALL, e, (int)lanes);
}

static __device__ inline uint64_t quantiles_other(uint64_t e, uint32_t lanes)
{
    return __shfl_xor_sync(WARP_ALL, (unsigned long long)e, (int)lanes);
}

/* Keys of other threads: a step of the network. */
template <typename type, int SORTERS, int EACH>
static __device__ inline void quantiles_step(type *keys, type (&e)[EACH], uint32_t size,
                                             uint32_t step)
{
    const uint32_t me = threadIdx.x, far = step / EACH;
    const bool less = !(me & far) == !(me * EACH & size);
    if (far >= 32) {
        __syncthreads(); /* all threads have read */
        if (me < SORTERS)
#pragma unroll
            for (int k = 0; k < EACH; k++) keys[k * SORTERS + me] = e[k];
        __syncthreads(); /* the keys are written */
    }
    if (me >= SORTERS) return;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const type other = far >= 32 ? keys[k * SORTERS + (me ^ far)] : quantiles_other(e[k], far);
        e[k] = (e[k] < other) == less ? e[k] : other;
    }
}

/* Sorts keys, EACH of each of the first SORTERS threads, with a bitonic network; keys is shared
 * memory for all of them, and contains the result. */
template <typename type, int SORTERS, int EACH>
static __device__ inline void quantiles_sort(type *keys, type (&e)[EACH])
{
    const uint32_t me = threadIdx.x;
    for (uint32_t size = 2; size <= SORTERS * EACH; size *= 2) {
        for (uint32_t step = size / 2; step >= EACH; step /= 2)
            quantiles_step<type, SORTERS, EACH>(keys, e, size, step);
#pragma unroll
        for (int step = EACH / 2; step; step /= 2) {
            if ((uint32_t)step >= size) continue;
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                if (k & step) continue;
                const bool up = !((me * EACH + k) & size);
                const type low = min(e[k], e[k + step]), high = max(e[k], e[k + step]);
                e[k] = up ? low : high;
                e[k + step] = up ? high : low;
            }
        }
    }
    __syncthreads(); /* all threads have read */
    if (me < SORTERS)
#pragma unroll
        for (int k = 0; k < EACH; k++) keys[me * EACH + k] = e[k];
    __syncthreads(); /* the keys are in order */
}

/* The number of keys, of a power of two, that are less than e. */
template <typename type>
static __device__ inline uint32_t quantiles_below(const type *keys, uint32_t count, type e)
{
    uint32_t i = 0;
    for (uint32_t step = count / 2; step; step /= 2)
        if (keys[i + step - 1] < e) i += step;
    return i + (keys[i] < e);
}

/* Writes the splitters of sorted keys, SORT_BINS parts of `each`, and then maxima, SORT_BINS in
 * all; returns their number to all threads.  sums: see bins_scan(). */
template <typename type>
static __device__ inline uint32_t quantiles_write(const type *keys, uint32_t each, type *splitters,
                                                  uint32_t *sums)
{
    const uint32_t me = threadIdx.x, at = me * each;
    const type all = (type) ~(type)0;
    uint32_t mine = 0;
    type e = all;
    if (me && me < SORT_BINS) {
        const bool again = me > 1 && keys[at - each] == keys[at];
        const bool frequent = me + 1 < SORT_BINS && keys[at + each] == keys[at];
        e = keys[at];
        mine = again ? 0 : frequent && e != all ? 2 : 1;
    }
    const uint32_t before = bins_scan(mine, sums);
    if (mine) splitters[before] = e;
    if (mine == 2) splitters[before + 1] = e + 1;
    uint32_t count = 0;
#pragma unroll
    for (uint32_t w = 0; w < SORT_BINS / 32; w++) count += sums[w];
    if (me >= count && me < SORT_BINS) splitters[me] = all;
    return count;
}

#endif
