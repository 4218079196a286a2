/*
 * simt/planted_gpu.cu - runs the planted kernels on a GPU, to verify the expected results.
 *
 *     planted_gpu KERNEL          one of faults.def; each needs its own process
 *     planted_gpu --patterns      all of patterns.def, in order
 *     planted_gpu --list-faults, --list-patterns    the tables as CSV
 *
 * Prints a line per kernel: its name, "ok" or "wrong" compared with the oracle, "ran" if the
 * kernel is faulty, or the error; and the checksum of its output. scripts/gpu_truth.sh runs it
 * under NVIDIA's tools.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planted.h"
#include "planted_oracle.h"

#define FAULT(file, kernel, ...)                                                                   \
    extern "C" __global__ void kernel(const __grid_constant__ struct planted_args a);
#include "faults.def"
#undef FAULT
#define PATTERN(kernel, ...)                                                                       \
    extern "C" __global__ void kernel(const __grid_constant__ struct planted_args a);
#include "patterns.def"
#undef PATTERN

enum { PATTERN_COUNTS = 15 };

struct planted {
    const char *name;
    const void *kernel;
    const char *p_text, *expect, *tool;
    int gpu;
    uint32_t p, blocks, threads, shared_bytes, n_in, n_out;
    int counts[PATTERN_COUNTS];
};

static const struct planted faults[] = {
#define FAULT(file, kernel, blocks, threads, shared_bytes, n_in, n_out, expect, tool, gpu)         \
    { #kernel, (const void *)kernel, "",   expect, tool, gpu, PLANTED_FAULT_P, blocks,             \
      threads, shared_bytes,         n_in, n_out,  {} },
#include "faults.def"
#undef FAULT
};

static const struct planted patterns[] = {
#define PATTERN(kernel, p, blocks, threads, shared_bytes, n_in, n_out, ...)                        \
    { #kernel, (const void *)kernel, #p,   "none", "none",         1, p, blocks,                   \
      threads, shared_bytes,         n_in, n_out,  { __VA_ARGS__ } },
#include "patterns.def"
#undef PATTERN
};

enum { FAULTS = sizeof faults / sizeof faults[0], PATTERNS = sizeof patterns / sizeof patterns[0] };

struct buffers {
    uint32_t *host_in, *host_out, *expected;
    struct planted_args device;
};

static void free_buffers(struct buffers *b)
{
    free(b->host_in), free(b->host_out), free(b->expected);
    cudaFree((void *)b->device.in), cudaFree(b->device.out);
    cudaFree(b->device.flag), cudaFree(b->device.raw);
}

/* The first error, or cudaSuccess. */
static cudaError_t first(cudaError_t a, cudaError_t b)
{
    return a ? a : b;
}

static cudaError_t prepare(const struct planted *k, struct buffers *b)
{
    size_t in_bytes = k->n_in * sizeof(uint32_t), out_bytes = k->n_out * sizeof(uint32_t);
    size_t flag_bytes = PLANTED_FLAG_WORDS * sizeof(uint32_t);
    b->host_in = (uint32_t *)malloc(in_bytes);
    b->host_out = (uint32_t *)calloc(1, out_bytes);
    b->expected = (uint32_t *)calloc(1, out_bytes);
    if (!b->host_in || !b->host_out || !b->expected) return cudaErrorMemoryAllocation;
    for (uint32_t i = 0; i < k->n_in; i++) b->host_in[i] = planted_word(i);
    b->device.n_in = k->n_in, b->device.n_out = k->n_out, b->device.p = k->p;
    cudaError_t e = cudaMalloc((void **)&b->device.in, in_bytes);
    e = first(e, cudaMalloc((void **)&b->device.out, out_bytes));
    e = first(e, cudaMalloc((void **)&b->device.flag, flag_bytes));
    e = first(e, cudaMalloc((void **)&b->device.raw, PLANTED_RAW_WORDS * sizeof(uint32_t)));
    if (e) return e;
    e = cudaMemcpy((void *)b->device.in, b->host_in, in_bytes, cudaMemcpyHostToDevice);
    e = first(e, cudaMemset(b->device.out, 0, out_bytes));
    return first(e, cudaMemset(b->device.flag, 0, flag_bytes));
}

static cudaError_t launch(const struct planted *k, struct buffers *b)
{
    void *parameters[] = { &b->device };
    cudaError_t e = cudaSuccess;
    if (k->shared_bytes > 48 << 10) {
        e = cudaFuncSetAttribute(k->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 k->shared_bytes);
    }
    if (!e) e = cudaLaunchKernel(k->kernel, k->blocks, k->threads, parameters, k->shared_bytes, 0);
    if (!e) e = cudaDeviceSynchronize();
    if (e) return e;
    return cudaMemcpy(b->host_out, b->device.out, k->n_out * sizeof(uint32_t),
                      cudaMemcpyDeviceToHost);
}

/* Returns 0, or 1 if the kernel did not do what its row states. */
static int run(const struct planted *k)
{
    struct buffers b = {};
    const char *result = "ran";
    cudaError_t e = prepare(k, &b);
    if (!e) e = launch(k, &b);
    if (e) {
        result = cudaGetErrorName(e);
    } else if (planted_expected(k->name, k->p, b.host_in, b.expected, k->n_out)) {
        result = memcmp(b.host_out, b.expected, k->n_out * sizeof(uint32_t)) ? "wrong" : "ok";
    }
    unsigned long long checksum = e ? 0 : planted_checksum(b.host_out, k->n_out);
    printf("%s,%s,%016llx\n", k->name, result, checksum);
    fflush(stdout);
    free_buffers(&b);
    return strcmp(k->expect, "none") == 0 && strcmp(result, "ok") != 0;
}

static void list_faults(void)
{
    printf("kernel,expect,tool,gpu\n");
    for (int i = 0; i < FAULTS; i++)
        printf("%s,%s,%s,%d\n", faults[i].name, faults[i].expect, faults[i].tool, faults[i].gpu);
}

static void list_patterns(void)
{
    printf("kernel,p,global_load_requests,global_load_sectors,global_store_requests,"
           "global_store_sectors,global_atomic_requests,global_atomic_sectors,shared_load_requests,"
           "shared_load_wavefronts,shared_store_requests,shared_store_wavefronts,"
           "shared_atomic_requests,shared_atomic_wavefronts,barriers,divergent,divergent_gpu\n");
    for (int i = 0; i < PATTERNS; i++) {
        printf("%s,\"%s\"", patterns[i].name, patterns[i].p_text);
        for (int j = 0; j < PATTERN_COUNTS; j++) printf(",%d", patterns[i].counts[j]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    int failed = 0, found = 1;
    if (strcmp(what, "--list-faults") == 0) {
        list_faults();
    } else if (strcmp(what, "--list-patterns") == 0) {
        list_patterns();
    } else if (strcmp(what, "--patterns") == 0) {
        for (int i = 0; i < PATTERNS; i++) failed |= run(&patterns[i]);
    } else {
        found = 0;
        for (int i = 0; i < FAULTS; i++) {
            if (strcmp(what, faults[i].name) == 0) found = 1, failed = run(&faults[i]);
        }
    }
    if (!found) fprintf(stderr, "planted_gpu: no kernel %s\n", what);
    return found ? failed : 2;
}
