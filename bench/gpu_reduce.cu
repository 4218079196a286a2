/*
 * gpu_reduce.cu - measures reductions on the GPU, compared with CUB on the same data in one run.
 *
 *     gpu_reduce [--quick] [--only TEXT] [--csv FILE]
 *
 * Integers, extremes and positions must be equal; sums of floats may differ by the order of
 * additions.  CUB has no variance, so the variance is compared with a sum in double of a
 * transformed input; minmax is compared with two calls of CUB.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <vector>

#include "gpu_common.cuh"

template <class T> struct traits;
template <> struct traits<float> {
    static constexpr ech_dtype dtype = ECH_F32;
    static constexpr const char *name = "f32";
    typedef float sum;
};
template <> struct traits<double> {
    static constexpr ech_dtype dtype = ECH_F64;
    static constexpr const char *name = "f64";
    typedef double sum;
};
template <> struct traits<__half> {
    static constexpr ech_dtype dtype = ECH_F16;
    static constexpr const char *name = "f16";
    typedef float sum;
};
template <> struct traits<int32_t> {
    static constexpr ech_dtype dtype = ECH_I32;
    static constexpr const char *name = "i32";
    typedef int64_t sum;
};
template <> struct traits<uint8_t> {
    static constexpr ech_dtype dtype = ECH_U8;
    static constexpr const char *name = "u8";
    typedef uint64_t sum;
};

/* Floats in [0, 1]; integers of all values. */
template <class T> __device__ static T value_of(uint64_t r)
{
    return (T)(r >> (64 - 8 * sizeof(T)));
}
template <> __device__ float value_of<float>(uint64_t r)
{
    return (float)(r >> 40) * 0x1p-24f;
}
template <> __device__ double value_of<double>(uint64_t r)
{
    return (double)(r >> 11) * 0x1p-53;
}
template <> __device__ __half value_of<__half>(uint64_t r)
{
    return __float2half((float)(r >> 53) * 0x1p-11f);
}

template <class T> __global__ void fill(T *in, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        in[i] = value_of<T>(random_at(i));
}

template <class T, class S> struct widen {
    __host__ __device__ S operator()(const T &x) const
    {
        return (S)(float)x;
    }
};
template <class T> struct widen<T, int64_t> {
    __host__ __device__ int64_t operator()(const T &x) const
    {
        return x;
    }
};
template <class T> struct widen<T, uint64_t> {
    __host__ __device__ uint64_t operator()(const T &x) const
    {
        return x;
    }
};
template <> struct widen<double, double> {
    __host__ __device__ double operator()(const double &x) const
    {
        return x;
    }
};

struct squared {
    __host__ __device__ double operator()(const float &x) const
    {
        return ((double)x - 0.5) * ((double)x - 0.5);
    }
};

struct product_at {
    const float *a, *b;
    __host__ __device__ float operator()(uint64_t i) const
    {
        return a[i] * b[i];
    }
};

struct plus {
    template <class S> __host__ __device__ S operator()(const S &a, const S &b) const
    {
        return a + b;
    }
};

enum { OUT_BYTES = 64 };
static char *out[2];
static void *cub_work;
static size_t cub_bytes;

/* The first call of CUB queries its workspace. */
template <class Call> static void cub_prepare(const Call &call)
{
    if (cub_work) CUDA(cudaFree(cub_work));
    cub_work = NULL;
    cub_bytes = 0;
    CUDA(call());
    CUDA(cudaMalloc(&cub_work, cub_bytes + 1));
}

template <class S> static bool close_to(const void *a, const void *b, size_t n, double tolerance)
{
    std::vector<S> x(n), y(n);
    CUDA(cudaMemcpy(x.data(), a, n * sizeof(S), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(y.data(), b, n * sizeof(S), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) {
        double p = (double)x[i], q = (double)y[i];
        if (fabs(p - q) > tolerance * (fabs(q) + 1)) return false;
    }
    return true;
}

static ech_reduce_options options_with(ech_op op, size_t n, ech_dtype dtype, void **work,
                                       ech_reduce_call call = ECH_REDUCE_CALL_ROWS,
                                       size_t count = 1)
{
    ech_reduce_options o = {};
    o.size = sizeof o;
    ECH(ech_reduce_workspace("cuda", call, op, n, count, dtype, &o, &o.work_bytes));
    *work = NULL;
    if (o.work_bytes) CUDA(cudaMalloc(work, o.work_bytes));
    o.work = *work;
    return o;
}

/* ---- Whole arrays ---- */

template <class T> static void bench_sum(size_t n)
{
    typedef typename traits<T>::sum S;
    struct bench_name name = { "sum", traits<T>::name, n, "whole", "uniform" };
    if (!bench_wanted(name)) return;
    T *in;
    void *work;
    CUDA(cudaMalloc(&in, n * sizeof(T)));
    fill<<<1024, 256, 0, stream>>>(in, n);
    ech_reduce_options o = options_with(ECH_OP_SUM, n, traits<T>::dtype, &work);
    auto wide = thrust::make_transform_iterator((const T *)in, widen<T, S>());
    auto rival = [&] {
        return cub::DeviceReduce::Reduce(cub_work, cub_bytes, wide, (S *)out[1], (uint64_t)n,
                                         plus(), S(0), stream);
    };
    cub_prepare(rival);
    bench_row(
        name, (double)(n * sizeof(T)), o.work_bytes,
        [&] { ECH(ech_reduce(ctx, ECH_OP_SUM, in, out[0], n, traits<T>::dtype, &o)); },
        [&] { CUDA(rival()); }, [&] { return close_to<S>(out[0], out[1], 1, 1e-3); });
    CUDA(cudaFree(in));
    CUDA(cudaFree(work));
}

enum other { MAX, ARGMAX, MINMAX, VARIANCE, DOT };

/* f32, compared with the most similar call or calls of CUB. */
static void bench_other(enum other what, const char *op_name, ech_op op, size_t n)
{
    struct bench_name name = { op_name, "f32", n, "whole", "uniform" };
    if (!bench_wanted(name)) return;
    float *in;
    void *work;
    const size_t arrays = what == DOT ? 2 : 1;
    CUDA(cudaMalloc(&in, arrays * n * sizeof(float)));
    fill<<<1024, 256, 0, stream>>>(in, arrays * n);
    ech_reduce_options o = options_with(op, n, ECH_F32, &work);
    auto squares = thrust::make_transform_iterator((const float *)in, squared());
    product_at at = { in, in + n };
    auto products =
        thrust::make_transform_iterator(thrust::make_counting_iterator<uint64_t>(0), at);
    const int64_t count = (int64_t)n;
    auto rival = [&]() -> cudaError_t {
        float *to = (float *)out[1];
        switch (what) {
        case MAX:
            return cub::DeviceReduce::Max(cub_work, cub_bytes, in, to, count, stream);
        case ARGMAX: /* value and position */
            return cub::DeviceReduce::ArgMax(cub_work, cub_bytes, in, to + 8, (int64_t *)out[1],
                                             count, stream);
        case MINMAX: {
            cudaError_t error = cub::DeviceReduce::Min(cub_work, cub_bytes, in, to, count, stream);
            return error ? error
                         : cub::DeviceReduce::Max(cub_work, cub_bytes, in, to + 1, count, stream);
        }
        case VARIANCE:
            return cub::DeviceReduce::Sum(cub_work, cub_bytes, squares, (double *)out[1], count,
                                          stream);
        default:
            return cub::DeviceReduce::Sum(cub_work, cub_bytes, products, to, count, stream);
        }
    };
    auto same = [&]() -> bool {
        if (what == ARGMAX) return differences(out[0], out[1], 8) == 0;
        if (what == MAX || what == MINMAX)
            return differences(out[0], out[1], what == MAX ? 4 : 8) == 0;
        if (what == DOT) return close_to<float>(out[0], out[1], 1, 1e-3);
        float ours;
        double sum;
        CUDA(cudaMemcpy(&ours, out[0], 4, cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpy(&sum, out[1], 8, cudaMemcpyDeviceToHost));
        return fabs(sum / (double)n - ours) < 1e-3; /* the mean is close to 1/2 */
    };
    cub_prepare(rival);
    bench_row(
        name, (double)(arrays * n * sizeof(float)), o.work_bytes,
        [&] {
            if (what == DOT)
                ECH(ech_dot(ctx, in, in + n, out[0], n, ECH_F32, &o));
            else
                ECH(ech_reduce(ctx, op, in, out[0], n, ECH_F32, &o));
        },
        [&] { CUDA(rival()); }, same);
    CUDA(cudaFree(in));
    CUDA(cudaFree(work));
}

/* ---- Rows and segments, sums of f32 ---- */

static void bench_parts(const char *shape, const char *dist, size_t n,
                        const std::vector<uint64_t> &offsets, size_t columns)
{
    struct bench_name name = { "sum", "f32", n, shape, dist };
    if (!bench_wanted(name)) return;
    const size_t parts = offsets.size() - 1;
    float *in, *sums[2];
    uint64_t *at;
    void *work;
    CUDA(cudaMalloc(&in, n * sizeof(float)));
    CUDA(cudaMalloc(&sums[0], parts * sizeof(float)));
    CUDA(cudaMalloc(&sums[1], parts * sizeof(float)));
    CUDA(cudaMalloc(&at, (parts + 1) * 8));
    CUDA(cudaMemcpy(at, offsets.data(), (parts + 1) * 8, cudaMemcpyHostToDevice));
    fill<<<1024, 256, 0, stream>>>(in, n);
    ech_reduce_options o =
        options_with(ECH_OP_SUM, n, ECH_F32, &work,
                     columns ? ECH_REDUCE_CALL_ROWS : ECH_REDUCE_CALL_SEGMENTS, parts);
    auto rival = [&] {
        return cub::DeviceSegmentedReduce::Sum(cub_work, cub_bytes, in, sums[1], (int64_t)parts, at,
                                               at + 1, stream);
    };
    cub_prepare(rival);
    bench_row(
        name, (double)n * 4 + (double)parts * (columns ? 4 : 12), o.work_bytes,
        [&] {
            if (columns)
                ECH(ech_reduce_rows(ctx, ECH_OP_SUM, in, sums[0], parts, columns, ECH_F32, &o));
            else
                ECH(ech_reduce_segments(ctx, ECH_OP_SUM, in, at, sums[0], n, parts, ECH_F32,
                                        ECH_U64, &o));
        },
        [&] { CUDA(rival()); }, [&] { return close_to<float>(sums[0], sums[1], parts, 1e-3); });
    CUDA(cudaFree(in));
    CUDA(cudaFree(sums[0]));
    CUDA(cudaFree(sums[1]));
    CUDA(cudaFree(at));
    CUDA(cudaFree(work));
}

/* Lengths follow a power law. */
static void bench_segments(size_t n, size_t mean)
{
    char shape[48];
    std::vector<uint64_t> offsets(1, 0);
    snprintf(shape, sizeof shape, "segments of %zu", mean);
    for (uint64_t i = 0; offsets.back() < n; i++) {
        double u = (double)(random_at(i) >> 11) * 0x1p-53;
        double length = (double)mean * 0.25 * pow(u + 1e-9, -0.75);
        uint64_t end = offsets.back() + (uint64_t)length;
        offsets.push_back(end < n ? end : n);
    }
    bench_parts(shape, "power", n, offsets, 0);
}

static void bench_rows(size_t n, size_t columns)
{
    char shape[48];
    std::vector<uint64_t> offsets(1, 0);
    snprintf(shape, sizeof shape, "rows of %zu", columns);
    while (offsets.back() + columns <= n) offsets.push_back(offsets.back() + columns);
    bench_parts(shape, "uniform", offsets.back(), offsets, columns);
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    bench_open(argc, argv, "reduce");
    CUDA(cudaMalloc(&out[0], OUT_BYTES));
    CUDA(cudaMalloc(&out[1], OUT_BYTES));
    const size_t sizes[] = { 1000, 65536, M, 16 * M, 256 * M, 1024 * M };
    for (int s = 0; s < 6; s++) bench_sum<float>(sizes[s]);
    bench_sum<int32_t>(256 * M);
    bench_sum<double>(256 * M);
    bench_sum<uint8_t>(1024 * M);
    bench_sum<__half>(512 * M);
    bench_other(MAX, "max", ECH_OP_MAX, 256 * M);
    bench_other(ARGMAX, "argmax", ECH_OP_ARGMAX, 256 * M);
    bench_other(MINMAX, "minmax", ECH_OP_MINMAX, 256 * M);
    bench_other(VARIANCE, "variance", ECH_OP_VARIANCE, 256 * M);
    bench_other(DOT, "dot", ECH_OP_SUM, 256 * M);
    bench_rows(256 * M, 32);
    bench_rows(256 * M, 1000);
    bench_rows(256 * M, 100000);
    bench_segments(256 * M, 4);
    bench_segments(256 * M, 64);
    bench_segments(256 * M, 4096);
    return bench_close();
}
