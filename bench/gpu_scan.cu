/*
 * gpu_scan.cu - measures scans on the GPU, compared with CUB on the same data in one run.
 *
 *     gpu_scan [--quick] [--only TEXT] [--csv FILE]
 *
 * CUB has no scan of rows, so rows are compared with its scan by key with computed keys.  Integers
 * must be equal.  Floats must agree within a fraction of the maximum sum, and ten runs of Echelon
 * must be bit-identical.  Both add f16 in f32.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_scan.cuh>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "gpu_common.cuh"

enum shape { WHOLE, EXCLUSIVE, ROWS, KEYS };

template <class T> static ech_dtype dtype_of();
template <> ech_dtype dtype_of<int32_t>()
{
    return ECH_I32;
}
template <> ech_dtype dtype_of<uint32_t>()
{
    return ECH_U32;
}
template <> ech_dtype dtype_of<uint8_t>()
{
    return ECH_U8;
}
template <> ech_dtype dtype_of<__half>()
{
    return ECH_F16;
}
template <> ech_dtype dtype_of<float>()
{
    return ECH_F32;
}
template <> ech_dtype dtype_of<double>()
{
    return ECH_F64;
}

/* The accumulator type of CUB. */
template <class T> struct sum_of {
    typedef T type;
};
template <> struct sum_of<__half> {
    typedef float type;
};

/* Random integers, floats in [-1, 1); smaller f16, so that no sum overflows. */
static __device__ float unit_at(uint64_t i)
{
    return (float)((double)(random_at(i) >> 11) * 0x1p-52 - 1);
}
static __device__ void set(int32_t &x, uint64_t i)
{
    x = (int32_t)random_at(i);
}
static __device__ void set(uint32_t &x, uint64_t i)
{
    x = (uint32_t)random_at(i);
}
static __device__ void set(uint8_t &x, uint64_t i)
{
    x = (uint8_t)random_at(i);
}
static __device__ void set(float &x, uint64_t i)
{
    x = unit_at(i);
}
static __device__ void set(double &x, uint64_t i)
{
    x = unit_at(i);
}
static __device__ void set(__half &x, uint64_t i)
{
    x = __float2half(unit_at(i) / 16);
}

template <class T> __global__ void fill(T *in, uint32_t *keys, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        set(in[i], i);
        uint64_t run = i / 20; /* two runs, of ten elements on average */
        if (keys) keys[i] = (uint32_t)(2 * run + (i % 20 > random_at(run) % 20));
    }
}

/* The maximum difference and the maximum magnitude, as order-preserving integers. */
template <class T> __global__ void distance(const T *a, const T *b, size_t n, unsigned *result)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    float far = 0, most = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        far = fmaxf(far, (float)fabs((double)(float)a[i] - (double)(float)b[i]));
        most = fmaxf(most, fabsf((float)b[i]));
    }
    atomicMax(&result[0], __float_as_uint(far));
    atomicMax(&result[1], __float_as_uint(most));
}

template <class T> static bool near(const T *a, const T *b, size_t n)
{
    unsigned *result;
    float f[2];
    CUDA(cudaMalloc(&result, 8));
    CUDA(cudaMemsetAsync(result, 0, 8, stream));
    distance<T><<<1024, 256, 0, stream>>>(a, b, n, result);
    CUDA(cudaMemcpyAsync(f, result, 8, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(result));
    return f[0] <= f[1] * (sizeof(T) == 2 ? 4e-3f : 1e-3f);
}

template <class T> struct job {
    enum shape shape;
    ech_op op;
    size_t n, columns;
    T *in, *out[2];
    uint32_t *keys;
    void *work, *rival_work;
    size_t work_bytes, rival_bytes;
};

template <class T> static void run_echelon(const struct job<T> &j)
{
    ech_scan_options o = {};
    o.size = sizeof o;
    o.exclusive = j.shape == EXCLUSIVE;
    o.work = j.work;
    o.work_bytes = j.work_bytes;
    if (j.shape == ROWS)
        ECH(ech_scan_rows(ctx, j.op, j.in, j.out[0], j.n / j.columns, j.columns, dtype_of<T>(),
                          &o));
    else if (j.shape == KEYS)
        ECH(ech_scan_by_key(ctx, j.op, j.keys, j.in, j.out[0], j.n, ECH_U32, dtype_of<T>(), &o));
    else
        ECH(ech_scan(ctx, j.op, j.in, j.out[0], j.n, dtype_of<T>(), &o));
}

struct row_of {
    size_t columns;
    __host__ __device__ uint32_t operator()(size_t i) const
    {
        return (uint32_t)(i / columns);
    }
};

struct greater_of {
    template <class T> __host__ __device__ T operator()(T a, T b) const
    {
        return a < b ? b : a;
    }
};

template <class T> static void run_cub(struct job<T> &j)
{
    typedef typename sum_of<T>::type sum;
    if (j.shape == KEYS) {
        CUDA(cub::DeviceScan::InclusiveSumByKey(j.rival_work, j.rival_bytes, j.keys, j.in, j.out[1],
                                                j.n, ::cuda::std::equal_to<>{}, stream));
    } else if (j.shape == ROWS) {
        auto rows = thrust::make_transform_iterator(thrust::counting_iterator<size_t>(0),
                                                    row_of{ j.columns });
        CUDA(cub::DeviceScan::InclusiveSumByKey(j.rival_work, j.rival_bytes, rows, j.in, j.out[1],
                                                j.n, ::cuda::std::equal_to<>{}, stream));
    } else if (j.shape == EXCLUSIVE) {
        CUDA(cub::DeviceScan::ExclusiveScan(j.rival_work, j.rival_bytes, j.in, j.out[1],
                                            ::cuda::std::plus<sum>{}, (sum)0, j.n, stream));
    } else if (j.op == ECH_OP_MAX) {
        CUDA(cub::DeviceScan::InclusiveScan(j.rival_work, j.rival_bytes, j.in, j.out[1],
                                            greater_of{}, j.n, stream));
    } else {
        CUDA(cub::DeviceScan::InclusiveScanInit(j.rival_work, j.rival_bytes, j.in, j.out[1],
                                                ::cuda::std::plus<sum>{}, (sum)0, j.n, stream));
    }
}

/* Ten runs; the last result must be equal to the first. */
template <class T> static bool repeats(const struct job<T> &j)
{
    T *first;
    CUDA(cudaMalloc(&first, j.n * sizeof(T)));
    CUDA(cudaMemcpyAsync(first, j.out[0], j.n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    bool same = true;
    for (int i = 0; i < 10 && same; i++) {
        run_echelon(j);
        same = differences(first, j.out[0], j.n * sizeof(T)) == 0;
    }
    CUDA(cudaFree(first));
    return same;
}

template <class T>
static void bench(const char *type, enum shape shape, ech_op op, size_t n, size_t columns)
{
    static const char *const shapes[] = { "inclusive", "exclusive", "rows", "keys" };
    char text[48];
    if (shape == ROWS)
        snprintf(text, sizeof text, "rows=%zu", columns);
    else
        snprintf(text, sizeof text, "%s", shapes[shape]);
    struct bench_name name = { op == ECH_OP_MAX ? "scan_max" : "scan_sum", type, n, text,
                               "uniform" };
    if (!bench_wanted(name)) return;

    struct job<T> j = {
    };
    j.shape = shape;
    j.op = op;
    j.n = shape == ROWS ? n - n % columns : n;
    j.columns = columns;
    CUDA(cudaMalloc(&j.in, n * sizeof(T)));
    for (int c = 0; c < 2; c++) CUDA(cudaMalloc(&j.out[c], n * sizeof(T)));
    if (shape == KEYS) CUDA(cudaMalloc(&j.keys, n * sizeof *j.keys));
    fill<T><<<1024, 256, 0, stream>>>(j.in, j.keys, n);
    ECH(ech_scan_workspace("cuda", shape == KEYS ? ECH_SCAN_CALL_BY_KEY : ECH_SCAN_CALL_ROWS, op,
                           j.n, shape == ROWS ? j.n / columns : 1, dtype_of<T>(), NULL,
                           &j.work_bytes));
    CUDA(cudaMalloc(&j.work, j.work_bytes));
    run_cub(j); /* queries its workspace */
    CUDA(cudaMalloc(&j.rival_work, j.rival_bytes));
    double bytes = (double)(j.n * (2 * sizeof(T) + (shape == KEYS ? sizeof *j.keys : 0)));
    const bool exact = (T)0.5f == (T)0 || op == ECH_OP_MAX;
    bench_row(
        name, bytes, j.work_bytes, [&] { run_echelon(j); }, [&] { run_cub(j); },
        [&] {
            if (exact) return differences(j.out[0], j.out[1], j.n * sizeof(T)) == 0;
            return near<T>(j.out[0], j.out[1], j.n) && (n > 1 << 28 || repeats(j));
        });
    CUDA(cudaFree(j.in));
    for (int c = 0; c < 2; c++) CUDA(cudaFree(j.out[c]));
    CUDA(cudaFree(j.keys));
    CUDA(cudaFree(j.work));
    CUDA(cudaFree(j.rival_work));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20, sizes[] = { M, 16 * M, 256 * M, 1024 * M };
    const size_t rows[] = { 32, 1000, 100000 };
    bench_open(argc, argv, "scan");
    for (int i = 0; i < 4; i++) {
        size_t n = sizes[i];
        bench<int32_t>("i32", WHOLE, ECH_OP_SUM, n, 0);
        bench<uint32_t>("u32", WHOLE, ECH_OP_SUM, n, 0);
        bench<float>("f32", WHOLE, ECH_OP_SUM, n, 0);
        bench<double>("f64", WHOLE, ECH_OP_SUM, n, 0);
        bench<uint8_t>("u8", WHOLE, ECH_OP_SUM, n, 0);
        bench<__half>("f16", WHOLE, ECH_OP_SUM, n, 0);
        bench<float>("f32", WHOLE, ECH_OP_MAX, n, 0);
        bench<int32_t>("i32", EXCLUSIVE, ECH_OP_SUM, n, 0);
        bench<float>("f32", EXCLUSIVE, ECH_OP_SUM, n, 0);
    }
    for (int i = 0; i < 3; i++) {
        bench<int32_t>("i32", ROWS, ECH_OP_SUM, 256 * M, rows[i]);
        bench<float>("f32", ROWS, ECH_OP_SUM, 256 * M, rows[i]);
        bench<double>("f64", ROWS, ECH_OP_SUM, 256 * M, rows[i]);
    }
    bench<int32_t>("i32", KEYS, ECH_OP_SUM, 256 * M, 0);
    bench<float>("f32", KEYS, ECH_OP_SUM, 256 * M, 0);
    return bench_close();
}
