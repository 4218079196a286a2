/*
 * gpu_merge_many.cu - measures ech_merge_many() and ech_merge_many_pairs(), compared with a radix
 * sort of CUB on the same data in one run.
 *
 *     gpu_merge_many [--quick] [--only TEXT] [--csv FILE]
 *
 * Results are compared byte by byte; both are stable. n counts all elements; the runs have equal
 * lengths. Rows of "merge-many" use the library's choice, the others one algorithm. Rates count one
 * read and one write of each element.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_radix_sort.cuh>

#include "gpu_common.cuh"

template <class T> __global__ static void fill(T *in, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        in[i] = (T)(random_at(i) >> (64 - 8 * sizeof(T)));
}

__global__ static void number(uint32_t *values, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        values[i] = (uint32_t)i;
}

template <class T>
static void bench(size_t n, size_t runs, ech_dtype dtype, bool pairs, const char *algorithm = NULL)
{
    char op[48], dist[32];
    snprintf(op, sizeof op, "merge-many%s%s%s", pairs ? "-pairs" : "", algorithm ? "-" : "",
             algorithm ? algorithm : "");
    snprintf(dist, sizeof dist, "%zu runs", runs);
    struct bench_name name = { op, ech_dtype_name(dtype), n, pairs ? "v=4" : "keys", dist };
    if (!bench_wanted(name)) return;
    T *in, *out[2];
    uint32_t *values, *values_out[2];
    uint64_t *offsets, *host = new uint64_t[runs + 1];
    void *rival_work = NULL;
    size_t rival_bytes = 0;
    ech_merge_options o = {};
    o.size = sizeof o;
    o.algorithm = algorithm;
    ECH(ech_merge_many_workspace("cuda", n, runs, dtype, pairs ? 4 : 0, &o, &o.work_bytes));
    CUDA(cudaMalloc(&in, n * sizeof(T)));
    CUDA(cudaMalloc(&values, pairs ? n * 4 : 4));
    for (int i = 0; i < 2; i++) {
        CUDA(cudaMalloc(&out[i], n * sizeof(T)));
        CUDA(cudaMalloc(&values_out[i], pairs ? n * 4 : 4));
    }
    CUDA(cudaMalloc(&offsets, (runs + 1) * sizeof *offsets));
    CUDA(cudaMalloc(&o.work, o.work_bytes ? o.work_bytes : 1));
    for (size_t r = 0; r <= runs; r++) host[r] = n / runs * r;
    host[runs] = n;
    CUDA(cudaMemcpy(offsets, host, (runs + 1) * sizeof *offsets, cudaMemcpyHostToDevice));
    delete[] host;
    fill<<<1024, 256, 0, stream>>>(in, n);
    if (pairs) number<<<1024, 256, 0, stream>>>(values, n);
    ECH(ech_sort_segments(ctx, in, offsets, NULL, in, n, runs, dtype, ECH_U64, NULL));
    CUDA(cudaStreamSynchronize(stream));
    const int bits = 8 * (int)sizeof(T);
    const auto rival = [&] {
        if (pairs)
            CUDA(cub::DeviceRadixSort::SortPairs(rival_work, rival_bytes, in, out[1], values,
                                                 values_out[1], n, 0, bits, stream));
        else
            CUDA(cub::DeviceRadixSort::SortKeys(rival_work, rival_bytes, in, out[1], n, 0, bits,
                                                stream));
    };
    rival(); /* returns the size of its workspace */
    CUDA(cudaMalloc(&rival_work, rival_bytes));
    bench_row(
        name, 2.0 * (double)n * (double)(sizeof(T) + (pairs ? 4 : 0)), o.work_bytes,
        [&] {
            if (pairs)
                ECH(ech_merge_many_pairs(ctx, in, values, offsets, out[0], values_out[0], n, runs,
                                         dtype, 4, ECH_U64, &o));
            else
                ECH(ech_merge_many(ctx, in, offsets, out[0], n, runs, dtype, ECH_U64, &o));
        },
        rival,
        [&] {
            return differences(out[0], out[1], n * sizeof(T)) == 0 &&
                   (!pairs || differences(values_out[0], values_out[1], n * 4) == 0);
        });
    CUDA(cudaFree(in));
    CUDA(cudaFree(values));
    for (int i = 0; i < 2; i++) {
        CUDA(cudaFree(out[i]));
        CUDA(cudaFree(values_out[i]));
    }
    CUDA(cudaFree(offsets));
    CUDA(cudaFree(o.work));
    CUDA(cudaFree(rival_work));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    const size_t sizes[] = { M, 64 * M, 256 * M }, runs[] = { 2, 4, 8, 16, 64, 1000 };
    const char *const algorithms[] = { "rounds", "sort" };
    bench_open(argc, argv, "merge_many", "arrays in device memory, caller-provided workspace");
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < 6; r++) {
            bench<uint32_t>(sizes[s], runs[r], ECH_U32, false);
            bench<uint32_t>(sizes[s], runs[r], ECH_U32, true);
            bench<uint64_t>(sizes[s], runs[r], ECH_U64, false);
            bench<uint64_t>(sizes[s], runs[r], ECH_U64, true);
        }
    /* For the rule that chooses the algorithm. */
    const size_t rule_sizes[] = { M, 4 * M, 16 * M, 256 * M };
    const size_t rule_runs[] = { 2, 4, 8, 16, 32, 64, 1000 };
    for (int s = 0; s < 4; s++)
        for (int r = 0; r < 7; r++)
            for (int a = 0; a < 2; a++) {
                bench<uint32_t>(rule_sizes[s], rule_runs[r], ECH_U32, false, algorithms[a]);
                bench<uint32_t>(rule_sizes[s], rule_runs[r], ECH_U32, true, algorithms[a]);
                bench<uint64_t>(rule_sizes[s], rule_runs[r], ECH_U64, false, algorithms[a]);
                bench<uint64_t>(rule_sizes[s], rule_runs[r], ECH_U64, true, algorithms[a]);
            }
    return bench_close();
}
