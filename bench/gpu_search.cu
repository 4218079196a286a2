/*
 * gpu_search.cu - measures ech_lower_bound(), compared with the vectorised thrust::lower_bound() on
 * the same data in one run.
 *
 *     gpu_search [--quick] [--only TEXT] [--csv FILE]
 *
 * n counts the needles; the shape is the number of elements of the array. "random": independent
 * random needles. "sorted": the same, sorted, with options.needles_sorted. "hits": elements of the
 * array at random positions. Rows of "search" use the library's choice, the others one algorithm.
 * Positions have 32 bits and are compared exactly. Rates count the needles and the positions, and
 * the bytes of the array or, if that is less, a sector of 32 bytes per needle.
 *
 * C++ because of Thrust; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <thrust/binary_search.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>

#include "gpu_common.cuh"

template <class T> static __device__ T key_of(uint64_t x)
{
    return (T)(x >> 16);
}

template <class T> __global__ static void fill(T *in, size_t n, size_t skip)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        in[i] = key_of<T>(random_at(skip + i));
}

template <class T> __global__ static void pick(T *needles, size_t m, const T *sorted, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < m; i += step)
        needles[i] = sorted[random_at(n + i) % n];
}

template <class T>
static void bench(size_t n, size_t m, ech_dtype dtype, const char *dist,
                  const char *algorithm = NULL)
{
    char op[32], shape[32];
    snprintf(op, sizeof op, "search%s%s", algorithm ? "-" : "", algorithm ? algorithm : "");
    snprintf(shape, sizeof shape, "in %zu", n);
    struct bench_name name = { op, ech_dtype_name(dtype), m, shape, dist };
    if (!bench_wanted(name)) return;
    const bool in_order = strcmp(dist, "sorted") == 0;
    T *sorted, *needles;
    uint32_t *out[2];
    ech_search_options o = {};
    o.size = sizeof o;
    o.needles_sorted = in_order;
    o.algorithm = algorithm;
    ECH(ech_search_workspace("cuda", ECH_SEARCH_CALL_LOWER, n, m, dtype, &o, &o.work_bytes));
    CUDA(cudaMalloc(&sorted, n * sizeof(T)));
    CUDA(cudaMalloc(&needles, m * sizeof(T)));
    for (int i = 0; i < 2; i++) CUDA(cudaMalloc(&out[i], m * 4));
    CUDA(cudaMalloc(&o.work, o.work_bytes ? o.work_bytes : 1));
    fill<<<1024, 256, 0, stream>>>(sorted, n, 0);
    ECH(ech_sort(ctx, sorted, sorted, n, dtype, NULL));
    if (strcmp(dist, "hits") == 0)
        pick<<<1024, 256, 0, stream>>>(needles, m, sorted, n);
    else
        fill<<<1024, 256, 0, stream>>>(needles, m, n);
    if (in_order) ECH(ech_sort(ctx, needles, needles, m, dtype, NULL));
    CUDA(cudaStreamSynchronize(stream));
    const thrust::device_ptr<T> a(sorted), x(needles);
    const thrust::device_ptr<uint32_t> p(out[1]);
    const auto policy = thrust::cuda::par_nosync.on(stream);
    const double all = (double)n * sizeof(T), some = 32.0 * (double)m;
    bench_row(
        name, (double)m * (sizeof(T) + 4) + (all < some ? all : some), o.work_bytes,
        [&] { ECH(ech_lower_bound(ctx, sorted, needles, out[0], n, m, dtype, ECH_U32, &o)); },
        [&] { thrust::lower_bound(policy, a, a + n, x, x + m, p); },
        [&] { return differences(out[0], out[1], m * 4) == 0; }, "thrust");
    CUDA(cudaFree(sorted));
    CUDA(cudaFree(needles));
    for (int i = 0; i < 2; i++) CUDA(cudaFree(out[i]));
    CUDA(cudaFree(o.work));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    const size_t sizes[] = { M, 64 * M, 256 * M };
    const char *const dists[] = { "random", "sorted" };
    bench_open(argc, argv, "search", "arrays in device memory, caller-provided workspace");
    for (int s = 0; s < 3; s++)
        for (int d = 0; d < 2; d++) {
            bench<uint32_t>(sizes[s], 64 * M, ECH_U32, dists[d]);
            bench<uint64_t>(sizes[s], 64 * M, ECH_U64, dists[d]);
            bench<float>(sizes[s], 64 * M, ECH_F32, dists[d]);
            bench<uint32_t>(sizes[s], 1000, ECH_U32, dists[d]);
        }
    bench<uint32_t>(1000, 64 * M, ECH_U32, "random");
    bench<uint32_t>(256 * M, 64 * M, ECH_U32, "hits");
    /* For the rule that chooses the algorithm. */
    const char *const algorithms[] = { "warp", "binary", "tree", "sorted" };
    for (size_t m = 1024; m <= 64 * M; m *= 16)
        for (int s = 0; s < 3; s++)
            for (int a = 0; a < 4; a++) {
                bench<uint32_t>(sizes[s], m, ECH_U32, "random", algorithms[a]);
                bench<uint32_t>(sizes[s], m, ECH_U32, "sorted", algorithms[a]);
            }
    return bench_close();
}
