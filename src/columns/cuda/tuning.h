/*
 * columns/cuda/tuning.h - measured bounds of the sort of rows or records in one block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COLUMNS_CUDA_TUNING_H
#define ECHI_COLUMNS_CUDA_TUNING_H

/* The maximum numbers of rows, and of bytes of all records, for which the algorithm "block" is
 * chosen if the key has this many words of 64 bits.  One multiprocessor moves the records, at about
 * 80 GB/s; otherwise there are more launches, and more for each word.  H100, 2026-11-26. */
/* clang-format off */
/*      words rows  record_bytes */
#define COLUMNS_BLOCK_TUNING(ROW)                                                                  \
    ROW(1,    4096, 1 << 17)                                                                       \
    ROW(2,    4096, 1 << 18)                                                                       \
    ROW(3,    4096, 1 << 18)                                                                       \
    ROW(4,    4096, 1 << 18)
/* clang-format on */

#endif
