/*
 * gpu_histogram.cu - measures histograms on the GPU, compared with CUB on the same data in one run.
 *
 *     gpu_histogram [--quick] [--only TEXT] [--csv FILE]
 *
 * CUB counts in 32 bits, Echelon in 64; all counts are compared.  Floats are multiples of 2^-20, so
 * rounding cannot change their bins.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_histogram.cuh>

#include "gpu_common.cuh"

enum dist { UNIFORM, CONSTANT, FEW16, ZIPF, SORTED };
static const char *const dist_names[] = { "uniform", "constant", "few16", "zipf", "sorted" };
enum { MOST_CHANNELS = 4 };

/* Integers below `values`; floats are such integers times 2^-20. */
template <class T> __global__ void fill(T *in, size_t n, uint64_t values, int dist)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        uint64_t r = random_at(i), v = r % values;
        double u = (double)(r >> 11) * 0x1p-53;
        if (dist == CONSTANT) v = values / 3;
        if (dist == FEW16) v = mix(r % 16) % values;
        if (dist == ZIPF) v = (uint64_t)exp2(u * log2((double)values)) - 1;
        if (dist == SORTED) v = (uint64_t)((double)i / (double)n * (double)values);
        in[i] = (T)0.5 == (T)0 ? (T)v : (T)((double)v * 0x1p-20);
    }
}

static __global__ void widen(const unsigned *from, uint64_t *to, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

template <class T> static ech_dtype dtype_of();
template <> ech_dtype dtype_of<uint8_t>()
{
    return ECH_U8;
}
template <> ech_dtype dtype_of<uint16_t>()
{
    return ECH_U16;
}
template <> ech_dtype dtype_of<uint32_t>()
{
    return ECH_U32;
}
template <> ech_dtype dtype_of<float>()
{
    return ECH_F32;
}

enum kind { COUNT, EVEN, EDGES };

template <class T> struct job {
    enum kind kind;
    size_t n, bins, channels;
    T *in, *edges;
    uint64_t *counts, *wide;
    unsigned *rival;
    void *work, *rival_work;
    size_t work_bytes, rival_bytes;
    T upper; /* for even bins */
};

template <class T> static void run_echelon(const struct job<T> &j)
{
    ech_histogram_options o = {};
    o.size = sizeof o;
    o.channels = (int)j.channels;
    o.work = j.work;
    o.work_bytes = j.work_bytes;
    if (j.kind == COUNT)
        ECH(ech_bincount(ctx, j.in, j.counts, j.n, dtype_of<T>(), j.bins, &o));
    else if (j.kind == EVEN)
        ECH(ech_histogram(ctx, j.in, j.counts, j.n, dtype_of<T>(), j.bins, 0, (double)j.upper, &o));
    else
        ECH(ech_histogram_edges(ctx, j.in, j.edges, j.counts, j.n, dtype_of<T>(), j.bins, &o));
}

/* The type of CUB's levels must hold the upper end: int for integers. */
template <class Level, class T> static void run_cub(struct job<T> &j)
{
    const int levels = (int)j.bins + 1;
    if (j.channels == 3) {
        unsigned *counts[3] = { j.rival, j.rival + j.bins, j.rival + 2 * j.bins };
        int all[3] = { levels, levels, levels };
        Level lower[3] = { 0, 0, 0 }, upper[3] = { (Level)j.upper, (Level)j.upper, (Level)j.upper };
        if (j.kind == COUNT)
            for (int c = 0; c < 3; c++) upper[c] = (Level)j.bins;
        CUDA((cub::DeviceHistogram::MultiHistogramEven<3, 3>(
            j.rival_work, j.rival_bytes, j.in, counts, all, lower, upper, (int)(j.n / 3), stream)));
    } else if (j.kind == EDGES) {
        CUDA(cub::DeviceHistogram::HistogramRange(j.rival_work, j.rival_bytes, j.in, j.rival,
                                                  levels, j.edges, (int)j.n, stream));
    } else {
        Level upper = j.kind == COUNT ? (Level)j.bins : (Level)j.upper;
        CUDA(cub::DeviceHistogram::HistogramEven(j.rival_work, j.rival_bytes, j.in, j.rival, levels,
                                                 (Level)0, upper, (int)j.n, stream));
    }
}

template <class T, class Level>
static void bench(enum kind kind, const char *type, size_t n, size_t bins, size_t channels,
                  enum dist dist)
{
    static const char *const kinds[] = { "bincount", "histogram", "histogram_edges" };
    char shape[48];
    snprintf(shape, sizeof shape, channels > 1 ? "bins=%zu/c=%zu" : "bins=%zu", bins, channels);
    n -= n % channels;
    struct bench_name name = { kinds[kind], type, n, shape, dist_names[dist] };
    if (!bench_wanted(name)) return;

    struct job<T> j = {
    };
    j.kind = kind;
    j.n = n;
    j.bins = bins;
    j.channels = channels;
    j.upper = (T)1;
    const size_t counters = bins * channels;
    CUDA(cudaMalloc(&j.in, n * sizeof(T)));
    fill<T><<<1024, 256, 0, stream>>>(j.in, n, kind == COUNT ? bins : (uint64_t)1 << 20, dist);
    CUDA(cudaMalloc(&j.counts, counters * 8));
    CUDA(cudaMalloc(&j.wide, counters * 8));
    CUDA(cudaMalloc(&j.rival, counters * 4));
    CUDA(cudaMalloc(&j.edges, (bins + 1) * sizeof(T)));
    T *edges = (T *)malloc((bins + 1) * sizeof(T));
    for (size_t b = 0; b <= bins; b++)
        edges[b] = (T)(((double)b + 0.25 * (double)(b % 3)) / (double)(bins + 1));
    CUDA(cudaMemcpy(j.edges, edges, (bins + 1) * sizeof(T), cudaMemcpyHostToDevice));
    free(edges);
    ech_histogram_options o = {};
    o.size = sizeof o;
    ECH(ech_histogram_workspace("cuda", n, dtype_of<T>(), counters, &o, &j.work_bytes));
    if (j.work_bytes) CUDA(cudaMalloc(&j.work, j.work_bytes));
    run_cub<Level>(j); /* queries its workspace */
    CUDA(cudaMalloc(&j.rival_work, j.rival_bytes));
    bench_row(
        name, (double)(n * sizeof(T)), j.work_bytes, [&] { run_echelon(j); },
        [&] { run_cub<Level>(j); },
        [&] {
            widen<<<256, 256, 0, stream>>>(j.rival, j.wide, counters);
            return differences(j.counts, j.wide, counters * 8) == 0;
        });
    CUDA(cudaFree(j.in));
    CUDA(cudaFree(j.counts));
    CUDA(cudaFree(j.wide));
    CUDA(cudaFree(j.rival));
    CUDA(cudaFree(j.edges));
    CUDA(cudaFree(j.work));
    CUDA(cudaFree(j.rival_work));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    const enum dist bytes[] = { UNIFORM, CONSTANT, FEW16 }, words[] = { UNIFORM, CONSTANT, ZIPF };
    bench_open(argc, argv, "histogram");
    for (int d = 0; d < 3; d++) bench<uint8_t, int>(COUNT, "u8", 1024 * M, 256, 1, bytes[d]);
    for (int d = 0; d < 3; d++) bench<uint8_t, int>(COUNT, "u8", 512 * M, 256, 3, bytes[d]);
    for (int d = 0; d < 3; d++) bench<uint16_t, int>(COUNT, "u16", 512 * M, 65536, 1, words[d]);
    const size_t bins[] = { 256, 2048, 16384, 65536, M };
    for (int b = 0; b < 5; b++)
        for (int d = 0; d < 3; d++)
            bench<uint32_t, unsigned>(COUNT, "u32", 256 * M, bins[b], 1, words[d]);
    bench<uint32_t, unsigned>(COUNT, "u32", 256 * M, M, 1, SORTED);
    for (int d = 0; d < 3; d++) bench<float, float>(EVEN, "f32", 256 * M, 256, 1, words[d]);
    for (int d = 0; d < 3; d++) bench<float, float>(EDGES, "f32", 256 * M, 1000, 1, words[d]);
    const size_t small[] = { 1000, 16384, 65536, M, 16 * M };
    for (int i = 0; i < 5; i++) {
        bench<uint8_t, int>(COUNT, "u8", small[i], 256, 1, UNIFORM);
        bench<uint32_t, unsigned>(COUNT, "u32", small[i], 256, 1, UNIFORM);
        bench<uint32_t, unsigned>(COUNT, "u32", small[i], 65536, 1, UNIFORM);
    }
    return bench_close();
}
