/*
 * test_stream.cu - what only a program with the CUDA runtime can show: the caller's stream, memory
 * of the runtime, an allocator of the caller's, capture in a graph, and runs that are the same to
 * the bit.
 *
 * Built and run by scripts/gpu_check.sh; needs a GPU and nvcc.  Prints "N passed, N failed".
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
static cudaStream_t stream;

#define CHECK(condition)                                                                           \
    ((condition) ? (void)passed++                                                                  \
                 : (void)(failed++, printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,      \
                                           ech_error(ctx))))
#define CUDA(call) CHECK((call) == cudaSuccess)

enum { N = 3000017 };
static uint32_t *host, *expected;
static uint64_t *values;

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void make_data(void)
{
    host = (uint32_t *)malloc(N * sizeof *host);
    expected = (uint32_t *)malloc(N * sizeof *expected);
    values = (uint64_t *)malloc(N * sizeof *values);
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < N; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        host[i] = expected[i] = (uint32_t)(x >> 13);
        values[i] = x;
    }
    qsort(expected, N, sizeof *expected, by_value);
}

/* Is the device array the sorted one? */
static bool is_sorted(const uint32_t *device)
{
    uint32_t *copy = (uint32_t *)malloc(N * sizeof *copy);
    bool ok = cudaMemcpyAsync(copy, device, N * sizeof *copy, cudaMemcpyDeviceToHost, stream) ==
                  cudaSuccess &&
              cudaStreamSynchronize(stream) == cudaSuccess &&
              memcmp(copy, expected, N * sizeof *copy) == 0;
    free(copy);
    return ok;
}

static void test_graph(uint32_t *in, uint32_t *out)
{
    ech_sort_options o = {};
    o.size = sizeof o;
    CHECK(ech_sort_workspace("cuda", N, ECH_U32, 0, NULL, &o.work_bytes) == ECH_OK);
    CUDA(cudaMalloc(&o.work, o.work_bytes));
    CHECK(ech_sort(ctx, in, out, N, ECH_U32, &o) ==
          ECH_OK); /* kernels are loaded: a capture may not */
    CUDA(cudaStreamSynchronize(stream));

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(ech_sort(ctx, in, out, N, ECH_U32, &o) == ECH_OK);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int run = 0; run < 3; run++) {
        CUDA(cudaMemsetAsync(out, 0xa5, N * sizeof *out, stream));
        CUDA(cudaGraphLaunch(exec, stream));
        CHECK(is_sorted(out));
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaFree(o.work));
}

/* Stable pairs and indices give the same bits every time. */
static void test_same_bits(uint32_t *in)
{
    uint64_t *index[2];
    uint64_t *copy[2];
    ech_sort_options o = {};
    o.size = sizeof o;
    o.end_bit = 12; /* many equal keys */
    for (int c = 0; c < 2; c++) {
        CUDA(cudaMalloc(&index[c], N * sizeof **index));
        copy[c] = (uint64_t *)malloc(N * sizeof **copy);
    }
    for (int run = 0; run < 10; run++) {
        int c = run != 0;
        CUDA(cudaMemsetAsync(index[c], 0xa5, N * sizeof **index, stream));
        CHECK(ech_argsort(ctx, in, index[c], ECH_U64, N, ECH_U32, &o) == ECH_OK);
        CUDA(cudaMemcpyAsync(copy[c], index[c], N * sizeof **copy, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        CHECK(run == 0 || memcmp(copy[0], copy[1], N * sizeof **copy) == 0);
    }
    for (int c = 0; c < 2; c++) {
        CUDA(cudaFree(index[c]));
        free(copy[c]);
    }
}

static size_t live, calls;

static void *allocate(void *user, size_t bytes, void *on)
{
    void *pointer = NULL;
    CHECK(user == &live && on == stream);
    calls++;
    if (cudaMallocAsync(&pointer, bytes, (cudaStream_t)on) != cudaSuccess) return NULL;
    live += bytes;
    return pointer;
}

static void release(void *user, void *pointer, size_t bytes, void *on)
{
    CHECK(user == &live && on == stream);
    CUDA(cudaFreeAsync(pointer, (cudaStream_t)on));
    live -= bytes;
}

static void test_allocator(uint32_t *in, uint32_t *out)
{
    ech_allocator allocator = { allocate, release, &live };
    CHECK(ech_set_allocator(ctx, &allocator) == ECH_OK);
    CUDA(cudaMemsetAsync(out, 0xa5, N * sizeof *out, stream));
    CHECK(ech_sort(ctx, in, out, N, ECH_U32, NULL) == ECH_OK);
    CHECK(is_sorted(out));
    CHECK(calls > 0 && live == 0);
    CHECK(ech_set_allocator(ctx, NULL) == ECH_OK);
}

/* Managed and pinned memory go where a GPU's and a host's would. */
static void test_kinds_of_memory(void)
{
    uint32_t *pinned, *managed;
    CUDA(cudaMallocHost(&pinned, N * sizeof *pinned));
    CUDA(cudaMallocManaged(&managed, N * sizeof *managed));
    memcpy(pinned, host, N * sizeof *pinned);
    memcpy(managed, host, N * sizeof *managed);
    CHECK(ech_sort(ctx, pinned, pinned, N, ECH_U32, NULL) == ECH_OK);
    CHECK(memcmp(pinned, expected, N * sizeof *pinned) == 0);
    CHECK(ech_sort(ctx, managed, managed, N, ECH_U32, NULL) == ECH_OK);
    CHECK(is_sorted(managed));
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFree(managed));
}

int main(void)
{
    uint32_t *in, *out;
    make_data();
    CHECK(ech_open(&ctx, "cuda") == ECH_OK);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(ech_set_stream(ctx, stream) == ECH_OK);
    CUDA(cudaMalloc(&in, N * sizeof *in));
    CUDA(cudaMalloc(&out, N * sizeof *out));
    CUDA(cudaMemcpyAsync(in, host, N * sizeof *in, cudaMemcpyHostToDevice, stream));
    test_graph(in, out);
    test_same_bits(in);
    test_allocator(in, out);
    test_kinds_of_memory();
    CHECK(ech_sort(ctx, in, host, N, ECH_U32, NULL) == ECH_ERR_ARG); /* one side each */
    ech_close(ctx);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
