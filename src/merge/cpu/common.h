/*
 * merge/cpu/common.h - the merge of one part of a result on the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CPU_COMMON_H
#define ECHI_MERGE_CPU_COMMON_H

#include "merge/merge.h"

enum { MERGE_PART = 1 << 14 }; /* elements */

/* Merges elements i * MERGE_PART ... of the result, at most MERGE_PART. */
void echi_merge_part(const struct echi_merge *m, size_t i);

/* Whether the first element of the first input is first in the result; neither input is empty. */
bool echi_merge_begins(const struct echi_merge *m);

/* Whether equal keys have equal bits, so that any sort keeps the order of the runs. */
bool echi_merge_distinguishable(const struct echi_order *order, const void *keys, size_t n,
                                size_t key_bytes);

#endif
