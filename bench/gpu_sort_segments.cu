/*
 * gpu_sort_segments.cu - measures sorts of rows and segments, compared with CUB's segmented sort on
 * the same data in one run.
 *
 *     gpu_sort_segments [--quick] [--only TEXT] [--csv FILE]
 *
 * CUB has two sorts of segments; the faster one is the competitor: "cub" is DeviceSegmentedSort,
 * "cub-radix" DeviceSegmentedRadixSort.  Indices of an argsort are 32-bit; CUB sorts pairs with
 * positions as values, which are in memory already.  Lengths "power" follow a power law: the length
 * is proportional to u^-0.7, u uniform.  "half + tiny": one segment has half of the keys, the
 * others 0 to 7 each.  Rates count one read and one write of keys, and one write of indices.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <vector>

#include "gpu_common.cuh"

template <class T> __global__ static void fill(T *in, size_t n, int dist)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        uint64_t x = random_at(i);
        if (dist == 1) x %= 16;
        if (dist == 2) x = 1ull << (x % 20) | x >> 44; /* few large values, many small ones */
        if (dist == 3) x = i;
        in[i] = (T)x;
    }
}

__global__ static void fill_positions(uint32_t *out, const int64_t *offsets, size_t segments)
{
    for (size_t s = blockIdx.x; s < segments; s += gridDim.x)
        for (int64_t i = offsets[s] + threadIdx.x; i < offsets[s + 1]; i += blockDim.x)
            out[i] = (uint32_t)(i - offsets[s]);
}

enum kind { KEYS, ARGSORT, PAIRS };
static const char *const kinds[] = { "keys", "argsort", "pairs" };
static const char *const dists[] = { "uniform", "16 values", "skewed", "sorted" };

/* rows > 0: rows of equal length; otherwise segments of these offsets. */
template <class T>
static void bench(ech_dtype dtype, enum kind kind, size_t rows, size_t n,
                  const std::vector<int64_t> &offsets, const char *shape, int dist, bool radix)
{
    struct bench_name name = { kinds[kind], ech_dtype_name(dtype), n, shape, dists[dist] };
    if (!bench_wanted(name)) return;
    const size_t segments = offsets.size() - 1, value = kind == KEYS ? 0 : 4;
    T *in, *out[2];
    uint32_t *values, *values_out[2];
    int64_t *ends;
    void *work[2];
    size_t cub_bytes = 0;
    ech_sort_options o = {};
    o.size = sizeof o;
    const ech_sort_call call = (ech_sort_call)((kind == ARGSORT) * 2 + (rows == 0));
    ECH(ech_sort_segments_workspace("cuda", call, n, segments, dtype, value, &o, &o.work_bytes));
    CUDA(cudaMalloc(&in, n * sizeof(T)));
    CUDA(cudaMalloc(&values, n * 4));
    CUDA(cudaMalloc(&ends, offsets.size() * 8));
    CUDA(cudaMemcpy(ends, offsets.data(), offsets.size() * 8, cudaMemcpyHostToDevice));
    for (int c = 0; c < 2; c++) {
        CUDA(cudaMalloc(&out[c], n * sizeof(T)));
        CUDA(cudaMalloc(&values_out[c], n * 4));
        CUDA(cudaMemset(out[c], 0, n * sizeof(T)));
    }
    CUDA(cudaMalloc(&work[0], o.work_bytes));
    o.work = work[0];
    CUDA(cudaDeviceSynchronize()); /* copies and memsets are on another stream */
    fill<<<1024, 256, 0, stream>>>(in, n, dist);
    fill_positions<<<1024, 128, 0, stream>>>(values, ends, segments);
    const auto rival = [&](void *at) {
        using namespace cub;
        if (kind == KEYS && radix)
            CUDA(DeviceSegmentedRadixSort::SortKeys(at, cub_bytes, in, out[1], n, segments, ends,
                                                    ends + 1, 0, 8 * sizeof(T), stream));
        else if (kind == KEYS)
            CUDA(DeviceSegmentedSort::SortKeys(at, cub_bytes, in, out[1], n, segments, ends,
                                               ends + 1, stream));
        else if (radix)
            CUDA(DeviceSegmentedRadixSort::SortPairs(at, cub_bytes, in, out[1], values,
                                                     values_out[1], n, segments, ends, ends + 1, 0,
                                                     8 * sizeof(T), stream));
        else
            CUDA(DeviceSegmentedSort::StableSortPairs(at, cub_bytes, in, out[1], values,
                                                      values_out[1], n, segments, ends, ends + 1,
                                                      stream));
    };
    rival(NULL);
    CUDA(cudaMalloc(&work[1], cub_bytes));
    const auto ours = [&] {
        if (kind == KEYS && rows)
            ECH(ech_sort_rows(ctx, in, out[0], rows, n / rows, dtype, &o));
        else if (kind == KEYS)
            ECH(ech_sort_segments(ctx, in, ends, NULL, out[0], n, segments, dtype, ECH_I64, &o));
        else if (kind == ARGSORT && rows)
            ECH(ech_argsort_rows(ctx, in, values_out[0], rows, n / rows, dtype, ECH_U32, &o));
        else if (kind == ARGSORT)
            ECH(ech_argsort_segments(ctx, in, ends, NULL, values_out[0], n, segments, dtype,
                                     ECH_U32, ECH_I64, &o));
        else if (rows)
            ECH(ech_sort_pairs_rows(ctx, in, values, out[0], values_out[0], rows, n / rows, dtype,
                                    4, &o));
        else
            ECH(ech_sort_pairs_segments(ctx, in, values, ends, NULL, out[0], values_out[0], n,
                                        segments, dtype, 4, ECH_I64, &o));
    };
    const double bytes =
        (double)n * ((kind == ARGSORT ? 1 : 2) * sizeof(T) + (kind == PAIRS ? 8 : value));
    bench_row(
        name, bytes, o.work_bytes, ours, [&] { rival(work[1]); },
        [&] {
            return (kind == ARGSORT || !differences(out[0], out[1], n * sizeof(T))) &&
                   (kind == KEYS || !differences(values_out[0], values_out[1], n * 4));
        },
        radix ? "cub-radix" : "cub");
    for (int c = 0; c < 2; c++) {
        CUDA(cudaFree(out[c]));
        CUDA(cudaFree(values_out[c]));
        CUDA(cudaFree(work[c]));
    }
    CUDA(cudaFree(in));
    CUDA(cudaFree(values));
    CUDA(cudaFree(ends));
}

template <class T>
static void rows(ech_dtype dtype, enum kind kind, size_t rows, size_t cols, int dist = 0)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%zu x %zu", rows, cols);
    struct bench_name name = { kinds[kind], ech_dtype_name(dtype), rows * cols, shape,
                               dists[dist] };
    if (!bench_wanted(name)) return;
    std::vector<int64_t> offsets(rows + 1);
    for (size_t i = 0; i <= rows; i++) offsets[i] = (int64_t)(i * cols);
    bench<T>(dtype, kind, rows, rows * cols, offsets, shape, dist, cols >= 30000);
}

template <class T> static void power(ech_dtype dtype, enum kind kind, size_t n, double mean)
{
    char shape[64];
    snprintf(shape, sizeof shape, "power %g", mean);
    struct bench_name name = { kinds[kind], ech_dtype_name(dtype), n, shape, dists[0] };
    if (!bench_wanted(name)) return;
    std::vector<int64_t> offsets(1, 0);
    for (uint64_t i = 0; offsets.back() < (int64_t)n; i++) {
        const double u = (double)((random_at(i) >> 11) + 1) / 9007199254740992.0;
        const int64_t length = (int64_t)(mean * 0.3 * pow(u, -0.7) + 0.5);
        const int64_t end =
            offsets.back() + (length < (int64_t)(n / 8) ? length : (int64_t)(n / 8));
        offsets.push_back(end < (int64_t)n ? end : (int64_t)n);
    }
    bench<T>(dtype, kind, 0, n, offsets, shape, 0, false);
}

template <class T> static void half_tiny(ech_dtype dtype, enum kind kind, size_t n)
{
    struct bench_name name = { kinds[kind], ech_dtype_name(dtype), n, "half + tiny", dists[0] };
    if (!bench_wanted(name)) return;
    std::vector<int64_t> offsets(1, 0);
    for (uint64_t i = 0; offsets.back() < (int64_t)n; i++) {
        const int64_t length = i == 1000 ? (int64_t)n / 2 : (int64_t)(random_at(i) >> 61);
        const int64_t end = offsets.back() + length;
        offsets.push_back(end < (int64_t)n ? end : (int64_t)n);
    }
    bench<T>(dtype, kind, 0, n, offsets, "half + tiny", 0, false);
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    bench_open(
        argc, argv, "sort_segments",
        "arrays in device memory, caller-provided workspace; one read and one write of keys, "
        "one write of indices");
    const size_t shapes[][2] = { { 64 * M, 3 },    { 16 * M, 10 },   { 4 * M, 32 },
                                 { M, 100 },       { M / 2, 300 },   { 100000, 1000 },
                                 { 50000, 2000 },  { 32768, 4096 },  { 10000, 10000 },
                                 { 1024, 131072 }, { 100, 2000000 }, { 5, 40000000 } };
    for (const auto &s : shapes) rows<uint32_t>(ECH_U32, KEYS, s[0], s[1]);
    for (const auto &s : shapes) rows<uint64_t>(ECH_U64, KEYS, s[0] / 2, s[1]);
    for (const auto &s : shapes) rows<uint32_t>(ECH_U32, ARGSORT, s[0], s[1]);
    rows<float>(ECH_F32, PAIRS, 100000, 1000);
    rows<uint64_t>(ECH_U64, PAIRS, 100000, 1000);
    rows<uint8_t>(ECH_U8, KEYS, 100000, 1000);
    rows<uint16_t>(ECH_U16, KEYS, 100000, 1000);
    rows<uint16_t>(ECH_U16, ARGSORT, 100000, 1000);
    for (int d = 1; d < 4; d++) {
        rows<uint32_t>(ECH_U32, KEYS, 100000, 1000, d);
        rows<uint32_t>(ECH_U32, KEYS, 32768, 4096, d);
        rows<uint32_t>(ECH_U32, KEYS, 1024, 131072, d);
        rows<uint32_t>(ECH_U32, ARGSORT, 100000, 1000, d);
    }
    for (double mean : { 4.0, 64.0, 1024.0, 16384.0 }) {
        power<uint32_t>(ECH_U32, KEYS, 128 * M, mean);
        power<uint32_t>(ECH_U32, ARGSORT, 128 * M, mean);
        power<uint64_t>(ECH_U64, KEYS, 64 * M, mean);
    }
    for (enum kind kind : { KEYS, ARGSORT }) {
        half_tiny<uint32_t>(ECH_U32, kind, 64 * M);
        rows<uint32_t>(ECH_U32, kind, 1, 128 * M);
        rows<uint32_t>(ECH_U32, kind, 1000000, 3);
    }
    rows<uint32_t>(ECH_U32, KEYS, 1, 1000);
    rows<uint32_t>(ECH_U32, KEYS, 100, 100);
    rows<uint32_t>(ECH_U32, KEYS, 1000, 1000);
    return bench_close();
}
