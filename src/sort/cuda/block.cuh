/*
 * sort/cuda/block.cuh - a pass of a radix sort in a block that holds all keys.
 *
 * Keys stay in registers and are exchanged through shared memory once per pass.  Values are not
 * moved in the passes: the input position of each key is, and at the end each value is loaded once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_BLOCK_CUH
#define ECHI_SORT_CUDA_BLOCK_CUH

#include "sort/cuda/block.h"
#include "sort/cuda/common.cuh"

#ifndef SORT_ORIGINS
#define SORT_ORIGINS (VAL_BYTES != 0) /* the input position of a key is known */
#endif

template <int WARPS, int ITEMS> struct block_shared {
    enum { TILE = WARPS * 32 * ITEMS };
    union {
        uint32_t counts[WARPS * SORT_BINS];
        struct {
            ukey keys[TILE];
#if SORT_ORIGINS
            uint16_t origin[TILE]; /* input position of the key */
#endif
        };
    };
    uint32_t sums[SORT_BINS / 32];
};

/* A thread's keys between passes: key[i] is at position mine + 32 i. */
template <int ITEMS> struct block_keys {
    ukey key[ITEMS];
#if SORT_ORIGINS
    uint32_t origin[ITEMS];
#endif
};

/* One pass in the block.  Padding past the end has the last digit in every pass and stays at the
 * end. */
template <int WARPS, int ITEMS>
static __device__ inline void block_pass(const struct sort_common &a,
                                         struct block_shared<WARPS, ITEMS> &s, int pass,
                                         uint32_t mine, int items, struct block_keys<ITEMS> &k)
{
    const uint32_t n = (uint32_t)a.n, bin = threadIdx.x;
    uint32_t *row = s.counts + threadIdx.x / 32 * SORT_BINS;
    uint32_t slot[ITEMS];
    rank_clear(s.counts, WARPS * SORT_BINS);
    __syncthreads(); /* the counters are clear */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        slot[i] = mine + 32 * i < n ? digit_of(a, k.key[i], pass) : SORT_BINS - 1;
    rank_keys<ITEMS>(row, slot, items);
    __syncthreads(); /* all warps have counted */
    uint32_t count = bin < SORT_BINS ? rank_column<WARPS>(s.counts, bin) : 0;
    uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) rank_offsets<WARPS>(s.counts, bin, offset);
    __syncthreads(); /* the rows contain the start of each warp's keys of a bin */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        slot[i] += row[mine + 32 * i < n ? digit_of(a, k.key[i], pass) : SORT_BINS - 1];
    __syncthreads(); /* all warps are done with the counters */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        s.keys[slot[i]] = k.key[i];
#if SORT_ORIGINS
        s.origin[slot[i]] = (uint16_t)k.origin[i];
#endif
    }
    __syncthreads(); /* the keys are sorted by this digit */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        k.key[i] = s.keys[mine + 32 * i];
#if SORT_ORIGINS
        k.origin[i] = s.origin[mine + 32 * i];
#endif
    }
    __syncthreads(); /* all threads have read; the counters may be cleared */
}

#endif
