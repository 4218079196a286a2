/*
 * tuning.h - numbers measured that belong to no single device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TUNING_H
#define ECHI_TUNING_H

/* Microseconds of a sort of 10^3, 3 10^3, 10^4, 3 10^4 and 10^5 elements in host memory: on one
 * thread of a CPU with AVX-512, and on a GPU with both copies, of pageable and of pinned memory.
 * key, value: bytes.  16 cores of a Xeon beside an H200, by gpu_sort_host, 2026-11-22. */
/* clang-format off */
/*      key value CPU                pageable            pinned */
#define SORT_TIMES(ROW)                                                                            \
    ROW(1, 0,  4.5,  7.0,  12,  28,   93,  31, 33,  41,  50,  66,  27, 28,  38,  43,  46)          \
    ROW(2, 0,  3.9, 12.6, 390, 705, 1130,  30, 31,  50,  71, 101,  26, 28,  47,  58,  65)          \
    ROW(4, 0,  1.9,  6.9,  28,  92,  348,  27, 36,  57,  90, 149,  24, 34,  51,  71,  88)          \
    ROW(8, 0,  4.4, 15.1,  57, 195,  800,  37, 51, 115, 153, 267,  34, 46,  98, 114, 145)          \
    ROW(4, 4,  5.1, 16.4,  64, 342, 1060,  42, 54, 119, 151, 254,  34, 45,  96, 106, 124)          \
    ROW(4, 8,  5.3, 16.0,  66, 350, 1190,  44, 57, 124, 177, 333,  34, 44,  87, 107, 131)          \
    ROW(8, 4,  5.8, 18.7,  68, 395, 1290,  53, 74, 173, 235, 388,  43, 70, 138, 159, 187)          \
    ROW(8, 8,  5.7, 18.2,  67, 390, 1350,  53, 75, 167, 241, 394,  45, 71, 134, 155, 200)
/* clang-format on */

/* Beyond 10^5 elements: bytes that are copied, both ways together, and sorted in a microsecond; and
 * of what the first thread does, what each further one adds. */
enum { SORT_PAGEABLE_BYTES = 28000, SORT_PINNED_BYTES = 46000, SORT_THREADS_PERCENT = 38 };

#endif
