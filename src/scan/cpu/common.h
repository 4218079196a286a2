/*
 * scan/cpu/common.h - declarations that the files of the CPU scan share: kernels for one tile, for
 * every element and result type, in every instruction set.
 *
 * A computed value is passed as 64 bits: an e of common.h, an f32, or an f64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CPU_COMMON_H
#define ECHI_SCAN_CPU_COMMON_H

#include "scan/scan.h"

enum {
    SCAN_LANES = 32,        /* vectors of 16 bytes in a line */
    SCAN_LINES = 32,        /* in a tile */
    PREFETCH_BYTES = 4096,  /* from a line to the one that is prefetched */
    SCAN_GROUP = 32,        /* tiles */
    SCAN_TILE_MOST = 16384, /* elements, for one-byte types */
    SCAN_TILE_BYTES = 16384
};

/* The array, or one row of it.  Position i of n is element i; in a reverse scan, n - 1 - i. */
struct scan_row {
    const struct echi_scan *s;
    const void *in;
    void *out;
    void *to; /* destination of the tile's results, in memory order: in a reverse scan the last
                 position first */
    size_t n;
    size_t begin, end;    /* positions to write */
    const uint8_t *flags; /* of the tile: nonzero at the head of a segment; NULL: no heads */
};

/* The total of a tile: of all elements, or with segment flags of those from the last flag on. */
struct scan_total {
    uint64_t value;
    bool flag;
};

struct scan_kernels {
    bool chained; /* scan() returns the exclusive prefix of the next tile, not the tile's total */
    uint64_t (*combine)(const struct echi_scan *s, uint64_t a, uint64_t b);
    struct scan_total (*reduce)(const struct scan_row *row, size_t at, size_t count);
    struct scan_total (*scan)(const struct scan_row *row, size_t at, size_t count, uint64_t before);
};

enum scan_kind {
    SCAN_U8,
    SCAN_U16,
    SCAN_U32,
    SCAN_U64,
    SCAN_U8_WIDE,
    SCAN_U16_WIDE,
    SCAN_U32_WIDE,
    SCAN_F16,
    SCAN_BF16,
    SCAN_F32,
    SCAN_F64,
    SCAN_F16_WIDE,
    SCAN_BF16_WIDE,
    SCAN_F32_WIDE,
    SCAN_KINDS
};

extern const struct scan_kernels echi_scan_portable[SCAN_KINDS], echi_scan_avx2[SCAN_KINDS],
    echi_scan_avx512[SCAN_KINDS];
extern echi_scan_function *const echi_scan_calls_portable[ECHI_DTYPE_COUNT],
    *const echi_scan_calls_avx2[ECHI_DTYPE_COUNT], *const echi_scan_calls_avx512[ECHI_DTYPE_COUNT];

#endif
