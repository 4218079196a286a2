/*
 * gpu_topk.cu - measures top-k selections, compared with CUB on the same data in one run.
 *
 *     gpu_topk [--quick] [--only TEXT] [--csv FILE]
 *
 * The competitors are DeviceTopK and DeviceBatchedTopK of CUB 3.5, which write keys and 32-bit
 * positions in no order and may return any of equal elements; with older headers, CUB's sort of all
 * pairs in descending order ("cub-sort").  Echelon returns the elements in descending order, with
 * the lowest positions of equal elements; "unsorted" in the order of positions.  CUB knows k
 * and the length of the rows when it is compiled.  Rates count one read of the keys.  The results
 * are compared as sets of keys.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if __has_include(<cub/device/device_batched_topk.cuh>)
#include <cub/device/device_batched_topk.cuh>
#include <cub/device/device_topk.cuh>
#include <cuda/iterator>
#define HAS_TOPK 1
#else
#define HAS_TOPK 0
#endif
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <vector>

#include "gpu_common.cuh"

enum { MOST_COLS = 4096 };

static const char *const dists[] = { "uniform", "normal",   "16 values", "sorted",
                                     "equal",   "clusters", "reversed" };

template <class T> __global__ static void fill(T *in, size_t n, int dist)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint64_t x = random_at(i);
        const double u = (double)(x >> 11) * 0x1p-53, v = (double)(mix(x) >> 11) * 0x1p-53;
        double y = u;
        if (dist == 1) y = sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
        if (dist == 2) y = (double)(x % 16);
        if (dist == 3) y = (double)i;
        if (dist == 4) y = 1;
        if (dist == 5) y = (double)(x % 100) * 1e6 + u;
        if (dist == 6) y = -(double)i;
        in[i] = dist == 0 && (T)0.5 == (T)0 ? (T)x : (T)y;
    }
}

__global__ static void fill_positions(uint32_t *out, size_t n, size_t cols)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = (uint32_t)(i % cols);
}

__global__ static void fill_offsets(int64_t *out, size_t rows, size_t cols)
{
    for (size_t i = threadIdx.x; i <= rows; i += blockDim.x) out[i] = (int64_t)(i * cols);
}

/* Arrays of one row of the table. */
template <class T> struct arrays {
    T *in, *values[2], *sorted;
    uint32_t *indices[2], *positions, *sorted_positions;
    int64_t *offsets;
    void *work[2];
    size_t work_bytes[2];
};

/* The keys of the result, each group in descending order, on the host. */
template <class T> static std::vector<T> keys_of(const T *values, size_t rows, size_t k, size_t row)
{
    std::vector<T> all(rows * k);
    CUDA(cudaMemcpy2D(all.data(), k * sizeof(T), values, row * sizeof(T), k * sizeof(T), rows,
                      cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < rows; i++)
        std::sort(all.begin() + i * k, all.begin() + (i + 1) * k, [](T a, T b) { return a > b; });
    return all;
}

/* A sort of all pairs. */
template <class T> static void sort_call(struct arrays<T> &a, size_t rows, size_t cols, void *work)
{
    if (rows == 1)
        CUDA(cub::DeviceRadixSort::SortPairsDescending(work, a.work_bytes[1], a.in, a.sorted,
                                                       a.positions, a.sorted_positions, cols, 0,
                                                       8 * sizeof(T), stream));
    else
        CUDA(cub::DeviceSegmentedSort::SortPairsDescending(
            work, a.work_bytes[1], a.in, a.sorted, a.positions, a.sorted_positions, rows * cols,
            rows, a.offsets, a.offsets + 1, stream));
}

#if HAS_TOPK
namespace execution = cuda::execution;

template <class T> static void array_call(struct arrays<T> &a, size_t n, size_t k, void *work)
{
    const auto needs =
        execution::require(execution::determinism::not_guaranteed,
                           execution::tie_break::unspecified, execution::output_ordering::unsorted);
    const auto env = cuda::std::execution::env{ cuda::stream_ref{ stream }, needs };
    CUDA(cub::DeviceTopK::MaxPairs(work, a.work_bytes[1], a.in, a.values[1],
                                   cuda::counting_iterator<uint32_t>(0), a.indices[1], (int64_t)n,
                                   (int64_t)k, env));
}

template <class T, int COLS, int K>
static void rows_call(struct arrays<T> &a, size_t rows, void *work)
{
    const auto needs =
        execution::require(execution::determinism::not_guaranteed,
                           execution::tie_break::unspecified, execution::output_ordering::unsorted);
    const auto env = cuda::std::execution::env{ cuda::stream_ref{ stream }, needs };
    const auto in = cuda::make_strided_iterator(cuda::counting_iterator<T *>(a.in), COLS);
    const auto out = cuda::make_strided_iterator(cuda::counting_iterator<T *>(a.values[1]), K);
    const auto positions = cuda::constant_iterator<cuda::counting_iterator<uint32_t>>(
        cuda::counting_iterator<uint32_t>(0));
    const auto indices =
        cuda::make_strided_iterator(cuda::counting_iterator<uint32_t *>(a.indices[1]), K);
    CUDA(cub::DeviceBatchedTopK::MaxPairs(work, a.work_bytes[1], in, out, positions, indices,
                                          cuda::args::constant<COLS>{}, cuda::args::constant<K>{},
                                          (int64_t)rows, env));
}
#endif

/* COLS 0: one array of n elements.  CUB selects only from rows that fit in a block. */
template <class T, int COLS, int K>
static void rival_call(struct arrays<T> &a, size_t rows, size_t cols, size_t k, void *work)
{
    (void)k;
#if HAS_TOPK
    if constexpr (COLS == 0)
        array_call(a, cols, k, work);
    else if constexpr (COLS <= MOST_COLS)
        rows_call<T, COLS, K>(a, rows, work);
    else
#endif
        sort_call(a, rows, cols, work);
}

template <class T, int COLS, int K>
static void bench(ech_dtype dtype, size_t rows, size_t cols, size_t k, int dist, bool unsorted)
{
    char shape[96];
    snprintf(shape, sizeof shape, "%zu x %zu k=%zu", rows, cols, k);
    const size_t n = rows * cols;
    struct bench_name name = { unsorted ? "topk-unsorted" : "topk", ech_dtype_name(dtype), n, shape,
                               dists[dist] };
    if (!bench_wanted(name)) return;
    struct arrays<T> a = {
    };
    const bool sorts = !HAS_TOPK || COLS > MOST_COLS;
    ech_topk_options o = {};
    o.size = sizeof o;
    o.unsorted = unsorted;
    ECH(ech_topk_workspace("cuda", ECH_TOPK_CALL_ROWS, n, rows, k, dtype, &o, &o.work_bytes));
    CUDA(cudaMalloc(&a.in, n * sizeof(T)));
    for (int c = 0; c < 2; c++) {
        CUDA(cudaMalloc(&a.values[c], rows * k * sizeof(T)));
        CUDA(cudaMalloc(&a.indices[c], rows * k * 4));
    }
    if (sorts) {
        CUDA(cudaMalloc(&a.sorted, n * sizeof(T)));
        CUDA(cudaMalloc(&a.positions, n * 4));
        CUDA(cudaMalloc(&a.sorted_positions, n * 4));
        CUDA(cudaMalloc(&a.offsets, (rows + 1) * 8));
        fill_positions<<<1024, 256, 0, stream>>>(a.positions, n, cols);
        fill_offsets<<<1, 1024, 0, stream>>>(a.offsets, rows, cols);
    }
    CUDA(cudaMalloc(&a.work[0], o.work_bytes + 1));
    o.work = a.work[0];
    fill<<<1024, 256, 0, stream>>>(a.in, n, dist);
    rival_call<T, COLS, K>(a, rows, cols, k, NULL);
    CUDA(cudaMalloc(&a.work[1], a.work_bytes[1] + 1));
    bench_row(
        name, (double)n * sizeof(T), o.work_bytes,
        [&] {
            ECH(ech_topk_rows(ctx, a.in, a.values[0], a.indices[0], rows, cols, k, dtype, ECH_U32,
                              &o));
        },
        [&] { rival_call<T, COLS, K>(a, rows, cols, k, a.work[1]); },
        [&] {
            const size_t some = std::min(rows, (size_t)2000);
            return keys_of(a.values[0], some, k, k) ==
                   keys_of(sorts ? a.sorted : a.values[1], some, k, sorts ? cols : k);
        },
        sorts ? "cub-sort" : "cub");
    for (int c = 0; c < 2; c++) {
        CUDA(cudaFree(a.values[c]));
        CUDA(cudaFree(a.indices[c]));
        CUDA(cudaFree(a.work[c]));
    }
    CUDA(cudaFree(a.in));
    CUDA(cudaFree(a.sorted));
    CUDA(cudaFree(a.positions));
    CUDA(cudaFree(a.sorted_positions));
    CUDA(cudaFree(a.offsets));
}

static void arrays_of(void)
{
    static const size_t ks[] = { 10, 1000, 100000 };
    for (size_t k : ks)
        for (int dist = 0; dist < 7; dist++)
            bench<float, 0, 0>(ECH_F32, 1, 1 << 28, k, dist, false);
    for (size_t k : ks) {
        bench<float, 0, 0>(ECH_F32, 1, 1 << 28, k, 0, true);
        bench<int64_t, 0, 0>(ECH_I64, 1, 1 << 27, k, 0, false);
        bench<uint32_t, 0, 0>(ECH_U32, 1, 1 << 28, k, 0, false);
        bench<int8_t, 0, 0>(ECH_I8, 1, 1 << 28, k, 0, false);
        bench<float, 0, 0>(ECH_F32, 1, 1 << 24, k, 1, false);
        bench<float, 0, 0>(ECH_F32, 1, 1 << 20, k, 1, false);
    }
}

template <int COLS, int K> static void rows_of(size_t rows)
{
    bench<float, COLS, K>(ECH_F32, rows, COLS, K, 1, false);
    bench<float, COLS, K>(ECH_F32, rows, COLS, K, 1, true);
    if (K != 10 && K != 16) return;
    bench<float, COLS, K>(ECH_F32, rows, COLS, K, 4, false);
    bench<float, COLS, K>(ECH_F32, rows, COLS, K, 3, false);
    bench<int64_t, COLS, K>(ECH_I64, rows / 2 + 1, COLS, K, 0, false);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv, "topk");
    arrays_of();
    rows_of<3, 2>(1000000);
    rows_of<64, 8>(1 << 22);
    rows_of<64, 1>(1 << 22);
    rows_of<100, 10>(1000000);
    rows_of<256, 16>(1 << 20);
    rows_of<1000, 10>(100000);
    rows_of<1024, 16>(1 << 18);
    rows_of<1000, 100>(100000);
    rows_of<4096, 16>(1 << 16);
    rows_of<4096, 256>(1 << 16);
    rows_of<10000, 100>(10000);
    rows_of<16384, 1>(1 << 14);
    rows_of<32768, 64>(1 << 13);
    rows_of<131072, 16>(1 << 11);
    rows_of<131072, 2048>(1 << 11);
    rows_of<131072, 64>(16);
    return bench_close();
}
