/*
 * cpu/dispatch.c - the only file that queries the processor's capabilities.
 *
 * The best variant that the machine supports is used. ECHELON_CPU=portable (or avx2, avx512)
 * selects that variant, or the next lower one that the machine supports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <stdatomic.h>
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

static const char *wanted(void)
{
    const char *value = getenv("ECHELON_CPU");
    return value && *value ? value : NULL;
}

ech_status echi_cpu_check_isa(ech_ctx *ctx)
{
    static const char *const names[] = { "avx512", "avx2", "portable" };
    const char *value = wanted();
    if (!value) return ECH_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "ECHELON_CPU is \"%s\", not avx512, avx2 or portable",
                     value);
}

static const struct echi_sort_isa *choose(void)
{
    const char *forced = wanted();
    int i = 0;
    for (int j = 0; forced && j < VARIANTS; j++)
        if (strcmp(forced, variants[j]->name) == 0) i = j;
    while (i < VARIANTS - 1 && !variants[i]->supported()) i++; /* the last one always is */
    return variants[i];
}

/* The prefetchers of a Zen 4 find interleaved arrays, and prefetch instructions delay them. Those
 * of a Zen 5 do not find them (docs/lab/select.md). */
static bool needs_prefetches(void)
{
#ifdef ECHI_CPU_X86
    return !__builtin_cpu_is("amdfam19h"); /* Zen 3 and Zen 4 */
#else
    return true;
#endif
}

_Atomic(const struct echi_sort_isa *) echi_cpu_chosen;
atomic_bool echi_cpu_prefetches;
_Atomic(unsigned char) echi_cpu_chosen_level;

static enum echi_level level_of(const struct echi_sort_isa *isa)
{
#ifdef ECHI_CPU_X86
    if (isa == &echi_sort_avx512)
        return echi_cpu_has_vbmi2() ? ECHI_LEVEL_VBMI2 : ECHI_LEVEL_AVX512;
    if (isa == &echi_sort_avx2) return ECHI_LEVEL_AVX2;
#endif
    (void)isa;
    return ECHI_LEVEL_PORTABLE;
}

/* Threads that get here concurrently make the same choice. */
const struct echi_sort_isa *echi_cpu_choose(void)
{
    const struct echi_sort_isa *isa = choose();
    atomic_store_explicit(&echi_cpu_prefetches, needs_prefetches(), memory_order_relaxed);
    atomic_store_explicit(&echi_cpu_chosen, isa, memory_order_relaxed);
    atomic_store_explicit(&echi_cpu_chosen_level, (unsigned char)level_of(isa),
                          memory_order_relaxed);
    return isa;
}

bool echi_cpu_has_vbmi2(void)
{
#ifdef ECHI_CPU_X86
    return __builtin_cpu_supports("avx512vbmi2");
#else
    return false;
#endif
}

bool echi_cpu_has_gfni(void)
{
#ifdef ECHI_CPU_X86
    return __builtin_cpu_supports("gfni") && __builtin_cpu_supports("avx512vbmi");
#else
    return false;
#endif
}

void echi_cpu_features(char *text, size_t capacity_bytes)
{
    snprintf(text, capacity_bytes, "%s", echi_cpu_sort_isa()->name);
}
