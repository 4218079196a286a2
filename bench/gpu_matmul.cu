/*
 * gpu_matmul.cu - measures matrix products and matrix-vector products on the GPU, compared with
 * cuBLAS.
 *
 *     gpu_matmul [--quick] [--only TEXT] [--csv FILE]
 *
 * "tiled": the library's kernels; "chosen": the library's default (cuBLAS if installed); "cublas":
 * cuBLAS called by this program.  f32 is computed in f32, without TF32.  Results may differ only by
 * the order of additions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_common.cuh"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define BLAS(call)                                                                                 \
    do {                                                                                           \
        cublasStatus_t status_ = (call);                                                           \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                    \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, (int)status_);           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static cublasHandle_t handle;

template <class T> static __global__ void fill(T *to, size_t n, uint64_t seed)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        to[i] = (T)(float)((double)(int64_t)(random_at(i + seed) >> 11) / 4503599627370496.0 - 1);
}

static __device__ double to_double(double x)
{
    return x;
}

/* f32, f16 and bf16 are exact as f32. */
template <class T> static __device__ double to_double(T x)
{
    return (double)(float)x;
}

/* The number of elements that differ by more than bound. */
template <class T>
static __global__ void count_far(const T *a, const T *b, size_t n, double bound,
                                 unsigned long long *count)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const double x = to_double(a[i]), y = to_double(b[i]);
        if (!(fabs(x - y) <= bound + fabs(x) * bound)) atomicAdd(count, 1ull);
    }
}

template <class T> static bool all_near(const T *a, const T *b, size_t n, double bound)
{
    unsigned long long *count, far;
    CUDA(cudaMalloc(&count, sizeof *count));
    CUDA(cudaMemsetAsync(count, 0, sizeof *count, stream));
    count_far<<<1024, 256, 0, stream>>>(a, b, n, bound, count);
    CUDA(cudaMemcpyAsync(&far, count, sizeof far, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(count));
    return far == 0;
}

/* One line of text and one CSV row; work is in operations or bytes. */
template <class Call>
static void measure(const struct bench_name &name, const char *contender, double work,
                    const char *unit, bool good, const Call &call)
{
    enum { RUNS = 7 };
    double ms[RUNS];
    const int runs = quick ? 3 : RUNS, calls = work < 1e10 ? 20 : work < 3e11 ? 5 : 1;
    if (!good) wrong++;
    for (int r = 0; r < runs; r++) ms[r] = bench_time(call, calls);
    qsort(ms, runs, sizeof *ms, bench_by_value);
    printf("%-6s %-4s n=%-9zu %-12s %-8s %10.4f ms %8.0f %s%s\n", name.op, name.dtype, name.n,
           name.shape, contender, ms[runs / 2], work / ms[runs / 2] * 1e-6, unit,
           good ? "" : "  WRONG");
    fflush(stdout);
    if (csv)
        fprintf(csv, "%s,%s,%zu,%s,%s,%.6f,%.6f,%.6f,%.1f,%s,%s\n", name.op, name.dtype, name.n,
                name.shape, contender, ms[runs / 2], ms[0], ms[runs - 1],
                work / ms[runs / 2] * 1e-6, unit, good ? "near" : "wrong");
}

struct product {
    size_t m, n, k;
    int turn_a, turn_b;
};

template <class T>
static void products(const char *dtype, ech_dtype ours, cudaDataType_t theirs,
                     cublasComputeType_t compute, double eps, const struct product &p)
{
    char shape[64];
    if (p.m == p.n && p.n == p.k)
        snprintf(shape, sizeof shape, "%s",
                 p.turn_a ? (p.turn_b ? "transposed_both" : "transposed_a")
                          : (p.turn_b ? "transposed_b" : "square"));
    else
        snprintf(shape, sizeof shape, "%zux%zux%zu", p.m, p.n, p.k);
    const struct bench_name name = { "matmul", dtype, p.m, shape, "" };
    const double work = 2.0 * (double)p.m * (double)p.n * (double)p.k;
    const float one32 = 1, zero32 = 0;
    const double one64 = 1, zero64 = 0;
    const bool wide = compute == CUBLAS_COMPUTE_64F;
    const void *one = wide ? (const void *)&one64 : &one32;
    const void *zero = wide ? (const void *)&zero64 : &zero32;
    const size_t a_stride = p.turn_a ? p.m : p.k, b_stride = p.turn_b ? p.k : p.n;
    T *a, *b, *c, *d;
    void *space;
    size_t bytes;
    if (!bench_wanted(name)) return;
    ech_matmul_options tiled = { sizeof tiled };
    tiled.transpose_a = p.turn_a;
    tiled.transpose_b = p.turn_b;
    ech_matmul_options chosen = tiled;
    tiled.algorithm = "tiled";
    ECH(ech_matmul_workspace("cuda", p.m, p.n, p.k, ours, &chosen, &bytes));
    CUDA(cudaMalloc(&a, p.m * p.k * sizeof(T)));
    CUDA(cudaMalloc(&b, p.k * p.n * sizeof(T)));
    CUDA(cudaMalloc(&c, p.m * p.n * sizeof(T)));
    CUDA(cudaMalloc(&d, p.m * p.n * sizeof(T)));
    CUDA(cudaMalloc(&space, bytes + 256));
    if (bytes) chosen.work = space;
    chosen.work_bytes = bytes;
    fill<<<1024, 256, 0, stream>>>(a, p.m * p.k, 0);
    fill<<<1024, 256, 0, stream>>>(b, p.k * p.n, 1ull << 40);
    const auto by_tiled = [&] {
        ECH(ech_matmul(ctx, p.m, p.n, p.k, 1, a, a_stride, b, b_stride, 0, c, p.n, ours, &tiled));
    };
    const auto by_choice = [&] {
        ECH(ech_matmul(ctx, p.m, p.n, p.k, 1, a, a_stride, b, b_stride, 0, c, p.n, ours, &chosen));
    };
    const auto by_cublas = [&] {
        BLAS(cublasGemmEx(handle, p.turn_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                          p.turn_a ? CUBLAS_OP_T : CUBLAS_OP_N, (int)p.n, (int)p.m, (int)p.k, one,
                          b, theirs, (int)b_stride, a, theirs, (int)a_stride, zero, d, theirs,
                          (int)p.n, compute, CUBLAS_GEMM_DEFAULT));
    };
    const double root = sqrt((double)p.k);
    const double bound = 64 * root * eps + (sizeof(T) == 2 ? 0.01 * root : 0);
    by_cublas();
    by_tiled();
    bool good = all_near(c, d, p.m * p.n, bound);
    measure(name, "tiled", work, "GFLOP/s", good, by_tiled);
    by_choice();
    good = all_near(c, d, p.m * p.n, bound);
    measure(name, "chosen", work, "GFLOP/s", good, by_choice);
    measure(name, "cublas", work, "GFLOP/s", true, by_cublas);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(a));
    CUDA(cudaFree(b));
    CUDA(cudaFree(c));
    CUDA(cudaFree(d));
    CUDA(cudaFree(space));
}

static void all_products(const struct product &p, bool halves)
{
    products<float>("f32", ECH_F32, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, 6e-8, p);
    products<double>("f64", ECH_F64, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1.2e-16, p);
    if (!halves) return;
    products<__half>("f16", ECH_F16, CUDA_R_16F, CUBLAS_COMPUTE_32F, 6e-8, p);
    products<__nv_bfloat16>("bf16", ECH_BF16, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 6e-8, p);
}

static void gemv(bool turned, size_t rows, size_t cols, const float *a, const float *x, float *y)
{
    const float one = 1, zero = 0;
    BLAS(cublasSgemv(handle, turned ? CUBLAS_OP_N : CUBLAS_OP_T, (int)cols, (int)rows, &one, a,
                     (int)cols, x, 1, &zero, y, 1));
}

static void gemv(bool turned, size_t rows, size_t cols, const double *a, const double *x, double *y)
{
    const double one = 1, zero = 0;
    BLAS(cublasDgemv(handle, turned ? CUBLAS_OP_N : CUBLAS_OP_T, (int)cols, (int)rows, &one, a,
                     (int)cols, x, 1, &zero, y, 1));
}

template <class T>
static void vectors(const char *dtype, ech_dtype ours, size_t rows, size_t cols, int turned,
                    double eps)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%zux%zu%s", rows, cols, turned ? "t" : "");
    const struct bench_name name = { "matvec", dtype, rows * cols, shape, "" };
    const size_t most = rows > cols ? rows : cols;
    T *a, *x, *y, *z;
    if (!bench_wanted(name)) return;
    CUDA(cudaMalloc(&a, rows * cols * sizeof(T)));
    CUDA(cudaMalloc(&x, most * sizeof(T)));
    CUDA(cudaMalloc(&y, most * sizeof(T)));
    CUDA(cudaMalloc(&z, most * sizeof(T)));
    fill<<<1024, 256, 0, stream>>>(a, rows * cols, 0);
    fill<<<1024, 256, 0, stream>>>(x, most, 1ull << 40);
    ech_matvec_options options = ECH_INIT(ech_matvec_options);
    options.transpose = turned;
    const auto mine = [&] {
        ECH(ech_matvec(ctx, rows, cols, 1, a, cols, x, 0, y, ours, &options));
    };
    const auto cublas = [&] { gemv(turned, rows, cols, a, x, z); };
    mine();
    cublas();
    const bool good = all_near(y, z, turned ? cols : rows, 64 * sqrt((double)most) * eps);
    measure(name, "echelon", (double)(rows * cols) * sizeof(T), "GB/s", good, mine);
    measure(name, "cublas", (double)(rows * cols) * sizeof(T), "GB/s", true, cublas);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(a));
    CUDA(cudaFree(x));
    CUDA(cudaFree(y));
    CUDA(cudaFree(z));
}

int main(int argc, char **argv)
{
    static const size_t shapes[][2] = { { 1024, 1024 },   { 4096, 4096 },   { 16384, 16384 },
                                        { 100000, 1000 }, { 10000000, 16 }, { 16, 10000000 } };
    bench_open(
        argc, argv, "matmul",
        "matrices in device memory, caller-provided workspace; operations, or bytes of the matrix",
        "op,dtype,n,shape,contender,ms,ms_min,ms_max,rate,unit,result");
    BLAS(cublasCreate(&handle));
    BLAS(cublasSetStream(handle, stream));
    BLAS(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    for (size_t n = 512; n <= 8192; n *= 2)
        for (int turned = 0; turned < (n == 4096 ? 4 : 1); turned++)
            all_products({ n, n, n, turned & 1, turned >> 1 }, !turned);
    static const struct product others[] = { { 256, 256, 256, 0, 0 },    { 1500, 1500, 1500, 0, 0 },
                                             { 4095, 4095, 4095, 0, 0 }, { 1000, 3000, 500, 0, 0 },
                                             { 1000, 500, 3000, 0, 0 },  { 100000, 64, 64, 0, 0 },
                                             { 64, 4096, 4096, 0, 0 },   { 4096, 64, 4096, 0, 0 } };
    for (const struct product &p : others) all_products(p, false);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int turned = 0; turned < 2; turned++) {
            vectors<float>("f32", ECH_F32, shapes[i][0], shapes[i][1], turned, 6e-8);
            vectors<double>("f64", ECH_F64, shapes[i][0], shapes[i][1], turned, 1.2e-16);
        }
    cublasDestroy(handle);
    return bench_close();
}
