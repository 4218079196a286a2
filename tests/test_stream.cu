/*
 * test_stream.cu - tests that need the CUDA runtime: the caller's stream, memory of the runtime,
 * an allocator of the caller, capture in a graph, and bit-identical runs.
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

#include <chrono>
#include <thread>

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

/* Whether the device array is the expected result. */
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

/* ---- Capture in a graph ---- */

/* A sort to capture; op selects the function. */
static const struct path {
    enum { KEYS, PAIRS, ARGSORT } op;
    ech_dtype dtype;
    size_t n, value_bytes;
    const char *algorithm; /* NULL: the library's choice */
} paths[] = {
    { path::KEYS, ECH_U32, N, 0, NULL },
    { path::KEYS, ECH_U32, 1000, 0, "block" },
    { path::PAIRS, ECH_U64, 4000, 8, "block" },
    { path::KEYS, ECH_U8, N, 0, "count" },
    { path::KEYS, ECH_U16, N, 0, "count" },
    { path::KEYS, ECH_U32, 300007, 0, "samplesort" },
    { path::PAIRS, ECH_U64, 100003, 8, "samplesort" },
    { path::ARGSORT, ECH_I32, 100003, 4, "samplesort" },
    { path::KEYS, ECH_U32, N, 0, "adaptive" },
    { path::KEYS, ECH_U64, N, 0, "adaptive" },
    { path::PAIRS, ECH_U32, N, 4, "adaptive" },
    { path::ARGSORT, ECH_I64, N, 8, "adaptive" },
    { path::KEYS, ECH_U32, N, 0, "buckets" },
    { path::KEYS, ECH_F64, N, 0, "buckets" },
    { path::KEYS, ECH_F32, N, 0, "msd" },
    { path::KEYS, ECH_U64, N, 0, "msd" },
    { path::PAIRS, ECH_U32, N, 4, "msd" },
    { path::PAIRS, ECH_U64, N, 8, "msd" },
    { path::ARGSORT, ECH_I64, N, 8, "msd" },
    { path::KEYS, ECH_I64, N, 0, "onesweep" },
    { path::PAIRS, ECH_F32, N, 4, "onesweep" },
    { path::PAIRS, ECH_U32, N, 12, NULL }, /* argsort, then a gather */
    { path::KEYS, ECH_U32, N, 0, "low_memory" },
    { path::PAIRS, ECH_U32, 100003, 4, "low_memory" },
};
enum { PATHS = sizeof paths / sizeof *paths, SHAPES = 4 };

/* Fills the keys: random, other random values, the AND of three words, all equal. */
__global__ static void fill(uint64_t *words, size_t count, int shape)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        uint64_t word = ~(uint64_t)0;
        for (int k = 0; k < (shape == 2 ? 3 : 1); k++) {
            uint64_t x = (3 * i + k + 1) * 0x9e3779b97f4a7c15ull + shape * 0x1234567ull;
            x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
            x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
            word &= x ^ (x >> 31);
        }
        words[i] = shape == 3 ? 0x0102030405060708ull : word;
    }
}

struct buffers {
    char *keys, *values, *keys_out, *values_out;
};

static ech_status run_path(const struct path *p, const struct buffers *b, ech_sort_options *o)
{
    if (p->op == path::KEYS) return ech_sort(ctx, b->keys, b->keys_out, p->n, p->dtype, o);
    if (p->op == path::PAIRS)
        return ech_sort_pairs(ctx, b->keys, b->values, b->keys_out, b->values_out, p->n, p->dtype,
                              p->value_bytes, o);
    return ech_argsort(ctx, b->keys, b->values_out, p->n, p->dtype,
                       p->value_bytes == 4 ? ECH_U32 : ECH_U64, o);
}

static void test_capture(const struct path *p)
{
    ech_sort_options o = {};
    o.size = sizeof o;
    o.algorithm = p->algorithm;
    const size_t key_bytes = ech_dtype_bytes(p->dtype) * p->n, bytes = p->value_bytes * p->n;
    const size_t words = (key_bytes + 7) / 8, value_words = (bytes + 7) / 8;
    struct buffers b = {}, direct = {};
    if (p->op == path::ARGSORT)
        CHECK(ech_argsort_workspace("cuda", p->n, p->dtype, p->value_bytes == 4 ? ECH_U32 : ECH_U64,
                                    &o, &o.work_bytes) == ECH_OK);
    else
        CHECK(ech_sort_workspace("cuda", p->n, p->dtype, p->value_bytes, &o, &o.work_bytes) ==
              ECH_OK);
    CUDA(cudaMalloc(&o.work, o.work_bytes + 1));
    CUDA(cudaMalloc(&b.keys, words * 8));
    CUDA(cudaMalloc(&b.values, value_words * 8 + 8));
    struct buffers *both[] = { &b, &direct };
    for (struct buffers *x : both) {
        x->keys = b.keys;
        x->values = b.values;
        CUDA(cudaMalloc(&x->keys_out, key_bytes));
        CUDA(cudaMalloc(&x->values_out, bytes + 1));
    }
    fill<<<1024, 256, 0, stream>>>((uint64_t *)b.values, value_words, 0);
    fill<<<1024, 256, 0, stream>>>((uint64_t *)b.keys, words, 0);
    CHECK(run_path(p, &b, &o) == ECH_OK); /* a capture cannot load kernels */
    CUDA(cudaStreamSynchronize(stream));

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(run_path(p, &b, &o) == ECH_OK);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    char *got = (char *)malloc(key_bytes + bytes), *wanted = (char *)malloc(key_bytes + bytes);
    for (int shape = 0; shape < SHAPES; shape++) {
        fill<<<1024, 256, 0, stream>>>((uint64_t *)b.keys, words, shape);
        CUDA(cudaMemsetAsync(b.keys_out, 0xa5, key_bytes, stream));
        CUDA(cudaMemsetAsync(b.values_out, 0xa5, bytes, stream));
        CUDA(cudaGraphLaunch(exec, stream));
        CHECK(run_path(p, &direct, &o) == ECH_OK);
        for (struct buffers *x : both) {
            char *to = x == &b ? got : wanted;
            memset(to, 0, key_bytes + bytes);
            if (p->op != path::ARGSORT)
                CUDA(cudaMemcpyAsync(to, x->keys_out, key_bytes, cudaMemcpyDeviceToHost, stream));
            CUDA(cudaMemcpyAsync(to + key_bytes, x->values_out, bytes, cudaMemcpyDeviceToHost,
                                 stream));
            CUDA(cudaStreamSynchronize(stream));
        }
        const bool same = memcmp(got, wanted, key_bytes + bytes) == 0;
        CHECK(same);
        if (!same)
            printf("  %s of %zu %s, %zu bytes of values, by %s, shape %d\n",
                   p->op == path::ARGSORT ? "argsort" : "sort", p->n, ech_dtype_name(p->dtype),
                   p->value_bytes, p->algorithm ? p->algorithm : "the library's choice", shape);
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    for (struct buffers *x : both) {
        CUDA(cudaFree(x->keys_out));
        CUDA(cudaFree(x->values_out));
    }
    CUDA(cudaFree(b.keys));
    CUDA(cudaFree(b.values));
    CUDA(cudaFree(o.work));
    free(got);
    free(wanted);
}

/* Replays of the graph write the sorted array again. */
static void test_graph(uint32_t *in, uint32_t *out)
{
    ech_sort_options o = {};
    o.size = sizeof o;
    CHECK(ech_sort_workspace("cuda", N, ECH_U32, 0, NULL, &o.work_bytes) == ECH_OK);
    CUDA(cudaMalloc(&o.work, o.work_bytes));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(ech_sort(ctx, in, out, N, ECH_U32, &o) == ECH_OK);
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

/* Stable sorts of pairs and argsorts are bit-identical in every run. */
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
        CHECK(ech_argsort(ctx, in, index[c], N, ECH_U32, ECH_U64, &o) == ECH_OK);
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
    ech_allocator allocator = { sizeof(ech_allocator), allocate, release, &live };
    CHECK(ech_set_allocator(ctx, &allocator) == ECH_OK);
    CUDA(cudaMemsetAsync(out, 0xa5, N * sizeof *out, stream));
    CHECK(ech_sort(ctx, in, out, N, ECH_U32, NULL) == ECH_OK);
    CHECK(is_sorted(out));
    CHECK(calls > 0 && live == 0);
    CHECK(ech_set_allocator(ctx, NULL) == ECH_OK);
}

/* Managed memory is treated as device memory, pinned memory as host memory. */
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

/* ---- Streams and their order ---- */

/* Blocks a stream for some milliseconds without using a multiprocessor, for which a cooperative
 * launch would wait. */
static void CUDART_CB sleep_host(void *milliseconds)
{
    std::this_thread::sleep_for(std::chrono::milliseconds((intptr_t)milliseconds));
}

static void busy(cudaStream_t on, intptr_t milliseconds)
{
    CUDA(cudaLaunchHostFunc(on, sleep_host, (void *)milliseconds));
}

/* Work queued before a sort writes its input, so that a wrong order gives a wrong result. */
static void write_late(uint32_t *in, const uint32_t *from, cudaStream_t on)
{
    CUDA(cudaMemsetAsync(in, 0, N * sizeof *in, on));
    busy(on, 100);
    CUDA(cudaMemcpyAsync(in, from, N * sizeof *in, cudaMemcpyHostToDevice, on));
}

static void test_streams(uint32_t *in, uint32_t *out)
{
    ech_ctx *own;
    void *used = &used;
    int done = -1;
    cudaEvent_t event;
    uint32_t *pinned, *input;
    CHECK(ech_open(&own, "cuda") == ECH_OK);
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CUDA(cudaMallocHost(&pinned, N * sizeof *pinned));
    CUDA(cudaMallocHost(&input, N * sizeof *input));
    memcpy(input, host, N * sizeof *input);
    memcpy(pinned, host, N * sizeof *pinned);
    CHECK(ech_sort(own, in, out, N, ECH_U32, NULL) == ECH_OK); /* loads kernels */
    CHECK(ech_sort(own, pinned, pinned, N, ECH_U32, NULL) == ECH_OK);
    CHECK(ech_sync(own) == ECH_OK);

    /* A new context uses the legacy default stream, as programs without streams do. */
    CHECK(ech_get_stream(own, &used) == ECH_OK && used == NULL);
    write_late(in, input, NULL);
    CHECK(ech_sort(own, in, out, N, ECH_U32, NULL) == ECH_OK);
    CHECK(ech_poll(own, &done) == ECH_OK && done == 0);
    CUDA(cudaMemcpy(pinned, out, N * sizeof *pinned,
                    cudaMemcpyDefault)); /* also on the legacy stream */
    CHECK(memcmp(pinned, expected, N * sizeof *pinned) == 0);
    CHECK(ech_poll(own, &done) == ECH_OK && done == 1);

    /* Calls with host arrays do not wait for the stream. */
    memcpy(pinned, host, N * sizeof *pinned);
    busy(NULL, 1000);
    CHECK(ech_sort(own, pinned, pinned, N, ECH_U32, NULL) == ECH_OK);
    CHECK(cudaStreamQuery(NULL) == cudaErrorNotReady);
    CHECK(memcmp(pinned, expected, N * sizeof *pinned) == 0);
    CHECK(ech_sync(own) == ECH_OK && cudaStreamQuery(NULL) == cudaSuccess);

    /* Only events order a private stream with other streams. */
    CHECK(ech_set_private_stream(own) == ECH_OK);
    CHECK(ech_get_stream(own, &used) == ECH_OK && used != NULL);
    CUDA(cudaMemset(out, 0, N * sizeof *out));
    write_late(in, input, stream);
    CUDA(cudaEventRecord(event, stream));
    CHECK(ech_wait_event(own, event) == ECH_OK);
    CHECK(ech_sort(own, in, out, N, ECH_U32, NULL) == ECH_OK);
    memset(pinned, 0, N * sizeof *pinned);
    CHECK(ech_copy_async(own, pinned, out, N * sizeof *pinned) == ECH_OK);
    CHECK(ech_poll(own, &done) == ECH_OK && done == 0);
    CHECK(ech_record_event(own, event) == ECH_OK);
    CUDA(cudaStreamWaitEvent(stream, event, 0));
    CHECK(is_sorted(out));
    CHECK(memcmp(pinned, expected, N * sizeof *pinned) == 0);
    CHECK(ech_poll(own, &done) == ECH_OK && done == 1);

    /* Errors that only the data reveals are reported by ech_poll(), once. */
    const uint64_t offsets[3] = { 0, 9, 5 };
    uint64_t *bad;
    CUDA(cudaMalloc(&bad, sizeof offsets));
    CUDA(cudaMemcpy(bad, offsets, sizeof offsets, cudaMemcpyHostToDevice));
    CHECK(ech_reduce_segments(own, ECH_OP_MAX, in, bad, out, N, 2, ECH_U32, ECH_U64, NULL) ==
          ECH_OK);
    ech_status status = ECH_OK;
    for (done = 0; !done;) status = ech_poll(own, &done);
    CHECK(status == ECH_ERR_ARG && strstr(ech_error(own), "offsets[2]"));
    CHECK(ech_sync(own) == ECH_OK);

    CHECK(ech_set_stream(own, NULL) == ECH_OK);
    CHECK(ech_get_stream(own, &used) == ECH_OK && used == NULL);
    CHECK(ech_set_stream(own, stream) == ECH_OK);
    CHECK(ech_get_stream(own, &used) == ECH_OK && used == stream);
    CHECK(ech_record_event(own, NULL) == ECH_ERR_ARG);
    ech_close(own);
    CUDA(cudaEventDestroy(event));
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFreeHost(input));
    CUDA(cudaFree(bad));
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
    for (int i = 0; i < PATHS; i++) test_capture(&paths[i]);
    test_same_bits(in);
    test_allocator(in, out);
    test_kinds_of_memory();
    test_streams(in, out);
    CHECK(ech_sort(ctx, in, host, N, ECH_U32, NULL) == ECH_OK); /* output in host memory */
    bool sorted = true;
    for (size_t i = 1; i < N; i++) sorted = sorted && host[i - 1] <= host[i];
    CHECK(sorted);
    ech_close(ctx);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
