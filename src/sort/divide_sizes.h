/*
 * sort/divide_sizes.h - numbers of bins and buckets of the division among ranks, for host and
 * device code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_DIVIDE_SIZES_H
#define ECHI_SORT_DIVIDE_SIZES_H

enum {
    ECHI_DIVIDE_BIN_BITS = 13,
    ECHI_DIVIDE_BINS = 1 << ECHI_DIVIDE_BIN_BITS,
    ECHI_DIVIDE_BUCKETS = 2048 /* maximum */
};

/*
 * The map from a bin to its bucket.  Blocks of 2^log bins are one bucket each, with the number of
 * the block, except special ones, for whose bins the table is read.  Numbers of buckets in special
 * blocks do not occur otherwise.
 */
struct echi_divide_map {
    unsigned log;
    unsigned special[ECHI_DIVIDE_BINS / 32]; /* a bit per block */
    unsigned short bucket_of[ECHI_DIVIDE_BINS];
};

#endif
