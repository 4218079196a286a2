/*
 * cuda/sort_small.cuh - a whole sort in one block, of an array that it can hold.
 *
 * Keys stay in registers.  Those of 32 and 64 bits are ranked by bins (sort_bins.cuh) and change
 * places once, as their values do; where they crowd, they are sorted digit by digit
 * (sort_block.cuh), and so are others.  Then only where each key came from changes places with it,
 * and at the end each value is fetched once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SORT_SMALL_CUH
#define ECHI_CUDA_SORT_SMALL_CUH

#include "sort_bins.cuh"

template <int ITEMS>
static __device__ inline void small_load(const struct sort_args &a, uint32_t mine, int items,
                                         struct block_keys<ITEMS> &k)
{
    const ukey *keys_in = (const ukey *)a.keys_in;
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        const uint32_t at = mine + 32 * i;
        k.key[i] = at < a.n ? order_encode(a.order, keys_in[at]) : (ukey)0;
#if VAL_BYTES
        k.place[i] = at;
#endif
    }
}

#if VAL_BYTES
/* The values of my keys, which came from the places of k. */
template <int ITEMS>
static __device__ inline void small_values(const struct sort_args &a, uint32_t mine, int items,
                                           const struct block_keys<ITEMS> &k, uval (&value)[ITEMS])
{
    const uval *values_in = (const uval *)a.values_in;
#if VAL_BYTES <= 8
    if (a.index)
#pragma unroll
        for (int i = 0; i < ITEMS; i++) value[i] = (uval)k.place[i];
    else
#endif
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (mine + 32 * i < a.n) value[i] = values_in[k.place[i]];
}
#endif

/* What[i] of each thread goes to place slot[i] of the output, by way of shared memory. */
template <typename type, int ITEMS>
static __device__ inline void small_write(uint32_t n, uint32_t mine, int items,
                                          const uint32_t (&slot)[ITEMS], const type (&what)[ITEMS],
                                          type *out)
{
    type *shared = (type *)shared_bytes;
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + 32 * i < n) shared[slot[i]] = what[i];
    __syncthreads(); /* they lie in order */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (mine + 32 * i < n) out[mine + 32 * i] = shared[mine + 32 * i];
}

#if SORT_BY_BINS(KEY_BYTES, VAL_BYTES)
/* Sorts by bins, all of it; false: they crowd, and nothing was done. */
template <int WARPS, int ITEMS>
static __device__ inline bool small_bins(const struct sort_args &a, uint32_t mine, int items,
                                         ukey low, ukey high, struct block_keys<ITEMS> &k)
{
    struct bins_shared<WARPS, ITEMS> &s = *(struct bins_shared<WARPS, ITEMS> *)shared_bytes;
    const uint32_t n = (uint32_t)a.n;
    uint32_t slot[ITEMS];
#if VAL_BYTES
    uval value[ITEMS];
    small_values<ITEMS>(a, mine, items, k, value);
#endif
    if (!bins_rank<WARPS, ITEMS, true>(a, s, n, mine, items, VAL_BYTES != 0, low, high, k, slot))
        return false;
    if (!a.discard_keys) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) k.key[i] = order_decode(a.order, k.key[i]);
        small_write<ukey, ITEMS>(n, mine, items, slot, k.key, (ukey *)a.keys_out);
    }
#if VAL_BYTES
    static_assert(sizeof(s) >= WARPS * 32 * ITEMS * VAL_BYTES, "values change places there");
    if (!a.discard_keys) __syncthreads(); /* everyone has read the keys */
    small_write<uval, ITEMS>(n, mine, items, slot, value, (uval *)a.values_out);
#endif
    return true;
}
#endif

/* Sorts digit by digit. */
template <int WARPS, int ITEMS>
static __device__ inline void small_digits(const struct sort_args &a, uint32_t mine, int items,
                                           struct block_keys<ITEMS> &k)
{
    struct block_shared<WARPS, ITEMS> &s = *(struct block_shared<WARPS, ITEMS> *)shared_bytes;
    static_assert(sizeof(s) <=
                      SORT_BLOCK_SHARED_BYTES(WARPS * 32, ITEMS, KEY_BYTES, VAL_BYTES ? 2 : 0),
                  "the host gives less shared memory than the kernel uses");
    for (int pass = 0; pass < a.passes; pass++)
        block_pass<WARPS, ITEMS>(a, s, pass, mine, items, k);
#if VAL_BYTES
    uval value[ITEMS];
    small_values<ITEMS>(a, mine, items, k, value);
#endif
    __syncthreads(); /* in place: everyone has read what others write */
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        const uint32_t at = mine + 32 * i;
        if (at >= a.n) continue;
        if (!a.discard_keys) ((ukey *)a.keys_out)[at] = order_decode(a.order, k.key[i]);
#if VAL_BYTES
        ((uval *)a.values_out)[at] = value[i];
#endif
    }
}

template <int WARPS, int ITEMS> static __device__ inline void small_sort(const struct sort_args &a)
{
    const uint32_t n = (uint32_t)a.n;
    const int items = (int)((n + WARPS * 32 - 1) / (WARPS * 32)); /* those that hold keys */
    const uint32_t mine = threadIdx.x / 32 * (32 * items) + lane_id();
    struct block_keys<ITEMS> k;
    wait_for_earlier();
    small_load<ITEMS>(a, mine, items, k);
#if SORT_BY_BINS(KEY_BYTES, VAL_BYTES)
    if (a.passes && (VAL_BYTES || a.unstable)) {
        struct bins_shared<WARPS, ITEMS> &s = *(struct bins_shared<WARPS, ITEMS> *)shared_bytes;
        static_assert(sizeof(s) <=
                          SORT_BINS_SHARED_BYTES(WARPS * 32, ITEMS, KEY_BYTES, VAL_BYTES ? 2 : 0),
                      "the host gives less shared memory than the kernel uses");
        ukey low = (ukey) ~(ukey)0, high = 0;
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (mine + 32 * i < n) {
                const ukey value = sort_value(a, k.key[i]);
                low = key_min(low, value);
                high = key_max(high, value);
            }
        bins_range(s, low, high);
        if (small_bins<WARPS, ITEMS>(a, mine, items, low, high, k)) return;
        __syncthreads(); /* everyone has read what the counters overwrite */
    }
#endif
    small_digits<WARPS, ITEMS>(a, mine, items, k);
}

#endif
