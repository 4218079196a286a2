/*
 * test_queued.cu - reduce, scan, histogram, select and arrange in GPU memory: captured in a graph
 * and replayed, bit-identical in ten runs and on concurrent streams, data errors in ech_sync(),
 * and arrays of 2^32 + 1 elements.
 *
 *     test_queued [--large]
 *
 * Built and run by scripts/gpu_check.sh; needs a GPU and nvcc, and for --large 110 GB of memory.
 * Prints "N passed, N failed".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "echelon.h"

static int passed, failed;
static ech_ctx *ctx;
static cudaStream_t streams[2];

#define CHECK(condition)                                                                           \
    ((condition) ? (void)passed++                                                                  \
                 : (void)(failed++, printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,      \
                                           ech_error(ctx))))
#define CUDA(call) CHECK((call) == cudaSuccess)
#define OK(call)   CHECK((call) == ECH_OK)

static __host__ __device__ uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* ---- One call of each kind, on given arrays ---- */

struct arrays {
    const float *f32;
    const uint32_t *u32;
    const uint8_t *flags;
    const uint64_t *offsets;
    void *out, *out2;
    uint64_t *count;
    void *work;
    size_t n, work_bytes;
};

enum { SEGMENTS = 1000 };

static ech_reduce_options reduce_options(const struct arrays *a)
{
    ech_reduce_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_scan_options scan_options(const struct arrays *a)
{
    ech_scan_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_select_options select_options(const struct arrays *a)
{
    ech_select_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_histogram_options histogram_options(const struct arrays *a)
{
    ech_histogram_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_status is_sorted(const struct arrays *a)
{
    ech_is_sorted_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return ech_is_sorted(ctx, a->offsets, (uint64_t *)a->out, SEGMENTS + 1, ECH_U64, &o);
}

static ech_status sum(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce(ctx, ECH_OP_SUM, a->f32, a->out, a->n, ECH_F32, &o);
}

static ech_status variance(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce(ctx, ECH_OP_VARIANCE, a->f32, a->out, a->n, ECH_F32, &o);
}

static ech_status argmax(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce(ctx, ECH_OP_ARGMAX, a->u32, a->out, a->n, ECH_U32, &o);
}

static ech_status sum_rows(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce_rows(ctx, ECH_OP_SUM, a->f32, a->out, a->n / 33, 33, ECH_F32, &o);
}

static ech_status sum_segments(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce_segments(ctx, ECH_OP_SUM, a->f32, a->offsets, a->out, a->n, SEGMENTS, ECH_F32,
                               ECH_U64, &o);
}

static ech_status sum_by_key(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce_by_key(ctx, ECH_OP_SUM, a->flags, a->f32, a->out2, a->out, a->count, a->n,
                             ECH_U8, ECH_F32, &o);
}

static ech_status scan(const struct arrays *a)
{
    ech_scan_options o = scan_options(a);
    return ech_scan(ctx, ECH_OP_SUM, a->f32, a->out, a->n, ECH_F32, &o);
}

static ech_status scan_backward(const struct arrays *a)
{
    ech_scan_options o = scan_options(a);
    o.reverse = o.exclusive = 1;
    return ech_scan(ctx, ECH_OP_MAX, a->u32, a->out, a->n, ECH_U32, &o);
}

static ech_status scan_segments(const struct arrays *a)
{
    ech_scan_options o = scan_options(a);
    return ech_scan_segments(ctx, ECH_OP_SUM, a->f32, a->offsets, a->out, a->n, SEGMENTS, ECH_F32,
                             ECH_U64, &o);
}

static ech_status scan_by_key(const struct arrays *a)
{
    ech_scan_options o = scan_options(a);
    return ech_scan_by_key(ctx, ECH_OP_SUM, a->flags, a->f32, a->out, a->n, ECH_U8, ECH_F32, &o);
}

static ech_status histogram(const struct arrays *a)
{
    ech_histogram_options o = histogram_options(a);
    return ech_histogram(ctx, a->f32, a->out, a->n, ECH_F32, 1000, 0.0, 1.0, &o);
}

static ech_status histogram_large(const struct arrays *a)
{
    ech_histogram_options o = histogram_options(a);
    return ech_histogram(ctx, a->u32, a->out, a->n, ECH_U32, 1 << 20, 0.0, 4294967296.0, &o);
}

static ech_status histogram_weighted(const struct arrays *a)
{
    ech_histogram_options o = histogram_options(a);
    o.weights = a->f32;
    o.weights_dtype = ECH_F32;
    return ech_bincount(ctx, a->flags, a->out, a->n, ECH_U8, 4, &o);
}

static ech_status select_if(const struct arrays *a)
{
    ech_select_options o = select_options(a);
    float half = 0.5f;
    return ech_select_if(ctx, ECH_COMPARE_LESS, a->f32, a->out, a->count, a->n, ECH_F32, &half, &o);
}

static ech_status partition(const struct arrays *a)
{
    ech_select_options o = select_options(a);
    return ech_partition_flags(ctx, a->u32, a->flags, a->out, a->count, a->n, 4, &o);
}

static ech_status unique(const struct arrays *a)
{
    ech_select_options o = select_options(a);
    return ech_unique(ctx, a->flags, a->out, a->count, a->n, ECH_U8, &o);
}

static ech_status encode_runs(const struct arrays *a)
{
    ech_select_options o = select_options(a);
    return ech_rle_encode(ctx, a->flags, a->out2, (uint64_t *)a->out, a->count, a->n, ECH_U8, &o);
}

static ech_status shuffle(const struct arrays *a)
{
    return ech_shuffle(ctx, a->u32, a->out, a->n, 4, 42);
}

static ech_status transpose(const struct arrays *a)
{
    return ech_transpose(ctx, a->u32, a->out, a->n / 1009, 1009, 4);
}

static ech_sort_options sort_options(const struct arrays *a)
{
    ech_sort_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_status sort_rows(const struct arrays *a)
{
    ech_sort_options o = sort_options(a);
    return ech_sort_rows(ctx, a->u32, a->out, a->n / 1009, 1009, ECH_U32, &o);
}

static ech_status argsort_rows(const struct arrays *a)
{
    ech_sort_options o = sort_options(a);
    return ech_argsort_rows(ctx, a->f32, a->out, a->n / 1009, 1009, ECH_F32, ECH_U32, &o);
}

static ech_status sort_segments(const struct arrays *a)
{
    ech_sort_options o = sort_options(a);
    return ech_sort_segments(ctx, a->f32, a->offsets, NULL, a->out, a->n, SEGMENTS, ECH_F32,
                             ECH_U64, &o);
}

static ech_status sort_pairs_segments(const struct arrays *a)
{
    ech_sort_options o = sort_options(a);
    return ech_sort_pairs_segments(ctx, a->u32, a->f32, a->offsets, NULL, a->out, a->out2, a->n,
                                   SEGMENTS, ECH_U32, 4, ECH_U64, &o);
}

static ech_topk_options topk_options(const struct arrays *a)
{
    ech_topk_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_status topk(const struct arrays *a)
{
    ech_topk_options o = topk_options(a);
    return ech_topk(ctx, a->f32, a->out2, a->out, a->n, 1000, ECH_F32, ECH_U32, &o);
}

static ech_status topk_many(const struct arrays *a)
{
    ech_topk_options o = topk_options(a);
    o.smallest = o.unsorted = 1;
    return ech_topk(ctx, a->u32, a->out, a->out2, a->n, 100000, ECH_U32, ECH_U64, &o);
}

static ech_status topk_rows(const struct arrays *a)
{
    ech_topk_options o = topk_options(a);
    return ech_topk_rows(ctx, a->f32, a->out, NULL, a->n / 1009, 1009, 10, ECH_F32, ECH_U32, &o);
}

static ech_merge_options merge_options(const struct arrays *a)
{
    ech_merge_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

/* The inputs are not sorted; the result is deterministic anyway. */
static ech_status merge(const struct arrays *a)
{
    ech_merge_options o = merge_options(a);
    return ech_merge(ctx, a->u32, a->u32 + a->n / 3, a->out, a->n / 3, a->n - a->n / 3, ECH_U32,
                     &o);
}

static ech_status merge_pairs(const struct arrays *a)
{
    ech_merge_options o = merge_options(a);
    return ech_merge_pairs(ctx, a->f32, a->u32, a->f32 + a->n / 2, a->u32 + a->n / 2, a->out,
                           a->out2, a->n / 2, a->n - a->n / 2, ECH_F32, 4, &o);
}

static ech_status columns(const struct arrays *a, int count)
{
    const ech_columns_options o = { sizeof o, NULL, a->work, a->work_bytes };
    const ech_sort_column c[4] = {
        { sizeof *c, a->flags, ECH_U8 },
        { sizeof *c, a->f32, ECH_F32, 1, ECH_ORDER_NAN_LAST, 0, a->flags, 3 },
        { sizeof *c, a->u32, ECH_U32 },
        { sizeof *c, a->f32, ECH_I32 },
    };
    return ech_argsort_columns(ctx, c, a->out, a->n, count, ECH_U32, &o);
}

static ech_status columns_pack(const struct arrays *a)
{
    return columns(a, 2);
}

static ech_status columns_lsd(const struct arrays *a)
{
    return columns(a, 4);
}

static const struct call {
    const char *name;
    ech_status (*run)(const struct arrays *a);
    size_t bytes_each; /* of out, per element that may be written; 0: out_bytes */
    size_t out_bytes;
} calls[] = {
    { "is sorted", is_sorted, 0, 8 },
    { "sum", sum, 0, 4 },
    { "variance", variance, 0, 4 },
    { "argmax", argmax, 0, 8 },
    { "sums of rows", sum_rows, 0, 4 * 1000 },
    { "sums of segments", sum_segments, 0, 4 * SEGMENTS },
    { "sums by key", sum_by_key, 4, 0 },
    { "scan", scan, 4, 0 },
    { "scan backward", scan_backward, 4, 0 },
    { "scan of segments", scan_segments, 4, 0 },
    { "scan by key", scan_by_key, 4, 0 },
    { "histogram", histogram, 0, 8 * 1000 },
    { "histogram of 2^20 bins", histogram_large, 0, (size_t)8 << 20 },
    { "weighted histogram", histogram_weighted, 0, 8 * 4 },
    { "select", select_if, 4, 0 },
    { "partition", partition, 4, 0 },
    { "unique", unique, 1, 0 },
    { "runs", encode_runs, 8, 0 },
    { "shuffle", shuffle, 4, 0 },
    { "transpose", transpose, 4, 0 },
    { "sort of rows", sort_rows, 4, 0 },
    { "argsort of rows", argsort_rows, 4, 0 },
    { "sort of segments", sort_segments, 4, 0 },
    { "sort of pairs in segments", sort_pairs_segments, 4, 0 },
    { "argsort of packed columns", columns_pack, 4, 0 },
    { "argsort of columns, two words", columns_lsd, 4, 0 },
    { "top-k", topk, 0, 4 * 1000 },
    { "top-k, large k", topk_many, 0, 4 * 100000 },
    { "merge", merge, 4, 0 },
    { "merge of pairs", merge_pairs, 4, 0 },
    { "top-k of rows", topk_rows, 0, 4 * 10 * (1000003 / 1009) },
};
enum { CALLS = sizeof calls / sizeof *calls, N = 1000003 };

/* The contents of out after a call, and its count. */
static size_t fetch(const struct arrays *a, const struct call *call, char *to, cudaStream_t stream)
{
    size_t bytes = call->bytes_each ? call->bytes_each * a->n : call->out_bytes;
    if (call->run == transpose || call->run == sort_rows || call->run == argsort_rows)
        bytes = a->n / 1009 * 1009 * 4;
    uint64_t count;
    CUDA(cudaMemcpyAsync(to, a->out, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaMemcpyAsync(&count, a->count, sizeof count, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    bool counted = call->run == sum_by_key || call->run == select_if || call->run == unique ||
                   call->run == encode_runs;
    if (counted && count < a->n) bytes = call->bytes_each * count;
    return bytes;
}

static struct arrays make_arrays(size_t n)
{
    struct arrays a = {};
    float *f32;
    uint32_t *u32;
    uint8_t *flags;
    uint64_t *offsets;
    float *f = (float *)malloc(4 * n);
    uint32_t *u = (uint32_t *)malloc(4 * n);
    uint8_t *g = (uint8_t *)malloc(n);
    uint64_t o[SEGMENTS + 1];
    for (size_t i = 0; i < n; i++) {
        uint64_t r = mix(i + 1);
        f[i] = (float)(r >> 40) * 0x1p-24f;
        u[i] = (uint32_t)r;
        g[i] = (uint8_t)(mix(i / 3) & 3);
    }
    for (int s = 0; s <= SEGMENTS; s++) o[s] = s % 7 == 3 ? 0 : n * (uint64_t)s / SEGMENTS;
    for (int s = 1; s <= SEGMENTS; s++) o[s] = o[s] < o[s - 1] ? o[s - 1] : o[s];
    CUDA(cudaMalloc(&f32, 4 * n));
    CUDA(cudaMalloc(&u32, 4 * n));
    CUDA(cudaMalloc(&flags, n));
    CUDA(cudaMalloc(&offsets, sizeof o));
    CUDA(cudaMalloc(&a.out, (size_t)16 << 20));
    CUDA(cudaMalloc(&a.out2, (size_t)16 << 20));
    CUDA(cudaMalloc(&a.count, 16));
    a.work_bytes = (size_t)64 << 20;
    CUDA(cudaMalloc(&a.work, a.work_bytes));
    CUDA(cudaMemcpy(f32, f, 4 * n, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(u32, u, 4 * n, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(flags, g, n, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(offsets, o, sizeof o, cudaMemcpyHostToDevice));
    a.f32 = f32, a.u32 = u32, a.flags = flags, a.offsets = offsets, a.n = n;
    free(f), free(u), free(g);
    return a;
}

static void test_call(const struct call *call, struct arrays *a, struct arrays *b)
{
    static char first[(size_t)16 << 20], again[(size_t)16 << 20];
    int failed_before = failed;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(ech_set_stream(ctx, streams[0]));
    CUDA(cudaMemsetAsync(a->out, 0xa5, (size_t)16 << 20, streams[0]));
    CUDA(cudaMemsetAsync(a->work, 0xc3, a->work_bytes, streams[0]));
    OK(call->run(a));
    OK(ech_sync(ctx));
    size_t bytes = fetch(a, call, first, streams[0]);
    for (int run = 0; run < 9; run++) {
        OK(call->run(a));
        CHECK(fetch(a, call, again, streams[0]) == bytes && memcmp(first, again, bytes) == 0);
    }
    /* Calls on two concurrent streams share no state. */
    for (int run = 0; run < 20; run++) {
        OK(ech_set_stream(ctx, streams[run % 2]));
        OK(call->run(run % 2 ? b : a));
    }
    CHECK(fetch(a, call, again, streams[0]) == bytes && memcmp(first, again, bytes) == 0);
    CHECK(fetch(b, call, again, streams[1]) == bytes && memcmp(first, again, bytes) == 0);

    OK(ech_set_stream(ctx, streams[0]));
    CUDA(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
    OK(call->run(a));
    CUDA(cudaStreamEndCapture(streams[0], &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int run = 0; run < 3; run++) {
        CUDA(cudaMemsetAsync(a->out, 0xa5, (size_t)16 << 20, streams[0]));
        CUDA(cudaMemsetAsync(a->work, 0x3c, a->work_bytes, streams[0]));
        CUDA(cudaGraphLaunch(exec, streams[0]));
        CHECK(fetch(a, call, again, streams[0]) == bytes && memcmp(first, again, bytes) == 0);
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    if (failed > failed_before) printf("    in \"%s\"\n", call->name);
}

/* Errors that only the data reveals are reported by ech_sync(), once. */
static void test_data_errors(struct arrays *a)
{
    uint64_t offsets[3] = { 5, 3, 100 };
    uint32_t index[4] = { 0, 1, 4, 2 };
    CUDA(cudaMemcpy(a->out2, offsets, sizeof offsets, cudaMemcpyHostToDevice));
    OK(ech_reduce_segments(ctx, ECH_OP_SUM, a->f32, (uint64_t *)a->out2, a->out, 100, 2, ECH_F32,
                           ECH_U64, NULL));
    CHECK(ech_sync(ctx) == ECH_ERR_ARG && strstr(ech_error(ctx), "offsets[1]"));
    OK(ech_sync(ctx));
    CUDA(cudaMemcpy(a->out2, index, sizeof index, cudaMemcpyHostToDevice));
    OK(ech_gather(ctx, a->f32, a->out2, a->out, 4, 4, ECH_U32, 4));
    CHECK(ech_sync(ctx) == ECH_ERR_ARG && strstr(ech_error(ctx), "index[2]"));
    OK(ech_sync(ctx));
    ech_topk_options o = {};
    o.size = sizeof o;
    o.counts = a->out2;
    o.counts_dtype = ECH_U32;
    OK(ech_topk_rows(ctx, a->f32, a->out, NULL, 4, 20, 3, ECH_F32, ECH_U32, &o));
    CHECK(ech_sync(ctx) == ECH_ERR_ARG && strstr(ech_error(ctx), "options->counts[2]"));
    OK(ech_sync(ctx));
}

/* ---- 2^32 + 1 elements ---- */

enum { PATTERN_BYTES, PATTERN_ONES, PATTERN_RAMP };

template <class T> __global__ void fill(T *x, size_t n, int pattern)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        x[i] = pattern == PATTERN_ONES    ? (T)1
               : pattern == PATTERN_BYTES ? (T)(i % 251)
                                          : (T)(i >> 22);
}

/* Counts the i < n with x[i] != want(i). want(i) is i + 1 modulo 2^32 or, for bytes, the
 * reverse. */
template <class T> __global__ void differ(const T *x, size_t n, int scan, unsigned long long *count)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    unsigned long long mine = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        mine += x[i] != (scan ? (T)(i + 1) : (T)((n - 1 - i) % 251));
    if (mine) atomicAdd(count, mine);
}

template <class T> static unsigned long long differences(const T *x, size_t n, int scan)
{
    unsigned long long *count, result = ~0ull;
    CUDA(cudaMalloc(&count, sizeof *count));
    CUDA(cudaMemset(count, 0, sizeof *count));
    differ<T><<<4096, 256, 0, streams[0]>>>(x, n, scan, count);
    CUDA(cudaStreamSynchronize(streams[0]));
    CUDA(cudaMemcpy(&result, count, sizeof result, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(count));
    return result;
}

template <class T> static T one(const void *device)
{
    T x;
    OK(ech_sync(ctx));
    CUDA(cudaMemcpy(&x, device, sizeof x, cudaMemcpyDeviceToHost));
    return x;
}

static void test_large(void)
{
    const size_t n = ((size_t)1 << 32) + 1;
    uint8_t *bytes, *out8;
    uint32_t *words, *out32;
    uint64_t *small, counts[256], expected[256] = { 0 };
    CUDA(cudaMalloc(&small, 1 << 20));
    CUDA(cudaMalloc(&bytes, n));
    CUDA(cudaMalloc(&out8, n));
    fill<uint8_t><<<4096, 256, 0, streams[0]>>>(bytes, n, PATTERN_BYTES);
    uint64_t total = 0;
    for (int v = 0; v < 251; v++) {
        expected[v] = n / 251 + ((uint64_t)v < n % 251);
        total += expected[v] * (uint64_t)v;
    }
    OK(ech_reduce(ctx, ECH_OP_SUM, bytes, small, n, ECH_U8, NULL));
    CHECK(one<uint64_t>(small) == total);
    uint8_t last = 255, value = 250;
    CUDA(cudaMemcpy(bytes + n - 1, &last, 1, cudaMemcpyHostToDevice));
    OK(ech_reduce(ctx, ECH_OP_ARGMAX, bytes, small, n, ECH_U8, NULL));
    CHECK(one<uint64_t>(small) == n - 1);
    expected[(n - 1) % 251]--, expected[255]++;
    OK(ech_bincount(ctx, bytes, small, n, ECH_U8, 256, NULL));
    OK(ech_sync(ctx));
    CUDA(cudaMemcpy(counts, small, sizeof counts, cudaMemcpyDeviceToHost));
    CHECK(memcmp(counts, expected, sizeof counts) == 0);
    OK(ech_select_if(ctx, ECH_COMPARE_GREATER_EQUAL, bytes, out8, small, n, ECH_U8, &value, NULL));
    CHECK(one<uint64_t>(small) == expected[250] + 1);
    OK(ech_unique(ctx, bytes, out8, small, n, ECH_U8, NULL));
    CHECK(one<uint64_t>(small) == n);
    last = (uint8_t)((n - 1) % 251);
    CUDA(cudaMemcpy(bytes + n - 1, &last, 1, cudaMemcpyHostToDevice));
    OK(ech_reverse(ctx, bytes, out8, n, 1));
    CHECK(differences(out8, n, 0) == 0);
    CUDA(cudaFree(bytes));
    CUDA(cudaFree(out8));

    CUDA(cudaMalloc(&words, n * sizeof *words));
    CUDA(cudaMalloc(&out32, n * sizeof *out32));
    fill<uint32_t><<<4096, 256, 0, streams[0]>>>(words, n, PATTERN_ONES);
    OK(ech_scan(ctx, ECH_OP_SUM, words, out32, n, ECH_U32, NULL));
    CHECK(differences(out32, n, 1) == 0);
    OK(ech_scan(ctx, ECH_OP_SUM, words, words, n, ECH_U32, NULL));
    CHECK(differences(words, n, 1) == 0);
    fill<float><<<4096, 256, 0, streams[0]>>>((float *)words, n, PATTERN_ONES);
    OK(ech_reduce(ctx, ECH_OP_SUM, words, small, n, ECH_F32, NULL));
    CHECK(one<float>(small) == 4294967296.0f);
    fill<uint32_t><<<4096, 256, 0, streams[0]>>>(words, n, PATTERN_RAMP);
    OK(ech_rle_encode(ctx, words, out32, small + 8, small, n, ECH_U32, NULL));
    CHECK(one<uint64_t>(small) == 1025);
    CHECK(one<uint64_t>(small + 8 + 1023) == 1 << 22 && one<uint64_t>(small + 8 + 1024) == 1);
    CUDA(cudaFree(words));
    CUDA(cudaFree(out32));
    CUDA(cudaFree(small));
}

int main(int argc, char **argv)
{
    OK(ech_open(&ctx, "cuda"));
    for (int s = 0; s < 2; s++) CUDA(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    OK(ech_set_stream(ctx, streams[0]));
    if (argc > 1 && strcmp(argv[1], "--large") == 0) {
        test_large();
    } else {
        struct arrays a = make_arrays(N), b = make_arrays(N);
        for (int c = 0; c < CALLS; c++) test_call(&calls[c], &a, &b);
        test_data_errors(&a);
    }
    ech_close(ctx);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
