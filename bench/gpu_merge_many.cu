/*
 * gpu_merge.cu - measures ech_merge() and ech_merge_pairs(), compared with thrust::merge() and
 * thrust::merge_by_key() on the same data in one run.
 *
 *     gpu_merge [--quick] [--only TEXT] [--csv FILE]
 *
 * Results are compared byte by byte; both merges are stable. n counts the elements of both arrays.
 * "random": independent random keys. "few": 1000 different keys. "apart": all keys of the first
 * array are less. "1to15": the first array has a sixteenth of the elements. Rates count the bytes
 * that must be read and written. Thrust uses CUB's merge and allocates its workspace.
 *
 * C++ because of Thrust; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/merge.h>
#include <thrust/sort.h>

#include "gpu_common.cuh"

template <class T>
__global__ static void fill(T *in, size_t n, size_t skip, uint64_t modulus, uint64_t base)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        in[i] = (T)(random_at(skip + i) % modulus + base);
}

__global__ static void number(uint32_t *values, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        values[i] = (uint32_t)i;
}

template <class T> static void bench(size_t n, ech_dtype dtype, const char *dist, bool pairs)
{
    struct bench_name name = { pairs ? "merge_pairs" : "merge", ech_dtype_name(dtype), n,
                               pairs ? "v=4" : "keys", dist };
    if (!bench_wanted(name)) return;
    const size_t n_a = strcmp(dist, "1to15") == 0 ? n / 16 : n / 2, n_b = n - n_a;
    const bool apart = strcmp(dist, "apart") == 0;
    const uint64_t modulus = strcmp(dist, "few") == 0 ? 1000 : 1000000000;
    T *in, *out[2];
    uint32_t *values, *values_out[2];
    ech_merge_options o = {};
    o.size = sizeof o;
    ECH(ech_merge_workspace("cuda", n_a, n_b, dtype, pairs ? 4 : 0, &o, &o.work_bytes));
    CUDA(cudaMalloc(&in, n * sizeof(T)));
    CUDA(cudaMalloc(&values, pairs ? n * 4 : 4));
    for (int i = 0; i < 2; i++) {
        CUDA(cudaMalloc(&out[i], n * sizeof(T)));
        CUDA(cudaMalloc(&values_out[i], pairs ? n * 4 : 4));
    }
    CUDA(cudaMalloc(&o.work, o.work_bytes));
    fill<<<1024, 256, 0, stream>>>(in, n_a, 0, modulus, 0);
    fill<<<1024, 256, 0, stream>>>(in + n_a, n_b, n_a, modulus, apart ? modulus : 0);
    if (pairs) number<<<1024, 256, 0, stream>>>(values, n);
    ECH(ech_sort(ctx, in, in, n_a, dtype, NULL));
    ECH(ech_sort(ctx, in + n_a, in + n_a, n_b, dtype, NULL));
    CUDA(cudaStreamSynchronize(stream));
    const thrust::device_ptr<T> a(in), b(in + n_a), c(out[1]);
    const thrust::device_ptr<uint32_t> v(values), w(values + (pairs ? n_a : 0)), z(values_out[1]);
    const auto policy = thrust::cuda::par_nosync.on(stream);
    bench_row(
        name, 2.0 * (double)n * (double)(sizeof(T) + (pairs ? 4 : 0)), o.work_bytes,
        [&] {
            if (pairs)
                ECH(ech_merge_pairs(ctx, in, values, in + n_a, values + n_a, out[0], values_out[0],
                                    n_a, n_b, dtype, 4, &o));
            else
                ECH(ech_merge(ctx, in, in + n_a, out[0], n_a, n_b, dtype, &o));
        },
        [&] {
            if (pairs)
                thrust::merge_by_key(policy, a, a + n_a, b, b + n_b, v, w, c, z);
            else
                thrust::merge(policy, a, a + n_a, b, b + n_b, c);
        },
        [&] {
            return differences(out[0], out[1], n * sizeof(T)) == 0 &&
                   (!pairs || differences(values_out[0], values_out[1], n * 4) == 0);
        },
        "thrust");
    CUDA(cudaFree(in));
    CUDA(cudaFree(values));
    for (int i = 0; i < 2; i++) {
        CUDA(cudaFree(out[i]));
        CUDA(cudaFree(values_out[i]));
    }
    CUDA(cudaFree(o.work));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    bench_open(argc, argv, "merge", "arrays in device memory, caller-provided workspace");
    const size_t sizes[] = { 1000, 65536, M, 16 * M, 256 * M };
    for (int s = 0; s < 5; s++) bench<uint32_t>(sizes[s], ECH_U32, "random", false);
    for (int s = 0; s < 5; s++) bench<uint32_t>(sizes[s], ECH_U32, "random", true);
    const char *const dists[] = { "few", "apart", "1to15" };
    for (int d = 0; d < 3; d++) {
        bench<uint32_t>(256 * M, ECH_U32, dists[d], false);
        bench<uint32_t>(256 * M, ECH_U32, dists[d], true);
    }
    bench<uint64_t>(256 * M, ECH_U64, "random", false);
    bench<uint64_t>(256 * M, ECH_U64, "random", true);
    bench<float>(256 * M, ECH_F32, "random", false);
    bench<double>(256 * M, ECH_F64, "random", false);
    return bench_close();
}
