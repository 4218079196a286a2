/*
 * gpu_direct.cu - measures direct solvers of dense systems on the GPU, compared with cuSOLVER.
 *
 *     gpu_direct [--quick] [--only TEXT] [--csv FILE]
 *
 *     factor   ech_determinant(): norms, the factors, their diagonal; compared with getrf, potrf
 *     solve    ech_solve_direct() for one right-hand side without refinement, with condition and
 *              error; compared with getrf and getrs, potrf and potrs, geqrf, ormqr and trsm
 *
 * "blocked": the library's kernels; "cusolver": cuSOLVER called by the library; "direct": cuSOLVER
 * called by this program, with a column-major matrix.  All keep A unchanged.  The error of every
 * solution is computed here: |b - A x| / (|A| |x| + |b|), for least squares
 * |A^T r| / (|A^T| (|A| |x| + |b|)).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_common.cuh"

#include <cublas_v2.h>
#include <cusolverDn.h>

#define CALL(call)                                                                                 \
    do {                                                                                           \
        const int status_ = (int)(call);                                                           \
        if (status_) {                                                                             \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status_);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static cusolverDnHandle_t solver;
static cublasHandle_t blas;

/* ---- Data ---- */

static __device__ double number_at(uint64_t i)
{
    return (double)(int64_t)(random_at(i) >> 11) / 4503599627370496.0 - 1;
}

/* A random matrix; symmetric positive definite if requested. */
template <class T>
static __global__ void fill(T *a, size_t rows, size_t cols, bool positive, uint64_t seed)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < rows * cols; at += step) {
        const size_t i = at / cols, j = at % cols;
        if (positive)
            a[at] = (T)(i == j ? 0.6 * (double)cols + 1
                               : number_at(i < j ? i * cols + j : j * cols + i));
        else
            a[at] = (T)number_at(at + seed);
    }
}

/* ---- The error ---- */

/* Element (i, j) of A is a[i * down + j * right]. */
struct matrix {
    const void *a;
    size_t rows, cols, down, right;
};

static __device__ void keep_largest(double *largest, double x)
{
    const double size = x == x ? fabs(x) : 1e300; /* the bits of nonnegative floats are ordered */
    atomicMax((unsigned long long *)largest, (unsigned long long)__double_as_longlong(size));
}

/* out = b - A x, or A x without b; also the maximum row sum of |A|. */
template <class T>
static __global__ void multiply(struct matrix m, const T *b, const double *x, double *out,
                                double *row)
{
    const size_t i = blockIdx.x;
    __shared__ double sums[2][256];
    double sum = 0, size = 0;
    for (size_t j = threadIdx.x; j < m.cols; j += blockDim.x) {
        const double a = (double)((const T *)m.a)[i * m.down + j * m.right];
        sum += a * x[j];
        size += fabs(a);
    }
    sums[0][threadIdx.x] = sum;
    sums[1][threadIdx.x] = size;
    for (int half = 128; half; half /= 2) {
        __syncthreads();
        for (int k = 0; k < 2 && threadIdx.x < half; k++)
            sums[k][threadIdx.x] += sums[k][threadIdx.x + half];
    }
    if (threadIdx.x) return;
    out[i] = b ? (double)b[i] - sums[0][0] : sums[0][0];
    keep_largest(row, sums[1][0]);
}

template <class T> static __global__ void widen(const T *x, double *out, size_t n, double *largest)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = (double)x[i];
    keep_largest(largest, out[i]);
}

static __global__ void find_largest(const double *x, size_t n, double *largest)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) keep_largest(largest, x[i]);
}

enum { ROW, COLUMN, OF_X, OF_B, REST, SIZES };

template <class T> static double error_of(struct matrix m, const T *b, const T *x)
{
    double *sizes, *wide, *rest, *image, host[SIZES];
    const int threads = 256;
    const struct matrix turned = { m.a, m.cols, m.rows, m.right, m.down };
    CUDA(cudaMalloc(&sizes, sizeof host));
    CUDA(cudaMalloc(&wide, (m.rows + m.cols) * sizeof(double)));
    CUDA(cudaMalloc(&rest, m.rows * sizeof(double)));
    CUDA(cudaMalloc(&image, m.cols * sizeof(double)));
    CUDA(cudaMemsetAsync(sizes, 0, sizeof host, stream));
    widen<<<(m.cols + 255) / 256, threads, 0, stream>>>(x, wide, m.cols, sizes + OF_X);
    widen<<<(m.rows + 255) / 256, threads, 0, stream>>>(b, wide + m.cols, m.rows, sizes + OF_B);
    multiply<T><<<m.rows, threads, 0, stream>>>(m, b, wide, rest, sizes + ROW);
    if (m.rows > m.cols)
        multiply<T><<<m.cols, threads, 0, stream>>>(turned, NULL, rest, image, sizes + COLUMN);
    find_largest<<<(m.rows + 255) / 256, threads, 0, stream>>>(
        m.rows > m.cols ? image : rest, m.rows > m.cols ? m.cols : m.rows, sizes + REST);
    CUDA(cudaMemcpyAsync(host, sizes, sizeof host, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(sizes));
    CUDA(cudaFree(wide));
    CUDA(cudaFree(rest));
    CUDA(cudaFree(image));
    return host[REST] / (host[ROW] * host[OF_X] + host[OF_B]) /
           (m.rows > m.cols ? host[COLUMN] : 1);
}

/* ---- cuSOLVER ---- */

/* Overloads for both types. */
#define BOTH(name, parameters, arguments)                                                          \
    static void name(float *a, parameters(float))                                                  \
    {                                                                                              \
        CALL(cusolverDnS##name arguments);                                                         \
    }                                                                                              \
    static void name(double *a, parameters(double))                                                \
    {                                                                                              \
        CALL(cusolverDnD##name arguments);                                                         \
    }

#define SIZE(T)  int m, int n, int *count
#define GETRF(T) int n, T *work, int *pivots, int *info
#define GETRS(T) int n, int *pivots, T *b, int *info
#define POTRF(T) int n, T *work, int count, int *info
#define POTRS(T) int n, T *b, int *info
#define GEQRF(T) int m, int n, T *tau, T *work, int count, int *info
#define ORMQR(T) int m, int n, T *tau, T *b, T *work, int count, int *info
#define ORMQS(T) int m, int n, T *tau, T *b, int *count
BOTH(getrf_bufferSize, SIZE, (solver, m, n, a, m, count))
BOTH(geqrf_bufferSize, SIZE, (solver, m, n, a, m, count))
BOTH(potrf_bufferSize, SIZE, (solver, CUBLAS_FILL_MODE_UPPER, n, a, m, count))
BOTH(ormqr_bufferSize, ORMQS,
     (solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, a, m, tau, b, m, count))
BOTH(getrf, GETRF, (solver, n, n, a, n, work, pivots, info))
BOTH(getrs, GETRS, (solver, CUBLAS_OP_N, n, 1, a, n, pivots, b, n, info))
BOTH(potrf, POTRF, (solver, CUBLAS_FILL_MODE_UPPER, n, a, n, work, count, info))
BOTH(potrs, POTRS, (solver, CUBLAS_FILL_MODE_UPPER, n, 1, a, n, b, n, info))
BOTH(geqrf, GEQRF, (solver, m, n, a, m, tau, work, count, info))
BOTH(ormqr, ORMQR,
     (solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, a, m, tau, b, m, work, count, info))

static void trsv(float *a, int m, int n, float *b)
{
    CALL(cublasStrsv(blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, a, m, b,
                     1));
}

static void trsv(double *a, int m, int n, double *b)
{
    CALL(cublasDtrsv(blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, a, m, b,
                     1));
}

template <class T> struct rival {
    T *a, *factor, *b, *x, *tau, *work;
    int *pivots, *info, m, n, count;
    ech_factor kind;
};

template <class T> static void factor_by(const struct rival<T> &r)
{
    CUDA(cudaMemcpyAsync(r.factor, r.a, (size_t)r.m * r.n * sizeof(T), cudaMemcpyDeviceToDevice,
                         stream));
    if (r.kind == ECH_FACTOR_LU) getrf(r.factor, r.n, r.work, r.pivots, r.info);
    if (r.kind == ECH_FACTOR_CHOLESKY) potrf(r.factor, r.n, r.work, r.count, r.info);
    if (r.kind == ECH_FACTOR_QR) geqrf(r.factor, r.m, r.n, r.tau, r.work, r.count, r.info);
}

template <class T> static void solve_by(const struct rival<T> &r)
{
    factor_by(r);
    CUDA(cudaMemcpyAsync(r.x, r.b, r.m * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    if (r.kind == ECH_FACTOR_LU) getrs(r.factor, r.n, r.pivots, r.x, r.info);
    if (r.kind == ECH_FACTOR_CHOLESKY) potrs(r.factor, r.n, r.x, r.info);
    if (r.kind != ECH_FACTOR_QR) return;
    ormqr(r.factor, r.m, r.n, r.tau, r.x, r.work, r.count, r.info);
    trsv(r.factor, r.m, r.n, r.x);
}

template <class T> static int count_of(const struct rival<T> &r)
{
    int count = 0, more = 0;
    if (r.kind == ECH_FACTOR_LU) getrf_bufferSize(r.a, r.m, r.n, &count);
    if (r.kind == ECH_FACTOR_CHOLESKY) potrf_bufferSize(r.a, r.m, r.n, &count);
    if (r.kind != ECH_FACTOR_QR) return count;
    geqrf_bufferSize(r.a, r.m, r.n, &count);
    ormqr_bufferSize(r.a, r.m, r.n, r.tau, r.x, &more);
    return count > more ? count : more;
}

/* ---- Rows ---- */

static const char *const names[] = { "auto", "lu", "cholesky", "qr" };

template <class Call>
static void measure(const char *op, const char *dtype, size_t m, size_t n, ech_factor kind,
                    const char *contender, double error, double bound, const Call &call)
{
    enum { RUNS = 5 };
    double ms[RUNS];
    const double tall = (double)m, wide = (double)n;
    const double work = kind == ECH_FACTOR_LU ? 2 * wide * wide * wide / 3
                        : kind == ECH_FACTOR_CHOLESKY
                            ? wide * wide * wide / 3
                            : 2 * tall * wide * wide - 2 * wide * wide * wide / 3;
    const int runs = quick || n > 4096 ? 3 : RUNS, calls = n < 1000 ? 5 : 1;
    const bool good = error <= bound;
    if (!good) wrong++;
    for (int r = 0; r < runs; r++) ms[r] = bench_time(call, calls);
    qsort(ms, runs, sizeof *ms, bench_by_value);
    printf("%-6s %-8s %-4s %6zu x %-6zu %-9s %10.3f ms %8.0f GFLOP/s  error %.2g%s\n", op,
           names[kind], dtype, m, n, contender, ms[runs / 2], work / ms[runs / 2] * 1e-6, error,
           good ? "" : "  WRONG");
    fflush(stdout);
    if (csv)
        fprintf(csv, "%s_%s,%s,%zu,%zux%zu,%s,%.6f,%.6f,%.6f,%.1f,GFLOP/s,%.3g,%s\n", op,
                names[kind], dtype, n, m, n, contender, ms[runs / 2], ms[0], ms[runs - 1],
                work / ms[runs / 2] * 1e-6, error, good ? "near" : "wrong");
}

template <class T>
static void systems(const char *dtype, ech_dtype ours, size_t m, size_t n, ech_factor kind)
{
    struct rival<T> r = {
    };
    const struct bench_name name = { names[kind], dtype, n, "", "" };
    const struct matrix by_rows = { NULL, m, n, n, 1 }, by_columns = { NULL, m, n, 1, m };
    const double bound = 60 * (double)m * (sizeof(T) == 4 ? 6e-8 : 1.2e-16);
    ech_direct_report report = { .size = sizeof report };
    size_t most = 0, bytes;
    void *space;
    if (!bench_wanted(name)) return;
    r.m = (int)m;
    r.n = (int)n;
    r.kind = kind;
    CUDA(cudaMalloc(&r.a, m * n * sizeof(T)));
    CUDA(cudaMalloc(&r.factor, m * n * sizeof(T)));
    CUDA(cudaMalloc(&r.b, m * sizeof(T)));
    CUDA(cudaMalloc(&r.x, m * sizeof(T)));
    CUDA(cudaMalloc(&r.tau, n * sizeof(T)));
    CUDA(cudaMalloc(&r.pivots, n * sizeof(int)));
    CUDA(cudaMalloc(&r.info, sizeof(int)));
    r.count = count_of(r);
    printf("# workspace of cuSOLVER: %d elements\n", r.count);
    CUDA(cudaMalloc(&r.work, ((size_t)r.count + 1) * sizeof(T)));
    fill<<<1024, 256, 0, stream>>>(r.a, m, n, kind == ECH_FACTOR_CHOLESKY, 0);
    fill<<<64, 256, 0, stream>>>(r.b, m, 1, false, 1ull << 40);
    ech_direct_options options[2] = { { sizeof *options }, { sizeof *options } };
    static const char *const algorithms[] = { "blocked", "cusolver" };
    for (int i = 0; i < 2; i++) {
        options[i].algorithm = algorithms[i];
        options[i].kind = kind;
        options[i].refine = -1;
        ECH(ech_direct_workspace("cuda", ECH_DIRECT_CALL_SOLVE, m, n, 1, ours, &options[i],
                                 &bytes));
        if (bytes > most) most = bytes;
    }
    CUDA(cudaMalloc(&space, most));
    for (int i = 0; i < 2; i++) {
        options[i].work = space;
        options[i].work_bytes = most;
        const auto solve = [&] {
            ECH(ech_solve_direct(ctx, m, n, r.a, n, 1, r.b, 1, r.x, 1, ours, &options[i], &report));
        };
        const auto factor = [&] {
            int sign;
            double size;
            ECH(ech_determinant(ctx, n, r.a, n, ours, &options[i], &sign, &size));
        };
        struct matrix matrix = by_rows;
        matrix.a = r.a;
        solve();
        const double error =
            report.status == ECH_DIRECT_STATUS_SOLVED ? error_of(matrix, r.b, r.x) : 1;
        if (m == n) measure("factor", dtype, m, n, kind, algorithms[i], error, bound, factor);
        measure("solve", dtype, m, n, kind, algorithms[i], error, bound, solve);
    }
    struct matrix matrix = by_columns;
    matrix.a = r.a;
    solve_by(r);
    const double error = error_of(matrix, r.b, r.x);
    measure("factor", dtype, m, n, kind, "direct", error, bound, [&] { factor_by(r); });
    measure("solve", dtype, m, n, kind, "direct", error, bound, [&] { solve_by(r); });
    CUDA(cudaStreamSynchronize(stream));
    void *const all[] = { r.a, r.factor, r.b, r.x, r.tau, r.pivots, r.info, r.work, space };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) CUDA(cudaFree(all[i]));
}

int main(int argc, char **argv)
{
    bench_open(
        argc, argv, "direct",
        "matrices in device memory, caller-provided workspace; operations of the factorization",
        "op,dtype,n,shape,contender,ms,ms_min,ms_max,rate,unit,error,result");
    CALL(cusolverDnCreate(&solver));
    CALL(cusolverDnSetStream(solver, stream));
    CALL(cublasCreate(&blas));
    CALL(cublasSetStream(blas, stream));
    for (size_t n = 512; n <= (quick ? 2048 : 8192); n *= 4)
        for (int kind = ECH_FACTOR_LU; kind <= ECH_FACTOR_QR; kind++) {
            const size_t m = kind == ECH_FACTOR_QR ? 2 * n : n;
            systems<float>("f32", ECH_F32, m, n, (ech_factor)kind);
            systems<double>("f64", ECH_F64, m, n, (ech_factor)kind);
        }
    cusolverDnDestroy(solver);
    cublasDestroy(blas);
    return bench_close();
}
