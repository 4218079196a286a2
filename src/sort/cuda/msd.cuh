/*
 * sort/cuda/msd.cuh - device code that the kernels of msd.cu share: sizes, and a segment's digits,
 * tiles and buffers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_CUH
#define ECHI_SORT_CUDA_MSD_CUH

#include "sort/cuda/common.cuh"
#include "sort/cuda/msd.h"
#include "sort/cuda/vectors.cuh"

#if VAL_BYTES
typedef struct sort_pairs_args msd_args;
#else
typedef struct sort_msd_args msd_args;
#endif

#if VAL_BYTES
/* Asynchronous copies to shared memory, with space for two blocks' copies, exist on sm_80 and its
 * successors in data centres; other GPUs that run code of sm_80 have space for one block's.  The
 * host asks for which architecture the code was compiled: msd_pairs.c. */
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 1100)
#define PAIRS_STAGED 1
#else
#define PAIRS_STAGED 0
#endif

#define PAIRS_PACKED (PAIRS_STAGED && KEY_BYTES == 4 && VAL_BYTES == 4)

/* This instance's row of tuning.h. */
#define ROW(key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks)             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (threads)
enum { PAIRS_THREADS = 0 SORT_PAIRS_TUNING(ROW) };
#undef ROW
#define ROW(key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks)             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (items)
enum { MSD_ITEMS = 0 SORT_PAIRS_TUNING(ROW), MSD_TILE = PAIRS_THREADS * MSD_ITEMS };
#undef ROW
#define ROW(key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks)             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (leaf_threads) * (leaf_items)
enum { MSD_LEAF = PAIRS_STAGED ? 0 SORT_PAIRS_TUNING(ROW) : (int)SORT_PAIRS_LEAF };
#undef ROW
#define ROW(key, value, threads, items, blocks, leaf_threads, leaf_items, leaf_blocks)             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (leaf_threads)
enum { LEAF_THREADS = 0 SORT_PAIRS_TUNING(ROW) };
#undef ROW
#else
enum { MSD_ITEMS = SORT_MSD_THREAD_BYTES / KEY_BYTES, MSD_TILE = SORT_MSD_TILE(KEY_BYTES) };
enum { LEAF_THREADS = SORT_LEAF_THREADS };
#endif
enum {
    MSD_WORDS = SORT_BINS / 32,
    MSD_EVEN_LEVELS = 2 /* number of levels for evenly distributed keys */
};

/* The maximum number of keys of a leaf. */
static __device__ inline uint32_t msd_leaf(const msd_args &a)
{
#if VAL_BYTES
    (void)a;
    return MSD_LEAF;
#else
    return a.leaf;
#endif
}

static __device__ inline ukey msd_load(const struct sort_common &a, uint32_t source, ukey u)
{
    return source == SORT_IN ? order_encode(a.order, u) : u;
}

static __device__ inline uint32_t msd_digit(const struct sort_segment &s, ukey e)
{
    return (uint32_t)(e >> s.shift) & ((1u << s.bits) - 1);
}

/* The destination buffer of a segment's keys. */
static __device__ inline uint32_t msd_target(const struct sort_segment &s)
{
    return s.source == (uint32_t)SORT_TMP ? (uint32_t)SORT_OUT : (uint32_t)SORT_TMP;
}

static __device__ inline uint32_t msd_tiles(uint32_t count)
{
    return count / MSD_TILE + (count % MSD_TILE != 0);
}

static __device__ inline uint32_t *msd_counts(const msd_args &a, int level, uint32_t segment)
{
    return a.lists.counts[level & 1] + (uint64_t)segment * SORT_MSD_ROW;
}

/* Input that is in order, or in reverse order and not sorted in place, is copied. */
static __device__ inline bool msd_ordered(const msd_args &a)
{
    const uint32_t seen = a.lists.msd->seen;
    return !(seen & SORT_SEEN_FALL) || (!(seen & SORT_SEEN_RISE) && !a.common.in_place);
}

/* Whether sort_ordered_copy has copied it. */
static __device__ inline bool msd_copied(const msd_args &a)
{
    return a.lists.msd->copies != SORT_COPIES_NONE && msd_ordered(a);
}

/* Where the count of the first level adds the order of adjacent keys; NULL if sort_ordered_copy has
 * found it. */
static __device__ inline uint32_t *msd_seen(const msd_args &a)
{
    return a.lists.msd->copies == SORT_COPIES_NONE ? &a.lists.msd->seen : NULL;
}

/* One segment needs no map of tiles. */
static __device__ inline uint32_t msd_segment_of(const msd_args &a, int level, uint32_t tile)
{
    return a.lists.msd->segments[level] == 1 ? 0 : a.lists.tile_of[level & 1][tile];
}

/* Information that a thread collects in addition to the counts. */
struct msd_found {
    ukey differ;   /* bits in which its keys differ from the segment's first */
    uint32_t seen; /* enum sort_seen; both bits end the comparisons, which happens early unless the
                      input is in order */
#if !VAL_BYTES
    int zeros; /* more than 0: many of its keys have zeros below the digit */
#endif
};

/* The same for a block, in shared memory, with its counts. */
struct msd_count_shared {
    uint32_t bins[SORT_BINS];
    unsigned long long differ;
    uint32_t seen;
#if !VAL_BYTES
    int zeros;
#endif
};

static __device__ inline void msd_compare(ukey e, ukey next, struct msd_found &found)
{
    if (e > next) found.seen |= SORT_SEEN_FALL;
    if (e < next) found.seen |= SORT_SEEN_RISE;
}

/* Compares e with the key at position i of the array, if there is one. */
static __device__ inline void msd_compare_at(const struct sort_common &a, ukey e, uint64_t i,
                                             struct msd_found &found)
{
    if (i < a.n) msd_compare(e, order_encode(a.order, ((const ukey *)a.keys_in)[i]), found);
}

#endif
