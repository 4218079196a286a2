/*
 * sort/cuda/ordered.cuh - input that is in order in a sample: it is compared and copied at once.
 *
 *     sample      | 3 . 5 . 5 . 8 |    sort_skewed_begin, sort_buckets_begin: msd->copies
 *     copy        | 3 4 5 5 5 7 8 |    sort_ordered_copy: every key, with its successor
 *
 * If the whole input is in order, the sort ends here; it has read and written every element once.
 * Input in reverse order is written from its end.  The first wrong neighbours end the copy, and the
 * levels sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_ORDERED_CUH
#define ECHI_SORT_CUDA_ORDERED_CUH

#include "sort/cuda/msd_plan.cuh"

enum { ORDERED_TILE = SORT_ORDERED_TILE(KEY_BYTES) };

/* The order of these neighbours; with values, equal keys must not be reversed. */
static __device__ inline uint32_t ordered_compare(const struct sort_common &a, ukey u, ukey next)
{
#if VAL_BYTES
    const ukey e = pairs_key(a, SORT_IN, u), f = pairs_key(a, SORT_IN, next);
    return f < e ? SORT_SEEN_FALL : SORT_SEEN_RISE;
#else
    const ukey e = order_encode(a.order, u), f = order_encode(a.order, next);
    return f < e ? SORT_SEEN_FALL : e < f ? SORT_SEEN_RISE : 0;
#endif
}

/* Key i and its successor. */
static __device__ inline uint32_t ordered_compare_at(const struct sort_common &a, ukey u,
                                                     uint64_t i)
{
    return i + 1 < a.n ? ordered_compare(a, u, ((const ukey *)a.keys_in)[i + 1]) : 0;
}

/* Writes the vector of the keys at positions i, i + 1, ... */
static __device__ inline void ordered_store(const struct sort_common &a, bool reverse, uint64_t i,
                                            const union key_vector &v)
{
    ukey *out = (ukey *)a.keys_out + (reverse ? a.n - i - VECTOR_KEYS : i);
    union key_vector w = v;
    if (reverse)
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS; k++) w.key[k] = v.key[VECTOR_KEYS - 1 - k];
    if (((uintptr_t)out & 15) == 0) {
        *(uint4 *)out = w.vector;
    } else {
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS; k++) out[k] = w.key[k];
    }
}

/* Compares the keys of a tile with their successors, and writes them if copy is set; returns the
 * orders of neighbours. */
static __device__ inline uint32_t ordered_keys(const struct sort_common &a, uint64_t from,
                                               uint32_t count, bool reverse, bool copy)
{
    const ukey *keys = (const ukey *)a.keys_in, *mine = keys + from;
    ukey *out = (ukey *)a.keys_out;
    const struct key_vectors v = key_vectors_of(mine, count);
    const uint32_t vectors = (uint32_t)v.count, head = (uint32_t)v.head, tail = (uint32_t)v.tail;
    uint32_t seen = 0;
#pragma unroll 1 /* many warps hide the latency, and the code is short */
    for (uint32_t at = threadIdx.x; at < vectors; at += SORT_ORDERED_THREADS) {
        const uint64_t i = from + head + (uint64_t)at * VECTOR_KEYS;
        union key_vector load;
        load.vector = v.body[at];
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS - 1; k++)
            seen |= ordered_compare(a, load.key[k], load.key[k + 1]);
        seen |= ordered_compare_at(a, load.key[VECTOR_KEYS - 1], i + VECTOR_KEYS - 1);
        if (copy) ordered_store(a, reverse, i, load);
    }
    for (uint32_t end = 0; end < 2; end++) { /* before the vectors, and after them */
        const uint32_t at = end ? tail + threadIdx.x : threadIdx.x;
        const uint64_t i = from + at;
        if (at >= (end ? count : head)) continue;
        seen |= ordered_compare_at(a, keys[i], i);
        if (copy) out[reverse ? a.n - 1 - i : i] = keys[i];
    }
    return seen;
}

#if VAL_BYTES
static __device__ inline void ordered_values(const struct sort_common &a, uint64_t from,
                                             uint32_t count, bool reverse)
{
    const uval *in = (const uval *)a.values_in;
    uval *out = (uval *)a.values_out;
    if (!a.index && in == out) return;
#pragma unroll 4
    for (uint32_t k = threadIdx.x; k < count; k += SORT_ORDERED_THREADS) {
        const uint64_t i = from + k, to = reverse ? a.n - 1 - i : i;
#if VAL_BYTES <= 8
        out[to] = a.index ? (uval)i : in[i];
#else
        out[to] = in[i];
#endif
    }
}
#endif

extern "C" __global__ void __launch_bounds__(SORT_ORDERED_THREADS)
    sort_ordered_copy(const __grid_constant__ msd_args a)
{
    wait_for_earlier();
    const uint32_t copies = a.lists.msd->copies;
    if (copies == SORT_COPIES_NONE) return;
    const bool reverse = copies == SORT_COPIES_REVERSED;
#if VAL_BYTES
    const bool copy = !a.common.discard_keys && a.common.keys_in != a.common.keys_out;
#else
    const bool copy = a.common.keys_in != a.common.keys_out;
#endif
    const uint32_t wrong = reverse ? SORT_SEEN_RISE : SORT_SEEN_FALL;
    for (uint64_t from = (uint64_t)blockIdx.x * ORDERED_TILE; from < a.common.n;
         from += (uint64_t)gridDim.x * ORDERED_TILE) {
        if (load_relaxed(&a.lists.msd->seen) == SORT_SEEN_BOTH) return;
        const uint32_t count = (uint32_t)min((uint64_t)ORDERED_TILE, a.common.n - from);
        if (ordered_keys(a.common, from, count, reverse, copy) & wrong)
            atomicOr(&a.lists.msd->seen, (uint32_t)SORT_SEEN_BOTH);
#if VAL_BYTES
        ordered_values(a.common, from, count, reverse);
#endif
    }
}

#endif
