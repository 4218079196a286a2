/*
 * merge/cuda/narrow.cuh - merges a tile of keys of 8 and 16 bits without values: loads words of 4
 * bytes, converts all keys of a word together, and writes vectors of 16 bytes.
 *
 *     memory          ..|a a a a|a a a a|..      ..|. b b b|b b . .|..
 *     shared memory     |a a a a|a a a a|. b b b|b b . .|     each part as far behind a word
 *     thread t          merges an odd number of words to registers, then stores them as words
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
    PER = 4 / KEY_BYTES,                              /* keys of a word */
    NARROW_WORDS = MERGE_NARROW_WORDS,                /* of a thread, at most */
    NARROW_ROOM = (NARROW_WORDS + 1) * MERGE_THREADS, /* words of a block */
    NARROW_VECTOR = 16 / KEY_BYTES
};

union narrow_word {
    uint32_t word;
    ukey key[PER];
};

/* The same key in all parts of a word. */
static __device__ inline uint32_t narrow_copies(ukey key)
{
    union narrow_word w;
#pragma unroll
    for (int j = 0; j < PER; j++) w.key[j] = key;
    return w.word;
}

/* ---- The codes of all keys of a word ---- */

#if KEY_BYTES == 2
#define NARROW_TOP 0x80008000u

/* All ones in those halves whose top bit is set. */
static __device__ inline uint32_t narrow_negative(uint32_t x)
{
    return (x >> 15 & 0x00010001u) * 0xffffu;
}

static __device__ inline uint32_t narrow_add(uint32_t x, uint32_t y)
{
    return ((x & ~NARROW_TOP) + (y & ~NARROW_TOP)) ^ ((x ^ y) & NARROW_TOP);
}

static __device__ inline uint32_t narrow_subtract(uint32_t x, uint32_t y)
{
    return ((x | NARROW_TOP) - (y & ~NARROW_TOP)) ^ ((x ^ ~y) & NARROW_TOP);
}
#endif

/* order_encode() of all keys.  changes: becomes other than 0 if order_merge() changes one. */
static __device__ inline uint32_t narrow_encode(const struct echi_order &o, uint32_t x,
                                                uint32_t &changes)
{
#if KEY_BYTES == 2
    if (o.float_mask) {
        const uint32_t sign = narrow_copies((ukey)o.sign), last = narrow_copies((ukey)o.last);
        const uint32_t e =
            narrow_subtract(x ^ (narrow_negative(x) | sign), narrow_copies((ukey)o.shift));
        const uint32_t zero = e ^ narrow_copies((ukey)o.zero); /* 0 in a half: -0 */
        if (o.merge) changes |= (zero - 0x00010001u) & ~zero & NARROW_TOP;
        /* A code above the last one, whose top bit is set: a NaN. */
        changes |= ((e & ~NARROW_TOP) + (~last & ~NARROW_TOP)) & e & NARROW_TOP;
        return e ^ narrow_copies((ukey)o.flip);
    }
#endif
    return x ^ narrow_copies((ukey)(o.sign ^ o.flip));
}

static __device__ inline uint32_t narrow_decode(const struct echi_order &o, uint32_t e)
{
#if KEY_BYTES == 2
    if (o.float_mask) {
        const uint32_t x =
            narrow_add(e ^ narrow_copies((ukey)o.flip), narrow_copies((ukey)o.shift));
        return x ^ (narrow_negative(~x) | narrow_copies((ukey)o.sign));
    }
#endif
    return e ^ narrow_copies((ukey)(o.sign ^ o.flip));
}

/* ---- Both parts in shared memory ---- */

/* Where both parts begin: as far behind a word as in global memory. */
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

/* Loads and encodes both parts; all loads of a thread are in flight together.  Returns, in every
 * thread, whether order_merge() changes a key. */
static __device__ inline bool narrow_fill(const struct echi_order &o, const struct narrow_places &p,
                                          const struct merge_part &part, uint32_t count,
                                          uint32_t *words)
{
    const uint32_t end = p.words + count + 1; /* a thread reads so far after the end */
    uint32_t x[NARROW_WORDS + 1], changes = 0;
#pragma unroll
    for (int k = 0; k < NARROW_WORDS + 1; k++) {
        const uint32_t i = threadIdx.x + k * MERGE_THREADS;
        if (k * MERGE_THREADS >= end) break; /* in all threads */
        x[k] = 0;
        if (i < p.a_words)
            x[k] = narrow_load(p.a, (int32_t)(i * PER) - (int32_t)p.a_skip, (int32_t)part.n_a);
        else if (i < p.words)
            x[k] = narrow_load(p.b, (int32_t)((i - p.a_words) * PER) - (int32_t)p.b_skip,
                               (int32_t)part.n_b);
    }
#pragma unroll
    for (int k = 0; k < NARROW_WORDS + 1; k++) {
        if (k * MERGE_THREADS >= end) break;
        words[threadIdx.x + k * MERGE_THREADS] = narrow_encode(o, x[k], changes);
    }
    return __syncthreads_or(changes != 0); /* both parts are loaded */
}

/* ---- The merge ---- */

/* The words of this thread.  After the end of a part, the keys that are loaded are not used. */
template <bool MERGED>
static __device__ inline void
narrow_items(const struct echi_order &o, const ukey *keys, const struct narrow_places &p,
             const struct merge_part &part, uint32_t count, uint32_t (&items)[NARROW_WORDS])
{
    const uint32_t first = min(threadIdx.x * count * PER, part.n_a + part.n_b);
    const uint32_t a = p.a_skip, b = p.a_words * PER + p.b_skip;
    uint32_t i = merge_path_shared<MERGED>(o, keys + a, part.n_a, keys + b, part.n_b, first);
    uint32_t j = b + first - i;
    i += a;
    const uint32_t a_end = a + part.n_a, b_end = b + part.n_b;
    ukey x = keys[i], y = keys[j];
#pragma unroll
    for (int w = 0; w < NARROW_WORDS; w++) {
        if (w >= (int)count) break; /* in all threads */
        uint32_t all = 0;
#pragma unroll
        for (int k = 0; k < PER; k++) {
            const bool take = j >= b_end || (i < a_end && merge_stored<MERGED>(o, x) <=
                                                              merge_stored<MERGED>(o, y));
            all |= (uint32_t)(take ? x : y) << (KEY_BITS * k);
            const uint32_t at = take ? ++i : ++j;
            const ukey next = keys[at];
            x = take ? next : x;
            y = take ? y : next;
        }
        items[w] = all;
    }
}

/* Merges a tile and writes its keys. */
static __device__ inline void narrow_tile(const struct merge_args &a, const struct merge_part &part,
                                          uint32_t *words)
{
    const uint32_t n = part.n_a + part.n_b, count = a.tile / (MERGE_THREADS * PER);
    const struct narrow_places p = narrow_places_of(a, part);
    ukey *out = (ukey *)a.keys_out + part.a + part.b, *keys = (ukey *)words;
    uint32_t items[NARROW_WORDS];
    if (narrow_fill(a.order, p, part, count, words))
        narrow_items<true>(a.order, keys, p, part, count, items);
    else
        narrow_items<false>(a.order, keys, p, part, count, items);
    __syncthreads(); /* all threads have read the parts */
#pragma unroll
    for (int w = 0; w < NARROW_WORDS; w++)
        if (w < (int)count) words[threadIdx.x * count + w] = items[w];
    __syncthreads(); /* the tile is complete */
    const uint32_t vectors = (uintptr_t)out % 16 ? 0 : n / NARROW_VECTOR;
    for (uint32_t i = threadIdx.x; i < vectors; i += MERGE_THREADS) {
        uint4 v = ((const uint4 *)words)[i];
        v.x = narrow_decode(a.order, v.x);
        v.y = narrow_decode(a.order, v.y);
        v.z = narrow_decode(a.order, v.z);
        v.w = narrow_decode(a.order, v.w);
        __stcs((uint4 *)out + i, v);
    }
    for (uint32_t i = vectors * NARROW_VECTOR + threadIdx.x; i < n; i += MERGE_THREADS)
        __stcs(out + i, order_decode(a.order, keys[i]));
}

#endif
