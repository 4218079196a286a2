/*
 * is_sorted/cpu/common.h - the kernels that find an element out of order, by instruction set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_IS_SORTED_CPU_COMMON_H
#define ECHI_IS_SORTED_CPU_COMMON_H

#include "is_sorted/is_sorted.h"

/* How two keys are compared: as integers; as floats by an encoding in which -0 is less than +0 and
 * NaN differ; by the merged encoding, in which equal keys are equal. */
enum echi_form { ECHI_AS_BITS, ECHI_AS_FLOATS, ECHI_AS_MERGED };

/* The first of keys[from ... to - 1] that is out of order with the key before it, or `to`. from >
 * 0. */
typedef size_t echi_unsorted_function(const struct echi_order *order, bool strict, const void *keys,
                                      size_t from, size_t to);

struct echi_is_sorted_isa {
    echi_unsorted_function *first[9]; /* indexed by the bytes of a key: 1, 2, 4, 8 */
};

extern const struct echi_is_sorted_isa echi_is_sorted_portable, echi_is_sorted_avx2,
    echi_is_sorted_avx512;

#endif
