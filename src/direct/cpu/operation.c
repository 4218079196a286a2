/*
 * direct/cpu/operation.c - the steps of direct solvers on the CPU (kernels.h), and factorization by
 * LAPACK (lapack.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/cpu/common.h"
#include "core/backend.h"
#include "direct/direct.h"
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
    echi_lapack_factor(request, work, echi_vendor_threads(ctx));
    return ECH_OK;
}

/* ---- Small systems ---- */

enum { THREADS_MIN = 8, /* minimum number of threads that the workspace is for */ LANE_MOST = 8 };

/* Fills the struct, and *threads with the number of threads that the workspace is for. */
static void plan_small(const struct echi_direct *call, struct echi_direct_small *small,
                       size_t *threads)
{
    const size_t n = call->n, rows = 2 * (n | 1) + 3 * (call->count | 1);
    const size_t here = (size_t)echi_processors_at_start();
    small->call = call;
    small->systems = n <= 4 ? 512 : n <= 8 ? 128 : 32;
    small->thread_bytes = n * rows * LANE_MOST * ech_dtype_bytes(call->dtype);
    small->thread_bytes = (small->thread_bytes + ECHI_ALIGN - 1) / ECHI_ALIGN * ECHI_ALIGN;
    *threads = echi_min((call->batch + small->systems - 1) / small->systems,
                        here < THREADS_MIN ? THREADS_MIN : here);
}

static ech_status small_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    struct echi_direct_small small;
    size_t threads;
    plan_small(request, &small, &threads);
    *bytes = threads * small.thread_bytes;
    return ECH_OK;
}

static ech_status run_small(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_direct *call = request;
    const struct echi_direct_isa *isa = direct_isa();
    struct echi_direct_small small;
    size_t threads;
    plan_small(call, &small, &threads);
    small.work = work;
    void (*const *kernels)(void *, size_t, int) =
        call->dtype == ECH_F64 ? isa->small_f64 : isa->small_f32;
    const bool has_own = call->n < ECHI_DIRECT_SIZES && kernels[call->n];
    if (threads > 1) threads = echi_min(threads, (size_t)echi_threads(ctx));
    echi_parallel((int)threads, (call->batch + small.systems - 1) / small.systems,
                  kernels[has_own ? call->n : 0], &small);
    return ECH_OK;
}

const struct echi_operation echi_cpu_direct_small = { .plan = small_workspace, .run = run_small };
const struct echi_operation echi_cpu_direct = { .run = run_step };
const struct echi_operation echi_cpu_direct_vendor = { .plan = vendor_workspace,
                                                       .run = run_vendor };
