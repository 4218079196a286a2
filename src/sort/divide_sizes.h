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

#endif
