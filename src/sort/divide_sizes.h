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
    ECHI_DIVIDE_BUCKETS = 2048, /* maximum */
    ECHI_DIVIDE_ROUNDS = 5,     /* maximum number of counts after the first one */
    ECHI_DIVIDE_NEW = 64,       /* maximum number of bins that each of them divides */
    ECHI_DIVIDE_NODES = ECHI_DIVIDE_ROUNDS * ECHI_DIVIDE_NEW,
    ECHI_DIVIDE_SLOTS = ECHI_DIVIDE_BINS * (1 + ECHI_DIVIDE_ROUNDS),
    ECHI_DIVIDE_IS_NODE = 0x8000 /* of an entry of the table */
};

/* A bin that is divided into 2^bits bins of 2^shift keys each: their entries in the table. */
struct echi_divide_node {
    uint32_t first;
    uint16_t shift, bits;
};

#endif
