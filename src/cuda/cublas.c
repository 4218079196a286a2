/*
 * cuda/cublas.c - NVIDIA's cuBLAS, opened at run time: a handle for each context.
 *
 * The environment variable ECHELON_CUBLAS names a library, or says "none".  Its binary interface is
 * declared here, as the driver's is.  Matrices lie row by row, which cuBLAS takes for their
 * transposes: c^T = op(b)^T op(a)^T.
 *
 * The handle is set to compute f32 as such, without rounding to fewer bits on the way to matrix
 * units, and to add up f16 and bf16 in f32 to the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_once with -std=c11 */
#include "cublas.h"
#include "cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CUBLAS_SUCCESS = 0,
    CUBLAS_ALLOC_FAILED = 3,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_NO_REDUCED_PRECISION = 16, /* of sums of f16 and bf16 that are added up in parts */
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
    char name[64], reason[128];
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*set_workspace)(void *handle, void *work, size_t bytes);
    int (*set_math)(void *handle, int mode);
    gemm_strided *strided;
    gemm_list *list;
    gemm_strided_64 *strided_64;
    gemm_list_64 *list_64;
} cublas;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* dlsym() gives an object pointer; POSIX promises that the bits fit. */
static bool find(void *library, const char *name, void *field)
{
    void *symbol = dlsym(library, name);
    if (symbol) memcpy(field, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool open_one(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL); /* never closed: handles need it */
    if (!library) return false;
    if (!find(library, "cublasCreate_v2", &cublas.create) ||
        !find(library, "cublasDestroy_v2", &cublas.destroy) ||
        !find(library, "cublasSetStream_v2", &cublas.set_stream) ||
        !find(library, "cublasSetWorkspace_v2", &cublas.set_workspace) ||
        !find(library, "cublasSetMathMode", &cublas.set_math) ||
        !find(library, "cublasGemmStridedBatchedEx", &cublas.strided) ||
        !find(library, "cublasGemmBatchedEx", &cublas.list)) {
        dlclose(library);
        return false;
    }
    if (!find(library, "cublasGemmStridedBatchedEx_64", &cublas.strided_64) ||
        !find(library, "cublasGemmBatchedEx_64", &cublas.list_64))
        cublas.strided_64 = NULL;
    snprintf(cublas.name, sizeof cublas.name, "%s", name);
    return true;
}

static void look(void)
{
    static const char *const names[] = { "libcublas.so.13",
                                         "libcublas.so.12",
                                         "libcublas.so.11",
                                         "/usr/local/cuda/lib64/libcublas.so.13",
                                         "/usr/local/cuda/lib64/libcublas.so.12",
                                         "/usr/local/cuda/lib64/libcublas.so.11" };
    const char *named = getenv("ECHELON_CUBLAS");
    if (named && *named) {
        if (strcmp(named, "none") == 0 || !open_one(named))
            snprintf(cublas.reason, sizeof cublas.reason, "ECHELON_CUBLAS is \"%.64s\"", named);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (open_one(names[i])) return;
    snprintf(cublas.reason, sizeof cublas.reason,
             "no libcublas.so was found; ECHELON_CUBLAS names one");
}

const char *echi_cublas_name(const char **reason)
{
    pthread_once(&once, look);
    if (reason) *reason = cublas.reason;
    return *cublas.name ? cublas.name : NULL;
}

bool echi_cublas_is_64(void)
{
    return echi_cublas_name(NULL) && cublas.strided_64;
}

static ech_status check(ech_ctx *ctx, int result, const char *call)
{
    if (result == CUBLAS_SUCCESS) return ECH_OK;
    return echi_fail(ctx, result == CUBLAS_ALLOC_FAILED ? ECH_ERR_MEMORY : ECH_ERR_DEVICE,
                     "%s of %s failed with status %d", call, cublas.name, result);
}

/* Its first call makes memory of its own, which a stream that is captured must not. */
static ech_status open_handle(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    int capturing = 0;
    if (cuda->cublas) return ECH_OK;
    CU(cuStreamIsCapturing, echi_cuda_stream(ctx), &capturing);
    if (capturing)
        FAIL(ctx, ECH_ERR_UNSUPPORTED,
             "a context's first product by cuBLAS cannot be captured: make one before, or choose "
             "\"tiled\"");
    const int result = cublas.create(&cuda->cublas);
    if (result != CUBLAS_SUCCESS)
        FAIL(ctx, result == CUBLAS_ALLOC_FAILED ? ECH_ERR_MEMORY : ECH_ERR_UNSUPPORTED,
             "cublasCreate of %s failed with status %d; ECHELON_CUBLAS=none does without it",
             cublas.name, result);
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
    /* The workspace second: a new stream takes it away. */
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
