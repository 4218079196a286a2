/*
 * scan/cuda/common.h - what the two halves of the GPU scan agree on: sizes and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_COMMON_H
#define ECHI_SCAN_CUDA_COMMON_H

#include "core/index.h"
#include "core/order.h"

enum {
    SCAN_THREADS = 256, /* of short rows */
    SCAN_WORKERS = 8,   /* warps of a block that hold a tile */
    SCAN_WARPS = 10,    /* and all of them */
    SCAN_AHEAD = 1,     /* rounds from the fetch of a tile to its sum */
    SCAN_STAGES = 6,    /* of shared memory, most */
    SCAN_WARP = 32,
    SCAN_SLOTS = 4,             /* vectors of 16 bytes a thread */
    SCAN_LINES = 32,            /* a tile: a line is one vector of each lane */
    SCAN_TILE_BYTES = 16 << 10, /* of in */
    SCAN_GROUP = 32,            /* tiles */
    SCAN_COUNTERS = 2,          /* 64-bit words before those of the look-back */
    SCAN_FLAGS_THREADS = 256
};

/* scan_*_short: all words are looked at by each block. */
enum {
    SCAN_SHORT_THREADS = 256, /* of a tile */
    SCAN_SHORT_TILES = 2048   /* most */
};

/* scan_*_ring: a block's warps. */
enum {
    SCAN_RING_SUMMERS = 4,
    SCAN_RING_LOOKERS = 2,
    SCAN_RING_WARPS = SCAN_WORKERS + SCAN_RING_SUMMERS + SCAN_RING_LOOKERS + 2,
    SCAN_RING_AHEAD = 4,   /* tiles that are under way to shared memory */
    SCAN_RING_STAGES = 14, /* of shared memory, most; at least SUMMERS + AHEAD */
    SCAN_RING_SHARED = 8 + SCAN_RING_STAGES * 88 /* bytes beside the stages ... */
};

/* ... and those for each byte of a value. */
#define SCAN_RING_VALUES (SCAN_RING_STAGES * SCAN_LINES)

/* What scan_other_* does; scan_sum_* and scan_min_* are for one operator each. */
enum { SCAN_SUM, SCAN_MIN, SCAN_PRODUCT, SCAN_OR, SCAN_XOR };

/* One struct serves every kernel of the scan. */
struct scan_args {
    const void *in;
    void *out;
    uint64_t *counters; /* tiles taken, blocks done; then the words */
    uint64_t *tiles;    /* the total of each tile ... */
    uint64_t *prefixes; /* ... and of all up to the end of each group; of the group in a ring */
    uint64_t words;     /* to clear, counters included, when the last block is done; or 0 */
    uint64_t rows, columns;
    uint64_t row_tiles, row_groups; /* of a row */
    uint32_t stages;                /* tiles that a block holds */
    uint32_t servers;               /* blocks that add up groups: 1, of one group 0 */
    uint32_t *flags;                /* bit i: a segment begins at position i */
    const void *offsets;            /* [segments + 1], or NULL */
    struct echi_index offsets_index;
    uint64_t segments;
    const void *keys;
    uint64_t *data_error;
    struct echi_order order, key_order;
    uint64_t first; /* as in ../scan.h */
    uint32_t other; /* what scan_other_* does */
    uint32_t lanes; /* scan_*_rows: of a row, a power of two */
    uint32_t exclusive, backward, is_signed, ignore_nan;
};

#endif
