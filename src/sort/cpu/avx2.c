/*
 * sort/cpu/avx2.c - the portable kernels, compiled for AVX2: the encoding vectorises.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/leaf_portable.h"

#include <cpuid.h>

/* All known processors with AVX2 have F16C; the kernels of other operations use it. */
static bool converts_f16(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

#define ISA      echi_sort_avx2
#define ISA_NAME "avx2"
#define SUPPORTED                                                                                  \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && converts_f16())
#define SORT_U32    leaf_u32
#define SORT_U64    leaf_u64
#define WINDOW_BITS 32
#define CHECK_KEYS  64
#define VECTORS     false
#define LEAF_U32    (1 << 16)
#define LEAF_U64    (1 << 15)
#include "sort/cpu/kernels.h"
