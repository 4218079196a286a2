/*
 * cuda/cusolver.c - NVIDIA's cuSOLVER, opened at run time: LU, Cholesky and QR.
 *
 * Its matrices are column-major, so a row-major matrix is its transpose. Cholesky can use this
 * directly, with the lower and the upper triangle exchanged; LU and QR work on a transposed copy.
 *
 *     workspace   [ copy, n columns of m | pivots | info | workspace of cuSOLVER ]
 *
 * cuSOLVER reports the size of its workspace only on a device. The plan reserves what most versions
 * need; if a version needs more, the context allocates that for the duration of the call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_once with -std=c11 */
#include "cuda/cusolver.h"
#include "core/backend.h"
#include "cpu/vendor.h"
#include "direct/direct.h"
#include "direct/cuda/common.h"
#include "cuda/library.h"

#include <pthread.h>

enum { CUSOLVER_ALLOC_FAILED = 2, CUSOLVER_UPPER = 1 };

typedef int panel_bytes(void *handle, int m, int n, void *a, int stride, int *elements);
typedef int half_bytes(void *handle, int half, int n, void *a, int stride, int *elements);
typedef int getrf(void *handle, int m, int n, void *a, int stride, void *work, int *pivots,
                  int *info);
typedef int potrf(void *handle, int half, int n, void *a, int stride, void *work, int elements,
                  int *info);
typedef int geqrf(void *handle, int m, int n, void *a, int stride, void *tau, void *work,
                  int elements, int *info);

static struct {
    struct echi_cuda_library library;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    panel_bytes *getrf_bytes[2], *geqrf_bytes[2]; /* f32, f64 */
    half_bytes *potrf_bytes[2];
    getrf *getrf[2];
    potrf *potrf[2];
    geqrf *geqrf[2];
} cusolver = { .library = { .stem = "libcusolver",
                            .variable = "ECHELON_CUSOLVER",
                            .what = "factorization by cuSOLVER",
                            .instead = "blocked",
                            .no_memory = CUSOLVER_ALLOC_FAILED } };

static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool take(void *library)
{
    return echi_vendor_find(library, "cusolverDnCreate", &cusolver.create) &&
           echi_vendor_find(library, "cusolverDnDestroy", &cusolver.destroy) &&
           echi_vendor_find(library, "cusolverDnSetStream", &cusolver.set_stream) &&
           echi_vendor_find(library, "cusolverDnSgetrf_bufferSize", &cusolver.getrf_bytes[0]) &&
           echi_vendor_find(library, "cusolverDnDgetrf_bufferSize", &cusolver.getrf_bytes[1]) &&
           echi_vendor_find(library, "cusolverDnSgeqrf_bufferSize", &cusolver.geqrf_bytes[0]) &&
           echi_vendor_find(library, "cusolverDnDgeqrf_bufferSize", &cusolver.geqrf_bytes[1]) &&
           echi_vendor_find(library, "cusolverDnSpotrf_bufferSize", &cusolver.potrf_bytes[0]) &&
           echi_vendor_find(library, "cusolverDnDpotrf_bufferSize", &cusolver.potrf_bytes[1]) &&
           echi_vendor_find(library, "cusolverDnSgetrf", &cusolver.getrf[0]) &&
           echi_vendor_find(library, "cusolverDnDgetrf", &cusolver.getrf[1]) &&
           echi_vendor_find(library, "cusolverDnSpotrf", &cusolver.potrf[0]) &&
           echi_vendor_find(library, "cusolverDnDpotrf", &cusolver.potrf[1]) &&
           echi_vendor_find(library, "cusolverDnSgeqrf", &cusolver.geqrf[0]) &&
           echi_vendor_find(library, "cusolverDnDgeqrf", &cusolver.geqrf[1]);
}

static void look(void)
{
    static const char *const versions[] = { "12", "11", "10" };
    echi_cuda_library_open(&cusolver.library, versions, sizeof versions / sizeof *versions, take);
}

/* ---- Workspace ---- */

struct parts {
    char *copy, *more;
    int *pivots, *info;
    size_t more_bytes;
};

/* The size that cuSOLVER of CUDA 13 requests, or more: observed, not documented. */
static size_t usual_elements(const struct echi_vendor_factor *p)
{
    const size_t m = p->m, n = p->n, little = (size_t)1 << 17;
    return p->kind == ECH_FACTOR_QR ? (m + n + 512) * n + little : 16 * m + little;
}

static ech_status lay_out(const struct echi_vendor_factor *p, void *work, struct parts *parts,
                          size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    const size_t element = ech_dtype_bytes(p->dtype), usual = usual_elements(p);
    const bool copied = p->kind != ECH_FACTOR_CHOLESKY;
    parts->copy = echi_part(&layout, copied ? p->m : 0, p->n * element);
    parts->pivots = echi_part(&layout, p->kind == ECH_FACTOR_LU ? p->n : 0, sizeof(int));
    parts->info = echi_part(&layout, 1, sizeof(int));
    parts->more = echi_part(&layout, usual, element);
    parts->more_bytes = usual * element;
    *bytes = layout.bytes;
    return layout.overflow ? echi_fail(NULL, ECH_ERR_MEMORY,
                                       "the size of cuSOLVER's workspace overflows size_t")
                           : ECH_OK;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_vendor_factor *p = request;
    struct parts parts;
    pthread_once(&once, look);
    const bool found = *cusolver.library.name;
    const bool fits = p->m <= INT32_MAX && p->stride <= INT32_MAX && usual_elements(p) <= INT32_MAX;
    *bytes = 0;
    if (p->name)
        *p->name = !found ? cusolver.library.reason
                   : fits ? cusolver.library.name
                          : "cuSOLVER requires sizes below 2^31, also of its workspace";
    if (p->fast) *p->fast = found;
    if (!found || !fits) return ECH_ERR_UNSUPPORTED;
    return lay_out(p, NULL, &parts, bytes);
}

/* ---- Run ---- */

static ech_status check(ech_ctx *ctx, int result, const char *call)
{
    return echi_cuda_library_check(ctx, &cusolver.library, result, call);
}

static ech_status ask_elements(ech_ctx *ctx, const struct echi_vendor_factor *p, void *a,
                               int *elements)
{
    struct echi_cuda *cuda = ctx->state;
    const int which = p->dtype == ECH_F64, m = (int)p->m, n = (int)p->n;
    void *handle = cuda->cusolver;
    if (p->kind == ECH_FACTOR_CHOLESKY)
        return check(
            ctx,
            cusolver.potrf_bytes[which](handle, CUSOLVER_UPPER, n, a, (int)p->stride, elements),
            "cusolverDnpotrf_bufferSize");
    return p->kind == ECH_FACTOR_LU
               ? check(ctx, cusolver.getrf_bytes[which](handle, m, n, a, m, elements),
                       "cusolverDngetrf_bufferSize")
               : check(ctx, cusolver.geqrf_bytes[which](handle, m, n, a, m, elements),
                       "cusolverDngeqrf_bufferSize");
}

static ech_status factor(ech_ctx *ctx, const struct echi_vendor_factor *p,
                         const struct parts *parts, void *more, int elements)
{
    struct echi_cuda *cuda = ctx->state;
    const int which = p->dtype == ECH_F64, m = (int)p->m, n = (int)p->n;
    void *handle = cuda->cusolver;
    if (p->kind == ECH_FACTOR_CHOLESKY)
        return check(ctx,
                     cusolver.potrf[which](handle, CUSOLVER_UPPER, n, p->c, (int)p->stride, more,
                                           elements, parts->info),
                     "cusolverDnpotrf");
    return p->kind == ECH_FACTOR_LU
               ? check(ctx,
                       cusolver.getrf[which](handle, m, n, parts->copy, m, more, parts->pivots,
                                             parts->info),
                       "cusolverDngetrf")
               : check(ctx,
                       cusolver.geqrf[which](handle, m, n, parts->copy, m, p->tau, more, elements,
                                             parts->info),
                       "cusolverDngeqrf");
}

static ech_status launch(ech_ctx *ctx, const struct echi_vendor_factor *p, const char *kernel,
                         uint64_t blocks, const struct direct_vendor_args *args)
{
    return echi_cuda_launch_pdl(ctx, p->dtype == ECH_F64 ? "direct_f64" : "direct_f32", kernel,
                                blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX, DIRECT_THREADS,
                                0, args);
}

/* to [cols][rows] is the transpose of from [rows][cols]. */
static ech_status turn(ech_ctx *ctx, const struct echi_vendor_factor *p, const void *from,
                       size_t from_stride, void *to, size_t to_stride, size_t rows, size_t cols)
{
    const struct direct_vendor_args args = { .from = from,
                                             .to = to,
                                             .rows = rows,
                                             .cols = cols,
                                             .from_stride = from_stride,
                                             .to_stride = to_stride };
    const uint64_t down = (rows + ECHI_DIRECT_LEAF - 1) / ECHI_DIRECT_LEAF;
    const uint64_t across = (cols + ECHI_DIRECT_LEAF - 1) / ECHI_DIRECT_LEAF;
    return launch(ctx, p, "direct_turn", down * across, &args);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    struct echi_cuda *cuda = ctx->state;
    const struct echi_vendor_factor *p = request;
    struct parts parts;
    size_t bytes, needed = 0;
    int elements = 0;
    void *own = NULL;
    ech_status status;
    TRY(lay_out(p, work, &parts, &bytes));
    TRY(echi_cuda_library_start(ctx, &cusolver.library, &cuda->cusolver, cusolver.create,
                                "cusolverDnCreate"));
    TRY(check(ctx, cusolver.set_stream(cuda->cusolver, echi_cuda_stream(ctx)),
              "cusolverDnSetStream"));
    TRY(ask_elements(ctx, p, p->kind == ECH_FACTOR_CHOLESKY ? p->c : parts.copy, &elements));
    needed = (size_t)elements * ech_dtype_bytes(p->dtype);
    if (needed > parts.more_bytes) TRY(echi_allocate(ctx, needed, "cuSOLVER", &own));
    if (p->kind != ECH_FACTOR_CHOLESKY)
        TRY(turn(ctx, p, p->c, p->stride, parts.copy, p->m, p->m, p->n));
    TRY(factor(ctx, p, &parts, own ? own : parts.more, elements));
    if (p->kind != ECH_FACTOR_CHOLESKY)
        TRY(turn(ctx, p, parts.copy, p->m, p->c, p->stride, p->n, p->m));
    const struct direct_vendor_args convert = { .rows = p->n,
                                                .ints =
                                                    p->kind == ECH_FACTOR_LU ? parts.pivots : NULL,
                                                .info = parts.info,
                                                .pivots = p->pivots,
                                                .scalars = p->scalars };
    TRY(launch(ctx, p, "direct_convert", (p->n + DIRECT_THREADS - 1) / DIRECT_THREADS, &convert));
done:
    if (own) echi_release(ctx, own, needed);
    return status;
}

void echi_cusolver_close(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    if (cuda->cusolver) cusolver.destroy(cuda->cusolver);
    cuda->cusolver = NULL;
}

const struct echi_operation echi_cusolver = { .plan = workspace, .run = run };
