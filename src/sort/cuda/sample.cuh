/*
 * sort/cuda/sample.cuh - definitions that the phases of sample.cu share: a block's shared memory,
 * its keys, and its sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SAMPLE_CUH
#define ECHI_SORT_CUDA_SAMPLE_CUH

#ifndef SORT_WORDS
#define SORT_WORDS 0 /* keys are words (words.cuh), all of which are different */
#endif
#define SORT_ORIGINS (!SORT_WORDS)
#include "sort/cuda/bins.cuh"
#include "sort/cuda/sample.h"

/* A block's shared memory has 64 KiB on sm_75, and at least 99 KiB on later architectures. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SAMPLE_NARROW 1
#else
#define SAMPLE_NARROW 0
#endif

enum {
    SAMPLE_ITEMS = SORT_WORDS ? (uint32_t)SORT_WORDS_SAMPLE_ITEMS
                              : SORT_SAMPLE_ITEMS(KEY_BYTES, VAL_BYTES, SAMPLE_NARROW),
    SAMPLE_BUCKETS = SORT_SAMPLE_BUCKETS(VAL_BYTES), /* maximum */
    SAMPLE_WARPS = SORT_SAMPLE_THREADS / 32,
    SAMPLE_MOST = SORT_SAMPLE_THREADS * SAMPLE_ITEMS /* maximum number of keys of a block */
};

struct sample_shared {
    union {
        struct bins_shared<SAMPLE_WARPS, SAMPLE_ITEMS> bins;
        struct block_shared<SAMPLE_WARPS, SAMPLE_ITEMS> block;
#if SORT_WORDS
        struct {
            uint4 words[SORT_WORDS_PAIRS / 4]; /* and words that are greater than all others */
            uint32_t ranks[SORT_WORDS_PAIRS], sorted[SORT_WORDS_PAIRS];
        } pairs;
#endif
        struct {
            ukey keys[SAMPLE_MOST];         /* by bucket */
            uint32_t count[SAMPLE_BUCKETS]; /* of each bucket; then its start */
        } tile;
#if VAL_BYTES
        uint32_t rows[SAMPLE_WARPS * SORT_BINS]; /* of a tile: counts of each warp */
#endif
    };
    union {
        struct {
            ukey value[SAMPLE_BUCKETS];
            uint32_t at[SAMPLE_BUCKETS];
        } splitter;
        struct { /* per tile: the segment's start in the bucket, and its source */
            uint32_t begin[SAMPLE_BUCKETS], from[SAMPLE_BUCKETS];
        } segment;
    };
    uint32_t sums[SAMPLE_WARPS], starts[SAMPLE_WARPS];
};
static_assert(sizeof(struct sample_shared) <=
                  (SORT_WORDS ? SORT_WORDS_SAMPLE_BYTES
                              : SORT_SAMPLE_SHARED_BYTES(KEY_BYTES, VAL_BYTES, SAMPLE_NARROW)),
              "the host gives less shared memory than the kernel uses");

/* The keys of the block: key i of a thread is at position mine + 32 i, if i < mine_count. */
struct sample_held {
    uint32_t count, mine;
    int items;
    struct block_keys<SAMPLE_ITEMS> k;
};

static __device__ inline void sample_hold(struct sample_held &h, uint32_t count)
{
    h.count = count;
    h.items = (int)((count + SORT_SAMPLE_THREADS - 1) / SORT_SAMPLE_THREADS);
    h.mine = threadIdx.x / 32 * (32 * h.items) + lane_id();
}

static __device__ inline bool sample_has(const struct sample_held &h, int i)
{
    return i < h.items && h.mine + 32 * i < h.count;
}

/* The range of the keys. */
static __device__ inline void sample_range(const struct sort_common &a, struct sample_shared &s,
                                           const struct sample_held &h, ukey &low, ukey &high)
{
    low = (ukey) ~(ukey)0;
    high = 0;
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) {
            const ukey value = sort_value(a, h.k.key[i]);
            low = key_min(low, value);
            high = key_max(high, value);
        }
    bins_range(s.bins, low, high);
}

#if SORT_WORDS
/* Sorts few words by comparing each one with all others: independent of their distribution, and
 * little code.  A thread compares its word with a part of them. */
static __device__ inline void sample_compare(struct sample_shared &s, struct sample_held &h)
{
    const uint32_t me = threadIdx.x, parts = 1u << __clz((int)(h.count - 1)) >> 22;
    const uint32_t places = SORT_SAMPLE_THREADS / parts; /* a power of two, at least the count */
    const uint32_t each = (h.count + 4 * parts - 1) / (4 * parts); /* vectors */
    uint32_t *words = (uint32_t *)s.pairs.words;
    if (me < SORT_WORDS_PAIRS) {
        words[me] = ~0u;
        s.pairs.ranks[me] = 0;
    }
    __syncthreads(); /* all places are written */
    if (sample_has(h, 0)) words[h.mine] = h.k.key[0];
    __syncthreads(); /* the words are written */
    const uint32_t place = me % places, first = me / places * each;
    const uint32_t word = place < h.count ? words[place] : 0;
    uint32_t rank = 0;
    if (word)
        for (uint32_t i = first; i < first + each && i < SORT_WORDS_PAIRS / 4; i++) {
            const uint4 v = s.pairs.words[i];
            rank += (v.x < word) + (v.y < word) + (v.z < word) + (v.w < word);
        }
    if (rank) atomicAdd(&s.pairs.ranks[place], rank);
    __syncthreads(); /* the ranks are complete */
    if (me < h.count) s.pairs.sorted[s.pairs.ranks[me]] = words[me];
    __syncthreads(); /* the words are sorted */
    if (sample_has(h, 0)) h.k.key[0] = s.pairs.sorted[h.mine];
    __syncthreads(); /* all threads have read; shared memory may be written again */
}

static __device__ inline void sample_sort(const struct sort_common &a, struct sample_shared &s,
                                          struct sample_held &h, bool)
{
    ukey low, high;
    uint32_t slot[SAMPLE_ITEMS];
    if (h.count < 2) return;
    if (h.count <= SORT_WORDS_PAIRS) {
        sample_compare(s, h);
        return;
    }
    sample_range(a, s, h, low, high);
    if (bins_rank<SAMPLE_WARPS, SAMPLE_ITEMS, 32, false>(a, s.bins, h.count, h.mine, h.items, false,
                                                         low, high, h.k, slot)) {
#pragma unroll
        for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
            if (bins_mine<SAMPLE_WARPS>(i) < h.count) s.bins.keys[slot[i]] = h.k.key[i];
        __syncthreads(); /* the words are sorted */
#pragma unroll
        for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
            if (sample_has(h, i)) h.k.key[i] = s.bins.keys[h.mine + 32 * i];
        __syncthreads(); /* all threads have read; shared memory may be written again */
        return;
    }
    struct sort_common digits = {};
    digits.n = h.count;
    digits.end_bit = 32 - __clz((int)(low ^ high));
    __syncthreads(); /* all threads have read what the counters overwrite */
    for (int pass = 0; pass * SORT_DIGIT_BITS < digits.end_bit; pass++)
        block_pass<SAMPLE_WARPS, SAMPLE_ITEMS>(digits, s.block, pass, h.mine, h.items, h.k);
}
#else
/* Sorts the keys, each together with its previous position. */
static __device__ inline void sample_sort(const struct sort_common &a, struct sample_shared &s,
                                          struct sample_held &h, bool tie)
{
    ukey low, high;
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++) h.k.origin[i] = h.mine + 32 * i;
    sample_range(a, s, h, low, high);
    if (low == high) {   /* equal keys are in order */
        __syncthreads(); /* all threads have read the range */
        return;
    }
    uint32_t slot[SAMPLE_ITEMS];
    if (bins_rank<SAMPLE_WARPS, SAMPLE_ITEMS, 32, false>(a, s.bins, h.count, h.mine, h.items, tie,
                                                         low, high, h.k, slot)) {
#pragma unroll
        for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
            if (bins_mine<SAMPLE_WARPS>(i) < h.count) {
                s.block.keys[slot[i]] = h.k.key[i];
                if (tie) s.block.origin[slot[i]] = (uint16_t)h.k.origin[i];
            }
        __syncthreads(); /* the keys are sorted */
#pragma unroll
        for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
            if (sample_has(h, i)) {
                h.k.key[i] = s.block.keys[h.mine + 32 * i];
                if (tie) h.k.origin[i] = s.block.origin[h.mine + 32 * i];
            }
        __syncthreads(); /* all threads have read; shared memory may be written again */
        return;
    }
    struct sort_common digits = {};
    digits.n = h.count;
    digits.order = a.order;
    digits.begin_bit = a.begin_bit;
    digits.end_bit = a.begin_bit + 64 - __clzll((long long)(uint64_t)(ukey)(low ^ high));
    __syncthreads(); /* all threads have read what the counters overwrite */
    for (int pass = 0; digits.begin_bit + pass * SORT_DIGIT_BITS < digits.end_bit; pass++)
        block_pass<SAMPLE_WARPS, SAMPLE_ITEMS>(digits, s.block, pass, h.mine, h.items, h.k);
}
#endif

#endif
