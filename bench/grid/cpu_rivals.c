/*
 * cpu_rivals.c - the table of the competitors of the CPU module that were built.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu_rows.h"

static const struct {
    const char *name;
    int (*run)(struct grid_case *c);
} rivals[] = {
#ifdef RIVAL_STD
    { "std|" RIVAL_STD, row_std },
#endif
#ifdef RIVAL_X86SIMDSORT
    { "x86-simd-sort AVX-512|" RIVAL_X86SIMDSORT, row_x86simdsort_avx512 },
    { "x86-simd-sort AVX2|" RIVAL_X86SIMDSORT, row_x86simdsort_avx2 },
#endif
#ifdef RIVAL_VQSORT
    { "vqsort|" RIVAL_VQSORT, row_vqsort },
#endif
    { NULL, NULL },
};

const char *grid_rival_name(int rival)
{
    return rivals[rival].name;
}

int grid_rival(struct grid_case *c, int rival)
{
    return rivals[rival].run(c);
}
