/*
 * sort/cpu/leaf_portable.h - leaf_u32() and leaf_u64() in portable C: leaf.h for both widths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>

enum {
    INSERTION_KEYS = 16, /* insertion sort is fastest up to this */
    MERGE_KEYS = 300     /* merge sort is fastest up to this, then radix sort */
};

#define KEY     uint32_t
#define NAME(x) x##_u32
#include "sort/cpu/leaf.h"
#define KEY     uint64_t
#define NAME(x) x##_u64
#include "sort/cpu/leaf.h"
