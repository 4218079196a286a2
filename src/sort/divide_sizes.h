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
    ECHI_DIVIDE_BUCKETS = 2048, /* maximum */
    ECHI_DIVIDE_SPECIAL = 16
};

/*
 * The map from a bin to its bucket.  If all buckets but a few have 2^log bins, log is not 0, and
 * bucket i begins at bin i << log, except for special i, whose bins are divided further: their
 * buckets have numbers from BINS >> log on.  The table is read for these only.
 */
struct echi_divide_map {
    unsigned log, specials, special[ECHI_DIVIDE_SPECIAL];
};

#endif
