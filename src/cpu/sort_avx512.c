/*
 * cpu/sort_avx512.c - the kernels compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_leaf_portable.h"

#define ISA echi_sort_avx512
#define ISA_NAME "avx512"
#define SUPPORTED                                                                                  \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&                    \
     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&                   \
     __builtin_cpu_supports("bmi2"))
#define SORT_U32 leaf_u32
#define SORT_U64 leaf_u64
#define WINDOW_BITS 64
#define LEAF_U32 (1 << 17)
#define LEAF_U64 (1 << 16)
#include "sort_kernels.h"
