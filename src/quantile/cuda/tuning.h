/*
 * quantile/cuda/tuning.h - measured bounds between the algorithms for elements of ranks on the GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CUDA_TUNING_H
#define ECHI_QUANTILE_CUDA_TUNING_H

/* From these numbers of elements on, elements of ranks are found by "select", otherwise by "sort":
 *     nth         the element of a rank, and its position; "sort" sorts positions
 *     partitions  the same
 *     quantiles   "sort" sorts keys
 * few and many: up to QUANTILE_FEW ranks, and more.  H100, 2026-11-26. */
#define NEVER (~(size_t)0)
/* clang-format off */
/*      key nth      partitions        quantiles */
/*                   few      many     few      many */
#define QUANTILE_TUNING(ROW)                                                                       \
    ROW(1,  1 << 15, 1 << 21, NEVER,   NEVER,   NEVER)                                             \
    ROW(2,  1 << 15, 1 << 21, 1 << 21, NEVER,   NEVER)                                             \
    ROW(4,  1 << 17, 1 << 21, 1 << 21, 1 << 21, 1 << 23)                                           \
    ROW(8,  1 << 17, 1 << 20, 1 << 21, 1 << 21, 1 << 22)
/* clang-format on */

/* The same for an integer of a rank without its position, where "sort" sorts keys.  H200,
 * 2026-11-27. */
enum { QUANTILE_SORTED_KEYS = 1 << 21 };

#endif
