/*
 * sort/cuda/words.cu - the sort of few keys of 16 bits with values, in one block, as words.
 *
 * If many keys are equal or too many words share a bin, they are sorted digit by digit, by the bits
 * of the keys: in the order of the input, their positions ascend already.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/bins.cuh"
#include "sort/cuda/words.cuh"

enum { WORDS_EQUAL = 6 }; /* of 32 keys, at least: many keys are equal */

/* Whether many of the first keys of a warp are equal to one of two of them. */
static __device__ inline bool words_equal(const struct sort_sample_args &a, uint32_t word)
{
    const uint32_t key = word >> a.words.position_bits;
    const uint32_t one = __ballot_sync(WARP_ALL, key == __shfl_sync(WARP_ALL, key, 0));
    const uint32_t two = __ballot_sync(WARP_ALL, key == __shfl_sync(WARP_ALL, key, 16));
    return max(__popc(one), __popc(two)) >= WORDS_EQUAL;
}

template <int WARPS, int ITEMS>
static __device__ inline void words_block(const struct sort_sample_args &a)
{
    struct bins_shared<WARPS, ITEMS> &s = *(struct bins_shared<WARPS, ITEMS> *)shared_bytes;
    struct block_shared<WARPS, ITEMS> &b = *(struct block_shared<WARPS, ITEMS> *)shared_bytes;
    static_assert(sizeof(s) <= SORT_WORDS_SHARED_BYTES(WARPS * 32, ITEMS) &&
                      sizeof(b) <= SORT_WORDS_SHARED_BYTES(WARPS * 32, ITEMS),
                  "the host gives less shared memory than the kernel uses");
    const uint32_t n = (uint32_t)a.common.n;
    const int items = (int)((n + WARPS * 32 - 1) / (WARPS * 32)); /* items that contain keys */
    const uint32_t mine = threadIdx.x / 32 * (32 * items) + lane_id();
    struct block_keys<ITEMS> k;
    uint32_t rank[ITEMS], low = ~0u, high = 0;
    wait_for_earlier();
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        k.key[i] = i < items && mine + 32 * i < n ? word_at(a, mine + 32 * i) : 0;
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + 32 * i < n) {
            low = key_min(low, k.key[i]);
            high = key_max(high, k.key[i]);
        }
    const bool full = mine - lane_id() + 32 <= n; /* there is no key past the end */
    const bool equal = __syncthreads_or(words_equal(a, k.key[0]) && full);
    bins_range(s, low, high);
    const bool bins =
        !equal && low < high &&
        bins_rank<WARPS, ITEMS, 32, false>(a.common, s, n, mine, items, false, low, high, k, rank);
    if (!bins) {
        struct sort_common digits = {};
        digits.n = n;
        digits.begin_bit = (int)a.words.position_bits;
        digits.end_bit = 32 - __clz((int)(low ^ high));
        __syncthreads(); /* all threads have read what the counters overwrite */
        for (int pass = 0; digits.begin_bit + pass * SORT_DIGIT_BITS < digits.end_bit; pass++)
            block_pass<WARPS, ITEMS>(digits, b, pass, mine, items, k);
    }
    uint32_t exist = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        if (!bins) rank[i] = mine + 32 * i;
        if (i < items && (bins ? bins_mine<WARPS>(i) : rank[i]) < n) exist |= 1u << i;
    }
    words_write<ITEMS>(a, k.key, rank, exist);
}

extern "C" __global__ void __launch_bounds__(SORT_BLOCK_MEDIUM_THREADS)
    sort_words_medium(const __grid_constant__ struct sort_sample_args a)
{
    words_block<SORT_BLOCK_MEDIUM_THREADS / 32, SORT_BLOCK_MEDIUM_ITEMS>(a);
}

extern "C" __global__ void __launch_bounds__(SORT_BLOCK_LARGE_THREADS)
    sort_words_large(const __grid_constant__ struct sort_sample_args a)
{
    words_block<SORT_BLOCK_LARGE_THREADS / 32, SORT_WORDS_ITEMS>(a);
}
