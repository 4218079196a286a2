/*
 * gpu_columns.cu - measures sorts by columns, compared with a chain of CUB's stable radix sorts on
 * the same data in one run.
 *
 *     gpu_columns [--quick] [--only TEXT] [--algorithm NAME] [--csv FILE]
 *
 * The competitor ("cub-chain") is what a chain of thrust::stable_sort_by_key() executes, without
 * its allocations: for each column, the last one first, a kernel reads the keys in the order of the
 * permutation, and DeviceRadixSort::SortPairs sorts (key, position).  A column with nulls takes a
 * second sort, by one bit.  Both write 32-bit positions, which must be identical.  Rates count one
 * read of the columns and one write of the positions.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_radix_sort.cuh>

#include "gpu_common.cuh"

enum { MOST_COLUMNS = 8 };

static const char *const dists[] = { "uniform", "1000 values", "4 values", "sorted" };

/* Elements that are no NaN and no -0. */
template <class T> __global__ static void fill(T *out, size_t n, int dist, int column)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint64_t x = mix(random_at(i) + 77 * column);
        const bool is_float = (T)0.5 != (T)0;
        if (dist == 1)
            out[i] = (T)(x % 1000);
        else if (dist == 2)
            out[i] = (T)(x % 4);
        else if (dist == 3)
            out[i] = (T)(i >> 10);
        else
            out[i] = is_float ? (T)((double)(x >> 11) * 0x1p-53 - 0.5) : (T)x;
    }
}

__global__ static void fill_bits(uint8_t *out, size_t bytes)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += step)
        out[i] = (uint8_t)(random_at(i) | random_at(i + bytes));
}

__global__ static void fill_positions(uint32_t *out, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = (uint32_t)i;
}

static __device__ inline bool valid_at(const uint8_t *validity, uint32_t i)
{
    return !validity || (validity[i / 8] >> i % 8 & 1);
}

template <class T>
__global__ static void gather(const T *data, const uint8_t *validity, const uint32_t *positions,
                              T *out, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = valid_at(validity, positions[i]) ? data[positions[i]] : (T)0;
}

__global__ static void gather_flags(const uint8_t *validity, const uint32_t *positions,
                                    uint8_t *out, size_t n, int nulls_first)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = valid_at(validity, positions[i]) == (nulls_first != 0);
}

struct table {
    size_t n, count;
    ech_sort_column column[MOST_COLUMNS];
    uint32_t *indices[2];     /* Echelon's, CUB's */
    uint32_t *result, *other; /* CUB's two buffers of positions */
    void *keys[2];
    void *work[2];
    size_t work_bytes[2];
};

/* Sorts the positions by keys[0]; with work NULL, raises work_bytes[1] to what the sort needs. */
template <class T> static void sort_keys(struct table &t, int bits, bool descending, bool measure)
{
    cub::DoubleBuffer<T> keys((T *)t.keys[0], (T *)t.keys[1]);
    cub::DoubleBuffer<uint32_t> positions(t.result, t.other);
    size_t bytes = measure ? 0 : t.work_bytes[1];
    void *work = measure ? NULL : t.work[1];
    if (descending)
        CUDA(cub::DeviceRadixSort::SortPairsDescending(work, bytes, keys, positions, t.n, 0, bits,
                                                       stream));
    else
        CUDA(cub::DeviceRadixSort::SortPairs(work, bytes, keys, positions, t.n, 0, bits, stream));
    if (measure && bytes > t.work_bytes[1]) t.work_bytes[1] = bytes;
    if (measure) return;
    t.result = positions.Current();
    t.other = positions.Alternate();
}

template <class T> static void sort_column(struct table &t, const ech_sort_column &c, bool measure)
{
    const unsigned blocks = (unsigned)((t.n + 255) / 256);
    if (!measure)
        gather<<<blocks, 256, 0, stream>>>((const T *)c.data, c.validity, t.result, (T *)t.keys[0],
                                           t.n);
    sort_keys<T>(t, 8 * sizeof(T), c.descending, measure);
    if (!c.validity) return;
    if (!measure)
        gather_flags<<<blocks, 256, 0, stream>>>(c.validity, t.result, (uint8_t *)t.keys[0], t.n,
                                                 c.nulls_first);
    sort_keys<uint8_t>(t, 1, false, measure);
}

static void chain(struct table &t, bool measure)
{
    if (!measure) fill_positions<<<1024, 256, 0, stream>>>(t.result, t.n);
    for (size_t i = t.count; i-- > 0;) {
        const ech_sort_column &c = t.column[i];
        if (c.dtype == ECH_U8) sort_column<uint8_t>(t, c, measure);
        if (c.dtype == ECH_I32) sort_column<int32_t>(t, c, measure);
        if (c.dtype == ECH_F32) sort_column<float>(t, c, measure);
        if (c.dtype == ECH_I64) sort_column<int64_t>(t, c, measure);
        if (c.dtype == ECH_F64) sort_column<double>(t, c, measure);
    }
}

/* ---- Tables ---- */

static void fill_column(const ech_sort_column &c, size_t n, int dist, int column)
{
    void *data = (void *)c.data;
    if (c.dtype == ECH_U8) fill<<<1024, 256, 0, stream>>>((uint8_t *)data, n, dist, column);
    if (c.dtype == ECH_I32) fill<<<1024, 256, 0, stream>>>((int32_t *)data, n, dist, column);
    if (c.dtype == ECH_F32) fill<<<1024, 256, 0, stream>>>((float *)data, n, dist, column);
    if (c.dtype == ECH_I64) fill<<<1024, 256, 0, stream>>>((int64_t *)data, n, dist, column);
    if (c.dtype == ECH_F64) fill<<<1024, 256, 0, stream>>>((double *)data, n, dist, column);
}

/* columns: a letter per column: b u8, i i32, f f32, l i64, d f64; then - descending, n nulls. */
static double make(struct table &t, const char *columns, int dist)
{
    static const char letters[] = "bifld";
    static const ech_dtype dtypes[] = { ECH_U8, ECH_I32, ECH_F32, ECH_I64, ECH_F64 };
    double bytes = 4.0 * (double)t.n;
    for (const char *at = columns; *at; t.count++) {
        ech_sort_column &c = t.column[t.count];
        void *data;
        c.size = sizeof c;
        c.dtype = dtypes[strchr(letters, *at++) - letters];
        CUDA(cudaMalloc(&data, t.n * ech_dtype_bytes(c.dtype)));
        c.data = data;
        bytes += (double)(t.n * ech_dtype_bytes(c.dtype));
        for (; *at == '-' || *at == 'n'; at++) {
            if (*at == '-') {
                c.descending = 1;
            } else {
                uint8_t *bits;
                CUDA(cudaMalloc(&bits, t.n / 8 + 1));
                fill_bits<<<1024, 256, 0, stream>>>(bits, t.n / 8 + 1);
                c.validity = bits;
                bytes += (double)t.n / 8;
            }
        }
        fill_column(c, t.n, dist, (int)t.count);
    }
    return bytes;
}

static void free_columns(struct table &t)
{
    for (size_t i = 0; i < t.count; i++) {
        CUDA(cudaFree((void *)t.column[i].data));
        CUDA(cudaFree((void *)t.column[i].validity));
    }
}

static void bench(const char *columns, size_t n, int dist)
{
    struct table t = {};
    struct bench_name name = { "argsort-columns", columns, n, "index=u32", dists[dist] };
    if (!bench_wanted(name)) return;
    ech_columns_options o = {};
    o.size = sizeof o;
    t.n = n;
    const double bytes = make(t, columns, dist);
    o.algorithm = algorithm;
    if (ech_argsort_columns_workspace("cuda", t.column, n, t.count, ECH_U32, &o, &o.work_bytes) !=
            ECH_OK &&
        algorithm) { /* it cannot sort these rows */
        free_columns(t);
        return;
    }
    ECH(ech_argsort_columns_workspace("cuda", t.column, n, t.count, ECH_U32, &o, &o.work_bytes));
    for (int i = 0; i < 2; i++) {
        CUDA(cudaMalloc(&t.indices[i], 4 * n));
        CUDA(cudaMalloc(&t.keys[i], 8 * n));
    }
    t.result = t.indices[1];
    CUDA(cudaMalloc(&t.other, 4 * n));
    CUDA(cudaMalloc(&o.work, o.work_bytes + 1));
    chain(t, true);
    CUDA(cudaMalloc(&t.work[1], t.work_bytes[1] + 1));
    bench_row(
        name, bytes, o.work_bytes,
        [&] { ECH(ech_argsort_columns(ctx, t.column, t.indices[0], n, t.count, ECH_U32, &o)); },
        [&] { chain(t, false); }, [&] { return differences(t.indices[0], t.result, 4 * n) == 0; },
        "cub-chain");
    free_columns(t);
    for (int i = 0; i < 2; i++) CUDA(cudaFree(t.keys[i]));
    CUDA(cudaFree(t.indices[0]));
    CUDA(cudaFree(t.result));
    CUDA(cudaFree(t.other));
    CUDA(cudaFree(o.work));
    CUDA(cudaFree(t.work[1]));
}

int main(int argc, char **argv)
{
    static const char *const tables[] = { "bb", "bi",  "if",   "ibb",  "inf-n",    "if-i", "fl-",
                                          "ll", "lln", "ibd-", "dldl", "iiiiiiii", "i",    "ln" };
    static const size_t sizes[] = { 1000, 2048, 4096, 10000, 1 << 20, 1 << 26 };
    bench_open(argc, argv, "columns");
    for (const char *columns : tables)
        for (size_t n : sizes)
            for (int dist = 0; dist < 4; dist++)
                if (dist == 0 || n == 1 << 26) bench(columns, n, dist);
    return bench_close();
}
