/*
 * test_intrinsics.c - CUDA's intrinsic functions and the functions of src/cuda/device/ptx.cuh on
 * the SIMT emulator, compared with oracles in plain C, word by word. simt/intrinsics_gpu.cu does
 * the same on a GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/intrinsics_oracle.h"
#include "simt_run.h"

#include <stdlib.h>
#include <string.h>

static const char *const orders[] = { "threads=1,seed=0", "threads=1,seed=3", "threads=2,seed=0" };

static CUresult launch(const struct intrinsics_case *c, const char *module,
                       struct intrinsics_args *args)
{
    void *parameters[] = { args };
    CUlaunchAttribute cluster = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                  .value.cluster = { c->cluster, 1, 1 } };
    CUlaunchConfig config = { .grid_x = c->grid[0],
                              .grid_y = c->grid[1],
                              .grid_z = c->grid[2],
                              .block_x = c->block[0],
                              .block_y = c->block[1],
                              .block_z = c->block[2],
                              .shared_bytes = c->shared_bytes,
                              .attributes = &cluster,
                              .attribute_count = c->cluster > 1 };
    CUkernel kernel = simt_kernel(module, c->kernel);
    return kernel ? simt_driver.cuLaunchKernelEx(&config, kernel, parameters, NULL) : -1;
}

static void compare(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                    const uint64_t *got, const uint64_t *expected)
{
    for (size_t i = 0; i < (size_t)c->slots * n; i++) {
        const uint64_t *x = in + i % n * INTRINSICS_INPUTS;
        if (got[i] == expected[i]) continue;
        test_fail(__FILE__, __LINE__, "%s of thread %zu: %llx instead of %llx, from %llx %llx %llx",
                  c->names[i / n], i % n, (unsigned long long)got[i],
                  (unsigned long long)expected[i], (unsigned long long)x[0],
                  (unsigned long long)x[1], (unsigned long long)x[2]);
        i += n - 1 - i % n; /* continue with the next slot */
    }
}

static void run(const struct intrinsics_case *c, const char *module)
{
    const uint32_t n = intrinsics_threads(c);
    const size_t inputs = (size_t)n * INTRINSICS_INPUTS, words = (size_t)n * c->slots;
    const size_t scratch = (size_t)n * INTRINSICS_SCRATCH;
    uint64_t *in = malloc(inputs * 8), *got = malloc(words * 8);
    uint64_t *expected = calloc(words, 8), *zeros = calloc(words > scratch ? words : scratch, 8);
    const struct simt_finding *found = NULL;
    if (CHECK(in && got && expected && zeros)) {
        intrinsics_fill(in, inputs);
        c->expect(c, n, in, expected);
        CUdeviceptr d_in = simt_buffer(inputs * 8, in), d_out = simt_buffer(words * 8, zeros);
        CUdeviceptr d_scratch = simt_buffer(scratch * 8, zeros);
        struct intrinsics_args args = { .in = (const uint64_t *)(uintptr_t)d_in,
                                        .out = (uint64_t *)(uintptr_t)d_out,
                                        .scratch = (uint64_t *)(uintptr_t)d_scratch,
                                        .n = n };
        simt_forget();
        CHECK_INT(launch(c, module, &args), CUDA_SUCCESS);
        if (simt_findings(&found)) test_fail(__FILE__, __LINE__, "%s", found[0].text);
        simt_read(got, d_out, words * 8);
        compare(c, n, in, got, expected);
        simt_driver.cuMemFree(d_in);
        simt_driver.cuMemFree(d_out);
        simt_driver.cuMemFree(d_scratch);
    }
    free(in);
    free(got);
    free(expected);
    free(zeros);
}

static void run_cases(const struct intrinsics_case *cases, int count, const char *module)
{
    for (int i = 0; i < count; i++)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
            const struct intrinsics_case *c = &cases[i];
            if (!test_begin("%s(%ux%u,%s)", c->kernel, c->grid[0], c->block[0], orders[o]))
                continue;
            simt_options_set(orders[o]);
            run(c, module);
            test_end();
        }
}

int main(int argc, char **argv)
{
    argc = simt_run_begin(argc, argv);
    test_main(argc, argv);
    run_cases(intrinsics_cases, intrinsics_case_count, "intrinsics");
    run_cases(ptx_cases, ptx_case_count, "ptx");
    simt_run_end();
    return test_finish();
}
