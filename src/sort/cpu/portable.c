/*
 * sort/cpu/portable.c - the sort's kernels for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/leaf_portable.h"

#define ISA         echi_sort_portable
#define ISA_NAME    "portable"
#define SUPPORTED   true
#define SORT_U32    leaf_u32
#define SORT_U64    leaf_u64
#define WINDOW_BITS 32
#define CHECK_KEYS  64
#define VECTORS     false
#define LEAF_U32    (1 << 16)
#define LEAF_U64    (1 << 15)
#include "sort/cpu/kernels.h"
