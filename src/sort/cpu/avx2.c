/*
 * sort/cpu/avx2.c - the kernels compiled for AVX2: networks and merges of short arrays; otherwise
 * the portable kernels, whose encoding vectorises.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/leaf_portable.h"
#include "sort/cpu/vector_avx2.h"

#include <cpuid.h>

enum {
    LEAF_BYTES = 16384,    /* smaller parts are merged in aligned memory */
    MERGE_BYTES = 1 << 16, /* more keys are sorted by radix in less time */
};

#define UNROLL _Pragma("GCC unroll 16")
#define ROWS   8

#define KEY     uint16_t
#define NAME(x) x##_u16
#define BIAS    0
#include "sort/cpu/network.h"
#include "sort/cpu/merge_avx2.h"
#undef ROWS
#define ROWS    16 /* 32 registers would be better, but 8 rows are slower */
#define KEY     uint32_t
#define NAME(x) x##_u32
#include "sort/cpu/network.h"
#define RADIX leaf_u32
#include "sort/cpu/merge_avx2.h"
#undef BIAS
#define KEY     uint64_t
#define NAME(x) x##_u64
#define BIAS    ((KEY)1 << 63)
#include "sort/cpu/network.h"
#define RADIX leaf_u64
#include "sort/cpu/merge_avx2.h"

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
#define SORT_U32      vector_leaf_u32
#define SORT_U64      vector_leaf_u64
#define SORT_KEYS_U16 vector_sort_u16
#define SORT_FEW_U32  vector_sort_u32
#define SORT_FEW_U64  vector_sort_u64
#define FEW_BYTES     MERGE_BYTES
#define SORT_PACKED   vector_leaf_u64
#define WINDOW_BITS   32
#define CHECK_KEYS    256
#define VECTORS       false
#define LEAF_U16      ((size_t)1 << 19) /* counting more keys takes less time */
#define LEAF_U32      (1 << 16)
#define LEAF_U64      (1 << 15)
#include "sort/cpu/kernels.h"
