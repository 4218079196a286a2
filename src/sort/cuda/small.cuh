/*
 * sort/cuda/small.cuh - the entire sort of an array that fits in one block.
 *
 * Keys of 32 and 64 bits are ranked by bins (bins.cuh), together with their input positions.  Keys
 * of 8 and 16 bits without values are counted (small_bytes.cuh, small_values.cuh).  Other keys are
 * sorted digit by digit (block.cuh), with their positions too.  So are keys without values
 * that are sorted by some of their bits: equal keys keep their order, without positions.  At the
 * end each value is loaded once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SMALL_CUH
#define ECHI_SORT_CUDA_SMALL_CUH

#include "sort/cuda/bins.cuh"
#if SORT_BY_VALUES(KEY_BYTES, VAL_BYTES)
#include "sort/cuda/small_values.cuh"
#elif SORT_BY_BYTES(KEY_BYTES, VAL_BYTES)
#include "sort/cuda/small_bytes.cuh"
#endif

/* Key i of a thread is at position mine + step i.  All loads are in flight before the first key is
 * used. */
template <int ITEMS>
static __device__ inline void small_load(const struct sort_common &a, uint32_t mine, uint32_t step,
                                         struct block_keys<ITEMS> &k)
{
    const ukey *keys_in = (const ukey *)a.keys_in;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t at = mine + step * i;
        k.key[i] = at < a.n ? keys_in[at] : (ukey)0;
#if VAL_BYTES
        k.origin[i] = at;
#endif
    }
}

template <int ITEMS>
static __device__ inline void small_encode(const struct sort_common &a, struct block_keys<ITEMS> &k)
{
#pragma unroll
    for (int i = 0; i < ITEMS; i++) k.key[i] = order_encode(a.order, k.key[i]);
}

#if SORT_BY_BINS(KEY_BYTES, VAL_BYTES)
#if VAL_BYTES
/* Each value goes to the rank of its key through shared memory; thread t loads the values of
 * positions t, t + threads and so on; an index is the position itself. */
template <int WARPS, int ITEMS>
static __device__ inline void
small_values(const struct sort_common &a, uint32_t n, int items, const uval (&value)[ITEMS],
             const struct block_keys<ITEMS> &k, const uint32_t (&rank)[ITEMS])
{
    uval *shared = (uval *)shared_bytes, *out = (uval *)a.values_out;
    if (!a.index) {
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (bins_mine<WARPS>(i) < n) shared[bins_mine<WARPS>(i)] = value[i];
        __syncthreads(); /* the values are written */
    }
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++)
        if (bins_mine<WARPS>(i) < n)
            out[rank[i]] = a.index ? (uval)k.origin[i] : shared[k.origin[i]];
}
#endif

/* Sorts by bins. */
template <int WARPS, int ITEMS>
static __device__ inline void small_bins(const struct sort_common &a)
{
    struct bins_shared<WARPS, ITEMS> &s = *(struct bins_shared<WARPS, ITEMS> *)shared_bytes;
    static_assert(sizeof(s) <=
                      SORT_BINS_SHARED_BYTES(WARPS * 32, ITEMS, KEY_BYTES, VAL_BYTES ? 2 : 0),
                  "the host gives less shared memory than the kernel uses");
    const uint32_t n = (uint32_t)a.n;
    const int items = (int)((n + WARPS * 32 - 1) / (WARPS * 32)); /* items that contain keys */
    struct block_keys<ITEMS> k;
    uint32_t rank[ITEMS];
    small_load<ITEMS>(a, threadIdx.x, WARPS * 32, k);
#if VAL_BYTES
    static_assert(sizeof(s) >= WARPS * 32 * ITEMS * VAL_BYTES, "values change places there");
    const uval *values_in = (const uval *)a.values_in;
    uval value[ITEMS];
    if (!a.index)
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (bins_mine<WARPS>(i) < n) value[i] = values_in[bins_mine<WARPS>(i)];
#endif
    small_encode<ITEMS>(a, k);
    const int compared = a.passes ? items : 0; /* if no bits are compared, all keys are equal */
    ukey low = compared ? (ukey) ~(ukey)0 : (ukey)0, high = 0;
#pragma unroll
    for (int i = 0; i < ITEMS && i < compared; i++)
        if (bins_mine<WARPS>(i) < n) {
            const ukey by = sort_value(a, k.key[i]);
            low = key_min(low, by);
            high = key_max(high, by);
        }
    bins_range(s, low, high);
    if (low == high) { /* equal keys are in order */
#pragma unroll
        for (int i = 0; i < ITEMS; i++) rank[i] = bins_mine<WARPS>(i);
        __syncthreads(); /* all threads have read the range */
    } else {
        bins_rank<WARPS, ITEMS, WARPS * 32, true>(a, s, n, threadIdx.x, items, VAL_BYTES != 0, low,
                                                  high, k, rank);
    }
    if (!a.discard_keys)
#pragma unroll
        for (int i = 0; i < ITEMS && i < items; i++)
            if (bins_mine<WARPS>(i) < n)
                ((ukey *)a.keys_out)[rank[i]] = order_decode(a.order, k.key[i]);
#if VAL_BYTES
    small_values<WARPS, ITEMS>(a, n, items, value, k, rank);
#endif
}
#endif

/* Sorts digit by digit. */
template <int WARPS, int ITEMS>
static __device__ inline void small_digits(const struct sort_common &a)
{
    struct block_shared<WARPS, ITEMS> &s = *(struct block_shared<WARPS, ITEMS> *)shared_bytes;
    static_assert(sizeof(s) <=
                      SORT_BLOCK_SHARED_BYTES(WARPS * 32, ITEMS, KEY_BYTES, VAL_BYTES ? 2 : 0),
                  "the host gives less shared memory than the kernel uses");
    const int items = (int)((a.n + WARPS * 32 - 1) / (WARPS * 32)); /* items that contain keys */
    const uint32_t mine = threadIdx.x / 32 * (32 * items) + lane_id();
    struct block_keys<ITEMS> k;
    small_load<ITEMS>(a, mine, 32, k);
    small_encode<ITEMS>(a, k);
    for (int pass = 0; pass < a.passes; pass++)
        block_pass<WARPS, ITEMS>(a, s, pass, mine, items, k);
#if VAL_BYTES
    const uval *values_in = (const uval *)a.values_in;
    uval value[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS && i < items; i++) {
        if (mine + 32 * i >= a.n) continue;
#if VAL_BYTES <= 8
        if (a.index)
            value[i] = (uval)k.origin[i];
        else
#endif
            value[i] = values_in[k.origin[i]];
    }
#endif
    __syncthreads(); /* in place: all threads have read what others write */
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

template <int WARPS, int ITEMS>
static __device__ inline void small_sort(const struct sort_common &a)
{
#if SORT_BY_VALUES(KEY_BYTES, VAL_BYTES)
    const ukey *in = (const ukey *)a.keys_in;
    if (a.passes && a.unstable && values_fit(in, a.n)) {
        struct values_shared &s = *(struct values_shared *)shared_bytes;
        values_clear<WARPS>(s);
        wait_for_earlier();
        values_sort<WARPS>(a.order, s, in, (ukey *)a.keys_out, (uint32_t)a.n);
        return;
    }
#elif SORT_BY_BYTES(KEY_BYTES, VAL_BYTES)
    struct bytes_shared {
        uint32_t counts[BYTES_VALUES], sums[BYTES_VALUES / 32];
        uint4 marks[WARPS * 32 * ITEMS / 16 + 1];
    };
    struct bytes_shared &s = *(struct bytes_shared *)shared_bytes;
    static_assert(sizeof s <= SORT_BYTES_BYTES(WARPS * 32 * ITEMS),
                  "the host gives less shared memory than the kernel uses");
    if (a.passes && a.unstable) {
        ukey *out = (ukey *)a.keys_out;
        const uint32_t n = (uint32_t)a.n;
        if (threadIdx.x < BYTES_VALUES) s.counts[threadIdx.x] = 0;
        for (uint32_t i = threadIdx.x; i * 16 < n + marks_skew(out); i += WARPS * 32)
            s.marks[i] = make_uint4(0, 0, 0, 0);
        __syncthreads(); /* counts and marks are zero */
        wait_for_earlier();
        bytes_sort<WARPS>(a.order, s.counts, s.sums, s.marks, (const ukey *)a.keys_in, out, n);
        return;
    }
#endif
    wait_for_earlier();
#if SORT_BY_BINS(KEY_BYTES, VAL_BYTES)
    if (VAL_BYTES || (a.passes && a.unstable)) {
        small_bins<WARPS, ITEMS>(a);
        return;
    }
#endif
    small_digits<WARPS, ITEMS>(a);
}

#endif
