/*
 * sort/tuning.h - measured numbers that do not belong to a single device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_TUNING_H
#define ECHI_SORT_TUNING_H

/* Microseconds of a sort of 10^3, 3 10^3, 10^4, 3 10^4 and 10^5 elements in host memory: on one
 * thread of a CPU with AVX-512, and on a GPU with both copies, of pageable and of pinned memory.
 * key, value: bytes. 16 cores of a Xeon with an H200, by gpu_sort_host, 2026-11-22. */
/* clang-format off */
/*      key value CPU                pageable            pinned */
#define SORT_TIMES(ROW)                                                                            \
    ROW(1, 0,  4.5,  7.0,  12,  28,   93,  31, 33,  41,  50,  66,  27, 28,  38,  43,  46)          \
    ROW(2, 0,  3.9, 12.6, 390, 705, 1130,  30, 31,  50,  71, 101,  26, 28,  47,  58,  65)          \
    ROW(4, 0,  1.8,  6.5,  26,  88,  344,  26, 27,  40,  62, 110,  24, 25,  35,  41,  50)          \
    ROW(8, 0,  4.8, 16.5,  60, 207,  800,  32, 34,  55,  94, 246,  28, 30,  39,  48,  70)          \
    ROW(4, 4,  4.3, 12.2,  56, 315, 1090,  46, 42,  70,  91, 209,  36, 37,  44,  51,  74)          \
    ROW(4, 8,  5.2, 16.6,  66, 345, 1180,  44, 47,  71, 116, 216,  33, 34,  50,  57,  95)          \
    ROW(8, 4,  5.4, 17.7,  71, 345, 1190,  43, 47,  72, 117, 223,  34, 44,  48,  55,  97)          \
    ROW(8, 8,  5.8, 18.8,  71, 409, 1410,  44, 50,  79, 146, 253,  33, 44,  52,  60, 109)
/* clang-format on */

/* Beyond 10^5 elements: bytes per microsecond that are copied, in both directions together, and
 * bytes that are sorted per microsecond; and the percentage of the first thread's speed that each
 * further thread adds. */
enum { SORT_PAGEABLE_BYTES = 28000, SORT_PINNED_BYTES = 46000, SORT_THREADS_PERCENT = 38 };

#endif
