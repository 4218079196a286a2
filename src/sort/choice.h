/*
 * sort/choice.h - CPU or GPU, for arrays in host memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CHOICE_H
#define ECHI_SORT_CHOICE_H

#include "sort/sort.h"

struct echi_sort_times {
    double cpu, pageable, pinned; /* microseconds; the latter two on a GPU */
};

/* The estimated times of a sort of host memory: by up to `threads` threads (0: all), and on a GPU.
 * They come from the table. */
struct echi_sort_times echi_sort_times(const struct echi_sort *s, int threads);

/* Whether the CPU takes less time than a GPU including the copies; pinned: the keys are in pinned
 * memory.  A sort with a named algorithm runs on the GPU. For struct echi_operation. */
bool echi_sort_faster_on_cpu(const ech_ctx *ctx, const void *request, bool pinned);

#endif
