/*
 * cuda/cublas.c - NVIDIA's cuBLAS, opened at run time: a handle for each context.
 *
 * The environment variable ECHELON_CUBLAS names a library, or is "none". Its binary interface is
 * declared here, like that of the driver. cuBLAS takes row-major matrices for their transposes, so
 * it computes c^T = op(b)^T op(a)^T.
 *
 * The handle is set to multiply f32 without rounding the inputs to fewer bits for tensor cores, and
 * to accumulate f16 and bf16 in f32 throughout.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_once with -std=c11 */
#include "cuda/cublas.h"
#include "cpu/vendor.h"
#include "cuda/library.h"

#include <pthread.h>

enum {
    CUBLAS_ALLOC_FAILED = 3,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_NO_REDUCED_PRECISION = 16, /* in split sums of f16 and bf16 */
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70
};

typedef int gemm_strided_64(void *handle, int transpose_a, int transpose_b, int64_t m, int64_t n,
                            int64_t k, const void *alpha, const void *a, int a_type,
                            int64_t a_stride, long long a_step, const void *b, int b_type,
                            int64_t b_stride, long long b_step, const void *beta, void *c,
                            int c_type, int64_t c_stride, long long c_step, int64_t count,
                            int compute, int algorithm);
typedef int gemm_strided(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                         const void *alpha, const void *a, int a_type, int a_stride,
                         long long a_step, const void *b, int b_type, int b_stride,
                         long long b_step, const void *beta, void *c, int c_type, int c_stride,
                         long long c_step, int count, int compute, int algorithm);
typedef int gemm_list_64(void *handle, int transpose_a, int transpose_b, int64_t m, int64_t n,
                         int64_t k, const void *alpha, const void *const *a, int a_type,
                         int64_t a_stride, const void *const *b, int b_type, int64_t b_stride,
                         const void *beta, void *const *c, int c_type, int64_t c_stride,
                         int64_t count, int compute, int algorithm);
typedef int gemm_list(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                      const void *alpha, const void *const *a, int a_type, int a_stride,
                      const void *const *b, int b_type, int b_stride, const void *beta,
                      void *const *c, int c_type, int c_stride, int count, int compute,
                      int algorithm);

static struct {
    struct echi_cuda_library library;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*set_workspace)(void *handle, void *work, size_t bytes);
    int (*set_math)(void *handle, int mode);
    gemm_strided *strided;
    gemm_list *list;
    gemm_strided_64 *strided_64;
    gemm_list_64 *list_64;
} cublas = { .library = { .stem = "libcublas",
                          .variable = "ECHELON_CUBLAS",
                          .what = "product by cuBLAS",
                          .instead = "tiled",
                          .no_memory = CUBLAS_ALLOC_FAILED } };

static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool take(void *library)
{
    if (!echi_vendor_find(library, "cublasCreate_v2", &cublas.create) ||
        !echi_vendor_find(library, "cublasDestroy_v2", &cublas.destroy) ||
        !echi_vendor_find(library, "cublasSetStream_v2", &cublas.set_stream) ||
        !echi_vendor_find(library, "cublasSetWorkspace_v2", &cublas.set_workspace) ||
        !echi_vendor_find(library, "cublasSetMathMode", &cublas.set_math) ||
        !echi_vendor_find(library, "cublasGemmStridedBatchedEx", &cublas.strided) ||
        !echi_vendor_find(library, "cublasGemmBatchedEx", &cublas.list))
        return false;
    if (!echi_vendor_find(library, "cublasGemmStridedBatchedEx_64", &cublas.strided_64) ||
        !echi_vendor_find(library, "cublasGemmBatchedEx_64", &cublas.list_64))
        cublas.strided_64 = NULL;
    return true;
}

static void look(void)
{
    static const char *const versions[] = { "13", "12", "11" };
    echi_cuda_library_open(&cublas.library, versions, sizeof versions / sizeof *versions, take);
}

const char *echi_cublas_name(const char **reason)
{
    pthread_once(&once, look);
    if (reason) *reason = cublas.library.reason;
    return *cublas.library.name ? cublas.library.name : NULL;
}

bool echi_cublas_is_64(void)
{
    return echi_cublas_name(NULL) && cublas.strided_64;
}

static ech_status check(ech_ctx *ctx, int result, const char *call)
{
    return echi_cuda_library_check(ctx, &cublas.library, result, call);
}

static ech_status open_handle(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    ech_status status = ECH_OK;
    if (cuda->cublas) return ECH_OK;
    TRY(echi_cuda_library_start(ctx, &cublas.library, &cuda->cublas, cublas.create,
                                "cublasCreate"));
    TRY(check(ctx,
              cublas.set_math(cuda->cublas, CUBLAS_PEDANTIC_MATH | CUBLAS_NO_REDUCED_PRECISION),
              "cublasSetMathMode"));
done:
    return status;
}

void echi_cublas_close(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    if (cuda->cublas) cublas.destroy(cuda->cublas);
    cuda->cublas = NULL;
}

/* cudaDataType_t */
static int type_of(ech_dtype dtype)
{
    return dtype == ECH_F64 ? 1 : dtype == ECH_F16 ? 2 : dtype == ECH_BF16 ? 14 : 0;
}

ech_status echi_cublas_multiply(ech_ctx *ctx, const struct echi_matmul *p, void *work)
{
    struct echi_cuda *cuda = ctx->state;
    ech_status status;
    const float narrow[2] = { (float)p->alpha, (float)p->beta };
    const double wide[2] = { p->alpha, p->beta };
    const bool f64 = p->dtype == ECH_F64;
    const void *alpha = f64 ? (const void *)&wide[0] : &narrow[0];
    const void *beta = f64 ? (const void *)&wide[1] : &narrow[1];
    const int in = type_of(p->dtype), out = type_of(echi_matmul_c_dtype(p));
    const int compute = f64                   ? CUBLAS_COMPUTE_64F
                        : p->dtype == ECH_F32 ? CUBLAS_COMPUTE_32F_PEDANTIC
                                              : CUBLAS_COMPUTE_32F;
    TRY(open_handle(ctx));
    /* The workspace is set last: setting a stream resets it. */
    TRY(check(ctx, cublas.set_stream(cuda->cublas, echi_cuda_stream(ctx)), "cublasSetStream"));
    TRY(check(ctx, cublas.set_workspace(cuda->cublas, work, ECHI_CUBLAS_WORK_BYTES),
              "cublasSetWorkspace"));
    const int64_t n = (int64_t)p->n, m = (int64_t)p->m, k = (int64_t)p->k;
    const int64_t a_stride = (int64_t)p->a_stride, b_stride = (int64_t)p->b_stride;
    const int64_t c_stride = (int64_t)p->c_stride, count = (int64_t)p->count;
    const long long a_step = (long long)p->a_step, b_step = (long long)p->b_step;
    const long long c_step = (long long)p->c_step;
    const void *const *a_list = p->a, *const *b_list = p->b;
    int result;
    if (p->list && cublas.strided_64)
        result = cublas.list_64(cuda->cublas, p->b_turned, p->a_turned, n, m, k, alpha, b_list, in,
                                b_stride, a_list, in, a_stride, beta, p->c, out, c_stride, count,
                                compute, CUBLAS_GEMM_DEFAULT);
    else if (p->list)
        result = cublas.list(cuda->cublas, p->b_turned, p->a_turned, (int)n, (int)m, (int)k, alpha,
                             b_list, in, (int)b_stride, a_list, in, (int)a_stride, beta, p->c, out,
                             (int)c_stride, (int)count, compute, CUBLAS_GEMM_DEFAULT);
    else if (cublas.strided_64)
        result = cublas.strided_64(cuda->cublas, p->b_turned, p->a_turned, n, m, k, alpha, p->b, in,
                                   b_stride, b_step, p->a, in, a_stride, a_step, beta, p->c, out,
                                   c_stride, c_step, count, compute, CUBLAS_GEMM_DEFAULT);
    else
        result = cublas.strided(cuda->cublas, p->b_turned, p->a_turned, (int)n, (int)m, (int)k,
                                alpha, p->b, in, (int)b_stride, b_step, p->a, in, (int)a_stride,
                                a_step, beta, p->c, out, (int)c_stride, c_step, (int)count, compute,
                                CUBLAS_GEMM_DEFAULT);
    TRY(check(ctx, result, "cublasGemmBatchedEx"));
done:
    return status;
}
