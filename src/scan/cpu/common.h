/*
 * scan/cpu/common.h - what the files of the CPU scan share: kernels of one tile, for every type
 * that is read and computed, in every instruction set.
 *
 * A value that is computed travels as its bits in 64: an e of common.h, an f32, an f64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CPU_COMMON_H
#define ECHI_SCAN_CPU_COMMON_H

#include "scan/scan.h"

enum {
    SCAN_LANES = 32,        /* vectors of 16 bytes in a line */
    SCAN_LINES = 32,        /* in a tile */
    SCAN_GROUP = 32,        /* tiles */
    SCAN_TILE_MOST = 16384, /* elements: of one byte */
    SCAN_TILE_BYTES = 16384
};

/* The array, or one row of it.  Position i of n is element i, backward n - 1 - i. */
struct scan_row {
    const struct echi_scan *s;
    const void *in;
    void *out;
    void *to; /* where the tile's results go, in memory's order: backward, the last first */
    size_t n;
    size_t begin, end;    /* positions that are written */
    const uint8_t *flags; /* of the tile: not 0 where a segment begins; NULL: none does */
};

/* What a tile's elements come to: all, or with segment flags those from the last flag on. */
struct scan_total {
    uint64_t value;
    bool flag;
};

struct scan_kernels {
    bool chained; /* scan() returns what comes before the next tile, not the tile's own total */
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

#endif
