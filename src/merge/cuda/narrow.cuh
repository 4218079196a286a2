/*
 * merge/cuda/narrow.cuh - merges a tile of integers of 8 and 16 bits without values: loads words
 * of 4 bytes and writes vectors of 16.
 *
 *     memory          ..|a a a a|a a a a|..      ..|. b b b|b b . .|..
 *     shared memory     |a a a a|a a a a|. b b b|b b . .|     each part as far behind a word
 *
 * Most of the time of a merge of narrow keys is that of accesses to shared memory and of loads and
 * stores, whose number does not depend on their width.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_NARROW_CUH
#define ECHI_MERGE_CUDA_NARROW_CUH

#include "cuda/device/merge_tile.cuh"
#include "merge/cuda/common.h"

enum {
    NARROW_ITEMS = MERGE_NARROW_ITEMS,
    PER = 4 / KEY_BYTES,                               /* keys of a word */
    NARROW_WORDS = (NARROW_ITEMS + PER - 1) / PER + 1, /* of a thread */
    NARROW_ROOM = NARROW_WORDS * MERGE_THREADS,        /* words of a block */
    NARROW_VECTOR = 16 / KEY_BYTES
};

union narrow_word {
    uint32_t word;
    ukey key[PER];
};

/* The difference between the integers of a word and their codes. */
static __device__ inline uint32_t narrow_change(const struct echi_order &o)
{
    union narrow_word w;
#pragma unroll
    for (int j = 0; j < PER; j++) w.key[j] = order_encode(o, (ukey)0);
    return w.word;
}

/* Where both parts begin in shared memory: as far behind a word as in global memory. */
struct narrow_places {
    const ukey *a, *b;       /* in global memory */
    uint32_t a_skip, b_skip; /* keys before them in their first word */
    uint32_t a_words, words;
};

static __device__ inline struct narrow_places narrow_places_of(const struct merge_args &a,
                                                               const struct merge_part &part)
{
    struct narrow_places p;
    p.a = (const ukey *)a.keys[0] + part.a;
    p.b = (const ukey *)a.keys[1] + part.b;
    p.a_skip = (uint32_t)((uintptr_t)p.a / KEY_BYTES) % PER;
    p.b_skip = (uint32_t)((uintptr_t)p.b / KEY_BYTES) % PER;
    p.a_words = part.n_a ? (p.a_skip + part.n_a + PER - 1) / PER : 0;
    p.words = p.a_words + (part.n_b ? (p.b_skip + part.n_b + PER - 1) / PER : 0);
    return p;
}

/* A word of a part of n keys: those from `at` on, of which some may be outside. */
static __device__ inline uint32_t narrow_load(const ukey *part, int32_t at, int32_t n)
{
    if (at >= 0 && at + PER <= n) return __ldcs((const uint32_t *)(part + at));
    union narrow_word w;
#pragma unroll
    for (int j = 0; j < PER; j++) w.key[j] = part[min(max(at + j, 0), n - 1)];
    return w.word;
}

/* Loads and encodes both parts; all loads of a thread are in flight together. */
static __device__ inline void narrow_fill(const struct narrow_places &p,
                                          const struct merge_part &part, uint32_t change,
                                          uint32_t *words)
{
    uint32_t x[NARROW_WORDS];
#pragma unroll
    for (int k = 0; k < NARROW_WORDS; k++) {
        const uint32_t i = threadIdx.x + k * MERGE_THREADS;
        x[k] = 0;
        if (i < p.a_words)
            x[k] = narrow_load(p.a, (int32_t)(i * PER) - (int32_t)p.a_skip, (int32_t)part.n_a);
        else if (i < p.words)
            x[k] = narrow_load(p.b, (int32_t)((i - p.a_words) * PER) - (int32_t)p.b_skip,
                               (int32_t)part.n_b);
    }
#pragma unroll
    for (int k = 0; k < NARROW_WORDS; k++) words[threadIdx.x + k * MERGE_THREADS] = x[k] ^ change;
    __syncthreads(); /* both parts are loaded */
}

/* The elements of this thread.  After the end of a part, the keys that are loaded are not used. */
static __device__ inline void narrow_items(const struct echi_order &o, const ukey *keys,
                                           const struct narrow_places &p,
                                           const struct merge_part &part,
                                           ukey (&item)[NARROW_ITEMS])
{
    const uint32_t first = min(threadIdx.x * NARROW_ITEMS, part.n_a + part.n_b);
    const uint32_t a = p.a_skip, b = p.a_words * PER + p.b_skip;
    uint32_t i = merge_path_shared<false>(o, keys + a, part.n_a, keys + b, part.n_b, first);
    uint32_t j = b + first - i;
    i += a;
    const uint32_t a_end = a + part.n_a, b_end = b + part.n_b;
    ukey x = keys[i], y = keys[j];
#pragma unroll
    for (int k = 0; k < NARROW_ITEMS; k++) {
        const bool take = j >= b_end || (i < a_end && x <= y);
        item[k] = take ? x : y;
        const uint32_t at = take ? ++i : ++j;
        const ukey next = keys[at];
        x = take ? next : x;
        y = take ? y : next;
    }
}

/* Merges a tile and writes its keys. */
static __device__ inline void narrow_tile(const struct merge_args &a, const struct merge_part &part,
                                          uint32_t *words)
{
    const uint32_t n = part.n_a + part.n_b, first = threadIdx.x * NARROW_ITEMS;
    const struct narrow_places p = narrow_places_of(a, part);
    ukey *out = (ukey *)a.keys_out + part.a + part.b, *keys = (ukey *)words;
    const uint32_t change = narrow_change(a.order);
    ukey item[NARROW_ITEMS];
    narrow_fill(p, part, change, words);
    narrow_items(a.order, keys, p, part, item);
    __syncthreads(); /* all threads have read the parts */
#pragma unroll
    for (int k = 0; k < NARROW_ITEMS; k++)
        if (first + k < n) keys[first + k] = item[k];
    __syncthreads(); /* the tile is complete */
    const uint32_t vectors = (uintptr_t)out % 16 ? 0 : n / NARROW_VECTOR;
    for (uint32_t i = threadIdx.x; i < vectors; i += MERGE_THREADS) {
        uint4 v = ((const uint4 *)words)[i];
        v.x ^= change;
        v.y ^= change;
        v.z ^= change;
        v.w ^= change;
        __stcs((uint4 *)out + i, v);
    }
    for (uint32_t i = vectors * NARROW_VECTOR + threadIdx.x; i < n; i += MERGE_THREADS)
        __stcs(out + i, order_decode(a.order, keys[i]));
}

#endif
