/*
 * gpu_cub.cu - competitor of the grid: CUB, and Thrust for searches and gathers, for the dtype
 * GRID_DTYPE.  The build compiles this file once per dtype.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include "gpu.h"

#include <type_traits>

template <int dtype> struct type_of;
template <> struct type_of<ECH_I8> {
    using type = int8_t;
};
template <> struct type_of<ECH_I16> {
    using type = int16_t;
};
template <> struct type_of<ECH_I32> {
    using type = int32_t;
};
template <> struct type_of<ECH_I64> {
    using type = int64_t;
};
template <> struct type_of<ECH_U8> {
    using type = uint8_t;
};
template <> struct type_of<ECH_U16> {
    using type = uint16_t;
};
template <> struct type_of<ECH_U32> {
    using type = uint32_t;
};
template <> struct type_of<ECH_U64> {
    using type = uint64_t;
};
template <> struct type_of<ECH_F16> {
    using type = __half;
};
template <> struct type_of<ECH_BF16> {
    using type = __nv_bfloat16;
};
template <> struct type_of<ECH_F32> {
    using type = float;
};
template <> struct type_of<ECH_F64> {
    using type = double;
};
using T = type_of<GRID_DTYPE>::type;

constexpr bool short_float = GRID_DTYPE == ECH_F16 || GRID_DTYPE == ECH_BF16;
constexpr bool integer = GRID_DTYPE < ECH_F16;
/* The type of sums: that of Echelon. */
using S = std::conditional_t<
    short_float, float,
    std::conditional_t<!integer, T, std::conditional_t<GRID_DTYPE <= ECH_I64, int64_t, uint64_t>>>;

struct below {
    T value;
    __host__ __device__ bool operator()(const T &x) const
    {
        return x < value;
    }
};
struct less {
    __host__ __device__ bool operator()(const T &x, const T &y) const
    {
        return x < y;
    }
};
struct row_begin {
    uint64_t cols;
    __host__ __device__ int operator()(int row) const
    {
        return (int)(row * cols);
    }
};
struct moments {
    double sum, squares;
};
struct add_moments {
    __host__ __device__ moments operator()(const moments &a, const moments &b) const
    {
        return { a.sum + b.sum, a.squares + b.squares };
    }
};
struct moments_of {
    __host__ __device__ moments operator()(const T &x) const
    {
        const double v = (double)(float)x;
        return { v, v * v };
    }
};
struct variance_of {
    double n;
    __host__ __device__ float operator()(const moments &m) const
    {
        return (float)((m.squares - m.sum * m.sum / n) / n);
    }
};

static T *in(const grid_case *c)
{
    return (T *)c->in;
}
static T *out(const grid_case *c)
{
    return (T *)c->out[1];
}

template <class V> static __global__ void iota(V *values, uint64_t n)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        values[i] = (V)i;
}

template <class V>
static cudaError_t pairs(const grid_case *c, void *work, size_t &bytes, T *keys, const V *values,
                         V *to)
{
    return cub::DeviceRadixSort::SortPairs(work, bytes, in(c), keys, values, to, (int64_t)c->row.n,
                                           0, 8 * (int)sizeof(T), grid_gpu_stream);
}

template <class V> static cudaError_t argsort(const grid_case *c, void *work, size_t &bytes)
{
    const uint64_t n = c->row.n;
    T *keys = (T *)grid_scratch(SCRATCH_KEYS, n * sizeof(T));
    V *values = (V *)grid_scratch(SCRATCH_VALUES, n * sizeof(V));
    const uint64_t blocks = n / 1024 + 1;
    if (work)
        iota<<<(unsigned)(blocks < 1056 ? blocks : 1056), 256, 0, grid_gpu_stream>>>(values, n);
    return pairs<V>(c, work, bytes, keys, values, (V *)c->out[1]);
}

static cudaError_t keys(const grid_case *c, void *work, size_t &bytes, T *to)
{
    return cub::DeviceRadixSort::SortKeys(work, bytes, in(c), to, (int64_t)c->row.n, 0,
                                          8 * (int)sizeof(T), grid_gpu_stream);
}

/* A sort of all keys, then the selection of an element, of the largest ones, or of distinct ones.
 * */
static cudaError_t sorted(const grid_case *c, void *work, size_t &bytes)
{
    const uint64_t n = c->row.n;
    T *all = (T *)grid_scratch(SCRATCH_KEYS, n * sizeof(T));
    cudaError_t error;
    if (c->row.op == GRID_TOPK)
        error = cub::DeviceRadixSort::SortKeysDescending(work, bytes, in(c), all, (int64_t)n, 0,
                                                         8 * (int)sizeof(T), grid_gpu_stream);
    else
        error = keys(c, work, bytes, all);
    if (error) return error;
    if (c->row.op == GRID_DISTINCT) {
        size_t more = bytes;
        error = cub::DeviceSelect::Unique(work, more, all, out(c), c->count[1], (int64_t)n,
                                          grid_gpu_stream);
        if (!work && more > bytes) bytes = more;
        return error;
    }
    if (!work) return cudaSuccess;
    const bool top = c->row.op == GRID_TOPK;
    return cudaMemcpyAsync(out(c), top ? all : all + n / 2, (top ? c->row.param : 1) * sizeof(T),
                           cudaMemcpyDeviceToDevice, grid_gpu_stream);
}

static cudaError_t groups(const grid_case *c, void *work, size_t &bytes)
{
    const int segments = (int)c->n_aux;
    const int *offsets = (const int *)c->aux;
    const auto rows =
        thrust::make_transform_iterator(thrust::make_counting_iterator(0), row_begin{ c->cols });
    switch (c->row.op) {
    case GRID_SORT_ROWS:
        return cub::DeviceSegmentedSort::SortKeys(work, bytes, in(c), out(c), (int64_t)c->row.n,
                                                  segments, rows, rows + 1, grid_gpu_stream);
    case GRID_SORT_SEGMENTS:
        return cub::DeviceSegmentedSort::SortKeys(work, bytes, in(c), out(c), (int64_t)c->row.n,
                                                  segments, offsets, offsets + 1, grid_gpu_stream);
    case GRID_REDUCE_ROWS:
        return cub::DeviceSegmentedReduce::Reduce(work, bytes, in(c), (S *)c->out[1], segments,
                                                  rows, rows + 1, cuda::std::plus<S>{}, S(0),
                                                  grid_gpu_stream);
    default:
        return cub::DeviceSegmentedReduce::Reduce(work, bytes, in(c), (S *)c->out[1], segments,
                                                  offsets, offsets + 1, cuda::std::plus<S>{}, S(0),
                                                  grid_gpu_stream);
    }
}

static cudaError_t reductions(const grid_case *c, void *work, size_t &bytes)
{
    const int64_t n = (int64_t)c->row.n;
    switch (c->row.op) {
    case GRID_SUM:
        return cub::DeviceReduce::Reduce(work, bytes, in(c), (S *)c->out[1], n,
                                         cuda::std::plus<S>{}, S(0), grid_gpu_stream);
    case GRID_MIN:
        return cub::DeviceReduce::Min(work, bytes, in(c), out(c), n, grid_gpu_stream);
    case GRID_VARIANCE:
        if constexpr (integer || GRID_DTYPE == ECH_F64)
            return cudaErrorNotSupported;
        else
            return cub::DeviceReduce::Reduce(work, bytes,
                                             thrust::make_transform_iterator(in(c), moments_of{}),
                                             thrust::make_transform_output_iterator(
                                                 (float *)c->out[1], variance_of{ (double)n }),
                                             n, add_moments{}, moments{ 0, 0 }, grid_gpu_stream);
    default: /* GRID_SCAN */
        if constexpr (short_float)
            return cudaErrorNotSupported;
        else
            return cub::DeviceScan::InclusiveSum(work, bytes, in(c), out(c), n, grid_gpu_stream);
    }
}

static cudaError_t counts(const grid_case *c, void *work, size_t &bytes)
{
    unsigned long long *counters = (unsigned long long *)c->out[1];
    const int64_t n = (int64_t)c->row.n;
    if constexpr (integer) {
        using level = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
        return cub::DeviceHistogram::HistogramEven(work, bytes, in(c), counters, c->row.param + 1,
                                                   level(0), level(c->row.param), n,
                                                   grid_gpu_stream);
    } else if constexpr (!short_float) {
        return cub::DeviceHistogram::HistogramEven(work, bytes, in(c), counters, c->row.param + 1,
                                                   T(c->range[0]), T(c->range[1]), n,
                                                   grid_gpu_stream);
    } else {
        return cudaErrorNotSupported;
    }
}

static cudaError_t selections(const grid_case *c, void *work, size_t &bytes)
{
    const int64_t n = (int64_t)c->row.n;
    const uint8_t *flags = (const uint8_t *)c->aux;
    below test;
    memcpy(&test.value, c->value, sizeof(T));
    switch (c->row.op) {
    case GRID_SELECT:
        return cub::DeviceSelect::If(work, bytes, in(c), out(c), c->count[1], n, test,
                                     grid_gpu_stream);
    case GRID_COMPACT:
        return cub::DeviceSelect::Flagged(work, bytes, in(c), flags, out(c), c->count[1], n,
                                          grid_gpu_stream);
    case GRID_PARTITION:
        return cub::DevicePartition::Flagged(work, bytes, in(c), flags, out(c), c->count[1], n,
                                             grid_gpu_stream);
    case GRID_UNIQUE:
        return cub::DeviceSelect::Unique(work, bytes, in(c), out(c), c->count[1], n,
                                         grid_gpu_stream);
    default: /* GRID_ENCODE */
        if (n > INT32_MAX) return cudaErrorNotSupported;
        return cub::DeviceRunLengthEncode::Encode(work, bytes, in(c), out(c),
                                                  (uint64_t *)c->out2[1], c->count[1], (int)n,
                                                  grid_gpu_stream);
    }
}

static cudaError_t thrust_calls(const grid_case *c, void *work, size_t &bytes)
{
    const uint64_t n = c->row.n;
    const auto policy = thrust::cuda::par_nosync.on(grid_gpu_stream);
    bytes = 1;
    if (!work) return cudaSuccess;
    if (c->row.op == GRID_SEARCH) {
        const T *needles = (const T *)c->aux;
        thrust::lower_bound(policy, in(c), in(c) + n, needles, needles + n, (int64_t *)c->out[1],
                            less{});
    } else {
        const int64_t *places = (const int64_t *)c->aux;
        thrust::gather(policy, places, places + n, in(c), out(c));
    }
    return cudaSuccess;
}

/* With work == NULL, returns the bytes that the call needs. */
static cudaError_t call(const grid_case *c, void *work, size_t &bytes)
{
    const uint64_t n = c->row.n;
    switch (c->row.op) {
    case GRID_SORT:
        return keys(c, work, bytes, out(c));
    case GRID_PAIRS:
        if (c->row.param == 4)
            return pairs(c, work, bytes, out(c), (const uint32_t *)c->aux, (uint32_t *)c->out2[1]);
        if (c->row.param == 8)
            return pairs(c, work, bytes, out(c), (const uint64_t *)c->aux, (uint64_t *)c->out2[1]);
        return pairs(c, work, bytes, out(c), (const uint4 *)c->aux, (uint4 *)c->out2[1]);
    case GRID_ARGSORT:
        return c->row.param == 4 ? argsort<uint32_t>(c, work, bytes)
                                 : argsort<uint64_t>(c, work, bytes);
    case GRID_TOPK:
    case GRID_MEDIAN:
    case GRID_DISTINCT:
        return sorted(c, work, bytes);
    case GRID_SORT_ROWS:
    case GRID_SORT_SEGMENTS:
        return groups(c, work, bytes);
    case GRID_REDUCE_ROWS:
    case GRID_REDUCE_SEGMENTS:
        return short_float ? cudaErrorNotSupported : groups(c, work, bytes);
    case GRID_SUM:
    case GRID_MIN:
    case GRID_VARIANCE:
    case GRID_SCAN:
        return reductions(c, work, bytes);
    case GRID_BINCOUNT:
    case GRID_HISTOGRAM:
        return counts(c, work, bytes);
    case GRID_SELECT:
    case GRID_COMPACT:
    case GRID_PARTITION:
    case GRID_UNIQUE:
    case GRID_ENCODE:
        return selections(c, work, bytes);
    case GRID_MERGE:
        return cub::DeviceMerge::MergeKeys(work, bytes, in(c), (int64_t)(n / 2), in(c) + n / 2,
                                           (int64_t)(n - n / 2), out(c), less{}, grid_gpu_stream);
    case GRID_SEARCH:
    case GRID_GATHER:
        return thrust_calls(c, work, bytes);
    default:
        return cudaErrorNotSupported;
    }
}

#define JOIN(a, b) a##b
#define NAME(n)    JOIN(grid_cub_, n)

extern "C" int NAME(GRID_DTYPE)(struct grid_case *c)
{
    static size_t bytes;
    static void *work;
    if (grid_first_call(0)) {
        bytes = 0;
        work = NULL;
        if (call(c, NULL, bytes) != cudaSuccess) {
            cudaGetLastError(); /* clears the error */
            return 0;
        }
        work = grid_scratch(SCRATCH_WORK, bytes ? bytes : 1);
    }
    if (!work) return 0;
    CUDA(call(c, work, bytes));
    return 1;
}
