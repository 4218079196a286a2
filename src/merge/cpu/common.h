/*
 * merge/cpu/common.h - the merge of one part of a result on the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CPU_COMMON_H
#define ECHI_MERGE_CPU_COMMON_H

#include "merge/merge.h"

enum { MERGE_PART = 1 << 14 }; /* elements */

/* avx512.c, by key width: merges keys without values; false, if equal keys differ in bits, so that
 * their order matters. */
typedef bool echi_merge_keys_function(const struct echi_order *order, const void *a, size_t n_a,
                                      const void *b, size_t n_b, void *out);
extern echi_merge_keys_function *const echi_merge_avx512[9];

enum { ECHI_MERGE_FEW = 64 }; /* keys in all */

/* few_avx512.c: merges few keys, without values; false if there are too many.  If an input is not
 * sorted, the result is undefined, but within out. */
bool echi_merge_few_avx512(const struct echi_merge *m);
extern echi_merge_function *const echi_merge_calls_avx512[4];

/* Merges elements i * MERGE_PART ... of the result, at most MERGE_PART. */
void echi_merge_part(const struct echi_merge *m, size_t i);

/* Whether the first element of the first input is first in the result; neither input is empty. */
bool echi_merge_begins(const struct echi_merge *m);

/* Whether equal keys have equal bits, so that any sort keeps the order of the runs. */
bool echi_merge_distinguishable(const struct echi_order *order, const void *keys, size_t n,
                                size_t key_bytes);

#endif
