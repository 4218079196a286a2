/*
 * gpu_unique.cu - measures ech_unique_all() and ech_mode(), compared with pipelines of CUB on the
 * same data in one run.
 *
 *     gpu_unique [--quick] [--only TEXT] [--csv FILE]
 *
 *     row       echelon                                     cub
 *     all       values, first indices, inverse, counts      SortPairs, flags, InclusiveSum, scatter
 *     appear    the same in order of first appearance       the same in ascending order (less work)
 *     counts    values and counts                           SortKeys, RunLengthEncode
 *     mode      the most frequent element                   the same, then ArgMax
 *
 * Rates count one read of the keys and one write of each output.  All outputs are compared exactly;
 * of "appear", the number of elements, and whether values[inverse[i]] equals in[i].
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>

#include "gpu_common.cuh"

enum { ALL, APPEAR, COUNTS, MODE };
static const char *const ops[] = { "unique-all", "unique-appear", "unique-counts", "mode" };
static const char *const dists[] = { "uniform", "1000 values", "power law", "sorted", "equal" };

template <class T> __global__ static void fill(T *in, uint32_t *positions, size_t n, int dist)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint64_t x = random_at(i);
        const double u = (double)(x >> 11) * 0x1p-53;
        positions[i] = (uint32_t)i;
        in[i] = dist == 0   ? (T)(x >> 8)
                : dist == 1 ? (T)(mix(x % 1000) >> 8)
                : dist == 2 ? (T)(1 / (u + 1e-7))
                : dist == 3 ? (T)(i / 3)
                            : (T)42;
    }
}

template <class T> __global__ static void mark(const T *sorted, uint32_t *flags, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        flags[i] = i == 0 || sorted[i] != sorted[i - 1];
}

template <class T>
__global__ static void spread(const T *sorted, const uint32_t *positions, const uint32_t *ranks,
                              T *values, uint32_t *first, uint32_t *inverse, uint32_t *starts,
                              uint64_t *count, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint32_t r = ranks[i] - 1;
        inverse[positions[i]] = r;
        if (i == n - 1) {
            *count = r + 1;
            starts[r + 1] = (uint32_t)n;
        }
        if (i && ranks[i - 1] == r + 1) continue;
        values[r] = sorted[i];
        first[r] = positions[i];
        starts[r] = (uint32_t)i;
    }
}

__global__ static void lengths(const uint32_t *starts, uint64_t *counts, const uint64_t *count)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; r < *count; r += step)
        counts[r] = starts[r + 1] - starts[r];
}

template <class T>
__global__ static void check_inverse(const T *in, const T *values, const uint32_t *inverse,
                                     const uint32_t *first, const uint64_t *count, size_t n,
                                     unsigned long long *wrong)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint32_t r = inverse[i];
        const bool good = r < *count && values[r] == in[i] && first[r] <= i &&
                          (r == 0 || first[r - 1] < first[r]);
        if (!good) atomicAdd(wrong, 1ull);
    }
}

/* [0]: Echelon's, [1]: those of the pipeline. */
template <class T> struct arrays {
    T *in, *sorted, *values[2];
    uint32_t *positions, *sorted_positions, *flags, *ranks, *starts, *first[2], *inverse[2];
    uint64_t *counts[2], *count[2];
    uint64_t *best;
    int64_t *best_run;
    void *work[2];
    size_t work_bytes[2];
};

/* Each call of CUB measures its workspace if work is NULL; the maximum is kept. */
#define CUB(call)                                                                                  \
    do {                                                                                           \
        size_t bytes = work ? a.work_bytes[1] : 0;                                                 \
        CUDA(call);                                                                                \
        if (!work && bytes > a.work_bytes[1]) a.work_bytes[1] = bytes;                             \
    } while (0)

template <class T> static void pairs_call(struct arrays<T> &a, size_t n, void *work)
{
    CUB(cub::DeviceRadixSort::SortPairs(work, bytes, a.in, a.sorted, a.positions,
                                        a.sorted_positions, n, 0, 8 * sizeof(T), stream));
    if (work) mark<<<132 * 8, 512, 0, stream>>>(a.sorted, a.flags, n);
    CUB(cub::DeviceScan::InclusiveSum(work, bytes, a.flags, a.ranks, n, stream));
    if (!work) return;
    spread<<<132 * 8, 512, 0, stream>>>(a.sorted, a.sorted_positions, a.ranks, a.values[1],
                                        a.first[1], a.inverse[1], a.starts, a.count[1], n);
    lengths<<<132 * 8, 512, 0, stream>>>(a.starts, a.counts[1], a.count[1]);
}

/* The number of runs is needed on the host for ArgMax: a second copy and a wait. */
template <class T> static void keys_call(struct arrays<T> &a, size_t n, int what, void *work)
{
    CUB(cub::DeviceRadixSort::SortKeys(work, bytes, a.in, a.sorted, n, 0, 8 * sizeof(T), stream));
    CUB(cub::DeviceRunLengthEncode::Encode(work, bytes, a.sorted, a.values[1], a.counts[1],
                                           a.count[1], n, stream));
    if (what != MODE) return;
    uint64_t runs = n;
    if (work) {
        CUDA(cudaMemcpyAsync(&runs, a.count[1], 8, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
    }
    CUB(cub::DeviceReduce::ArgMax(work, bytes, a.counts[1], a.best, a.best_run, (int64_t)runs,
                                  stream));
}

template <class T>
static void ours(struct arrays<T> &a, size_t n, ech_dtype dtype, int what,
                 const ech_unique_options &o)
{
    const bool all = what == ALL || what == APPEAR;
    if (what == MODE)
        ECH(ech_mode(ctx, a.in, a.values[0], a.count[0], n, dtype, &o));
    else
        ECH(ech_unique_all(ctx, a.in, a.values[0], all ? a.first[0] : NULL,
                           all ? a.inverse[0] : NULL, a.counts[0], a.count[0], n, dtype, ECH_U32,
                           &o));
}

template <class T> static bool same(struct arrays<T> &a, size_t n, int what)
{
    uint64_t count[2];
    CUDA(cudaMemcpy(&count[0], a.count[0], 8, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(&count[1], a.count[1], 8, cudaMemcpyDeviceToHost));
    if (what == MODE) {
        uint64_t best;
        int64_t run;
        T value, wanted;
        CUDA(cudaMemcpy(&best, a.best, sizeof best, cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpy(&run, a.best_run, sizeof run, cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpy(&value, a.values[0], sizeof value, cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpy(&wanted, a.values[1] + run, sizeof value, cudaMemcpyDeviceToHost));
        return count[0] == best && value == wanted;
    }
    if (count[0] != count[1]) return false;
    if (what == APPEAR) {
        unsigned long long *wrong, result;
        CUDA(cudaMalloc(&wrong, 8));
        CUDA(cudaMemsetAsync(wrong, 0, 8, stream));
        check_inverse<<<1024, 256, 0, stream>>>(a.in, a.values[0], a.inverse[0], a.first[0],
                                                a.count[0], n, wrong);
        CUDA(cudaMemcpyAsync(&result, wrong, 8, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaFree(wrong));
        return result == 0;
    }
    const bool good = !differences(a.values[0], a.values[1], count[0] * sizeof(T)) &&
                      !differences(a.counts[0], a.counts[1], count[0] * 8);
    return good && (what == COUNTS || (!differences(a.first[0], a.first[1], count[0] * 4) &&
                                       !differences(a.inverse[0], a.inverse[1], n * 4)));
}

template <class T> static void bench(ech_dtype dtype, size_t n, int what, int dist)
{
    struct bench_name name = { ops[what], ech_dtype_name(dtype), n, "whole", dists[dist] };
    const bool pairs = what == ALL || what == APPEAR;
    if (!bench_wanted(name)) return;
    struct arrays<T> a = {
    };
    ech_unique_options o = {};
    o.size = sizeof o;
    o.appearance = what == APPEAR;
    ECH(ech_unique_workspace("cuda",
                             pairs            ? ECH_UNIQUE_CALL_ALL
                             : what == COUNTS ? ECH_UNIQUE_CALL_VALUES
                                              : ECH_UNIQUE_CALL_MODE,
                             n, dtype, &o, &o.work_bytes));
    CUDA(cudaMalloc(&a.in, n * sizeof(T)));
    CUDA(cudaMalloc(&a.sorted, n * sizeof(T)));
    uint32_t **words[] = { &a.positions, &a.sorted_positions, &a.flags,
                           &a.ranks,     &a.starts,           &a.first[0],
                           &a.first[1],  &a.inverse[0],       &a.inverse[1] };
    for (uint32_t **w : words) CUDA(cudaMalloc(w, (n + 1) * 4));
    for (int c = 0; c < 2; c++) {
        CUDA(cudaMalloc(&a.values[c], n * sizeof(T)));
        CUDA(cudaMalloc(&a.counts[c], n * 8));
        CUDA(cudaMalloc(&a.count[c], 8));
    }
    CUDA(cudaMalloc(&a.best, sizeof *a.best));
    CUDA(cudaMalloc(&a.best_run, sizeof *a.best_run));
    CUDA(cudaMalloc(&a.work[0], o.work_bytes));
    o.work = a.work[0];
    fill<<<1024, 256, 0, stream>>>(a.in, a.positions, n, dist);
    pairs ? pairs_call(a, n, NULL) : keys_call(a, n, what, NULL);
    CUDA(cudaMalloc(&a.work[1], a.work_bytes[1] + 1));
    ours(a, n, dtype, what, o);
    uint64_t runs = 0;
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(&runs, a.count[0], 8, cudaMemcpyDeviceToHost));
    double bytes = (double)n * sizeof(T);
    if (what != MODE) bytes += (double)runs * (sizeof(T) + 8);
    if (pairs) bytes += (double)n * 4 + (double)runs * 4;
    bench_row(
        name, bytes, o.work_bytes, [&] { ours(a, n, dtype, what, o); },
        [&] { pairs ? pairs_call(a, n, a.work[1]) : keys_call(a, n, what, a.work[1]); },
        [&] { return same(a, n, what); });
    for (uint32_t **w : words) CUDA(cudaFree(*w));
    for (int c = 0; c < 2; c++) {
        CUDA(cudaFree(a.values[c]));
        CUDA(cudaFree(a.counts[c]));
        CUDA(cudaFree(a.count[c]));
        CUDA(cudaFree(a.work[c]));
    }
    CUDA(cudaFree(a.best));
    CUDA(cudaFree(a.best_run));
    CUDA(cudaFree(a.in));
    CUDA(cudaFree(a.sorted));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    bench_open(argc, argv, "unique");
    for (int what = ALL; what <= MODE; what++) {
        for (int dist = 0; dist < 5; dist++) bench<uint32_t>(ECH_U32, 128 * M, what, dist);
        bench<float>(ECH_F32, 128 * M, what, 2);
        bench<int64_t>(ECH_I64, 64 * M, what, 0);
        bench<int64_t>(ECH_I64, 64 * M, what, 2);
        bench<uint16_t>(ECH_U16, 128 * M, what, 0);
        bench<uint8_t>(ECH_U8, 128 * M, what, 0);
        bench<uint32_t>(ECH_U32, M, what, 0);
        bench<uint32_t>(ECH_U32, 65536, what, 1);
    }
    return bench_close();
}
