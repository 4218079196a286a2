/*
 * cpu/scan.h - what the files of the CPU scan share: kernels of one tile, for every type that is
 * read and computed, in every instruction set.
 *
 * A value that is computed travels as its bits in 64: an e of scan.h, an f32, an f64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_SCAN_H
#define ECHI_CPU_SCAN_H

#include "../scan.h"

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
    size_t n;
    size_t begin, end;    /* positions that are written */
    const uint8_t *heads; /* of the tile: not 0 where a segment begins; NULL: none does */
};

/* What a tile's elements come to: all, or with heads those from the last head on. */
struct scan_total {
    uint64_t value;
    bool head;
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

/* ---- Floats of 16 bits, without branches: loops over them are vectorised ---- */

static inline uint32_t echi_bits_of(float x)
{
    uint32_t u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

static inline float echi_float_of(uint32_t u)
{
    float x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}

static inline float echi_load_f16(uint16_t u)
{
    uint32_t rest = u & 0x7fffu, sign = (uint32_t)(u & 0x8000u) << 16;
    uint32_t special = rest >= 0x7c00 ? 112u << 23 : 0;
    uint32_t normal = (rest << 13) + (112u << 23) + special;
    uint32_t small = echi_bits_of((float)(int32_t)rest * 0x1p-24f);
    return echi_float_of(sign | (rest < 0x400 ? small : normal));
}

/* Rounded to nearest, ties to even; every NaN is one. */
static inline uint16_t echi_store_f16(float x)
{
    uint32_t u = echi_bits_of(x), rest = u & 0x7fffffff, sign = u >> 16 & 0x8000;
    uint32_t normal = (rest + 0xfff + (rest >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t small = echi_bits_of(echi_float_of(rest) + 0.5f) - 0x3f000000;
    uint32_t h = rest < 113u << 23 ? small : normal;
    h = rest >= 0x477ff000 ? 0x7c00 : h;
    return (uint16_t)(rest > 0x7f800000 ? 0x7e00 : (h | sign));
}

static inline float echi_load_bf16(uint16_t u)
{
    return echi_float_of((uint32_t)u << 16);
}

static inline uint16_t echi_store_bf16(float x)
{
    uint32_t u = echi_bits_of(x), rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

static inline float echi_store_f32(float x)
{
    return x != x ? echi_float_of(0x7fc00000) : x;
}

static inline double echi_store_f64(double x)
{
    const uint64_t u = 0x7ff8000000000000;
    double nan;
    __builtin_memcpy(&nan, &u, sizeof nan);
    return x != x ? nan : x;
}

#endif
