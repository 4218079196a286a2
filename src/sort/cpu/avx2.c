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
    FEW_KEYS = 1024,       /* below this, the pivot is chosen from one vector */
    MANY_KEYS = 16384,     /* above this, a larger sample for the pivot pays off */
    AHEAD = 6,             /* prefetch distance in blocks, to hide the memory latency */
    AHEAD_BYTES = 1 << 19, /* smaller arrays are in the cache, where prefetching only costs time */
    LEAF_BYTES = 4096,     /* smaller parts are merged in aligned memory */
    MERGE_BYTES = 1 << 16, /* more unsigned keys are sorted by radix in less time */
    MANY_ARRAY_KEYS = 0    /* there is no sort of several arrays */
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
#include "sort/cpu/quick.h"
#define RADIX leaf_u32
#include "sort/cpu/merge_avx2.h"
#undef BIAS
#define KEY     uint64_t
#define NAME(x) x##_u64
#define BIAS    ((KEY)1 << 63)
#include "sort/cpu/network.h"
#include "sort/cpu/quick.h"
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
#define SORT_KEYS_U32 vector_any_u32
#define SORT_KEYS_U64 vector_any_u64
#define DIVIDE_U32    NULL
#define DIVIDE_U64    NULL
#define SORT_PART_U32 NULL
#define SORT_PART_U64 NULL
#define SORT_MANY_U32 NULL
#define SORT_MANY_U64 NULL
#define SORT_PACKED   vector_leaf_u64
#define WINDOW_BITS   32
#define CHECK_KEYS    256
#define VECTORS       false
#define LEAF_U16      ((size_t)1 << 19) /* counting more keys takes less time */
#define LEAF_U32      ((size_t)1 << 28)
#define LEAF_U64      ((size_t)1 << 27)
#include "sort/cpu/kernels.h"
