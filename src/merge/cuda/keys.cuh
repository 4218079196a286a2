/*
 * merge/cuda/keys.cuh - merges a tile of keys without values in shared memory.
 *
 *     shared memory   | part of a | ones | part of b | ones |
 *     thread t        finds where elements 17 t ... 17 t + 16 of the tile begin in both parts,
 *                     and merges them to registers
 *     shared memory   | tile, in order |           then written by adjacent threads
 *
 * Keys with equal codes have equal bits, so that it does not matter which of them is first, and the
 * codes of all ones after a part do not differ from keys with this code. A step needs no test for
 * the end of a part, and five instructions: it loads the next key of the part whose key was the
 * last result, and compares it with the first key of the other part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_KEYS_CUH
#define ECHI_MERGE_CUDA_KEYS_CUH

#include "cuda/device/merge_tile.cuh"
#include "merge/cuda/common.h"

/* The next `ITEMS` keys of the merge of two sequences that begin at a and at b and are followed by
 * ITEMS + 1 codes of all ones; put(k, key) for each.  Both parts' next keys are at
 *
 *     u + k   and   (sum - u)    before step k, u being that of the part of the last result */
template <int ITEMS, typename call>
static __device__ inline void merge_steps(const ukey *keys, uint32_t a, uint32_t b, const call &put)
{
    const ukey x = keys[a], y = keys[b];
    const uint32_t sum = a + b + 2;
    uint32_t u = x <= y ? a + 1 : b + 1;
    ukey other = max(x, y);
    put(0, min(x, y));
#pragma unroll
    for (int k = 1; k < ITEMS; k++) {
        const ukey next = keys[u + (k - 1)];
        put(k, min(next, other));
        if (next > other) u = (sum - k) - u;
        other = max(next, other);
    }
}

/* The same for keys some of which are equal with different codes, with tests for the end of the
 * parts. */
template <int ITEMS, typename call>
static __device__ inline void merged_steps(const struct echi_order &o, const ukey *keys, uint32_t a,
                                           uint32_t a_end, uint32_t b, uint32_t b_end,
                                           const call &put)
{
    ukey x = keys[a], y = keys[b];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const bool take =
            b >= b_end || (a < a_end && merge_stored<true>(o, x) <= merge_stored<true>(o, y));
        put(k, take ? x : y);
        const ukey next = keys[take ? ++a : ++b];
        x = take ? next : x;
        y = take ? y : next;
    }
}

/* Loads both parts, the second one to part.n_a + ITEMS + 1, and encodes the keys; all loads of a
 * thread are in flight together.  Returns, in every thread, whether order_merge() changes a key. */
template <int ITEMS>
static __device__ inline bool keys_load(const struct merge_args &a, const struct merge_part &part,
                                        ukey *keys)
{
    const struct echi_order &o = a.order;
    const ukey *first = (const ukey *)a.keys[0] + part.a, *second = (const ukey *)a.keys[1];
    const int64_t shift = (int64_t)part.b - part.n_a; /* constant offsets need no arithmetic */
    const uint32_t n = part.n_a + part.n_b;
    bool changes = false;
    ukey x[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const uint32_t i = threadIdx.x + k * MERGE_THREADS;
        x[k] = 0;
        if (i < n) x[k] = i < part.n_a ? __ldcs(first + i) : __ldcs(second + (shift + i));
    }
    if (o.float_mask) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            x[k] = order_encode(o, x[k]);
            changes |= order_merge(o, x[k]) != x[k];
        }
    } else {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) x[k] ^= (ukey)(o.sign ^ o.flip);
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const uint32_t i = threadIdx.x + k * MERGE_THREADS;
        if (i < n) keys[i < part.n_a ? i : i + ITEMS + 1] = x[k];
    }
    if (threadIdx.x <= ITEMS) {
        keys[part.n_a + threadIdx.x] = (ukey) ~(ukey)0;
        keys[n + ITEMS + 1 + threadIdx.x] = (ukey) ~(ukey)0;
    }
    return __syncthreads_or(changes); /* both parts are loaded */
}

/* Merges a tile in shared memory, MERGE_KEYS_ROOM(MERGE_THREADS, ITEMS) keys, and writes it. */
template <int ITEMS>
static __device__ inline void keys_tile(const struct merge_args &a, const struct merge_part &part,
                                        ukey *keys)
{
    const uint32_t n = part.n_a + part.n_b, first = min(threadIdx.x * ITEMS, n);
    const uint32_t b = part.n_a + ITEMS + 1;
    const struct echi_order &o = a.order;
    ukey *out = (ukey *)a.keys_out + part.a + part.b;
    ukey item[ITEMS];
    if (keys_load<ITEMS>(a, part, keys)) {
        const uint32_t i = merge_path_shared<true>(o, keys, part.n_a, keys + b, part.n_b, first);
        merged_steps<ITEMS>(o, keys, i, part.n_a, b + first - i, b + part.n_b,
                            [&](int k, ukey key) { item[k] = key; });
    } else {
        const uint32_t i = merge_path_shared<false>(o, keys, part.n_a, keys + b, part.n_b, first);
        merge_steps<ITEMS>(keys, i, b + first - i, [&](int k, ukey key) { item[k] = key; });
    }
    __syncthreads(); /* all threads have read the parts */
#pragma unroll
    for (int k = 0; k < ITEMS; k++) keys[threadIdx.x * ITEMS + k] = item[k];
    __syncthreads(); /* the tile is complete */
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const uint32_t i = threadIdx.x + k * MERGE_THREADS;
        const ukey e = keys[i];
        if (i < n)
            __stcs(out + i, o.float_mask ? order_decode(o, e) : (ukey)(e ^ (o.sign ^ o.flip)));
    }
}

#endif
