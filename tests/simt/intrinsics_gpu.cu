/*
 * simt/intrinsics_gpu.cu - verifies the oracles of intrinsics.cu and ptx.cu on a GPU.
 *
 * nvcc builds it with intrinsics_*.c and ptx_oracle.c for sm_90a, and it needs such a GPU. It
 * prints "N passed, N failed".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "intrinsics.cu"
#include "ptx.cu"
#include "intrinsics_oracle.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*kernel)(struct intrinsics_args);

static const struct {
    const char *name;
    kernel launch;
} kernels[] = {
    { "intrinsics_integer", intrinsics_integer },
    { "intrinsics_float", intrinsics_float },
    { "intrinsics_warp", intrinsics_warp },
    { "intrinsics_memory", intrinsics_memory },
    { "intrinsics_place", intrinsics_place },
    { "ptx_order", ptx_order },
    { "ptx_copy", ptx_copy },
    { "ptx_barrier", ptx_barrier },
    { "ptx_cluster", ptx_cluster },
    { "ptx_mma", ptx_mma },
    { "ptx_tensor", ptx_tensor },
    { "ptx_matrix", ptx_matrix },
    { "ptx_wgmma", ptx_wgmma },
};

static kernel kernel_of(const char *name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0) return kernels[i].launch;
    return NULL;
}

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

static void launch(const struct intrinsics_case *c, struct intrinsics_args a)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = c->cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3(c->grid[0], c->grid[1], c->grid[2]);
    config.blockDim = dim3(c->block[0], c->block[1], c->block[2]);
    config.dynamicSmemBytes = c->shared_bytes;
    config.attrs = &cluster;
    config.numAttrs = c->cluster > 1;
    check(cudaLaunchKernelEx(&config, kernel_of(c->kernel), a));
}

/* The number of slots with a wrong word. */
static int run(const struct intrinsics_case *c)
{
    const uint32_t n = intrinsics_threads(c);
    const size_t inputs = (size_t)n * INTRINSICS_INPUTS, words = (size_t)n * c->slots;
    uint64_t *in = (uint64_t *)malloc(inputs * 8), *got = (uint64_t *)malloc(words * 8);
    uint64_t *expected = (uint64_t *)calloc(words, 8), *device_in;
    struct intrinsics_args a = {};
    intrinsics_fill(in, inputs);
    c->expect(c, n, in, expected);
    check(cudaMalloc(&device_in, inputs * 8));
    check(cudaMalloc(&a.out, words * 8));
    check(cudaMalloc(&a.scratch, (size_t)n * INTRINSICS_SCRATCH * 8));
    check(cudaMemset(a.out, 0, words * 8));
    check(cudaMemset(a.scratch, 0, (size_t)n * INTRINSICS_SCRATCH * 8));
    check(cudaMemcpy(device_in, in, inputs * 8, cudaMemcpyHostToDevice));
    a.in = device_in;
    a.n = n;
    launch(c, a);
    check(cudaMemcpy(got, a.out, words * 8, cudaMemcpyDeviceToHost));
    int failed = 0;
    for (uint32_t slot = 0; slot < c->slots; slot++)
        for (uint32_t t = 0; t < n; t++) {
            const size_t at = (size_t)slot * n + t;
            if (got[at] == expected[at]) continue;
            const uint64_t *x = in + (size_t)t * INTRINSICS_INPUTS;
            printf("%s %s, thread %u: %llx instead of %llx from %llx %llx %llx\n", c->kernel,
                   c->names[slot], t, (unsigned long long)got[at], (unsigned long long)expected[at],
                   (unsigned long long)x[0], (unsigned long long)x[1], (unsigned long long)x[2]);
            failed++;
            break;
        }
    check(cudaFree(device_in));
    check(cudaFree(a.out));
    check(cudaFree(a.scratch));
    free(in), free(got), free(expected);
    return failed;
}

int main(void)
{
    int slots = 0, failed = 0;
    for (int i = 0; i < intrinsics_case_count + ptx_case_count; i++) {
        const struct intrinsics_case *c = i < intrinsics_case_count
                                              ? &intrinsics_cases[i]
                                              : &ptx_cases[i - intrinsics_case_count];
        slots += (int)c->slots;
        failed += run(c);
    }
    printf("%d passed, %d failed\n", slots - failed, failed);
    return failed != 0;
}
