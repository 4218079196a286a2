/*
 * scan/cuda/common.h - definitions that host and device code of the GPU scan share: sizes and
 * arguments.
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
    SCAN_WARPS = 10,    /* all warps of a block */
    SCAN_AHEAD = 1,     /* rounds between the fetch of a tile and its sum */
    SCAN_STAGES = 6,    /* of shared memory, maximum */
    SCAN_WARP = 32,
    SCAN_SLOTS = 4,             /* vectors of 16 bytes per thread */
    SCAN_LINES = 32,            /* of a tile: a line is one vector per lane */
    SCAN_TILE_BYTES = 16 << 10, /* of in */
    SCAN_GROUP = 32,            /* tiles */
    SCAN_COUNTERS = 2,          /* 64-bit words before the tile status descriptors */
    SCAN_FLAGS_THREADS = 256
};

/* scan_*_short: each block reads all descriptors. */
enum {
    SCAN_SHORT_THREADS = 256, /* of a tile */
    SCAN_SHORT_TILES = 2048   /* maximum */
};

/* scan_*_held: a block per multiprocessor. */
enum {
    SCAN_HELD_THREADS = 1024,
    SCAN_HELD_TILES = 12 /* per block, maximum */
};

/* scan_*_ring: a block's warps. */
enum {
    SCAN_RING_SUMMERS = 4,
    SCAN_RING_LOOKERS = 2,
    SCAN_RING_WARPS = SCAN_WORKERS + SCAN_RING_SUMMERS + SCAN_RING_LOOKERS + 2,
    SCAN_RING_AHEAD = 4,   /* tiles in flight to shared memory */
    SCAN_RING_STAGES = 14, /* of shared memory, maximum; at least SUMMERS + AHEAD */
    SCAN_RING_SHARED = 8 + SCAN_RING_STAGES * 88 /* bytes in addition to the stages ... */
};

/* ... and per byte of a value. */
#define SCAN_RING_VALUES (SCAN_RING_STAGES * SCAN_LINES)

/* The operation of scan_other_*; scan_sum_* and scan_min_* have one operator each. */
enum { SCAN_SUM, SCAN_MIN, SCAN_PRODUCT, SCAN_OR, SCAN_XOR };

/* The argument of every kernel of the scan. */
struct scan_args {
    const void *in;
    void *out;
    uint64_t *counters; /* tiles taken, blocks done; then the descriptors */
    uint64_t *tiles;    /* the total of each tile ... */
    uint64_t *prefixes; /* ... and the inclusive prefix of each group; of the group in a ring */
    uint64_t words;     /* number of words to clear, including counters, when the last block is
                           done; or 0 */
    uint64_t rows, columns;
    uint64_t row_tiles, row_groups; /* per row */
    uint32_t stages;                /* tiles that a block holds at a time */
    uint32_t servers;               /* number of blocks that add up groups: 1, or 0 with one
                                       group */
    uint32_t *flags;                /* bit i: a segment begins at position i */
    const void *offsets;            /* [segments + 1], or NULL */
    struct echi_index offsets_index;
    uint64_t segments;
    const void *keys;
    uint64_t *data_error;
    struct echi_order order, key_order;
    uint64_t first; /* as in ../scan.h */
    uint32_t other; /* the operation of scan_other_* */
    uint32_t lanes; /* scan_*_rows: lanes per row, a power of two */
    uint32_t exclusive, backward, is_signed, ignore_nan;
};

#endif
