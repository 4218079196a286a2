/*
 * gf2/cpu/isa.c - the kernels of common.h that this machine runs, and the number of threads for a
 * given amount of work.
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
    /* A thread must save at least the time of this many products, about 90 us.  With less, the
     * threads of an elimination would synchronise thousands of times for little gain. */
    const double each = isa->fast ? 1 << 30 : 1 << 27, most = 1 << 20;
    const double worth = products / each;
    return echi_parallel_for_bytes(ctx, (size_t)(worth < most ? worth : most) << 18);
}
