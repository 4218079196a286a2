/*
 * test_launch.c - kernels are found by name: machine code of the library if it fits the GPU,
 * otherwise PTX from kernels.pack. If neither is available, the message names the reason.
 *
 * The program contains cuda/launch.c, modules of the test, and a driver that records what it
 * loads. A real driver may reject a module when it is loaded or, with lazy loading, when a kernel
 * is looked up. The test does both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, setenv */
#include "cuda/cuda.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOT_FOUND = 500, INVALID_PTX = 218, IMAGES = 3, LIBRARIES = 16 };

/* ---- Replacements for other files of the library ---- */

const char *const echi_images[] = { "one", "two", "bare" };
const int echi_image_count = IMAGES;
const char *const echi_ptx_id = "test";
const int echi_image_archs[] = { 80, 86, 90, 0 };
const int echi_ptx_arch = 75;

/* "bare" has machine code for only one GPU. */
static const char code[] =
    "echelon-pack 1 library\n"
    "one sm_80 0 24 0 12\ntwo sm_80 0 24 12 12\n"
    "one sm_90a 24 36 0 12\ntwo sm_90a 24 36 12 12\nbare sm_90a 24 36 24 12\nend\n"
    "\177ELF one 80\0\177ELF two 80\0"
    "\177ELF one 90\0\177ELF two 90\0\177ELF bare90";

struct echi_pack echi_cuda_code(void)
{
    return (struct echi_pack){ code, sizeof code, NULL, "library" };
}

ech_status echi_cuda_check(ech_ctx *ctx, const struct echi_driver *driver, CUresult result,
                           const char *call)
{
    (void)driver;
    return result == CUDA_SUCCESS
               ? ECH_OK
               : echi_fail(ctx, ECH_ERR_DEVICE, "%s failed with %d", call, result);
}

CUstream echi_cuda_stream(const ech_ctx *ctx)
{
    (void)ctx;
    return NULL;
}

/* ---- A driver ---- */

static struct {
    bool refuses, lazy;         /* rejects everything; lazy: at look-up, not when loaded */
    CUresult error;             /* the result of a rejection */
    char loaded[LIBRARIES][32]; /* the loaded modules, in order */
    int loads, unloads, launches;
} fake;

static CUresult load(CUlibrary *library, const void *image, void *jit, void **jit_values,
                     unsigned jit_count, void *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    if (fake.loads == LIBRARIES) return CUDA_ERROR_OUT_OF_MEMORY;
    snprintf(fake.loaded[fake.loads], sizeof *fake.loaded, "%.31s", (const char *)image);
    *library = (CUlibrary)(void *)fake.loaded[fake.loads++];
    return fake.refuses && !fake.lazy ? fake.error : CUDA_SUCCESS;
}

static CUresult unload(CUlibrary library)
{
    fake.unloads += library != NULL;
    return CUDA_SUCCESS;
}

static CUresult get_kernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    if (fake.refuses) return fake.error;
    if (strcmp(name, "absent") == 0) return NOT_FOUND;
    *kernel = (CUkernel)(void *)library;
    return CUDA_SUCCESS;
}

static CUresult get_attribute(int *value, int which, CUkernel kernel, CUdevice device)
{
    (void)which, (void)kernel, (void)device;
    *value = 75;
    return CUDA_SUCCESS;
}

static CUresult launch(CUkernel kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream, void **args,
                       void **extra)
{
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
    (void)shared, (void)stream, (void)args, (void)extra;
    fake.launches += kernel != NULL;
    return CUDA_SUCCESS;
}

/* ---- Cases ---- */

static const struct echi_provider gpu = { .ptx_file = "kernels.pack" };
static const struct echi_provider emulator = { .layout = "abc" };

static char folder[] = "/tmp/test_launch.XXXXXX";
static struct echi_driver driver;
static struct echi_cuda cuda;
static CUlibrary libraries[IMAGES];
static ech_ctx ctx;

static void write_pack(const char *text, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "%s/kernels.pack", folder);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(text, 1, bytes, file) == bytes);
    if (file) fclose(file);
}

static const char good[] = "echelon-pack 1 test\n"
                           "one compute_75 0 19 0 9\ntwo compute_75 0 19 9 10\n"
                           "bare compute_75 19 11 0 11\nend\n"
                           "//ptx one"
                           "//ptx two\n"
                           "//ptx bare\n";

static bool begin(const char *name, int architecture)
{
    if (!test_begin("%s, sm_%d", name, architecture)) return false;
    memset(&fake, 0, sizeof fake);
    memset(libraries, 0, sizeof libraries);
    driver = (struct echi_driver){ .cuLibraryLoadData = load,
                                   .cuLibraryUnload = unload,
                                   .cuLibraryGetKernel = get_kernel,
                                   .cuKernelGetAttribute = get_attribute,
                                   .cuLaunchKernel = launch };
    memset(&cuda, 0, sizeof cuda);
    cuda.provider = &gpu;
    cuda.driver = &driver;
    cuda.gpu_architecture = architecture;
    cuda.libraries = libraries;
    memset(&ctx, 0, sizeof ctx);
    ctx.state = &cuda;
    snprintf(ctx.name, sizeof ctx.name, "cuda:3");
    write_pack(good, sizeof good - 1);
    return true;
}

static ech_status run(const char *image, const char *kernel)
{
    return echi_cuda_launch(&ctx, image, kernel, 1, 32, 0, "");
}

/* The context holds exactly the libraries that were loaded and not unloaded. A failed load adds
 * none. */
static void expect_held(int held)
{
    int n = 0;
    for (int i = 0; i < IMAGES; i++) n += libraries[i] != NULL;
    CHECK_INT(n, held);
}

static void test_code(void)
{
    if (begin("code that fits", 90)) {
        write_pack("", 0);
        CHECK_STATUS(run("one", "a"), ECH_OK);
        CHECK_STATUS(run("one", "b"), ECH_OK);
        CHECK_STATUS(run("two", "a"), ECH_OK);
        CHECK_STATUS(run("bare", "a"), ECH_OK);
        CHECK_INT(fake.loads, 3);
        CHECK_INT(fake.launches, 4);
        CHECK(strcmp(fake.loaded[0], "\177ELF one 90") == 0);
        CHECK(strcmp(fake.loaded[1], "\177ELF two 90") == 0);
        CHECK(strcmp(fake.loaded[2], "\177ELF bare90") == 0);
        CHECK_FAILS(&ctx, run("one", "absent"), ECH_ERR_DEVICE, "cuLibraryGetKernel");
        CHECK_FAILS(&ctx, run("three", "a"), ECH_ERR_UNSUPPORTED, "no kernels for three");
        expect_held(3);
        test_end();
    }
    if (begin("code of an older minor version", 89)) {
        CHECK_STATUS(run("two", "a"), ECH_OK);
        CHECK(strcmp(fake.loaded[0], "\177ELF two 80") == 0);
        CHECK_FAILS(&ctx, run("bare", "a"), ECH_ERR_UNSUPPORTED, "bare on this GPU");
        expect_held(1);
        test_end();
    }
}

static void test_ptx(void)
{
    if (!begin("PTX", 121)) return;
    CHECK_STATUS(run("one", "a"), ECH_OK);
    CHECK_STATUS(run("two", "a"), ECH_OK);
    CHECK_STATUS(run("bare", "a"), ECH_OK);
    CHECK_INT(fake.loads, 3);
    CHECK(strcmp(fake.loaded[0], "//ptx one") == 0);
    CHECK(strcmp(fake.loaded[1], "//ptx two\n") == 0);
    CHECK(strcmp(fake.loaded[2], "//ptx bare\n") == 0);
    CHECK_INT(fake.launches, 3);
    expect_held(3);
    test_end();
}

static void test_has(void)
{
    if (!begin("has", 121)) return;
    CHECK(echi_cuda_has(&ctx, "one", "a"));
    CHECK(!echi_cuda_has(&ctx, "one", "absent"));
    CHECK(!echi_cuda_has(&ctx, "three", "a"));
    write_pack("", 0);
    CHECK(!echi_cuda_has(&ctx, "two", "a"));
    expect_held(1);
    test_end();
}

/* The file is unusable: the message names it and the GPU. After a correction all kernels load. */
static void test_no_file(void)
{
    static const struct {
        const char *name, *text;
        size_t bytes;
        const char *part;
    } files[] = {
        { "empty", "", 0, "not a file of Echelon's kernels" },
        { "garbage", "\177ELF\2\1\1", 7, "not a file of Echelon's kernels" },
        { "truncated text", good, 30, "is damaged" },
        { "truncated", good, sizeof good - 15, "is damaged" },
        { "other build", "echelon-pack 1 tes\nend\n", 23, "belongs to another build" },
        { "without it", "echelon-pack 1 test\none compute_75 0 1 0 1\nend\nx", 48,
          "no kernels for two" },
        { "newer GPUs", "echelon-pack 1 test\ntwo compute_130 0 1 0 1\nend\nx", 49,
          "no kernels for two on this GPU" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[64];
        snprintf(name, sizeof name, "file %s", files[i].name);
        if (!begin(name, 121)) continue;
        write_pack(files[i].text, files[i].bytes);
        CHECK_FAILS(&ctx, run("two", "a"), ECH_ERR_UNSUPPORTED, files[i].part);
        CHECK_TEXT(ech_error(&ctx), folder);
        CHECK_TEXT(ech_error(&ctx), "sm_121, the GPU of cuda:3");
        expect_held(0);
        write_pack(good, sizeof good - 1);
        CHECK_STATUS(run("two", "a"), ECH_OK);
        expect_held(1);
        test_end();
    }
    if (!begin("file missing", 121)) return;
    setenv("ECHELON_PTX_DIR", "/nowhere", 1);
    CHECK_FAILS(&ctx, run("one", "a"), ECH_ERR_UNSUPPORTED, "cannot open /nowhere/kernels.pack");
    CHECK_FAILS(&ctx, run("bare", "a"), ECH_ERR_UNSUPPORTED, "cannot open /nowhere/kernels.pack");
    setenv("ECHELON_PTX_DIR", folder, 1);
    CHECK_STATUS(run("one", "a"), ECH_OK);
    test_end();
}

static void test_refused(void)
{
    for (int lazy = 0; lazy < 2; lazy++) {
        if (!begin(lazy ? "refused at look-up" : "refused when loaded", 121)) continue;
        fake.refuses = true;
        fake.lazy = lazy != 0;
        fake.error = CUDA_ERROR_NO_BINARY_FOR_GPU;
        CHECK_FAILS(&ctx, run("one", "a"), ECH_ERR_UNSUPPORTED, "no kernels for sm_121");
        expect_held(lazy);
        test_end();
    }
    if (begin("invalid", 121)) {
        fake.refuses = true;
        fake.error = INVALID_PTX;
        CHECK_FAILS(&ctx, run("one", "a"), ECH_ERR_DEVICE, "cuLibraryLoadData failed with 218");
        expect_held(0);
        test_end();
    }
    if (begin("by name", 121)) { /* the emulator has neither machine code nor PTX */
        cuda.provider = &emulator;
        CHECK_STATUS(run("bare", "a"), ECH_OK);
        CHECK(strcmp(fake.loaded[0], "bare?abc") == 0);
        test_end();
    }
}

static void test_code_for(void)
{
    static const struct {
        int gpu, code;
    } rows[] = {
        { 80, 80 }, { 86, 86 },  { 87, 86 },  { 89, 86 },  { 90, 90 }, /* machine code */
        { 75, 75 }, { 100, 75 }, { 103, 75 }, { 121, 75 }, { 70, 70 }, /* PTX, and none */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!test_begin("code for sm_%d", rows[i].gpu)) continue;
        CHECK_INT(echi_cuda_code_for(rows[i].gpu), rows[i].code);
        test_end();
    }
}

int main(int argc, char **argv)
{
    char path[64];
    test_main(argc, argv);
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    setenv("ECHELON_PTX_DIR", folder, 1);
    test_code();
    test_ptx();
    test_has();
    test_no_file();
    test_refused();
    test_code_for();
    snprintf(path, sizeof path, "%s/kernels.pack", folder);
    unlink(path);
    rmdir(folder);
    return test_finish();
}
