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

#include "queued_calls.cuh"

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
