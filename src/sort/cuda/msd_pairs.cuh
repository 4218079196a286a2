/*
 * sort/cuda/msd_pairs.cuh - device code that the kernels of msd_pairs.cu share: the compared part
 * of a key, digits, ranks in a tile, buffers of values.
 *
 * The compared part is in the top bits of a word: the selected bits of the key, after keys that
 * compare equal have become identical (order_merge).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_PAIRS_CUH
#define ECHI_SORT_CUDA_MSD_PAIRS_CUH

#include "cuda/device/ptx_async.cuh"
#include "sort/cuda/msd.cuh"

#define ROW(key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks)             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (blocks)
enum { PAIRS_BLOCKS = 0 SORT_PAIRS_TUNING(ROW) };
#undef ROW
#define ROW(key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks)             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (leaf_blocks)
enum { LEAF_BLOCKS = 0 SORT_PAIRS_TUNING(ROW) };
#undef ROW
enum {
    PAIRS_WARPS = PAIRS_THREADS / 32,
    PAIRS_RESIDENT = PAIRS_BLOCKS * PAIRS_THREADS <= MULTIPROCESSOR_THREADS
                         ? (int)PAIRS_BLOCKS
                         : (int)MULTIPROCESSOR_THREADS / (int)PAIRS_THREADS
};

static __device__ inline const uval *values_of(const struct sort_common &a, uint32_t buffer)
{
    return (const uval *)(buffer == SORT_IN    ? a.values_in
                          : buffer == SORT_OUT ? a.values_out
                                               : a.values_tmp);
}

/* ---- The compared part of a key ---- */

static __device__ inline ukey pairs_merged(const struct sort_common &a, ukey e)
{
    return (ukey)(order_merge(a.order, e) >> a.begin_bit) << (KEY_BITS - (a.end_bit - a.begin_bit));
}

/* The same for a key as it is stored in a buffer. */
static __device__ inline ukey pairs_key(const struct sort_common &a, uint32_t source, ukey u)
{
    const ukey e = msd_load(a, source, u);
    return a.plain ? e : pairs_merged(a, e);
}

/* The same for a thread's keys, with one test for all of them. */
template <int ITEMS>
static __device__ inline void pairs_compared(const struct sort_common &a, uint32_t source,
                                             ukey (&key)[ITEMS])
{
    if (source == SORT_IN)
#pragma unroll
        for (int i = 0; i < ITEMS; i++) key[i] = order_encode(a.order, key[i]);
    if (!a.plain)
#pragma unroll
        for (int i = 0; i < ITEMS; i++) key[i] = pairs_merged(a, key[i]);
}

/* The position from which the generated indices of a segment count. */
static __device__ inline uint32_t pairs_origin(const struct sort_segment &s)
{
    return s.known & SORT_CLAMPED ? 0 : (uint32_t)s.prefix;
}

/* The digit of a key in a segment whose digits are clamped. */
static __device__ inline uint32_t pairs_clamped(const struct sort_segment &s, ukey e)
{
    const ukey digit = e >> s.shift, first = (ukey)s.prefix;
    return digit < first ? 0 : (uint32_t)min(digit - first, (ukey)(SORT_BINS - 1));
}

/* Whether the bin of a clamped digit may contain keys outside the range. */
static __device__ inline bool pairs_outside(const struct sort_segment &s, uint32_t bin)
{
    const ukey last = (ukey) ~(ukey)0 >> s.shift, first = (ukey)s.prefix;
    if (!(s.known & SORT_CLAMPED)) return false;
    return (bin == 0 && first != 0) || (bin == SORT_BINS - 1 && last - first >= SORT_BINS);
}

template <int ITEMS>
static __device__ inline void pairs_digits(const struct sort_common &a,
                                           const struct sort_segment &s, const ukey (&key)[ITEMS],
                                           uint32_t (&digit)[ITEMS])
{
    if (s.known & SORT_CLAMPED)
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            digit[i] = pairs_clamped(s, a.plain ? key[i] : pairs_merged(a, key[i]));
    else if (a.plain)
#pragma unroll
        for (int i = 0; i < ITEMS; i++) digit[i] = msd_digit(s, key[i]);
    else
#pragma unroll
        for (int i = 0; i < ITEMS; i++) digit[i] = msd_digit(s, pairs_merged(a, key[i]));
}

/* ---- Tiles ---- */

#if PAIRS_STAGED
template <int BYTES> static __device__ inline void copy_async_of(void *to, const void *from)
{
    if (BYTES == 16)
        copy_async_16(to, from);
    else if (BYTES == 8)
        copy_async_8(to, from);
    else
        copy_async_4(to, from);
}
#endif

/* The number of tiles of a level that a block counts. */
static __device__ inline uint32_t pairs_each(const msd_args &a, uint32_t tiles)
{
    return tiles / a.count_blocks + (tiles % a.count_blocks != 0);
}

#endif
