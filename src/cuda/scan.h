/*
 * cuda/scan.h - what the two halves of the GPU scan agree on: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SCAN_H
#define ECHI_CUDA_SCAN_H

#include "../order.h"

enum {
    SCAN_THREADS = 256,
    SCAN_WARP = 32,
    SCAN_SLOTS = 4,             /* vectors of 16 bytes a thread */
    SCAN_LINES = 32,            /* a tile: a line is one vector of each lane */
    SCAN_TILE_BYTES = 16 << 10, /* of in */
    SCAN_GROUP = 32,            /* tiles */
    SCAN_LEAD = 7,              /* tiles a multiprocessor, of one that adds tiles up ahead */
    SCAN_COUNTERS = 2,          /* 64-bit words before those of the look-back */
    SCAN_HEADS_THREADS = 256
};

/* What scan_other_* does; scan_sum_* and scan_min_* are for one operator each. */
enum { SCAN_PRODUCT, SCAN_OR, SCAN_XOR };

/* One struct serves every kernel of the scan. */
struct scan_args {
    const void *in;
    void *out;
    uint64_t *counters; /* tiles taken, tiles done; then the words */
    uint64_t *tiles;    /* the total of each tile ... */
    uint64_t *groups;   /* ... of each group ... */
    uint64_t *prefixes; /* ... and of all up to the end of each group */
    uint64_t words;     /* to clear, counters included, when the last block is done; or 0 */
    uint64_t rows, columns;
    uint64_t row_tiles, row_groups; /* of a row */
    uint64_t lead;                  /* how many tiles further on a block first adds one up; or 0 */
    uint32_t *heads;                /* bit i: a segment begins at position i */
    const uint64_t *offsets;        /* [segments + 1], or NULL */
    uint64_t segments;
    const void *keys;
    uint64_t *complaint;
    struct echi_order order, key_order;
    uint64_t clamp, first; /* as in ../scan.h */
    uint32_t other;        /* what scan_other_* does */
    uint32_t lanes;        /* scan_*_rows: of a row, a power of two */
    uint32_t exclusive, backward, is_signed, ignore_nan;
};

#endif
