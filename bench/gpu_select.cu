/*
 * gpu_select.cu - measures selections on the GPU, compared with CUB on the same data in one run.
 *
 *     gpu_select [--quick] [--only TEXT] [--csv FILE]
 *
 * The outputs are compared byte by byte.  CUB's partition reverses the rejected elements; they are
 * reversed back first.  CUB has no run-length decoding of an array; it is compared with a copy of
 * the output.
 *
 * C++ because of CUB; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "gpu_common.cuh"

/* Random; 16 random values; runs of the given mean length. */
enum dist { UNIFORM = 0, FEW16 = 16, RUNS10 = 10, RUNS1000 = 1000 };

static const char *dist_name(int dist)
{
    return dist == UNIFORM  ? "uniform"
           : dist == FEW16  ? "few16"
           : dist == RUNS10 ? "runs10"
                            : "runs1000";
}

/* Unsigned integers, uniform over all values; floats in [0, 1]. */
template <class T> __host__ __device__ static T value_of(uint64_t r)
{
    return (T)0.5 == (T)0 ? (T)(r >> (64 - 8 * sizeof(T))) : (T)((double)(r >> 11) * 0x1p-53);
}

template <class T> __global__ void fill(T *in, size_t n, int dist)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        uint64_t r = random_at(i), pair = i / (2 * dist + (dist == 0));
        if (dist == FEW16) r = mix(r % 16 + 1);
        if (dist == RUNS10 || dist == RUNS1000) /* random boundary of two runs */
            r = mix(2 * pair + (i % (2 * dist) > random_at(pair) % (2 * dist)) + 1);
        in[i] = value_of<T>(r);
    }
}

static __global__ void fill_flags(uint8_t *flags, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        flags[i] = random_at(i + n) >> 63;
}

template <class T> __global__ void reverse(T *to, const T *from, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        to[i] = from[n - 1 - i];
}

template <class T> struct less_than {
    T value;
    __host__ __device__ bool operator()(const T &x) const
    {
        return x < value;
    }
};

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
template <> ech_dtype dtype_of<uint64_t>()
{
    return ECH_U64;
}
template <> ech_dtype dtype_of<double>()
{
    return ECH_F64;
}

enum op { IF, FLAGS, PARTITION, PARTITION_FLAGS, UNIQUE, UNIQUE_BY_KEY, ENCODE, DECODE };
static const char *const op_names[] = { "select_if",       "select_flags", "partition_if",
                                        "partition_flags", "unique",       "unique_by_key",
                                        "encode_runs",     "decode_runs" };

template <class T> struct job {
    enum op op;
    size_t n;
    T value, *in, *out[2];
    uint8_t *flags;
    uint32_t *values, *values_out[2];
    uint64_t *lengths[2], *count[2], kept;
    void *work, *rival_work;
    size_t work_bytes, rival_bytes;
};

template <class T> static void run_echelon(const struct job<T> &j)
{
    ech_select_options o = {};
    o.size = sizeof o;
    o.work = j.work;
    o.work_bytes = j.work_bytes;
    const ech_dtype dtype = dtype_of<T>();
    switch (j.op) {
    case IF:
        ECH(ech_select_if(ctx, ECH_COMPARE_LESS, j.in, j.out[0], j.count[0], j.n, dtype, &j.value,
                          &o));
        break;
    case FLAGS:
        ECH(ech_select_flags(ctx, j.in, j.flags, j.out[0], j.count[0], j.n, sizeof(T), &o));
        break;
    case PARTITION:
        ECH(ech_partition_if(ctx, ECH_COMPARE_LESS, j.in, j.out[0], j.count[0], j.n, dtype,
                             &j.value, &o));
        break;
    case PARTITION_FLAGS:
        ECH(ech_partition_flags(ctx, j.in, j.flags, j.out[0], j.count[0], j.n, sizeof(T), &o));
        break;
    case UNIQUE:
        ECH(ech_unique(ctx, j.in, j.out[0], j.count[0], j.n, dtype, &o));
        break;
    case UNIQUE_BY_KEY:
        ECH(ech_unique_by_key(ctx, j.in, j.values, j.out[0], j.values_out[0], j.count[0], j.n,
                              dtype, 4, &o));
        break;
    case ENCODE:
        ECH(ech_rle_encode(ctx, j.in, j.out[0], j.lengths[0], j.count[0], j.n, dtype, &o));
        break;
    case DECODE: /* decodes the output of ENCODE */
        ECH(ech_rle_decode(ctx, j.out[1], j.lengths[1], j.out[0], j.kept, j.n, sizeof(T), &o));
        break;
    }
}

template <class T> static void run_rival(struct job<T> &j)
{
    const int64_t n = (int64_t)j.n;
    const less_than<T> test = { j.value };
    void *work = j.rival_work;
    size_t &bytes = j.rival_bytes;
    switch (j.op) {
    case IF:
        CUDA(cub::DeviceSelect::If(work, bytes, j.in, j.out[1], j.count[1], n, test, stream));
        break;
    case FLAGS:
        CUDA(cub::DeviceSelect::Flagged(work, bytes, j.in, j.flags, j.out[1], j.count[1], n,
                                        stream));
        break;
    case PARTITION:
        CUDA(cub::DevicePartition::If(work, bytes, j.in, j.out[1], j.count[1], n, test, stream));
        break;
    case PARTITION_FLAGS:
        CUDA(cub::DevicePartition::Flagged(work, bytes, j.in, j.flags, j.out[1], j.count[1], n,
                                           stream));
        break;
    case UNIQUE:
        CUDA(cub::DeviceSelect::Unique(work, bytes, j.in, j.out[1], j.count[1], n, stream));
        break;
    case UNIQUE_BY_KEY:
        CUDA(cub::DeviceSelect::UniqueByKey(work, bytes, j.in, j.values, j.out[1], j.values_out[1],
                                            j.count[1], n, stream));
        break;
    case ENCODE:
        CUDA(cub::DeviceRunLengthEncode::Encode(work, bytes, j.in, j.out[1], j.lengths[1],
                                                j.count[1], (int)n, stream));
        break;
    case DECODE: /* the memory bandwidth */
        if (!work)
            bytes = 1;
        else
            CUDA(cudaMemcpyAsync(j.values, j.in, n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
        break;
    }
}

/* Whether the outputs are equal: count, elements, and values or lengths. */
template <class T> static bool same(const struct job<T> &j)
{
    if (j.op == DECODE) return differences(j.out[0], j.in, j.n * sizeof(T)) == 0;
    unsigned long long bad = differences(j.count[0], j.count[1], 8);
    bad += differences(j.out[0], j.out[1], j.kept * sizeof(T));
    if (j.op == UNIQUE_BY_KEY) bad += differences(j.values_out[0], j.values_out[1], j.kept * 4);
    if (j.op == ENCODE) bad += differences(j.lengths[0], j.lengths[1], j.kept * 8);
    if (j.op == PARTITION || j.op == PARTITION_FLAGS) {
        size_t rest = j.n - j.kept;
        T *turned;
        CUDA(cudaMalloc(&turned, rest * sizeof(T) + 1));
        reverse<<<1024, 256, 0, stream>>>(turned, j.out[1] + j.kept, rest);
        bad += differences(j.out[0] + j.kept, turned, rest * sizeof(T));
        CUDA(cudaFree(turned));
    }
    return bad == 0;
}

/* Bytes that must be read and written. */
template <class T> static double bytes_of(const struct job<T> &j)
{
    const double n = (double)j.n, kept = (double)j.kept, size = sizeof(T);
    switch (j.op) {
    case IF:
    case UNIQUE:
        return (n + kept) * size;
    case FLAGS:
        return n + 2 * kept * size;
    case PARTITION:
        return 2 * n * size;
    case PARTITION_FLAGS:
        return n + 2 * n * size;
    case UNIQUE_BY_KEY:
        return (n + kept) * size + 8 * kept;
    case ENCODE:
    default:
        return (n + kept) * size + 8 * kept;
    }
}

template <class T> static void fetch_count(struct job<T> &j, int whose)
{
    CUDA(cudaMemcpyAsync(&j.kept, j.count[whose], 8, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
}

template <class T> static void bench(enum op op, const char *type, size_t n, int percent, int dist)
{
    char shape[32];
    snprintf(shape, sizeof shape, percent ? "kept=%d%%" : "all", percent);
    struct bench_name name = { op_names[op], type, n, shape, dist_name(dist) };
    if (!bench_wanted(name)) return;

    struct job<T> j = {
    };
    j.op = op;
    j.n = n;
    j.value = value_of<T>((uint64_t)((double)percent / 100 * 0x1p64));
    const bool wide = op == ENCODE || op == DECODE, pairs = op == UNIQUE_BY_KEY || op == DECODE;
    CUDA(cudaMalloc(&j.in, n * sizeof(T)));
    fill<T><<<1024, 256, 0, stream>>>(j.in, n, dist);
    CUDA(cudaMalloc(&j.flags, n));
    fill_flags<<<1024, 256, 0, stream>>>(j.flags, n);
    const size_t value_bytes = sizeof(T) > 4 ? sizeof(T) : 4; /* also holds DECODE's copy */
    if (pairs) CUDA(cudaMalloc(&j.values, n * value_bytes));
    if (pairs) fill<uint32_t><<<1024, 256, 0, stream>>>(j.values, n, UNIFORM);
    for (int c = 0; c < 2; c++) {
        CUDA(cudaMalloc(&j.out[c], n * sizeof(T)));
        CUDA(cudaMemsetAsync(j.out[c], 0xa5 + c, n * sizeof(T), stream));
        CUDA(cudaMalloc(&j.count[c], 8));
        if (op == UNIQUE_BY_KEY) CUDA(cudaMalloc(&j.values_out[c], n * 4));
        if (wide) CUDA(cudaMalloc(&j.lengths[c], n * 8));
    }
    static const ech_select_call calls[] = {
        ECH_SELECT_CALL_IF,           ECH_SELECT_CALL_FLAGS,
        ECH_SELECT_CALL_PARTITION_IF, ECH_SELECT_CALL_PARTITION_FLAGS,
        ECH_SELECT_CALL_UNIQUE,       ECH_SELECT_CALL_UNIQUE_BY_KEY,
        ECH_SELECT_CALL_RLE_ENCODE,   ECH_SELECT_CALL_RLE_DECODE
    };
    ECH(ech_select_workspace("cuda", calls[op], n, sizeof(T), 4, NULL, &j.work_bytes));
    CUDA(cudaMalloc(&j.work, j.work_bytes));
    if (op == DECODE) { /* first encodes runs */
        ech_select_options o = {};
        o.size = sizeof o;
        ECH(ech_rle_encode(ctx, j.in, j.out[1], j.lengths[1], j.count[1], n, dtype_of<T>(), &o));
    } else {
        run_echelon(j);
    }
    fetch_count(j, op == DECODE);
    run_rival(j); /* queries its workspace */
    CUDA(cudaMalloc(&j.rival_work, j.rival_bytes));
    bench_row(
        name, bytes_of(j), j.work_bytes, [&] { run_echelon(j); }, [&] { run_rival(j); },
        [&] { return same(j); }, op == DECODE ? "copy" : "cub");
    CUDA(cudaFree(j.in));
    CUDA(cudaFree(j.flags));
    CUDA(cudaFree(j.values));
    CUDA(cudaFree(j.work));
    CUDA(cudaFree(j.rival_work));
    for (int c = 0; c < 2; c++) {
        CUDA(cudaFree(j.out[c]));
        CUDA(cudaFree(j.count[c]));
        CUDA(cudaFree(j.values_out[c]));
        CUDA(cudaFree(j.lengths[c]));
    }
}

int main(int argc, char **argv)
{
    const size_t M = (size_t)1 << 20, sizes[] = { 256 * M, 16 * M, M, 65536, 1000 };
    bench_open(argc, argv, "select");
    for (int s = 0; s < 5; s++) {
        const size_t n = sizes[s];
        const int percents[] = { 10, 50, 90 };
        for (int p = 0; p < 3; p++) bench<uint32_t>(IF, "u32", n, percents[p], UNIFORM);
        bench<uint32_t>(FLAGS, "u32", n, 50, UNIFORM);
        bench<uint32_t>(PARTITION, "u32", n, 50, UNIFORM);
        bench<uint32_t>(PARTITION_FLAGS, "u32", n, 50, UNIFORM);
        const int dists[] = { FEW16, RUNS10, RUNS1000 };
        for (int d = 0; d < 3; d++) {
            bench<uint32_t>(UNIQUE, "u32", n, 0, dists[d]);
            bench<uint32_t>(UNIQUE_BY_KEY, "u32", n, 0, dists[d]);
            bench<uint32_t>(ENCODE, "u32", n, 0, dists[d]);
            bench<uint32_t>(DECODE, "u32", n, 0, dists[d]);
        }
    }
    bench<uint8_t>(IF, "u8", 1024 * M, 50, UNIFORM);
    bench<uint16_t>(IF, "u16", 512 * M, 50, UNIFORM);
    bench<uint64_t>(IF, "u64", 256 * M, 50, UNIFORM);
    bench<double>(IF, "f64", 256 * M, 50, UNIFORM);
    bench<uint8_t>(FLAGS, "u8", 1024 * M, 50, UNIFORM);
    bench<uint64_t>(FLAGS, "u64", 256 * M, 50, UNIFORM);
    bench<uint64_t>(PARTITION, "u64", 256 * M, 50, UNIFORM);
    bench<uint8_t>(UNIQUE, "u8", 1024 * M, 0, RUNS10);
    bench<double>(UNIQUE, "f64", 256 * M, 0, RUNS10);
    bench<uint8_t>(DECODE, "u8", 1024 * M, 0, RUNS10);
    bench<uint64_t>(DECODE, "u64", 128 * M, 0, RUNS10);
    return bench_close();
}
