/*
 * merge/cuda/narrow.cuh - merges a tile of keys of 8 and 16 bits without values: loads words of 4
 * bytes, converts all keys of a word together, and writes vectors of 16 bytes.
 *
 *     memory          ..|a a a a|a a a a|..       ..|. b b b|b b . .|..
 *     shared memory     |a a a a|a a a a|1 1 1 1|. b b b|b b 1 1|1 1 1 1|
 *
 * Each part is as far behind a word as in global memory, and is followed by codes of all ones.
 * Keys with equal codes have equal bits, so that it does not matter which of them is first, and the
 * ones do not differ from keys with this code. A step of the merge therefore needs no test for the
 * end of a part, and five instructions. Most of the time of a merge of narrow keys is that of
 * instructions and of accesses to shared memory, whose number does not depend on their width.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_NARROW_CUH
#define ECHI_MERGE_CUDA_NARROW_CUH

#include "merge/cuda/common.h"
#include "merge/cuda/steps.cuh"

enum {
    PER = 4 / KEY_BYTES, /* keys of a word */
    NARROW_WORDS = MERGE_NARROW_WORDS(KEY_BYTES),
    NARROW_ITEMS = NARROW_WORDS * PER,
    NARROW_ONES = NARROW_WORDS + 1,  /* words of ones after a part */
    NARROW_LOADS = NARROW_WORDS + 1, /* words of a thread of both parts, at most */
    NARROW_ROOM = NARROW_WORDS * MERGE_THREADS + 2 * NARROW_ONES + 4, /* words of a block */
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

/* order_encode() of both keys.  changes: becomes other than 0 if order_merge() changes one. */
static __device__ inline uint32_t narrow_floats(const struct echi_order &o, uint32_t x,
                                                uint32_t &changes)
{
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
    uint32_t a_words, b_words;
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
    p.b_words = part.n_b ? (p.b_skip + part.n_b + PER - 1) / PER : 0;
    return p;
}

/* The words of a part whose keys all belong to it: count from first on. */
struct narrow_whole {
    uint32_t first, count;
};

static __device__ inline struct narrow_whole narrow_whole_of(uint32_t skip, uint32_t n)
{
    const uint32_t first = skip ? 1 : 0, end = (skip + n) / PER;
    return { first, end > first ? end - first : 0 };
}

/* Word w of a part of n keys, which contains other keys, too: ones in place of these. */
static __device__ inline uint32_t narrow_edge(const struct echi_order &o, const ukey *part,
                                              uint32_t skip, uint32_t n, uint32_t w, bool &changes)
{
    union narrow_word x;
#pragma unroll
    for (int j = 0; j < PER; j++) {
        const uint32_t at = w * PER + (uint32_t)j - skip; /* wraps around before the part */
        x.key[j] = (ukey) ~(ukey)0;
        if (at >= n) continue;
        x.key[j] = order_encode(o, part[at]);
        changes |= order_merge(o, x.key[j]) != x.key[j];
    }
    return x.word;
}

/* The first and the last word of a part, by two threads. */
static __device__ inline void narrow_edges(const struct echi_order &o, const ukey *part,
                                           uint32_t skip, uint32_t n, uint32_t count,
                                           uint32_t thread, uint32_t *words, bool &changes)
{
    if (thread == 0 && n && skip) words[0] = narrow_edge(o, part, skip, n, 0, changes);
    if (thread == 1 && n && (skip + n) % PER && !(count == 1 && skip))
        words[count - 1] = narrow_edge(o, part, skip, n, count - 1, changes);
}

/* Loads and encodes both parts, and the ones after them; all loads of a thread are in flight
 * together.  Returns, in every thread, whether order_merge() changes a key. */
static __device__ inline bool narrow_fill(const struct echi_order &o, const struct narrow_places &p,
                                          const struct merge_part &part, uint32_t *words)
{
    const uint32_t me = threadIdx.x, b_at = p.a_words + NARROW_ONES;
    const struct narrow_whole a = narrow_whole_of(p.a_skip, part.n_a);
    const struct narrow_whole b = narrow_whole_of(p.b_skip, part.n_b);
    const uint32_t *first = (const uint32_t *)(p.a - p.a_skip) + me;
    const uint32_t *second = (const uint32_t *)(p.b - p.b_skip) + ((int64_t)me - b_at);
    uint32_t x[NARROW_LOADS], has = 0, changes = 0;
#pragma unroll
    for (int k = 0; k < NARROW_LOADS; k++) {
        const bool in_a = me - a.first + k * MERGE_THREADS < a.count;
        const bool in_b = me - (b_at + b.first) + k * MERGE_THREADS < b.count;
        x[k] = 0;
        if (in_a) x[k] = __ldcs(first + k * MERGE_THREADS);
        if (in_b) x[k] = __ldcs(second + k * MERGE_THREADS);
        has |= (uint32_t)(in_a || in_b) << k;
    }
#if KEY_BYTES == 2
    if (o.float_mask) {
#pragma unroll
        for (int k = 0; k < NARROW_LOADS; k++) x[k] = narrow_floats(o, x[k], changes);
    } else
#endif
    {
        const uint32_t change = narrow_copies((ukey)(o.sign ^ o.flip));
#pragma unroll
        for (int k = 0; k < NARROW_LOADS; k++) x[k] ^= change;
    }
#pragma unroll
    for (int k = 0; k < NARROW_LOADS; k++)
        if (k < NARROW_WORDS || me < NARROW_ROOM - NARROW_WORDS * MERGE_THREADS)
            words[me + k * MERGE_THREADS] = has >> k & 1 ? x[k] : ~0u;
    __syncthreads(); /* the whole words are loaded */
    bool changed = changes != 0;
    narrow_edges(o, p.a, p.a_skip, part.n_a, p.a_words, me, words, changed);
    narrow_edges(o, p.b, p.b_skip, part.n_b, p.b_words, me - 32, words + b_at, changed);
    return __syncthreads_or(changed); /* both parts are loaded */
}

/* ---- The merge ---- */

/* The steps of merge_steps() for keys some of which are equal with different codes, with tests for
 * the end of the parts. */
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

/* The words of this thread. */
template <bool MERGED>
static __device__ inline void
narrow_items(const struct echi_order &o, const ukey *keys, const struct narrow_places &p,
             const struct merge_part &part, uint32_t (&items)[NARROW_WORDS])
{
    const uint32_t first = min(threadIdx.x * NARROW_ITEMS, part.n_a + part.n_b);
    const uint32_t a = p.a_skip, b = (p.a_words + NARROW_ONES) * PER + p.b_skip;
    const uint32_t i = merge_path_shared<MERGED>(o, keys + a, part.n_a, keys + b, part.n_b, first);
    const auto put = [&](int k, ukey key) {
        items[k / PER] = (k % PER ? items[k / PER] : 0) | (uint32_t)key << (KEY_BITS * (k % PER));
    };
    if (MERGED)
        merged_steps<NARROW_ITEMS>(o, keys, a + i, a + part.n_a, b + first - i, b + part.n_b, put);
    else
        merge_steps<NARROW_ITEMS>(keys, a + i, b + first - i, put);
}

/* Merges a tile and writes its keys. */
static __device__ inline void narrow_tile(const struct merge_args &a, const struct merge_part &part,
                                          uint32_t *words)
{
    const uint32_t n = part.n_a + part.n_b;
    const struct narrow_places p = narrow_places_of(a, part);
    ukey *out = (ukey *)a.keys_out + part.a + part.b, *keys = (ukey *)words;
    uint32_t items[NARROW_WORDS];
    if (narrow_fill(a.order, p, part, words))
        narrow_items<true>(a.order, keys, p, part, items);
    else
        narrow_items<false>(a.order, keys, p, part, items);
    __syncthreads(); /* all threads have read the parts */
#pragma unroll
    for (int w = 0; w < NARROW_WORDS; w++) words[threadIdx.x * NARROW_WORDS + w] = items[w];
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
