/*
 * cuda/sort_block.cuh - the whole radix sort in one block, of an array that it can hold.
 *
 * Keys stay in registers and change places through shared memory once a pass.  Values do not
 * travel: where each key came from does, and at the end each value is fetched once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SORT_BLOCK_CUH
#define ECHI_CUDA_SORT_BLOCK_CUH

#include "sort_common.cuh"

template <int WARPS, int ITEMS> struct block_shared {
    enum { TILE = WARPS * 32 * ITEMS };
    union {
        uint32_t counts[WARPS * SORT_BINS];
        struct {
            ukey keys[TILE];
#if VAL_BYTES
            uint16_t place[TILE]; /* where the key came from */
#endif
        };
    };
    uint32_t sums[SORT_BINS / 32];
};

/* A thread's keys between passes: key[i] is that of position mine + 32 i. */
template <int ITEMS> struct block_keys {
    ukey key[ITEMS];
#if VAL_BYTES
    uint32_t place[ITEMS];
#endif
};

/* One pass in the block.  What lies past the end has the last digit in every pass and stays. */
template <int WARPS, int ITEMS>
static __device__ inline void block_pass(const struct sort_args &a,
                                         struct block_shared<WARPS, ITEMS> &s, int pass,
                                         uint32_t mine, int items, struct block_keys<ITEMS> &k)
{
    const uint32_t n = (uint32_t)a.n, bin = threadIdx.x;
    uint32_t *row = s.counts + threadIdx.x / 32 * SORT_BINS;
    uint32_t slot[ITEMS];
    rank_clear(s.counts, WARPS * SORT_BINS);
    __syncthreads(); /* the counters are clear */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        slot[i] = mine + 32 * i < n ? digit_of(a, k.key[i], pass) : SORT_BINS - 1;
    rank_keys<ITEMS>(row, slot, items);
    __syncthreads(); /* every warp has counted */
    uint32_t count = bin < SORT_BINS ? rank_column<WARPS>(s.counts, bin) : 0;
    uint32_t offset = bins_scan(count, s.sums);
    if (bin < SORT_BINS) rank_offsets<WARPS>(s.counts, bin, offset);
    __syncthreads(); /* the rows say where each warp's keys of a bin begin */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (i < items)
            slot[i] += row[mine + 32 * i < n ? digit_of(a, k.key[i], pass) : SORT_BINS - 1];
    __syncthreads(); /* every warp is done with the counters */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (i < items) {
            s.keys[slot[i]] = k.key[i];
#if VAL_BYTES
            s.place[slot[i]] = (uint16_t)k.place[i];
#endif
        }
    __syncthreads(); /* the keys lie sorted by this digit */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (i < items) {
            k.key[i] = s.keys[mine + 32 * i];
#if VAL_BYTES
            k.place[i] = s.place[mine + 32 * i];
#endif
        }
    __syncthreads(); /* everyone has read; the counters may be cleared */
}

template <int WARPS, int ITEMS> static __device__ inline void block_sort(const struct sort_args &a)
{
    struct block_shared<WARPS, ITEMS> &s = *(struct block_shared<WARPS, ITEMS> *)shared_bytes;
    static_assert(sizeof(s) <=
                      SORT_BLOCK_SHARED_BYTES(WARPS * 32, ITEMS, KEY_BYTES, VAL_BYTES ? 2 : 0),
                  "the host gives less shared memory than the kernel uses");
    const uint32_t n = (uint32_t)a.n;
    const int items = (int)((n + WARPS * 32 - 1) / (WARPS * 32)); /* those that hold keys */
    const uint32_t mine = threadIdx.x / 32 * (32 * items) + lane_id();
    const ukey *keys_in = (const ukey *)a.keys_in;
    struct block_keys<ITEMS> k;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        uint32_t at = mine + 32 * i;
        k.key[i] = i < items && at < n ? order_encode(a.order, keys_in[at]) : (ukey)0;
#if VAL_BYTES
        k.place[i] = at;
#endif
    }
    for (int pass = 0; pass < a.passes; pass++)
        block_pass<WARPS, ITEMS>(a, s, pass, mine, items, k);

#if VAL_BYTES
    const uval *values_in = (const uval *)a.values_in;
    uval value[ITEMS];
#if VAL_BYTES <= 8
    if (a.index)
#pragma unroll
        for (int i = 0; i < ITEMS; i++) value[i] = (uval)k.place[i];
    else
#endif
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (i < items && mine + 32 * i < n) value[i] = values_in[k.place[i]];
#endif
    __syncthreads(); /* in place: everyone has read what others write */
    ukey *keys_out = (ukey *)a.keys_out;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        uint32_t at = mine + 32 * i;
        if (i >= items || at >= n) continue;
        if (!a.discard_keys) keys_out[at] = order_decode(a.order, k.key[i]);
#if VAL_BYTES
        ((uval *)a.values_out)[at] = value[i];
#endif
    }
}

#endif
