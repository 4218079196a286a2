/*
 * gf2/cpu/isa.c - which kernels of common.h this machine runs, and how many threads work is worth.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

const struct echi_gf2_isa *echi_gf2_isa(void)
{
#ifdef ECHI_CPU_X86
    switch (echi_cpu_isa()) {
    case ECHI_AVX512:
        return echi_cpu_has_gfni() ? &echi_gf2_avx512 : &echi_gf2_avx2;
    case ECHI_AVX2:
        return &echi_gf2_avx2;
    case ECHI_PORTABLE:
        break;
    }
#endif
    return &echi_gf2_portable;
}

int echi_gf2_threads(const ech_ctx *ctx, const struct echi_gf2_isa *isa, double products)
{
    /* A thread is worth waking for as long as this many take, some 90 us.  With less, eliminations
     * would wait for each other's threads thousands of times to gain little. */
    const double each = isa->fast ? 1 << 30 : 1 << 27, most = 1 << 20;
    const double worth = products / each;
    return echi_parallel_for_bytes(ctx, (size_t)(worth < most ? worth : most) << 18);
}
