/*
 * sort/cuda/short.cu - sorts of short groups (rows or segments), many per warp or one per block.
 *
 *     chunk    of segments: a block takes adjacent ones, and lists them by class of lengths; those
 *              that are longer than a warp's words go to the lists of other kernels
 *     load     group after group, padded to a power of two, as words in shared memory; a word is a
 *              key in encoded form or, if positions matter, the compared bits of a key above its
 *              position in the group
 *     sort     by networks (cuda/device/block_network.cuh): within lanes, then across lanes, then
 *              across warps.  The time does not depend on the keys
 *     store    keys are decoded or loaded again by position; values are loaded by position
 *
 *         words of a warp   | group 0 | group 1 | ... |    1 to 512 groups; a block: one group
 *
 * A block sorts 8-bit and 16-bit keys without positions by counting, or few keys of 16 bits by
 * digits (counted.cuh); short rows of 16 bits by networks.
 *
 * All elements of a group are read before the first is written, so sorts in place need no copy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/counted.cuh"

/* Sorts what a warp's words hold. */
template <int WHERE>
static __device__ inline void sort_item(const struct sort_short_args &a, word *words,
                                        const struct short_groups &s)
{
    short_load<0, WHERE>(a, words, s);
    __syncwarp(); /* all words are written */
    short_sort(words, s.c);
    __syncwarp(); /* all words are sorted */
    short_store<0, WHERE>(a, words, s);
    __syncwarp(); /* all lanes have read */
}

extern "C" __global__ void __launch_bounds__(SORT_SHORT_THREADS, SORT_SHORT_BLOCKS - POSITIONS)
    sort_short_rows(const __grid_constant__ struct sort_short_args a)
{
    __shared__ __align__(16) word shared[SORT_SHORT_THREADS / 32][WORDS];
    const uint32_t c = a.groups.row_class, each = WORDS >> c;
    const uint64_t step = (uint64_t)gridDim.x * (SORT_SHORT_THREADS / 32) * each;
    uint64_t row = ((uint64_t)blockIdx.x * (SORT_SHORT_THREADS / 32) + warp_id()) * each;
    wait_for_earlier();
    for (; row < a.groups.groups; row += step) {
        struct short_groups s = {};
        s.base = row;
        s.count = (uint32_t)min(a.groups.groups - row, (uint64_t)each);
        s.c = c;
        sort_item<ROWS>(a, shared[warp_id()], s);
    }
}

extern "C" __global__ void __launch_bounds__(SORT_SHORT_THREADS, SORT_SHORT_BLOCKS - POSITIONS)
    sort_short_segments(const __grid_constant__ struct sort_short_args a)
{
    __shared__ __align__(16) word shared[SORT_SHORT_THREADS / 32][WORDS];
    __shared__ struct short_chunk chunk;
    uint64_t segments = a.groups.groups;
    uint32_t most = a.groups.chunk;
    wait_for_earlier();
    if (a.clear && blockIdx.x == 0)
        for (uint32_t i = threadIdx.x; i < sizeof *a.clear / 4; i += SORT_SHORT_THREADS)
            ((uint32_t *)a.clear)[i] = 0;
    if (a.groups.count) { /* a part for each block, but not too small */
        segments = min(segments, *a.groups.count);
        const uint64_t share = (segments + gridDim.x - 1) / gridDim.x;
        most = (uint32_t)min((uint64_t)most, max(share, (uint64_t)32));
    }
    const uint64_t step = (uint64_t)gridDim.x * most;
    for (uint64_t from = (uint64_t)blockIdx.x * most; from < segments; from += step) {
        chunk_classify(a, chunk, from, segments, most);
        uint32_t item = warp_id();
        for (uint32_t c = 0; c <= WORDS_LOG; c++) { /* items of all classes, dealt to the warps */
            const uint32_t count = chunk.counts[c], each = WORDS >> c;
            const uint32_t items = (count + each - 1) / each;
            for (; item < items; item += SORT_SHORT_THREADS / 32) {
                struct short_groups s = {};
                s.base = chunk.first[c] + item * each;
                s.count = min(count - item * each, each);
                s.c = c;
                s.chunk = &chunk;
                sort_item<CHUNK>(a, shared[warp_id()], s);
            }
            item -= items;
        }
        __syncthreads(); /* the chunk may be written again */
    }
}

extern __shared__ __align__(16) unsigned char shared_bytes[];

#if !POSITIONS && KEY_BITS <= 16
enum {
    BLOCK_MOST = COUNTED_THREADS,
    BLOCK_RESIDENT = RESIDENT_BLOCKS(KEY_BITS == 8 ? 3 : 2, COUNTED_THREADS)
};
#else
enum { BLOCK_MOST = SORT_SHORT_BLOCK_THREADS, BLOCK_RESIDENT = 1 };
#endif

#if POSITIONS || KEY_BITS >= 16
/* Groups of one class, with as many threads as this takes. */
template <int WHERE>
static __device__ inline void sort_blocks(const struct sort_short_args &a, word *words)
{
    const uint64_t count = list_count(a.groups, a.block_class);
    for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
        struct short_groups s = {};
        s.base = i;
        s.count = 1;
        s.c = WORDS_LOG + 1 + a.block_class;
        if (WHERE == SEGMENT) s.one = list_group(a.groups, a.block_class, i);
        short_load<1, WHERE>(a, words, s);
        block_network(words, s.c, ~0u); /* also waits for the words */
        short_store<1, WHERE>(a, words, s);
        __syncthreads(); /* all threads have read */
    }
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_MOST, BLOCK_RESIDENT)
    sort_short_block(const __grid_constant__ struct sort_short_args a)
{
    wait_for_earlier();
#if !POSITIONS && KEY_BITS <= 16
    counted_groups(a, (uint32_t *)shared_bytes);
#else
    if (a.groups.offsets)
        sort_blocks<SEGMENT>(a, (word *)shared_bytes);
    else
        sort_blocks<ROWS>(a, (word *)shared_bytes);
#endif
}

#if !POSITIONS && KEY_BITS == 16
extern "C" __global__ void __launch_bounds__(SORT_SHORT_BLOCK_THREADS)
    sort_short_network(const __grid_constant__ struct sort_short_args a)
{
    wait_for_earlier();
    sort_blocks<ROWS>(a, (word *)shared_bytes);
}
#endif

#if POSITIONS && KEY_BITS <= 16
extern "C" __global__ void __launch_bounds__(SORT_GROUPS_THREADS)
    sort_short_widen(const __grid_constant__ struct sort_widen_args a)
{
    const ukey *in = (const ukey *)a.common.keys_in;
    const uint64_t step = (uint64_t)gridDim.x * SORT_GROUPS_THREADS;
    wait_for_earlier();
    if (a.state && a.state->counts[SORT_LONG] == 0) return;
    for (uint64_t p = (uint64_t)blockIdx.x * SORT_GROUPS_THREADS + threadIdx.x; p < a.common.n;
         p += step) {
        a.wide[p] = (uint32_t)compared(a.common, in[p]) << (32 - KEY_BITS);
        if (a.index) a.index[p] = 0;
    }
}
#endif
