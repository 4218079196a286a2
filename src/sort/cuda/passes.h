/*
 * sort/cuda/passes.h - definitions that host and device code of the LSD radix sort share: the
 * passes, and arguments of their kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_PASSES_H
#define ECHI_SORT_CUDA_PASSES_H

#include "sort/cuda/common.h"

enum {
    SORT_PASSES = 8,        /* maximum: a 64-bit key */
    SORT_PORTION = 1 << 29, /* maximum number of keys of a launch of sort_onesweep: its counts have
                               30 bits */
    SORT_HISTOGRAM_THREADS = 512,
    SORT_HISTOGRAM_BLOCKS = 4, /* per multiprocessor */
    SORT_MOVE_THREADS = 256
};

/* Keys that divide all others: quantiles of a sample.  Bin j has the keys from splitter j - 1 on
 * that are less than splitter j.  If a key is frequent, it and the next possible key are splitters,
 * so that it has a bin of its own. */
enum { SORT_SPLITTERS = SORT_BINS - 1 };

/* Whether there is code for splitters: not for all payloads, to limit the size of the kernels. */
#define SORT_SPLITS(key_bytes, value_bytes) ((key_bytes) >= 4 && (value_bytes) <= 8)

/* Whether bins between splitters may be sorted as segments. */
#define SORT_SPLITS_SEGMENTS(key_bytes, value_bytes)                                               \
    ((value_bytes) == 0 || ((key_bytes) == 4 && (value_bytes) == 4))

/* Whether there may be code for sorts of bins in resident blocks (resident.cuh): only for compute
 * capability 9.0 and later ones, to limit the size of the library. */
#define SORT_RESIDES(key_bytes, value_bytes) SORT_SPLITS(key_bytes, value_bytes)

struct sort_splitters {
    uint32_t count;
    uint32_t even;     /* 1: bins are of the first 8 bits, which are even in the sample */
    uint32_t ordered;  /* 1: the sample is in order */
    uint32_t planned;  /* 1: in these bins, none of which is too large */
    uint32_t frequent; /* the bin of the most frequent key, or none */
    uint32_t ballots;  /* 1: many keys of a tile have the same bin */
    uint32_t unused[2];
    uint64_t key[SORT_SPLITTERS + 1]; /* in the form of order_encode(); then the maximum */
};

/* Dynamic shared memory of sort_onesweep: the maximum of the counters and the tile's keys or
 * values, plus the rest of struct pass_shared. */
#define SORT_SHARED_BYTES(threads, items, widest)                                                  \
    (((threads) / SORT_WARP * SORT_BINS * 4 > (threads) * (items) * (widest)                       \
          ? (threads) / SORT_WARP * SORT_BINS * 4                                                  \
          : (threads) * (items) * (widest)) +                                                      \
     SORT_BINS * 8 + 64)

/* ... of sort_onesweep and sort_lsd: also the pages of the tile's runs (pages.cuh). */
#define SORT_ONESWEEP_SHARED_BYTES(threads, items, widest)                                         \
    (SORT_SHARED_BYTES(threads, items, widest) + SORT_BINS * 6 + (threads) / SORT_WARP * 8)

/* ... of sort_onesweep_first and sort_onesweep_bins: also splitters, and the bins of keys. */
#define SORT_SPLITTERS_SHARED_BYTES(tile, key_bytes) (SORT_BINS * (key_bytes) + 2u * (tile) + 16u)

/* Bits of an active pass.  SPLITTERS: bins are those of struct sort_splitters.  BALLOTS: many keys
 * of a tile have the same bin.  DIRECT: from the input to the output by sort_onesweep, also if the
 * sort is in pages. */
enum sort_active {
    SORT_ACTIVE = 1,
    SORT_ACTIVE_SPLITTERS = 2,
    SORT_ACTIVE_BALLOTS = 4,
    SORT_ACTIVE_DIRECT = 8
};

/* The same if values have shared memory of their own. */
#define SORT_APART_SHARED_BYTES(threads, items, key_bytes, value_bytes)                            \
    (SORT_ONESWEEP_SHARED_BYTES(threads, items, key_bytes) + (threads) * (items) * (value_bytes))

/* Whether sort_onesweep, compiled for this compute capability (90 is 9.0), is that of staged.cuh,
 * which has tiles of its own. */
#define SORT_STAGED(key_bytes, value_bytes, capability)                                            \
    ((key_bytes) <= 2 && (value_bytes) > 0 && (capability) >= 90 && (capability) < 110)

/* ... and its shared memory. */
#define SORT_STAGED_SHARED_BYTES(threads, items, key_bytes, value_bytes)                           \
    (SORT_SHARED_BYTES(threads, items, 4u) + (threads) * (items) * ((key_bytes) + (value_bytes)))

/* What the passes do, decided on the device when the histograms are known. */
struct sort_pass {
    uint32_t active;         /* 0: every key has the same digit; the pass does nothing; otherwise
                                enum sort_active */
    uint32_t first, last;    /* of the active passes */
    uint32_t source, target; /* enum sort_buffer */
    uint32_t epoch;          /* number of preceding active passes */
};

/* Zero before the first kernel and after the last. */
struct sort_counts {
    uint64_t histogram[SORT_PASSES][SORT_BINS];
    uint64_t finished; /* blocks of sort_histogram */
};

struct sort_state {
    struct sort_counts counts; /* if the context has no zeros */
    uint64_t base[SORT_PASSES][2]
                 [SORT_BINS]; /* output position of each bin's next key, by parity of the portion */
    uint32_t tiles_taken[SORT_PASSES];
    struct sort_pass pass[SORT_PASSES];
    uint32_t finish; /* 1 + enum sort_buffer to copy to the output at the end; 0: nothing to copy */
};

/* ---- Passes in one array (pages.cuh) ---- */

enum {
    SORT_LOOK_THREADS = 1024,
    SORT_LOOK_EACH = 4, /* keys of a sample per thread */
    SORT_LOOK_KEYS = SORT_LOOK_EACH * SORT_LOOK_THREADS,
    SORT_LOOK_EVEN = SORT_LOOK_KEYS / 100, /* with the same first 8 bits, at most */
    SORT_LOOK_DIGITS = 2,
    SORT_PAGES_THREADS = 256,
    SORT_PAGES_BLOCKS = 4 /* of sort_pages_place, per multiprocessor */
};

/* Pages that the pool needs, so that no block waits for a page that a later block frees: one that
 * is partly filled and one with the start of each bin, and a partial last page. */
#define SORT_PAGES_LEAST (2 * SORT_BINS + 1)
#define SORT_NO_PAGE     0xffffffffu

struct sort_pages_state {
    uint32_t taken[2], freed[2];   /* of each queue: pages taken from it, and added to it */
    uint32_t holes, next;          /* of sort_pages_place: free pages that are taken; next slot */
    uint64_t start[SORT_BINS + 1]; /* of each bin of the pass, and n */
    uint64_t end[SORT_BINS];       /* of each bin that is sorted afterwards; otherwise its start */
    uint32_t top[SORT_BINS];       /* keys of the bin agree in the bits from this one up */
    uint32_t tiles_taken[2];       /* by sort_onesweep, of the first pass and of another one */
    uint64_t buckets; /* SORT_BINS: the only pass is that of the first digit, and the bins are
                         sorted afterwards; otherwise 0 */
    uint32_t arrived, unused; /* of sort_onesweep_bins: blocks at a barrier */
};

/* Sorts of bins in resident blocks: tiles that are loaded and stored, of each pass of a bin, where
 * pass 0 divides it; bins that were not divided into leaves; tiles that blocks have taken, of all
 * digits and of the division; parts that are too large for a leaf, and how many blocks have taken.
 *
 *     [ splitters of each bin, and of each worker's part | this | descriptors of tiles, and of a
 *       tile of each worker | the numbers of leaves that are too large ] */
struct sort_bins_state {
    uint32_t loaded[SORT_PASSES + 1][SORT_BINS], stored[SORT_PASSES + 1][SORT_BINS];
    uint32_t left[SORT_BINS];
    uint32_t taken[2], lefts, over, over_taken, unused[SORT_BINS - 5];
};

/* The blocks that divide such parts again, at most: if there are few elements, none. */
#define SORT_BINS_WORKERS(n) ((n) >= 1u << 25 ? 512u : 0u)

/* A leaf has more than half of the keys that fit, except the last one of a bin, and those next to a
 * larger part or to one that has equal keys only.  If there are more, bins are not divided. */
#define SORT_BINS_LEAVES(n, leaf) ((n) / ((leaf) / 2) * 2 + 2 * SORT_BINS)

/* The pages of an array: `slots` that are entirely in the array, then those of the pool. */
struct sort_pages_args {
    struct sort_pages_state *state; /* NULL: passes alternate between two buffers */
    uint32_t *table[2];  /* the page of each `each` elements, after even and odd active passes */
    uint32_t *queue[2];  /* free pages, during even and odd active passes */
    uint32_t *owner;     /* [slots + pool]: 1 + the number of the elements on a page; 0: free */
    void *keys, *values; /* of the pool */
    uint32_t slots, pool, each;
    uint32_t key_bytes, value_bytes; /* of what is moved at the end */
    struct sort_splitters *splitters;
    uint64_t most; /* elements of a bin of the first digit at most, to sort the bins; or 0 */
    struct sort_bins_state *bins; /* where the lists and the pool are otherwise */
    uint32_t group;               /* tiles of a group of bins; 0: not sorted so */
    uint32_t leaf;                /* keys of a leaf at most */
    struct sort_msd *msd;         /* their number */
    struct sort_leaf *leaves;
};

struct sort_passes_args {
    struct sort_common common; /* level: the pass; part: which SORT_PORTION / tile tiles */
    struct sort_state *state;
    struct sort_counts *counts; /* the context's zeros, or those of state */
    uint32_t *status;           /* [tiles][SORT_BINS], for the look-back */
    void *clear;                /* cleared by sort_histogram: status, and parts before it */
    uint64_t clear_bytes;
    struct sort_pages_args pages;
};

#endif
