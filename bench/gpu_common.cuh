/*
 * gpu_common.cuh - shared by the GPU benchmarks: options, data, alternating measurements, CSV.
 *
 *     int main(int argc, char **argv)
 *     {
 *         bench_open(argc, argv, "reduce");
 *         bench_row({ "sum", "f32", n, "whole", "uniform" }, bytes, work_bytes, call, cub, same);
 *         return bench_close();
 *     }
 *
 * call and cub are functions without arguments that queue one call on `stream`; same() returns
 * whether their results agree.  Times are medians of several measurements between two events of the
 * stream; short calls are repeated between the events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_GPU_COMMON_CUH
#define BENCH_GPU_COMMON_CUH

#include <cub/version.cuh>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "echelon.h"

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(error));                                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define ECH(call)                                                                                  \
    do {                                                                                           \
        if ((call) != ECH_OK) {                                                                    \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ech_error(ctx));         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static ech_ctx *ctx;
static cudaStream_t stream;
static FILE *csv;
static const char *only, *algorithm; /* algorithm: one for all rows that it can compute */
static int quick, wrong;

/* ---- Data: a hash of the position ---- */

static __host__ __device__ inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static __host__ __device__ inline uint64_t random_at(uint64_t i)
{
    return mix(3 * i + 0x9e3779b97f4a7c15ull);
}

static __global__ void count_differences(const uint8_t *a, const uint8_t *b, size_t bytes,
                                         unsigned long long *count)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    unsigned long long mine = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += step)
        mine += a[i] != b[i];
    if (mine) atomicAdd(count, mine);
}

/* The number of bytes in which two device arrays differ. */
static inline unsigned long long differences(const void *a, const void *b, size_t bytes)
{
    unsigned long long *count, result;
    CUDA(cudaMalloc(&count, sizeof *count));
    CUDA(cudaMemsetAsync(count, 0, sizeof *count, stream));
    count_differences<<<1024, 256, 0, stream>>>((const uint8_t *)a, (const uint8_t *)b, bytes,
                                                count);
    CUDA(cudaMemcpyAsync(&result, count, sizeof result, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(count));
    return result;
}

/* ---- Timing ---- */

struct bench_name {
    const char *op, *dtype;
    size_t n;
    const char *shape, *dist;
};

static inline int bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

template <class Call> static double bench_time(const Call &call, int calls)
{
    static cudaEvent_t begin, end;
    if (!begin) {
        CUDA(cudaEventCreate(&begin));
        CUDA(cudaEventCreate(&end));
    }
    CUDA(cudaEventRecord(begin, stream));
    for (int i = 0; i < calls; i++) call();
    CUDA(cudaEventRecord(end, stream));
    CUDA(cudaEventSynchronize(end));
    float ms;
    CUDA(cudaEventElapsedTime(&ms, begin, end));
    return ms / calls;
}

/* Whether the row is selected; for rows whose data is expensive to generate. */
static inline bool bench_wanted(const struct bench_name &name)
{
    char text[160];
    snprintf(text, sizeof text, "%s(%s,n=%zu,%s,dist=%s)", name.op, name.dtype, name.n, name.shape,
             name.dist);
    return !only || strstr(text, only);
}

/* Runs both calls once, compares the results, then measures them alternately.  bytes: the bytes
 * that must be moved; rival_name: the name of the competitor. */
template <class Ours, class Rival, class Same>
static void bench_row(const struct bench_name &name, double bytes, size_t work_bytes,
                      const Ours &ours, const Rival &rival, const Same &same,
                      const char *rival_name = "cub")
{
    enum { RUNS = 11 };
    char text[160];
    if (!bench_wanted(name)) return;
    snprintf(text, sizeof text, "%s(%s,n=%zu,%s,dist=%s)", name.op, name.dtype, name.n, name.shape,
             name.dist);
    ours();
    rival();
    CUDA(cudaStreamSynchronize(stream));
    bool good = same();
    if (!good) wrong++;
    double ms[2][RUNS];
    int calls = bytes < 1e6 ? 50 : bytes < 300e6 ? 20 : 1, runs = quick ? 5 : RUNS;
    for (int r = 0; r < runs; r++)
        for (int c = 0; c < 2; c++) {
            int who = (c + r) % 2;
            ms[who][r] = who ? bench_time(rival, calls) : bench_time(ours, calls);
        }
    for (int c = 0; c < 2; c++) qsort(ms[c], runs, sizeof(double), bench_by_value);
    double mine = ms[0][runs / 2], other = ms[1][runs / 2];
    printf("%-60s echelon %9.4f ms %7.0f GB/s   %s %9.4f ms %7.0f GB/s   ratio %5.2f%s\n", text,
           mine, bytes / mine * 1e-6, rival_name, other, bytes / other * 1e-6, other / mine,
           good ? "" : "  WRONG");
    fflush(stdout);
    for (int c = 0; csv && c < 2; c++)
        fprintf(csv, "%s,%s,%zu,%s,%s,%s,%.6f,%.6f,%.6f,%.2f,%zu,%s\n", name.op, name.dtype, name.n,
                name.shape, name.dist, c ? rival_name : "echelon", ms[c][runs / 2], ms[c][0],
                ms[c][runs - 1], bytes / ms[c][runs / 2] * 1e-6, c ? (size_t)0 : work_bytes,
                good ? "equal" : "wrong");
}

/* ---- The program ---- */

/* about, columns: text and columns of the CSV file, if not those of bench_row(). */
static inline void bench_open(int argc, char **argv, const char *what, const char *about = NULL,
                              const char *columns = NULL)
{
    const char *csv_path = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = 1;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--algorithm") == 0 && i + 1 < argc) {
            algorithm = argv[++i];
        } else if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc) {
            csv_path = argv[++i];
        } else {
            fprintf(stderr,
                    "usage: gpu_%s [--quick] [--only TEXT] [--algorithm NAME] [--csv FILE]\n",
                    what);
            exit(2);
        }
    }
    if (ech_open(&ctx, "cuda") != ECH_OK) {
        fprintf(stderr, "gpu_%s: %s\n", what, ech_error(NULL));
        exit(3);
    }
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ECH(ech_set_stream(ctx, stream));
    cudaDeviceProp device;
    int driver, runtime;
    CUDA(cudaGetDeviceProperties(&device, 0));
    CUDA(cudaDriverGetVersion(&driver));
    CUDA(cudaRuntimeGetVersion(&runtime));
    printf("%s, driver interface %d, CUDA %d, CUB %d, echelon %s\n", device.name, driver, runtime,
           CUB_VERSION, ech_version());
    if (!csv_path) return;
    csv = fopen(csv_path, "w");
    if (!csv) {
        perror(csv_path);
        exit(2);
    }
    setvbuf(csv, NULL, _IOLBF, BUFSIZ); /* an interrupted run keeps its rows */
    char date[16];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%F", gmtime(&now));
    fprintf(csv, "# %s; by scripts/gpu_check.sh, gpu_%s; %s\n", date, what,
            about
                ? about
                : "arrays in device memory, caller-provided workspace; rates count the bytes that "
                  "must be read and written");
    fprintf(csv, "# device: %s; driver interface %d; CUDA %d; CUB %d; echelon %s\n", device.name,
            driver, runtime, CUB_VERSION, ech_version());
    fprintf(csv, "%s\n",
            columns ? columns
                    : "op,dtype,n,shape,dist,contender,ms,ms_min,ms_max,gb_per_s,"
                      "workspace_bytes,result");
}

static inline int bench_close(void)
{
    ech_close(ctx);
    if (csv && fclose(csv)) return perror("closing the CSV file"), 2;
    if (wrong) return fprintf(stderr, "%d rows have wrong results\n", wrong), 1;
    return 0;
}

#endif
