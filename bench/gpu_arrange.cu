/*
 * gpu_arrange.cu - measures transpose, gather and related functions, compared with a device copy
 * (the bandwidth ceiling) and with Thrust if it has such a function.
 *
 *     gpu_arrange [--quick] [--only TEXT] [--csv FILE]
 *
 * C++ because of Thrust; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_common.cuh"

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/gather.h>
#include <thrust/random.h>
#include <thrust/reverse.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/shuffle.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
struct rgb {
    u8 bytes[3];
};
struct vertex {
    u32 words[3];
};
struct wide {
    u32 words[25];
};

static const size_t M = (size_t)1 << 20;

/* ---- Data ---- */

static __global__ void fill_words(u32 *to, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        to[i] = (u32)random_at(i);
}

enum order { RANDOM, SEQUENTIAL, NEAR, ORDERS };
static const char *const order_names[] = { "random", "sequential", "near" };

/* A permutation, computed by the library (its tests verify it). */
static void make_index(u32 *index, size_t n, enum order order)
{
    if (order == RANDOM) {
        ECH(ech_permutation(ctx, index, n, ECH_U32, 1));
        return;
    }
    ECH(ech_iota(ctx, index, n, ECH_U32, NULL, NULL));
    if (order == NEAR) ECH(ech_reverse(ctx, index, index, n, sizeof *index));
}

/* Three arrays of equal size: the input and two outputs. */
struct arrays {
    size_t bytes;
    unsigned char *in, *out[2];

    explicit arrays(size_t bytes_each) : bytes(bytes_each)
    {
        const size_t whole = (bytes + 255) / 256 * 256;
        CUDA(cudaMalloc(&in, whole));
        fill_words<<<1024, 256, 0, stream>>>((u32 *)in, whole / 4);
        for (int k = 0; k < 2; k++) {
            CUDA(cudaMalloc(&out[k], whole));
            CUDA(cudaMemsetAsync(out[k], 0xa5 + k, whole, stream));
        }
    }
    ~arrays()
    {
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaFree(in));
        CUDA(cudaFree(out[0]));
        CUDA(cudaFree(out[1]));
    }
    bool same() const
    {
        return differences(out[0], out[1], bytes) == 0;
    }
};

/* Compared with a copy of as many bytes; the results differ and are not compared. */
template <class Ours>
static void compare_with_copy(bench_name name, const arrays &a, double bytes, const Ours &ours)
{
    name.dist = "ceiling";
    bench_row(
        name, bytes, 0, ours,
        [&] { CUDA(cudaMemcpyAsync(a.out[1], a.in, a.bytes, cudaMemcpyDeviceToDevice, stream)); },
        [] { return true; }, "copy");
}

/* ---- Rows ---- */

/* The competing transpose is the textbook kernel: a tile of 32 x 33 elements in shared memory, 16 x
 * 17 for large elements. */
template <class T> struct textbook {
    enum { EDGE = sizeof(T) <= 16 ? 32 : 16 };
};

template <class T>
static __global__ void textbook_transpose(const T *in, T *out, size_t rows, size_t columns)
{
    enum { EDGE = textbook<T>::EDGE };
    __shared__ T tile[EDGE][EDGE + 1];
    const size_t across = (columns + EDGE - 1) / EDGE;
    const size_t row = blockIdx.x / across * EDGE, column = blockIdx.x % across * EDGE;
    for (int y = threadIdx.y; y < EDGE; y += 8)
        if (row + y < rows && column + threadIdx.x < columns)
            tile[y][threadIdx.x] = in[(row + y) * columns + column + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < EDGE; y += 8)
        if (column + y < columns && row + threadIdx.x < rows)
            out[(column + y) * rows + row + threadIdx.x] = tile[threadIdx.x][y];
}

template <class T> static void transpose(const char *type, size_t rows, size_t columns)
{
    char shape[64];
    snprintf(shape, sizeof shape, "%zux%zu", rows, columns);
    const bench_name name = { "transpose", type, rows * columns, shape, "any" };
    if (!bench_wanted(name)) return;
    arrays a(rows * columns * sizeof(T));
    const double bytes = 2.0 * a.bytes;
    auto ours = [&] { ECH(ech_transpose(ctx, a.in, a.out[0], rows, columns, sizeof(T))); };
    auto rival = [&] {
        const int edge = textbook<T>::EDGE;
        const size_t blocks = (rows + edge - 1) / edge * ((columns + edge - 1) / edge);
        textbook_transpose<T><<<(unsigned)blocks, dim3(edge, 8), 0, stream>>>(
            (const T *)a.in, (T *)a.out[1], rows, columns);
    };
    bench_row(
        name, bytes, 0, ours, rival, [&] { return a.same(); }, "textbook");
    compare_with_copy(name, a, bytes, ours);
}

template <class T> static void lines(const char *type, size_t n)
{
    const bench_name reverse = { "reverse", type, n, "apart", "any" };
    const bench_name in_place = { "reverse", type, n, "in-place", "any" };
    const bench_name rotate = { "rotate", type, n, "by=1000001", "any" };
    const bench_name fill = { "fill", type, n, "one", "any" };
    if (!bench_wanted(reverse) && !bench_wanted(in_place) && !bench_wanted(rotate) &&
        !bench_wanted(fill))
        return;
    arrays a(n * sizeof(T));
    const double bytes = 2.0 * a.bytes;
    const T *in = (const T *)a.in;
    T *out = (T *)a.out[1];
    const size_t by = 1000001 % n;
    auto policy = thrust::cuda::par_nosync.on(stream);
    auto reverse_ours = [&] { ECH(ech_reverse(ctx, a.in, a.out[0], n, sizeof(T))); };
    auto rotate_ours = [&] { ECH(ech_rotate(ctx, a.in, a.out[0], n, sizeof(T), by)); };
    bench_row(
        reverse, bytes, 0, reverse_ours, [&] { thrust::reverse_copy(policy, in, in + n, out); },
        [&] { return a.same(); }, "thrust");
    compare_with_copy(reverse, a, bytes, reverse_ours);
    bench_row(
        rotate, bytes, 0, rotate_ours, /* no Thrust function: two driver copies */
        [&] {
            CUDA(cudaMemcpyAsync(out, in + by, (n - by) * sizeof(T), cudaMemcpyDeviceToDevice,
                                 stream));
            CUDA(cudaMemcpyAsync(out + (n - by), in, by * sizeof(T), cudaMemcpyDeviceToDevice,
                                 stream));
        },
        [&] { return a.same(); }, "copies");
    CUDA(cudaMemcpyAsync(a.out[0], a.in, a.bytes, cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaMemcpyAsync(a.out[1], a.in, a.bytes, cudaMemcpyDeviceToDevice, stream));
    bench_row(
        in_place, bytes, 0, [&] { ECH(ech_reverse(ctx, a.out[0], a.out[0], n, sizeof(T))); },
        [&] { thrust::reverse(policy, out, out + n); }, [&] { return a.same(); }, "thrust");
    T value;
    memset(&value, 0x5a, sizeof value);
    memset(&value, 0x17, 1);
    bench_row(
        fill, a.bytes, 0, [&] { ECH(ech_fill(ctx, a.out[0], n, sizeof(T), &value)); },
        [&] { thrust::fill(policy, out, out + n, value); }, [&] { return a.same(); }, "thrust");
}

template <class T> static void iota(const char *type, ech_dtype dtype, size_t n)
{
    const bench_name name = { "iota", type, n, "start=3 step=7", "any" };
    if (!bench_wanted(name)) return;
    arrays a(n * sizeof(T));
    T start = 3, step = 7, *out = (T *)a.out[1];
    auto policy = thrust::cuda::par_nosync.on(stream);
    bench_row(
        name, a.bytes, 0, [&] { ECH(ech_iota(ctx, a.out[0], n, dtype, &start, &step)); },
        [&] { thrust::sequence(policy, out, out + n, start, step); },
        [&] { return dtype >= ECH_F16 || a.same(); }, /* floats: Thrust rounds i first */
        "thrust");
}

/* f16 and bf16 have no competitor. */
static void iota_half(const char *type, ech_dtype dtype, size_t n)
{
    const bench_name name = { "iota", type, n, "start=0 step=1", "any" };
    if (!bench_wanted(name)) return;
    arrays a(n * 2);
    bench_row(
        name, a.bytes, 0, [&] { ECH(ech_iota(ctx, a.out[0], n, dtype, NULL, NULL)); },
        [&] { CUDA(cudaMemsetAsync(a.out[1], 0, a.bytes, stream)); }, [] { return true; },
        "memset");
}

template <class T> static void by_index(const char *type, size_t n, enum order order)
{
    const bench_name gather = { "gather", type, n, "u32", order_names[order] };
    const bench_name scatter = { "scatter", type, n, "u32", order_names[order] };
    if (!bench_wanted(gather) && !bench_wanted(scatter)) return;
    arrays a(n * sizeof(T));
    u32 *index;
    CUDA(cudaMalloc(&index, n * sizeof *index));
    make_index(index, n, order);
    const double bytes = 2.0 * a.bytes + (double)n * sizeof *index;
    auto policy = thrust::cuda::par_nosync.on(stream);
    const T *in = (const T *)a.in;
    T *out = (T *)a.out[1];
    bench_row(
        gather, bytes, 0,
        [&] { ECH(ech_gather(ctx, a.in, index, a.out[0], n, n, ECH_U32, sizeof(T))); },
        [&] { thrust::gather(policy, index, index + n, in, out); }, [&] { return a.same(); },
        "thrust");
    bench_row(
        scatter, bytes, 0,
        [&] { ECH(ech_scatter(ctx, a.in, index, a.out[0], n, n, ECH_U32, sizeof(T))); },
        [&] { thrust::scatter(policy, in, in + n, index, out); }, [&] { return a.same(); },
        "thrust");
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(index));
}

/* The permutations differ, so results are not compared; the library's tests verify them. */
template <class T> static void shuffle(const char *type, size_t n)
{
    const bench_name name = { "shuffle", type, n, "all", "any" };
    const bench_name sample = { "sample", type, n, "k=n/100", "any" };
    if (!bench_wanted(name) && !bench_wanted(sample)) return;
    arrays a(n * sizeof(T));
    auto policy = thrust::cuda::par_nosync.on(stream);
    const T *in = (const T *)a.in;
    T *out = (T *)a.out[1];
    auto ours = [&] { ECH(ech_shuffle(ctx, a.in, a.out[0], n, sizeof(T), 1)); };
    bench_row(
        name, 2.0 * a.bytes, 0, ours,
        [&] {
            thrust::default_random_engine engine(1);
            thrust::shuffle_copy(policy, in, in + n, out, engine);
        },
        [] { return true; }, "thrust");
    compare_with_copy(name, a, 2.0 * a.bytes, ours);
    compare_with_copy(sample, a, 2.0 * a.bytes / 100,
                      [&] { ECH(ech_sample(ctx, a.in, a.out[0], n, n / 100, sizeof(T), 1)); });
}

static void permutation(ech_dtype dtype, size_t n)
{
    const bench_name name = { "permutation", ech_dtype_name(dtype), n, "all", "any" };
    if (!bench_wanted(name)) return;
    arrays a(n * ech_dtype_bytes(dtype));
    bench_row(
        name, a.bytes, 0, [&] { ECH(ech_permutation(ctx, a.out[0], n, dtype, 1)); },
        [&] { CUDA(cudaMemsetAsync(a.out[1], 0, a.bytes, stream)); }, [] { return true; },
        "memset");
}

int main(int argc, char **argv)
{
    bench_open(argc, argv, "arrange");
    const size_t big = 256 * M;
    transpose<u32>("u32", 16384, 16384);
    transpose<u8>("u8", 32768, 32768);
    transpose<u8>("u8", 32767, 32769);
    transpose<u16>("u16", 16384, 16384);
    transpose<u16>("u16", 16383, 16385);
    transpose<u32>("u32", 16383, 16385);
    transpose<u32>("u32", 3, 64 * M);
    transpose<u32>("u32", 64 * M, 3);
    transpose<u32>("u32", 512, 512);
    transpose<u64>("u64", 16384, 8192);
    transpose<uint4>("16B", 8192, 8192);
    transpose<rgb>("3B", 16384, 16384);
    transpose<vertex>("12B", 8192, 8192);
    transpose<wide>("100B", 4096, 4096);
    lines<u8>("u8", 4 * big);
    lines<u16>("u16", 2 * big);
    lines<u32>("u32", big);
    lines<u64>("u64", big / 2);
    lines<uint4>("16B", big / 4);
    lines<rgb>("3B", big);
    lines<vertex>("12B", big / 4);
    lines<u32>("u32", 1000);
    lines<u32>("u32", M);
    iota<u32>("u32", ECH_U32, big);
    iota<u64>("u64", ECH_U64, big);
    iota<float>("f32", ECH_F32, big);
    iota<double>("f64", ECH_F64, big);
    iota<u8>("u8", ECH_U8, big);
    iota_half("f16", ECH_F16, big);
    iota_half("bf16", ECH_BF16, big);
    for (int order = RANDOM; order < ORDERS; order++) {
        by_index<u32>("u32", big, (enum order)order);
        by_index<u64>("u64", big / 2, (enum order)order);
    }
    by_index<u8>("u8", big, RANDOM);
    by_index<uint4>("16B", big / 4, RANDOM);
    by_index<rgb>("3B", big / 4, RANDOM);
    by_index<vertex>("12B", big / 4, RANDOM);
    by_index<wide>("100B", big / 16, RANDOM);
    by_index<u32>("u32", 1000, RANDOM);
    by_index<u32>("u32", M, RANDOM);
    permutation(ECH_U32, big);
    permutation(ECH_U64, big);
    permutation(ECH_U32, 1000);
    shuffle<u32>("u32", big);
    shuffle<u64>("u64", big / 2);
    shuffle<u32>("u32", M);
    return bench_close();
}
