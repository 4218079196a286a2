/*
 * sort/cuda/short.cu - sorts of short groups (rows or segments), many per warp or one per block.
 *
 *     load     group after group, padded to a power of two, as words in shared memory; a word is a
 *              key in encoded form or, if positions matter, the compared bits of a key above its
 *              position in the group
 *     sort     by networks (cuda/device/block_network.cuh): within lanes, then across lanes, then
 *              across warps.  The time does not depend on the keys
 *     store    keys are decoded or loaded again by position; values are loaded by position
 *
 *         words of a warp   | group 0 | group 1 | ... |    4 to 512 groups; a block: one group
 *
 * All elements of a group are read before the first is written, so sorts in place need no copy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/short.cuh"

extern "C" __global__ void __launch_bounds__(SORT_SHORT_THREADS, SORT_SHORT_BLOCKS)
    sort_short_warps(const __grid_constant__ struct sort_short_args a)
{
    __shared__ __align__(16) word shared[SORT_SHORT_THREADS / 32][WORDS];
    word *words = shared[warp_id()];
    const uint64_t step = (uint64_t)gridDim.x * (SORT_SHORT_THREADS / 32);
    uint64_t item = (uint64_t)blockIdx.x * (SORT_SHORT_THREADS / 32) + warp_id(), first;
    wait_for_earlier();
    for (uint32_t c = 0; c <= WORDS_LOG; c++) { /* classes one after another: items of this warp */
        const uint64_t count = class_count(a.groups, c, &first);
        const uint64_t items = ((count << c) + WORDS - 1) >> WORDS_LOG;
        for (; item < items; item += step) {
            const struct short_groups s = { first, count, item << (WORDS_LOG - c), c };
            short_load<32>(a, words, s);
            __syncwarp(); /* all words are written */
            short_sort(words, c);
            __syncwarp(); /* all words are sorted */
            short_store<32>(a, words, s);
            __syncwarp(); /* all lanes have read */
        }
        item -= items;
    }
}

/* Classes WORDS_LOG + first_class ... + 1. */
template <int THREADS>
static __device__ inline void sort_blocks(const struct sort_short_args &a, word *words,
                                          uint32_t first_class)
{
    uint64_t item = blockIdx.x, first;
    for (uint32_t c = first_class; c < first_class + 2; c++) {
        const uint64_t count = class_count(a.groups, c, &first);
        for (; item < count; item += gridDim.x) {
            const struct short_groups s = { first, count, item, c };
            short_load<THREADS>(a, words, s);
            block_network(words, c, ~0u); /* also waits for the words */
            short_store<THREADS>(a, words, s);
            __syncthreads(); /* all threads have read */
        }
        item -= count;
    }
}

extern "C" __global__ void __launch_bounds__(SORT_SHORT_BLOCK_THREADS)
    sort_short_block(const __grid_constant__ struct sort_short_args a)
{
    __shared__ __align__(16) word words[WORDS * SORT_SHORT_BLOCK_THREADS / 32];
    wait_for_earlier();
    sort_blocks<SORT_SHORT_BLOCK_THREADS>(a, words, WORDS_LOG + 1);
}

extern "C" __global__ void __launch_bounds__(SORT_SHORT_LARGE_THREADS)
    sort_short_large(const __grid_constant__ struct sort_short_args a)
{
    __shared__ __align__(16) word words[WORDS * SORT_SHORT_LARGE_THREADS / 32];
    wait_for_earlier();
    sort_blocks<SORT_SHORT_LARGE_THREADS>(a, words, WORDS_LOG + 3);
}

#if POSITIONS && KEY_BITS <= 16
extern "C" __global__ void __launch_bounds__(SORT_GROUPS_THREADS)
    sort_short_widen(const __grid_constant__ struct sort_widen_args a)
{
    const ukey *in = (const ukey *)a.common.keys_in;
    const uint64_t step = (uint64_t)gridDim.x * SORT_GROUPS_THREADS;
    wait_for_earlier();
    for (uint64_t p = (uint64_t)blockIdx.x * SORT_GROUPS_THREADS + threadIdx.x; p < a.common.n;
         p += step)
        a.wide[p] = (uint32_t)compared(a.common, in[p]) << (32 - KEY_BITS);
}
#endif
