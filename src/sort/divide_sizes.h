/*
 * sort/divide_sizes.h - numbers of bins and buckets of the division among ranks, for host and
 * device code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_DIVIDE_SIZES_H
#define ECHI_SORT_DIVIDE_SIZES_H

#include <stdint.h>

enum {
    ECHI_DIVIDE_BIN_BITS = 13,
    ECHI_DIVIDE_BINS = 1 << ECHI_DIVIDE_BIN_BITS,
    ECHI_DIVIDE_BUCKETS = 3072, /* maximum */
    ECHI_DIVIDE_ROUNDS = 5,     /* maximum number of counts after the first one */
    ECHI_DIVIDE_NEW = 64,       /* maximum number of bins that each of them divides */
    ECHI_DIVIDE_NODES = ECHI_DIVIDE_ROUNDS * ECHI_DIVIDE_NEW,
    ECHI_DIVIDE_SLOTS = ECHI_DIVIDE_BINS * (1 + ECHI_DIVIDE_ROUNDS),
    ECHI_DIVIDE_NEAR = 16,
    ECHI_DIVIDE_IS_NODE = 0x8000 /* of an entry of the table */
};

/*
 * Bins by lengths, for keys of which many are near the low end of the range: bin x for the first
 * 2^m keys, then 2^m equal bins for each further number of bits of a key.
 *
 *     keys    0 1 2 3   4 5 6 7   8   10  12  14   16   20   24   28   32          m = 2
 *     bins    0 1 2 3   4 5 6 7   8   9   10  11   12   13   14   15
 */
#define ECHI_DIVIDE_LENGTH_BINS(m, bits) (((bits) - (m) + 1u) << (m))

/* The keys of a segment differ in the bits below a number; from its bit ECHI_TOP_CUT on, it has 0,
 * or the bit at which the first digit cuts the keys: this digit is then by the length of the lower
 * part (sort/cuda/lengths.cuh). */
enum { ECHI_TOP_CUT = 8, ECHI_TOP_UPPER = 4 /* maximum number of bits of the upper part */ };

/* A bin that is divided into 2^bits bins of 2^shift keys each: their entries in the table. */
struct echi_divide_node {
    uint32_t first;
    uint16_t shift, bits;
};

#endif
