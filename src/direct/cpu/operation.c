/*
 * direct/cpu/operation.c - the steps of direct solvers on the CPU (kernels.h), and factorization by
 * LAPACK (lapack.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/cpu/common.h"
#include "core/backend.h"
#include "cpu/lapack.h"

static const struct echi_direct_isa *direct_isa(void)
{
#ifdef ECHI_CPU_X86
    switch (echi_cpu_isa()) {
    case ECHI_AVX512:
        return &echi_direct_avx512;
    case ECHI_AVX2:
        return &echi_direct_avx2;
    case ECHI_PORTABLE:
        break;
    }
#endif
    return &echi_direct_portable;
}

static ech_status run_step(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_direct_step *step = request;
    const struct echi_direct_isa *isa = direct_isa();
    (void)work;
    (step->f64 ? isa->f64 : isa->f32)(ctx, step);
    return ECH_OK;
}

static ech_status vendor_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_vendor_factor *p = request;
    const struct echi_vendor *found = echi_lapack();
    *bytes = 0;
    if (p->name)
        *p->name = found ? found->what : "no LAPACK was found; set ECHELON_LAPACK to its path";
    if (p->fast) *p->fast = found && found->fast;
    if (!found || p->m > INT32_MAX || p->stride > INT32_MAX / 64) return ECH_ERR_UNSUPPORTED;
    return echi_lapack_workspace(p, bytes);
}

static ech_status run_vendor(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    echi_lapack_factor(request, work, ctx->threads);
    return ECH_OK;
}

const struct echi_operation echi_cpu_direct = { .run = run_step };
const struct echi_operation echi_cpu_direct_vendor = { .plan = vendor_workspace,
                                                       .run = run_vendor };
