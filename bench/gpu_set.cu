/*
 * gpu_set.cu - measures ech_set_operation() and ech_set_operation_pairs(), compared with
 * thrust::set_union() and the related functions on the same data in one run.
 *
 *     gpu_set [--quick] [--only TEXT] [--csv FILE]
 *
 * Results are compared byte by byte; both sides follow the C++ standard library. n counts the
 * elements of both arrays, of the same size. "none": no element is in both arrays. "half": half of
 * the elements of each array are in the other one. "all": the arrays are equal. "few": 1000
 * different keys. Rates count the bytes that must be read, and those of the result. Thrust
 * allocates its workspace and returns the size of the result to the host, which is part of its
 * time.
 *
 * C++ because of Thrust; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/set_operations.h>

#include "gpu_common.cuh"

/* Different even numbers; those of the second array that are not in the first are one more. */
template <class T> __global__ static void fill(T *in, size_t n, int array, char kind)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        uint64_t x = 4 * i + random_at(i) % 2 * 2;
        if (array && (kind == 'n' || (kind == 'h' && random_at(n + i) % 2))) x++;
        if (kind == 'f') x = random_at((uint64_t)array * n + i) % 1000;
        in[i] = (T)x;
    }
}

__global__ static void number(uint32_t *values, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        values[i] = (uint32_t)i;
}

template <class T>
static void bench(size_t n, ech_dtype dtype, ech_set operation, const char *dist, bool pairs)
{
    static const char *const names[] = { "union", "intersection", "difference", "symmetric" };
    struct bench_name name = { names[operation], ech_dtype_name(dtype), n, pairs ? "v=4" : "keys",
                               dist };
    if (!bench_wanted(name)) return;
    const size_t half = n / 2;
    T *in, *out[2];
    uint32_t *values, *values_out[2];
    uint64_t *count, found[2] = { 0, 0 };
    ech_set_options o = {};
    o.size = sizeof o;
    ECH(ech_set_operation_workspace("cuda", half, half, operation, dtype, pairs ? 4 : 0, &o,
                                    &o.work_bytes));
    CUDA(cudaMalloc(&in, n * sizeof(T)));
    CUDA(cudaMalloc(&values, pairs ? n * 4 : 4));
    CUDA(cudaMalloc(&count, sizeof *count));
    for (int i = 0; i < 2; i++) {
        CUDA(cudaMalloc(&out[i], n * sizeof(T)));
        CUDA(cudaMalloc(&values_out[i], pairs ? n * 4 : 4));
    }
    CUDA(cudaMalloc(&o.work, o.work_bytes));
    fill<<<1024, 256, 0, stream>>>(in, half, 0, dist[0]);
    fill<<<1024, 256, 0, stream>>>(in + half, half, 1, dist[0]);
    if (pairs) number<<<1024, 256, 0, stream>>>(values, n);
    ECH(ech_sort(ctx, in, in, half, dtype, NULL));
    ECH(ech_sort(ctx, in + half, in + half, half, dtype, NULL));
    CUDA(cudaStreamSynchronize(stream));
    const thrust::device_ptr<T> a(in), b(in + half), c(out[1]);
    const thrust::device_ptr<uint32_t> v(values), w(values + (pairs ? half : 0)), z(values_out[1]);
    const auto policy = thrust::cuda::par_nosync.on(stream);
    const auto ours = [&] {
        if (pairs)
            ECH(ech_set_operation_pairs(ctx, in, values, in + half, values + half, out[0],
                                        values_out[0], count, half, half, operation, dtype, 4, &o));
        else
            ECH(ech_set_operation(ctx, in, in + half, out[0], count, half, half, operation, dtype,
                                  &o));
    };
    const auto rival = [&] {
        thrust::device_ptr<T> end;
        if (pairs && operation == ECH_SET_UNION)
            end = thrust::set_union_by_key(policy, a, a + half, b, b + half, v, w, c, z).first;
        else if (pairs && operation == ECH_SET_INTERSECTION)
            end = thrust::set_intersection_by_key(policy, a, a + half, b, b + half, v, c, z).first;
        else if (pairs && operation == ECH_SET_DIFFERENCE)
            end = thrust::set_difference_by_key(policy, a, a + half, b, b + half, v, w, c, z).first;
        else if (pairs)
            end = thrust::set_symmetric_difference_by_key(policy, a, a + half, b, b + half, v, w, c,
                                                          z)
                      .first;
        else if (operation == ECH_SET_UNION)
            end = thrust::set_union(policy, a, a + half, b, b + half, c);
        else if (operation == ECH_SET_INTERSECTION)
            end = thrust::set_intersection(policy, a, a + half, b, b + half, c);
        else if (operation == ECH_SET_DIFFERENCE)
            end = thrust::set_difference(policy, a, a + half, b, b + half, c);
        else
            end = thrust::set_symmetric_difference(policy, a, a + half, b, b + half, c);
        found[1] = (uint64_t)(end - c);
    };
    ours();
    CUDA(cudaMemcpyAsync(&found[0], count, sizeof *count, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    bench_row(
        name, (double)(n + found[0]) * (double)(sizeof(T) + (pairs ? 4 : 0)), o.work_bytes, ours,
        rival,
        [&] {
            return found[0] == found[1] && differences(out[0], out[1], found[0] * sizeof(T)) == 0 &&
                   (!pairs || differences(values_out[0], values_out[1], found[0] * 4) == 0);
        },
        "thrust");
    CUDA(cudaFree(in));
    CUDA(cudaFree(values));
    CUDA(cudaFree(count));
    for (int i = 0; i < 2; i++) {
        CUDA(cudaFree(out[i]));
        CUDA(cudaFree(values_out[i]));
    }
    CUDA(cudaFree(o.work));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    bench_open(argc, argv, "set", "arrays in device memory, caller-provided workspace");
    const char *const dists[] = { "none", "half", "all", "few" };
    const size_t sizes[] = { 65536, 2 * M, 32 * M };
    for (int op = 0; op < 4; op++) {
        for (int s = 0; s < 3; s++) bench<uint32_t>(sizes[s], ECH_U32, (ech_set)op, "half", false);
        for (int d = 0; d < 4; d++) bench<uint32_t>(256 * M, ECH_U32, (ech_set)op, dists[d], false);
        bench<uint32_t>(256 * M, ECH_U32, (ech_set)op, "half", true);
        bench<uint64_t>(256 * M, ECH_U64, (ech_set)op, "half", false);
        bench<double>(128 * M, ECH_F64, (ech_set)op, "half", false);
    }
    bench<float>(32 * M, ECH_F32, ECH_SET_UNION, "half", false);
    return bench_close();
}
