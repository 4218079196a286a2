/*
 * gpu_quantile.cu - measures ech_nth_element(), ech_partition_at() and ech_quantiles(), compared
 * with sorts of CUB on the same data in one run.
 *
 *     gpu_quantile [--quick] [--only TEXT] [--algorithm NAME] [--csv FILE]
 *
 *     row         echelon                                    cub
 *     median      the element of rank n / 2                  SortKeys, then one element
 *     position    ... and its position                       SortPairs with positions
 *     partition   around rank n / 2, values                  SortKeys
 *     partition3  around 3 ranks, values and positions       SortPairs with positions
 *     partition7, partition14                                the same
 *     quantiles   5 quantiles, linear                        SortKeys, then interpolation
 *     quantiles16 16 quantiles                               the same
 *
 * Rates count one read of the keys, and one write of each output.  The elements of the ranks and
 * positions are compared exactly; each element of a partition with the elements of the ranks, and
 * with the input at its position.  Positions must ascend within a part.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_radix_sort.cuh>

#include "gpu_common.cuh"

enum {
    MEDIAN,
    POSITION,
    PARTITION,
    PARTITION3,
    PARTITION7,
    PARTITION14,
    QUANTILES,
    QUANTILES16,
    OPS
};
static const char *const ops[] = { "nth-median",     "nth-position",   "partition-at",
                                   "partition-at-3", "partition-at-7", "partition-at-14",
                                   "quantiles-5",    "quantiles-16" };
static const char *const dists[] = { "uniform", "1000 values", "power law", "sorted", "equal" };
enum { MOST = 16 };

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

/* The ranks of a row, ascending. */
static int ranks_of(int what, size_t n, uint64_t *ranks)
{
    const int count = what == PARTITION3    ? 3
                      : what == PARTITION7  ? 7
                      : what == PARTITION14 ? 14
                                            : 1;
    for (int i = 0; i < count; i++) ranks[i] = n * (uint64_t)(i + 1) / (uint64_t)(count + 1);
    return count;
}

static int quantiles_of(int what, double *q)
{
    const int count = what == QUANTILES16 ? 16 : 5;
    for (int i = 0; i < count; i++) q[i] = (i + 0.5) / count;
    return count;
}

/* Linear interpolation in sorted keys. */
template <class T>
__global__ static void interpolate(const T *sorted, double *out, size_t n, int count)
{
    const int i = (int)threadIdx.x;
    if (i >= count) return;
    const double q = (i + 0.5) / count, at = (double)(n - 1) * q, below = floor(at);
    const size_t rank = (size_t)below;
    const double a = (double)sorted[rank], b = (double)sorted[rank + 1 < n ? rank + 1 : rank];
    const double w = at - below, d = b - a;
    out[i] = w == 0 || a == b ? a : w < 0.5 ? a + d * w : b - d * (1 - w);
}

/* Counts the elements of each part of a partition that belong to another part. */
template <class T>
__global__ static void check_parts(const T *out, const T *sorted, const uint64_t *ranks, int count,
                                   size_t n, unsigned long long *wrong)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        for (int j = 0; j < count; j++)
            if (i < ranks[j]   ? out[i] > sorted[ranks[j]]
                : i > ranks[j] ? out[i] < sorted[ranks[j]]
                               : out[i] != sorted[ranks[j]])
                atomicAdd(wrong, 1ull);
}

/* Counts the elements that are not those at their position, and the positions that do not ascend
 * within a part. */
template <class T>
__global__ static void check_order(const T *in, const T *out, const uint32_t *index,
                                   const uint64_t *ranks, int count, size_t n,
                                   unsigned long long *wrong)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        bool edge = i == 0;
        for (int j = 0; j < count; j++) edge |= i == ranks[j] || i == ranks[j] + 1;
        if (index[i] >= n || in[index[i]] != out[i] || (!edge && index[i] <= index[i - 1]))
            atomicAdd(wrong, 1ull);
    }
}

template <class T> struct arrays {
    T *in, *sorted, *out;
    uint32_t *positions, *sorted_positions, *index;
    double *quantiles[2];
    uint64_t *ranks;
    void *work[2];
    size_t work_bytes[2];
};

static bool has_positions(int what)
{
    return what == POSITION || (what >= PARTITION3 && what <= PARTITION14);
}

template <class T> static void cub_call(struct arrays<T> &a, size_t n, int what, void *work)
{
    double q[MOST];
    if (has_positions(what))
        CUDA(cub::DeviceRadixSort::SortPairs(work, a.work_bytes[1], a.in, a.sorted, a.positions,
                                             a.sorted_positions, n, 0, 8 * sizeof(T), stream));
    else
        CUDA(cub::DeviceRadixSort::SortKeys(work, a.work_bytes[1], a.in, a.sorted, n, 0,
                                            8 * sizeof(T), stream));
    if (work && what >= QUANTILES)
        interpolate<<<1, 32, 0, stream>>>(a.sorted, a.quantiles[1], n, quantiles_of(what, q));
}

template <class T>
static void ours(struct arrays<T> &a, size_t n, ech_dtype dtype, int what,
                 const ech_quantile_options &o)
{
    uint64_t ranks[MOST];
    double q[MOST];
    const int count = what >= QUANTILES ? quantiles_of(what, q) : ranks_of(what, n, ranks);
    if (what <= POSITION)
        ECH(ech_nth_element(ctx, a.in, a.out, what == POSITION ? a.index : NULL, n, ranks[0], dtype,
                            ECH_U32, &o));
    else if (what <= PARTITION14)
        ECH(ech_partition_at(ctx, a.in, a.out, has_positions(what) ? a.index : NULL, n, ranks,
                             (size_t)count, dtype, ECH_U32, &o));
    else
        ECH(ech_quantiles(ctx, a.in, a.quantiles[0], q, n, (size_t)count, dtype,
                          ECH_QUANTILE_LINEAR, &o));
}

template <class T> static bool same(struct arrays<T> &a, size_t n, int what)
{
    uint64_t ranks[MOST];
    double q[MOST];
    if (what >= QUANTILES)
        return !differences(a.quantiles[0], a.quantiles[1], (size_t)quantiles_of(what, q) * 8);
    const int count = ranks_of(what, n, ranks);
    if (what <= POSITION)
        return !differences(a.out, a.sorted + ranks[0], sizeof(T)) &&
               (what == MEDIAN || !differences(a.index, a.sorted_positions + ranks[0], 4));
    unsigned long long *wrong, result;
    CUDA(cudaMalloc(&wrong, 8));
    CUDA(cudaMemsetAsync(wrong, 0, 8, stream));
    CUDA(cudaMemcpyAsync(a.ranks, ranks, sizeof ranks, cudaMemcpyHostToDevice, stream));
    check_parts<<<1024, 256, 0, stream>>>(a.out, a.sorted, a.ranks, count, n, wrong);
    if (has_positions(what))
        check_order<<<1024, 256, 0, stream>>>(a.in, a.out, a.index, a.ranks, count, n, wrong);
    CUDA(cudaMemcpyAsync(&result, wrong, 8, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(wrong));
    bool good = result == 0;
    for (int i = 0; i < count && has_positions(what); i++)
        good = good && !differences(a.index + ranks[i], a.sorted_positions + ranks[i], 4);
    return good;
}

template <class T> static void bench(ech_dtype dtype, size_t n, int what, int dist)
{
    struct bench_name name = { ops[what], ech_dtype_name(dtype), n, "whole", dists[dist] };
    uint64_t ranks[MOST];
    double q[MOST];
    if (!bench_wanted(name)) return;
    struct arrays<T> a = {
    };
    ech_quantile_options o = {};
    o.size = sizeof o;
    o.algorithm = algorithm;
    ECH(ech_quantile_workspace(
        "cuda",
        what <= POSITION      ? ECH_QUANTILE_CALL_NTH
        : what <= PARTITION14 ? ECH_QUANTILE_CALL_PARTITION
                              : ECH_QUANTILE_CALL_QUANTILES,
        n, (size_t)(what >= QUANTILES ? quantiles_of(what, q) : ranks_of(what, n, ranks)), dtype,
        &o, &o.work_bytes));
    CUDA(cudaMalloc(&a.in, n * sizeof(T)));
    CUDA(cudaMalloc(&a.sorted, n * sizeof(T)));
    CUDA(cudaMalloc(&a.out, n * sizeof(T)));
    CUDA(cudaMalloc(&a.positions, n * 4));
    CUDA(cudaMalloc(&a.sorted_positions, n * 4));
    CUDA(cudaMalloc(&a.index, n * 4));
    CUDA(cudaMalloc(&a.ranks, sizeof ranks));
    for (int c = 0; c < 2; c++) CUDA(cudaMalloc(&a.quantiles[c], MOST * 8));
    CUDA(cudaMalloc(&a.work[0], o.work_bytes));
    o.work = a.work[0];
    fill<<<1024, 256, 0, stream>>>(a.in, a.positions, n, dist);
    cub_call(a, n, what, NULL);
    CUDA(cudaMalloc(&a.work[1], a.work_bytes[1] + 1));
    double bytes = (double)n * sizeof(T);
    if (what >= PARTITION && what <= PARTITION14) bytes += (double)n * sizeof(T);
    if (what >= PARTITION3 && what <= PARTITION14) bytes += (double)n * 4;
    bench_row(
        name, bytes, o.work_bytes, [&] { ours(a, n, dtype, what, o); },
        [&] { cub_call(a, n, what, a.work[1]); }, [&] { return same(a, n, what); });
    void *all[] = { a.in,     a.sorted, a.out,          a.positions,    a.sorted_positions,
                    a.index,  a.ranks,  a.quantiles[0], a.quantiles[1], a.work[0],
                    a.work[1] };
    for (void *pointer : all) CUDA(cudaFree(pointer));
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20;
    bench_open(argc, argv, "quantile");
    for (int what = MEDIAN; what < OPS; what++) {
        for (int dist = 0; dist < 5; dist++) bench<uint32_t>(ECH_U32, 256 * M, what, dist);
        bench<float>(ECH_F32, 256 * M, what, 2);
        bench<int64_t>(ECH_I64, 128 * M, what, 0);
        bench<int64_t>(ECH_I64, 128 * M, what, 2);
        bench<uint16_t>(ECH_U16, 256 * M, what, 0);
        bench<uint8_t>(ECH_U8, 256 * M, what, 0);
        bench<uint32_t>(ECH_U32, 16 * M, what, 0);
        bench<uint32_t>(ECH_U32, M, what, 0);
        bench<uint32_t>(ECH_U32, 65536, what, 1);
        bench<uint8_t>(ECH_U8, M, what, 0);
        bench<uint16_t>(ECH_U16, M, what, 0);
        bench<uint32_t>(ECH_U32, 4 * M, what, 0);
        bench<int64_t>(ECH_I64, M, what, 0);
        bench<uint16_t>(ECH_U16, 65536, what, 0);
    }
    return bench_close();
}
