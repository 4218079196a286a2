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

/* The same if values have shared memory of their own. */
#define SORT_APART_SHARED_BYTES(threads, items, key_bytes, value_bytes)                            \
    (SORT_ONESWEEP_SHARED_BYTES(threads, items, key_bytes) + (threads) * (items) * (value_bytes))

/* What the passes do, decided on the device when the histograms are known. */
struct sort_pass {
    uint32_t active;         /* 0: every key has the same digit; the pass does nothing */
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
};

/* The pages of an array: `slots` that are entirely in the array, then those of the pool. */
struct sort_pages_args {
    struct sort_pages_state *state; /* NULL: passes alternate between two buffers */
    uint32_t *table[2];  /* the page of each `each` elements, after even and odd active passes */
    uint32_t *queue[2];  /* free pages, during even and odd active passes */
    uint32_t *owner;     /* [slots + pool]: 1 + the number of the elements on a page; 0: free */
    void *keys, *values; /* of the pool */
    uint32_t slots, pool, each;
    uint32_t key_bytes, value_bytes; /* of what is moved at the end */
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
