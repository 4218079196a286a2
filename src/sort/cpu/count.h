/*
 * sort/cpu/count.h - the counting sort's workspace and run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CPU_COUNT_H
#define ECHI_SORT_CPU_COUNT_H

#include "sort/cpu/common.h"

/* The maximum number of threads for n keys, and the number of counters (size_t) that they need. */
size_t echi_sort_count_parts(size_t n, size_t key_bytes);
size_t echi_sort_count_counters(size_t n, size_t key_bytes);

void echi_sort_count(const struct echi_sort_job *job);

#endif
