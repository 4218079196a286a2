/*
 * simt_run.c - runs kernels on the SIMT emulator, for its tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                             int *symbol_status);

struct emulator simt_driver;
static FILE *csv;

/* ---- The driver ---- */

static void fill_table(void)
{
    union {
        void **object;
        void *field;
    } slot;
#define DRIVER(name, parameters)                                                                   \
    slot.field = &simt_driver.name;                                                                \
    if (cuGetProcAddress_v2(#name, slot.object, ECHI_DRIVER_VERSION, 0, NULL) != CUDA_SUCCESS) {   \
        fprintf(stderr, "the emulator has no %s\n", #name);                                        \
        exit(2);                                                                                   \
    }
#include "cuda/driver.def"
#include "simt/more.def"
#undef DRIVER
}

int simt_run_begin(int argc, char **argv)
{
    CUcontext context;
    int left = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc)
            csv = fopen(argv[++i], "w");
        else
            argv[left++] = argv[i];
    }
    if (csv) fputs("kind,kernel,p,found\n", csv);
    fill_table();
    if (simt_driver.cuInit(0) != CUDA_SUCCESS ||
        simt_driver.cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) {
        fprintf(stderr, "the emulator cannot be opened\n");
        exit(2);
    }
    return left;
}

void simt_run_end(void)
{
    simt_forget();
    simt_driver.cuDevicePrimaryCtxRelease(0);
    if (csv) fclose(csv);
}

void simt_options_set(const char *options)
{
    char message[200] = "";
    if (!simt_set_options(options, message, sizeof message)) {
        fprintf(stderr, "%s\n", message);
        exit(2);
    }
}

CUlibrary simt_library(const char *name)
{
    static struct {
        const char *name;
        CUlibrary library;
    } libraries[16];
    char path[1024];
    int i = 0;
    while (i < 15 && libraries[i].name && strcmp(libraries[i].name, name) != 0) i++;
    if (libraries[i].name) return libraries[i].library;
    snprintf(path, sizeof path, "%s/%s.so", SIMT_TEST_MODULES, name);
    CUresult result =
        simt_driver.cuLibraryLoadData(&libraries[i].library, path, NULL, NULL, 0, NULL, NULL, 0);
    if (!CHECK_INT(result, CUDA_SUCCESS)) return NULL;
    libraries[i].name = name;
    return libraries[i].library;
}

CUkernel simt_kernel(const char *library, const char *name)
{
    CUkernel kernel = NULL;
    CUlibrary in = simt_library(library);
    if (in) CHECK_INT(simt_driver.cuLibraryGetKernel(&kernel, in, name), CUDA_SUCCESS);
    return kernel;
}

CUdeviceptr simt_buffer(size_t bytes, const void *from)
{
    CUdeviceptr at = 0;
    CHECK_INT(simt_driver.cuMemAlloc(&at, bytes), CUDA_SUCCESS);
    if (from && at) simt_driver.cuMemcpyAsync(at, (CUdeviceptr)(uintptr_t)from, bytes, NULL);
    return at;
}

void simt_read(void *to, CUdeviceptr from, size_t bytes)
{
    CHECK_INT(simt_driver.cuMemcpyAsync((CUdeviceptr)(uintptr_t)to, from, bytes, NULL),
              CUDA_SUCCESS);
}

/* ---- Planted kernels ---- */

int simt_run_planted(struct planted *run)
{
    static uint32_t *in, *out;
    static const uint32_t zeros[PLANTED_FLAG_WORDS];
    free(in);
    free(out);
    in = malloc(run->n_in * sizeof *in);
    out = calloc(run->n_out, sizeof *out);
    run->in = in;
    run->out = out;
    if (!CHECK(in && out)) return -1;
    for (uint32_t i = 0; i < run->n_in; i++) in[i] = planted_word(i);
    CUdeviceptr d_in = simt_buffer(run->n_in * sizeof *in, in);
    CUdeviceptr d_out = simt_buffer(run->n_out * sizeof *out, out);
    CUdeviceptr d_flag = simt_buffer(sizeof zeros, zeros);
    CUdeviceptr d_raw = simt_buffer(PLANTED_RAW_WORDS * sizeof(uint32_t), NULL);
    struct planted_args args = { .in = (const uint32_t *)(uintptr_t)d_in,
                                 .out = (uint32_t *)(uintptr_t)d_out,
                                 .flag = (uint32_t *)(uintptr_t)d_flag,
                                 .raw = (uint32_t *)(uintptr_t)d_raw,
                                 .n_in = run->n_in,
                                 .n_out = run->n_out,
                                 .p = run->p };
    void *parameters[] = { &args };
    int result = -1;
    CUkernel kernel = simt_kernel(run->file, run->kernel);
    simt_forget();
    if (kernel) {
        if (run->shared_bytes > 48 << 10)
            simt_driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             (int)run->shared_bytes, kernel, 0);
        CUlaunchAttribute early = { .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                    .value.early = 1 };
        CUlaunchConfig config = { run->blocks,       1,    1,      run->threads, 1, 1,
                                  run->shared_bytes, NULL, &early, run->early };
        result = simt_driver.cuLaunchKernelEx(&config, kernel, parameters, NULL);
        simt_read(out, d_out, run->n_out * sizeof *out);
    }
    simt_driver.cuMemFree(d_in);
    simt_driver.cuMemFree(d_out);
    simt_driver.cuMemFree(d_flag);
    simt_driver.cuMemFree(d_raw);
    return result;
}

void simt_check_output(const struct planted *run)
{
    uint32_t *expected = calloc(run->n_out, sizeof *expected);
    if (CHECK(expected) &&
        CHECK(planted_expected(run->kernel, run->p, run->in, expected, run->n_out)))
        for (uint32_t i = 0; i < run->n_out; i++)
            if (expected[i] != run->out[i]) {
                test_fail(__FILE__, __LINE__, "out[%u] is %08x, expected %08x", i, run->out[i],
                          expected[i]);
                break;
            }
    free(expected);
}

bool simt_output_is_right(const struct planted *run)
{
    uint32_t *expected = calloc(run->n_out, sizeof *expected);
    bool right = CHECK(expected) &&
                 CHECK(planted_expected(run->kernel, run->p, run->in, expected, run->n_out)) &&
                 memcmp(expected, run->out, run->n_out * sizeof *expected) == 0;
    free(expected);
    return right;
}

void simt_pattern_counts(const struct simt_counts *c, uint64_t out[PATTERN_COUNTS])
{
    const uint64_t counts[PATTERN_COUNTS] = {
        c->load_requests,   c->load_sectors,
        c->store_requests,  c->store_sectors,
        c->atomic_requests, c->atomic_sectors,
        c->shared_loads,    c->shared_load_wavefronts,
        c->shared_stores,   c->shared_store_wavefronts,
        c->shared_atomics,  c->shared_atomic_wavefronts,
        c->barriers,        c->divergent,
    };
    memcpy(out, counts, sizeof counts);
}

/* ---- CSV ---- */

void simt_csv_fault(const char *kernel, const struct simt_finding *finding)
{
    const struct simt_finding *all = NULL;
    size_t count = finding ? simt_findings(&all) : 0;
    if (!csv) return;
    fprintf(csv, "fault,%s,,%s", kernel, count ? "" : "none");
    for (size_t i = 0; i < count; i++) { /* each kind once, in the order of detection */
        size_t earlier = 0;
        while (earlier < i && all[earlier].fault != all[i].fault) earlier++;
        if (earlier == i) fprintf(csv, "%s%s", i ? " + " : "", simt_fault_name(all[i].fault));
    }
    fputc('\n', csv);
}

void simt_csv_pattern(const char *kernel, uint32_t p, const uint64_t counts[PATTERN_COUNTS])
{
    if (!csv) return;
    fprintf(csv, "pattern,%s,%u,", kernel, p);
    for (int i = 0; i <= PATTERN_DIVERGENT; i++)
        fprintf(csv, "%s%llu", i ? " " : "", (unsigned long long)counts[i]);
    fputc('\n', csv);
}
