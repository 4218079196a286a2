/*
 * gpu_is_sorted.cu - measures ech_is_sorted(), compared with thrust::is_sorted_until() on the same
 * data in one run.
 *
 *     gpu_is_sorted [--quick] [--only TEXT] [--csv FILE]
 *
 * Positions are compared exactly.  "sorted": the whole array is read; "half" has one inversion in
 * the middle, "first" at the first pair, "last" at the last.  Rates count the bytes before the
 * position.  Thrust returns the position to the host and waits for it.
 *
 * C++ because of Thrust; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include "gpu_common.cuh"

/* Ascending, with runs of equal elements if there are more elements than values. */
template <class T> __global__ static void fill(T *in, size_t n, double span)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        in[i] = (T)((double)i / (double)n * span);
}

template <class T>
static void bench(size_t n, ech_dtype dtype, const char *dist, size_t inversion, double span)
{
    struct bench_name name = { "is_sorted", ech_dtype_name(dtype), n, "whole", dist };
    if (!bench_wanted(name)) return;
    T *in;
    uint64_t *position, ours;
    void *work;
    size_t rival = 0;
    ech_is_sorted_options o = {};
    o.size = sizeof o;
    ECH(ech_is_sorted_workspace("cuda", n, dtype, &o, &o.work_bytes));
    CUDA(cudaMalloc(&in, n * sizeof(T)));
    CUDA(cudaMalloc(&position, sizeof *position));
    CUDA(cudaMalloc(&work, o.work_bytes));
    o.work = work;
    fill<<<1024, 256, 0, stream>>>(in, n, span);
    if (inversion < n) {
        const T pair[2] = { (T)span, (T)0 };
        CUDA(
            cudaMemcpyAsync(in + inversion - 1, pair, sizeof pair, cudaMemcpyHostToDevice, stream));
    }
    CUDA(cudaStreamSynchronize(stream));
    const thrust::device_ptr<T> begin(in);
    bench_row(
        name, (double)inversion * sizeof(T), o.work_bytes,
        [&] { ECH(ech_is_sorted(ctx, in, position, n, dtype, &o)); },
        [&] {
            rival =
                (size_t)(thrust::is_sorted_until(thrust::cuda::par.on(stream), begin, begin + n) -
                         begin);
        },
        [&] {
            CUDA(cudaMemcpy(&ours, position, sizeof ours, cudaMemcpyDeviceToHost));
            return ours == rival && ours == inversion;
        },
        "thrust");
    CUDA(cudaFree(in));
    CUDA(cudaFree(position));
    CUDA(cudaFree(work));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    bench_open(argc, argv, "is_sorted",
               "arrays in device memory, caller-provided workspace; bytes before the position");
    const size_t sizes[] = { 1000, 65536, M, 16 * M, 256 * M, 1024 * M };
    for (int s = 0; s < 6; s++) bench<float>(sizes[s], ECH_F32, "sorted", sizes[s], 1e6);
    bench<uint32_t>(256 * M, ECH_U32, "sorted", 256 * M, 4e9);
    bench<int64_t>(256 * M, ECH_I64, "sorted", 256 * M, 4e18);
    bench<double>(256 * M, ECH_F64, "sorted", 256 * M, 1e300);
    bench<uint8_t>(1024 * M, ECH_U8, "sorted", 1024 * M, 255.0);
    bench<int16_t>(512 * M, ECH_I16, "sorted", 512 * M, 32767.0);
    bench<float>(256 * M, ECH_F32, "half", 128 * M, 1e6);
    bench<float>(256 * M, ECH_F32, "last", 256 * M - 1, 1e6);
    bench<float>(256 * M, ECH_F32, "first", 1, 1e6);
    return bench_close();
}
