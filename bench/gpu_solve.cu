/*
 * gpu_solve.cu - measures conjugate gradients on the GPU, compared with a loop of cuSPARSE and
 * cuBLAS.
 *
 *     gpu_solve [--quick] [--only TEXT] [--csv FILE]
 *
 * Poisson's equation on a square and in a cube, with a random right-hand side.  A row measures a
 * fixed number of iterations.  The competing loop also keeps its scalars on the device (cuBLAS
 * device pointer mode) and never reads the residual.  Then each system is solved to 1e-8, and the
 * number of iterations is compared with Chebyshev's bound, sqrt(kappa) / 2 log(2 sqrt(kappa) /
 * rtol).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cublas_v2.h>
#include <cusparse.h>

#include "gpu_common.cuh"

enum { ITERATIONS = 50 };

#define LIBRARY(call)                                                                              \
    do {                                                                                           \
        if ((call) != 0) {                                                                         \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- Systems ---- */

struct grid {
    uint64_t k, n;
    int dimensions;
};

/* The number of entries before row i. */
static __host__ __device__ uint64_t entries_before(const grid &g, uint64_t i)
{
    const uint64_t k = g.k, n = g.n, plane = k * k;
    const uint64_t first = i < plane ? i : plane, last = i > n - plane ? i - (n - plane) : 0;
    const uint64_t across = (i + k - 1) / k + i / k; /* missing neighbours, left and right */
    if (g.dimensions == 2) return 5 * i - (i < k ? i : k) - (i > n - k ? i - (n - k) : 0) - across;
    const uint64_t in = i % plane, front = in < k ? in : k;
    const uint64_t back = in > plane - k ? in - (plane - k) : 0;
    return 7 * i - first - last - across - 2 * (i / plane) * k - front - back;
}

template <class T> static __global__ void make_rows(grid g, int *offsets, int *columns, T *values)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x, k = g.k, plane = k * k;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i <= g.n; i += step) {
        uint64_t at = entries_before(g, i);
        offsets[i] = (int)at;
        if (i == g.n) continue;
        const uint64_t x = i % k, y = i / k % k, z = i / plane;
        const bool cube = g.dimensions == 3;
        const bool there[] = { cube && z > 0,    y > 0, x > 0, true, x + 1 < k, y + 1 < k,
                               cube && z + 1 < k };
        const int64_t away[] = {
            -(int64_t)plane, -(int64_t)k, -1, 0, 1, (int64_t)k, (int64_t)plane
        };
        for (int e = 0; e < 7; e++) {
            if (!there[e]) continue;
            columns[at] = (int)((int64_t)i + away[e]);
            values[at++] = e == 3 ? (T)(2 * g.dimensions) : (T)-1;
        }
    }
}

template <class T> static __global__ void make_b(T *b, uint64_t n)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        b[i] = (T)((double)(random_at(i) >> 11) * 0x1p-52 - 1);
}

/* ---- cuSPARSE and cuBLAS ---- */

template <class T> static __global__ void quotient(const T *up, const T *down, T *q, T *minus)
{
    *q = *up / *down;
    if (minus) *minus = -*q;
}

static void dot(cublasHandle_t blas, int64_t n, const double *x, const double *y, double *out)
{
    LIBRARY(cublasDdot_64(blas, n, x, 1, y, 1, out));
}
static void dot(cublasHandle_t blas, int64_t n, const float *x, const float *y, float *out)
{
    LIBRARY(cublasSdot_64(blas, n, x, 1, y, 1, out));
}
static void axpy(cublasHandle_t blas, int64_t n, const double *a, const double *x, double *y)
{
    LIBRARY(cublasDaxpy_64(blas, n, a, x, 1, y, 1));
}
static void axpy(cublasHandle_t blas, int64_t n, const float *a, const float *x, float *y)
{
    LIBRARY(cublasSaxpy_64(blas, n, a, x, 1, y, 1));
}
static void scale(cublasHandle_t blas, int64_t n, const double *a, double *x)
{
    LIBRARY(cublasDscal_64(blas, n, a, x, 1));
}
static void scale(cublasHandle_t blas, int64_t n, const float *a, float *x)
{
    LIBRARY(cublasSscal_64(blas, n, a, x, 1));
}

template <class T> struct rival {
    cublasHandle_t blas;
    cusparseHandle_t sparse;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t p_vector, q_vector;
    void *buffer;
    T *r, *p, *q, *scalars; /* rr, previous rr, pq, alpha, -alpha, beta, 1 */
    int64_t n;
};

template <class T>
static void rival_make(rival<T> &v, uint64_t n, uint64_t entries, int *offsets, int *columns,
                       T *values)
{
    const cudaDataType type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;
    const T one = 1, zero = 0;
    size_t bytes;
    v.n = (int64_t)n;
    CUDA(cudaMalloc(&v.r, n * sizeof(T)));
    CUDA(cudaMalloc(&v.p, n * sizeof(T)));
    CUDA(cudaMalloc(&v.q, n * sizeof(T)));
    CUDA(cudaMalloc(&v.scalars, 7 * sizeof(T)));
    CUDA(cudaMemcpy(v.scalars + 6, &one, sizeof one, cudaMemcpyHostToDevice));
    LIBRARY(cublasCreate(&v.blas));
    LIBRARY(cublasSetStream(v.blas, stream));
    LIBRARY(cublasSetPointerMode(v.blas, CUBLAS_POINTER_MODE_DEVICE));
    LIBRARY(cusparseCreate(&v.sparse));
    LIBRARY(cusparseSetStream(v.sparse, stream));
    LIBRARY(cusparseCreateCsr(&v.a, v.n, v.n, (int64_t)entries, offsets, columns, values,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              type));
    LIBRARY(cusparseCreateDnVec(&v.p_vector, v.n, v.p, type));
    LIBRARY(cusparseCreateDnVec(&v.q_vector, v.n, v.q, type));
    LIBRARY(cusparseSpMV_bufferSize(v.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, v.a,
                                    v.p_vector, &zero, v.q_vector, type, CUSPARSE_SPMV_CSR_ALG1,
                                    &bytes));
    CUDA(cudaMalloc(&v.buffer, bytes + 1));
    LIBRARY(cusparseSpMV_preprocess(v.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, v.a,
                                    v.p_vector, &zero, v.q_vector, type, CUSPARSE_SPMV_CSR_ALG1,
                                    v.buffer));
}

template <class T> static void rival_free(rival<T> &v)
{
    cusparseDestroySpMat(v.a);
    cusparseDestroyDnVec(v.p_vector);
    cusparseDestroyDnVec(v.q_vector);
    cusparseDestroy(v.sparse);
    cublasDestroy(v.blas);
    CUDA(cudaFree(v.buffer));
    CUDA(cudaFree(v.r));
    CUDA(cudaFree(v.p));
    CUDA(cudaFree(v.q));
    CUDA(cudaFree(v.scalars));
}

template <class T> static void rival_run(const rival<T> &v, const T *b, T *x)
{
    const cudaDataType type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;
    const T one = 1, zero = 0;
    T *rr = v.scalars, *before = rr + 1, *pq = rr + 2, *alpha = rr + 3, *minus = rr + 4;
    T *beta = rr + 5, *unit = rr + 6;
    const size_t bytes = (size_t)v.n * sizeof(T);
    CUDA(cudaMemsetAsync(x, 0, bytes, stream));
    CUDA(cudaMemcpyAsync(v.r, b, bytes, cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaMemcpyAsync(v.p, b, bytes, cudaMemcpyDeviceToDevice, stream));
    dot(v.blas, v.n, v.r, v.r, rr);
    for (int i = 0; i < ITERATIONS; i++) {
        LIBRARY(cusparseSpMV(v.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, v.a, v.p_vector,
                             &zero, v.q_vector, type, CUSPARSE_SPMV_CSR_ALG1, v.buffer));
        dot(v.blas, v.n, v.p, v.q, pq);
        quotient<<<1, 1, 0, stream>>>(rr, pq, alpha, minus);
        axpy(v.blas, v.n, alpha, v.p, x);
        axpy(v.blas, v.n, minus, v.q, v.r);
        CUDA(cudaMemcpyAsync(before, rr, sizeof(T), cudaMemcpyDeviceToDevice, stream));
        dot(v.blas, v.n, v.r, v.r, rr);
        quotient<<<1, 1, 0, stream>>>(rr, before, beta, (T *)NULL);
        scale(v.blas, v.n, beta, v.p);
        axpy(v.blas, v.n, unit, v.r, v.p);
    }
}

/* ---- Rows ---- */

template <class T> static bool close_to(const T *a, const T *b, uint64_t n, double tolerance)
{
    T *host = (T *)malloc(2 * n * sizeof(T));
    double most = 0, off = 0;
    CUDA(cudaMemcpy(host, a, n * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(host + n, b, n * sizeof(T), cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < n; i++) {
        const double d = fabs((double)host[i] - (double)host[n + i]), m = fabs((double)host[i]);
        if (d > off) off = d;
        if (m > most) most = m;
    }
    free(host);
    return off <= tolerance * most;
}

/* Solves to convergence, and prints the workspace. */
static void solve_with(const ech_operator &a, ech_solve_options options, ech_precond precond,
                       const void *b, void *x)
{
    ech_solve_report report = { .size = sizeof report };
    struct timespec t0, t1;
    options.precond = precond;
    ECH(ech_solve_workspace(ech_device_name(ctx), &a, &options, &options.work_bytes));
    CUDA(cudaMalloc(&options.work, options.work_bytes));
    clock_gettime(CLOCK_MONOTONIC, &t0);
    ECH(ech_solve(ctx, &a, 1, b, 0, x, 0, &options, &report));
    clock_gettime(CLOCK_MONOTONIC, &t1);
    const double s = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
    printf("  %s: %s, %llu iterations, %llu restarts, |r| / |b| %.3g, %.3f s, %.4f ms per "
           "iteration\n",
           ech_precond_name(precond), report.status > 0 ? "converged" : "not converged",
           (unsigned long long)report.iterations, (unsigned long long)report.restarts,
           report.residual / report.b_norm, s, 1e3 * s / (double)report.iterations);
    CUDA(cudaFree(options.work));
}

template <class T> static void row(int dimensions, uint64_t k, bool solve)
{
    const ech_dtype dtype = sizeof(T) == 8 ? ECH_F64 : ECH_F32;
    const grid g = { k, dimensions == 2 ? k * k : k * k * k, dimensions };
    const uint64_t n = g.n, entries = entries_before(g, n);
    char shape[32];
    snprintf(shape, sizeof shape, "%llu^%d", (unsigned long long)k, dimensions);
    const struct bench_name name = { "cg", ech_dtype_name(dtype), n, shape, "poisson" };
    if (!bench_wanted(name)) return;
    int *offsets, *columns;
    T *values, *b, *x, *y;
    void *work;
    size_t work_bytes;
    CUDA(cudaMalloc(&offsets, (n + 1) * 4));
    CUDA(cudaMalloc(&columns, entries * 4));
    CUDA(cudaMalloc(&values, entries * sizeof(T)));
    CUDA(cudaMalloc(&b, n * sizeof(T)));
    CUDA(cudaMalloc(&x, n * sizeof(T)));
    CUDA(cudaMalloc(&y, n * sizeof(T)));
    make_rows<T><<<4096, 256, 0, stream>>>(g, offsets, columns, values);
    make_b<T><<<4096, 256, 0, stream>>>(b, n);
    CUDA(cudaStreamSynchronize(stream));
    const ech_csr csr = {
        sizeof(ech_csr), n, n, entries, offsets, columns, values, ECH_I32, dtype
    };
    ech_operator a = {};
    a.size = sizeof a;
    a.n = n;
    a.dtype = dtype;
    a.csr = &csr;
    ech_solve_options options = {};
    options.size = sizeof options;
    options.method = ECH_METHOD_CG;
    options.rtol = 1e-30;
    options.max_iterations = ITERATIONS;
    ech_solve_report report = { .size = sizeof report };
    ECH(ech_solve_workspace(ech_device_name(ctx), &a, &options, &work_bytes));
    CUDA(cudaMalloc(&work, work_bytes));
    options.work = work;
    options.work_bytes = work_bytes;
    rival<T> v;
    rival_make(v, n, entries, offsets, columns, values);
    const double each = (double)entries * (4 + sizeof(T)) + 4.0 * n + 12.0 * n * sizeof(T);
    bench_row(
        name, ITERATIONS * each, work_bytes,
        [&] { ECH(ech_solve(ctx, &a, 1, b, 0, x, 0, &options, &report)); },
        [&] { rival_run(v, b, y); },
        [&] { return close_to(x, y, n, sizeof(T) == 8 ? 1e-9 : 1e-3); }, "cusparse+cublas");
    rival_free(v);
    CUDA(cudaFree(work));
    if (solve) {
        const double angle = acos(-1) / (double)(k + 1);
        const double root = sqrt((1 + cos(angle)) / (1 - cos(angle)));
        options.rtol = sizeof(T) == 8 ? 1e-8 : 1e-5;
        options.max_iterations = 100000;
        printf("solve %s %s, bound without M: %.0f iterations\n", shape, name.dtype,
               ceil(root / 2 * log(2 * root / options.rtol)));
        solve_with(a, options, ECH_PRECOND_NONE, b, x);
        if (n <= (uint64_t)1 << 24) solve_with(a, options, ECH_PRECOND_BLOCK_JACOBI, b, x);
    }
    CUDA(cudaFree(offsets));
    CUDA(cudaFree(columns));
    CUDA(cudaFree(values));
    CUDA(cudaFree(b));
    CUDA(cudaFree(x));
    CUDA(cudaFree(y));
}

int main(int argc, char **argv)
{
    bench_open(argc, argv, "solve");
    row<double>(2, 256, true);
    row<double>(2, 1024, true);
    row<double>(2, 4096, !quick);
    row<float>(2, 4096, false);
    row<double>(3, 256, true);
    row<float>(3, 256, true);
    row<double>(3, 464, true);
    return bench_close();
}
