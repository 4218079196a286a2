/*
 * cpu/sort_avx512.c - the kernels compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_leaf_portable.h"
#include "sort_vector_avx512.h"

enum {
    NETWORK_ROWS = 16, /* registers that the network takes of 32 */
    FEW_KEYS = 1024,   /* fewer do not repay a pivot from more than one vector */
    MANY_KEYS = 16384  /* more repay a better pivot yet */
};

#define UNROLL  _Pragma("GCC unroll 16")
#define KEY     uint32_t
#define NAME(x) x##_u32
#define MASK    __mmask16
#include "sort_leaf_avx512.h"
#define KEY     uint64_t
#define NAME(x) x##_u64
#define MASK    __mmask8
#include "sort_leaf_avx512.h"

#define ISA      echi_sort_avx512
#define ISA_NAME "avx512"
#define SUPPORTED                                                                                  \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&                    \
     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&                   \
     __builtin_cpu_supports("bmi2"))
#define SORT_U32    vector_leaf_u32
#define SORT_U64    vector_leaf_u64
#define WINDOW_BITS 64
#define LEAF_U32    (1 << 20)
#define LEAF_U64    (1 << 19)
#include "sort_kernels.h"
