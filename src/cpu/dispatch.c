/*
 * cpu/dispatch.c - the only file that asks the processor what it can do.
 *
 * The best variant that the machine has is used.  ECHELON_CPU=portable (or avx2, avx512) takes that
 * one, or the best below it that the machine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct echi_sort_isa *const variants[] = {
#ifdef ECHI_CPU_X86
    &echi_sort_avx512,
    &echi_sort_avx2,
#endif
    &echi_sort_portable,
};

enum { VARIANTS = sizeof variants / sizeof *variants };

const struct echi_sort_isa *echi_cpu_sort_isa(void)
{
    const char *forced = getenv("ECHELON_CPU");
    int i = 0;
    for (int j = 0; forced && j < VARIANTS; j++)
        if (strcmp(forced, variants[j]->name) == 0) i = j;
    while (!variants[i]->supported()) i++; /* the last always is */
    return variants[i];
}

void echi_cpu_features(char *text, size_t capacity_bytes)
{
    snprintf(text, capacity_bytes, "%s", echi_cpu_sort_isa()->name);
}
