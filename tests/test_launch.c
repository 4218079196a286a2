/*
 * test_launch.c - kernels found by name: embedded code where some fits the GPU, otherwise PTX from
 * kernels.pack; what is said when there is none.
 *
 * cuda/launch.c is compiled into this program, with images of the test and a driver that knows by
 * an image's text whether it would fit.  A real driver refuses an image when it is loaded or, as it
 * loads lazily, when a kernel is looked up; both are tried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, setenv */
#include "cuda/cuda.h"
#include "cuda/ptx_file.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOT_FOUND = 500, INVALID_PTX = 218, IMAGES = 3, LIBRARIES = 16 };

/* ---- What the library's other files would say ---- */

#define MAGIC "\x50\xed\x55\xba"
const struct echi_image echi_images[] = {
    { "one", MAGIC "code one" },
    { "two", MAGIC "code two" },
    { "bare", NULL },
};
const int echi_image_count = IMAGES;
const char *const echi_ptx_id = "test";
const int echi_image_archs[] = { 80, 86, 90, 0 };
const int echi_ptx_arch = 75;

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
    bool code_fits, lazy, ptx_fits; /* what it takes */
    CUresult ptx_error;             /* of loading PTX that it does not take */
    char loaded[LIBRARIES][32];     /* the images, in order, without the magic */
    int loads, unloads, launches;
} fake;

static bool fits(const char *text)
{
    return strncmp(text, "code", 4) == 0 ? fake.code_fits : fake.ptx_fits;
}

static CUresult load(CUlibrary *library, const void *image, void *jit, void **jit_values,
                     unsigned jit_count, void *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    const char *text = image;
    bool magic = strncmp(text, MAGIC, 4) == 0;
    if (magic) text += 4;
    if (fake.loads == LIBRARIES) return CUDA_ERROR_OUT_OF_MEMORY;
    snprintf(fake.loaded[fake.loads], sizeof *fake.loaded, "%.31s", text);
    *library = (CUlibrary)(void *)fake.loaded[fake.loads++];
    if (fits(text) || (fake.lazy && strncmp(text, "code", 4) == 0)) return CUDA_SUCCESS;
    return strncmp(text, "ptx", 3) == 0 && fake.ptx_error ? fake.ptx_error
                                                          : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult unload(CUlibrary library)
{
    fake.unloads += library != NULL;
    return CUDA_SUCCESS;
}

static CUresult get_kernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    const char *text = (const char *)library;
    if (!fits(text)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
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

static const void *embedded(int i)
{
    return echi_images[i].data;
}

static const void *by_name(int i)
{
    return echi_images[i].name;
}

static const struct echi_provider gpu = { .image = embedded, .ptx_file = "kernels.pack" };
static const struct echi_provider executor = { .image = by_name };

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

static const char good[] =
    "echelon-ptx 1 test\none 0 12\ntwo 12 12\nbare 24 13\nend\n" MAGIC "ptx one"
    "\0" MAGIC "ptx two"
    "\0" MAGIC "ptx bare";

static bool begin(const char *name, bool lazy)
{
    if (!test_begin("%s%s", name, lazy ? ", found out late" : "")) return false;
    memset(&fake, 0, sizeof fake);
    memset(libraries, 0, sizeof libraries);
    fake.lazy = lazy;
    driver = (struct echi_driver){ .cuLibraryLoadData = load,
                                   .cuLibraryUnload = unload,
                                   .cuLibraryGetKernel = get_kernel,
                                   .cuKernelGetAttribute = get_attribute,
                                   .cuLaunchKernel = launch };
    memset(&cuda, 0, sizeof cuda);
    cuda.provider = &gpu;
    cuda.driver = &driver;
    cuda.gpu_architecture = 121;
    cuda.libraries = libraries;
    memset(&ctx, 0, sizeof ctx);
    ctx.state = &cuda;
    snprintf(ctx.name, sizeof ctx.name, "cuda:3");
    write_pack(good, sizeof good);
    return true;
}

static ech_status run(const char *image, const char *kernel)
{
    return echi_cuda_launch(&ctx, image, kernel, 1, 32, 0, "");
}

/* The libraries that the context holds are those that were loaded and not unloaded; a load that
 * failed gives none. */
static void expect_held(int held)
{
    int n = 0;
    for (int i = 0; i < IMAGES; i++) n += libraries[i] != NULL;
    CHECK_INT(n, held);
}

static void test_code(bool lazy)
{
    if (!begin("code that fits", lazy)) return;
    fake.code_fits = true;
    write_pack("", 0);
    CHECK_STATUS(run("one", "a"), ECH_OK);
    CHECK_STATUS(run("one", "b"), ECH_OK);
    CHECK_STATUS(run("two", "a"), ECH_OK);
    CHECK_INT(fake.loads, 2);
    CHECK_INT(fake.launches, 3);
    CHECK(strcmp(fake.loaded[0], "code one") == 0 && strcmp(fake.loaded[1], "code two") == 0);
    CHECK_FAILS(&ctx, run("one", "absent"), ECH_ERR_DEVICE, "cuLibraryGetKernel");
    CHECK_FAILS(&ctx, run("three", "a"), ECH_ERR_UNSUPPORTED, "no kernels for three");
    expect_held(2);
    test_end();
}

static void test_ptx(bool lazy)
{
    if (!begin("PTX", lazy)) return;
    fake.ptx_fits = true;
    CHECK_STATUS(run("one", "a"), ECH_OK);
    CHECK_INT(fake.loads, 2);
    CHECK_INT(fake.unloads, lazy);
    CHECK(strcmp(fake.loaded[1], "ptx one") == 0);
    CHECK_STATUS(run("two", "a"), ECH_OK); /* its code is not tried */
    CHECK_STATUS(run("bare", "a"), ECH_OK);
    CHECK_INT(fake.loads, 4);
    CHECK(strcmp(fake.loaded[2], "ptx two") == 0 && strcmp(fake.loaded[3], "ptx bare") == 0);
    CHECK_INT(fake.launches, 3);
    expect_held(3);
    test_end();
}

static void test_has(bool lazy)
{
    if (!begin("has", lazy)) return;
    fake.ptx_fits = true;
    CHECK(echi_cuda_has(&ctx, "one", "a"));
    CHECK(!echi_cuda_has(&ctx, "one", "absent"));
    CHECK(!echi_cuda_has(&ctx, "three", "a"));
    write_pack("", 0);
    CHECK(!echi_cuda_has(&ctx, "two", "a"));
    expect_held(1);
    test_end();
}

/* The file is of no use: the message names it, and the GPU; once it is put right, all works. */
static void test_no_file(bool lazy)
{
    static const struct {
        const char *name, *text;
        size_t bytes;
        const char *part;
    } files[] = {
        { "empty", "", 0, "not a file of Echelon's PTX" },
        { "garbage", "\177ELF\2\1\1", 7, "not a file of Echelon's PTX" },
        { "truncated text", good, 30, "is damaged" },
        { "truncated", good, sizeof good - 20, "is damaged" },
        { "other build", "echelon-ptx 1 tes\nend\n", 22, "belongs to another build" },
        { "without it", "echelon-ptx 1 test\none 0 1\nend\nx", 32, "no kernels for two" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[64];
        snprintf(name, sizeof name, "file %s", files[i].name);
        if (!begin(name, lazy)) continue;
        fake.ptx_fits = true;
        write_pack(files[i].text, files[i].bytes);
        CHECK_FAILS(&ctx, run("two", "a"), ECH_ERR_UNSUPPORTED, files[i].part);
        CHECK_TEXT(ech_error(&ctx), folder);
        CHECK_TEXT(ech_error(&ctx), "sm_121, the GPU of cuda:3");
        CHECK_INT(fake.unloads, lazy);
        expect_held(0);
        write_pack(good, sizeof good);
        CHECK_STATUS(run("two", "a"), ECH_OK);
        expect_held(1);
        test_end();
    }
    if (!begin("file missing", lazy)) return;
    fake.ptx_fits = true;
    setenv("ECHELON_PTX_DIR", "/nowhere", 1);
    CHECK_FAILS(&ctx, run("one", "a"), ECH_ERR_UNSUPPORTED, "cannot open /nowhere/kernels.pack");
    CHECK_FAILS(&ctx, run("bare", "a"), ECH_ERR_UNSUPPORTED, "cannot open /nowhere/kernels.pack");
    setenv("ECHELON_PTX_DIR", folder, 1);
    CHECK_STATUS(run("one", "a"), ECH_OK);
    test_end();
}

static void test_refused(void)
{
    if (begin("PTX refused", false)) {
        CHECK_FAILS(&ctx, run("one", "a"), ECH_ERR_UNSUPPORTED, "no kernels for sm_121");
        expect_held(0);
        test_end();
    }
    if (begin("PTX invalid", false)) {
        fake.ptx_error = INVALID_PTX;
        CHECK_FAILS(&ctx, run("one", "a"), ECH_ERR_DEVICE, "cuLibraryLoadData failed with 218");
        expect_held(0);
        test_end();
    }
    if (begin("by name", false)) { /* the executor has no PTX */
        cuda.provider = &executor;
        fake.ptx_fits = false;
        CHECK_FAILS(&ctx, run("one", "a"), ECH_ERR_UNSUPPORTED, "no kernels for sm_121");
        CHECK_INT(fake.loads, 1);
        CHECK(strcmp(fake.loaded[0], "one") == 0);
        fake.ptx_fits = true; /* of a name, fits() says this */
        CHECK_STATUS(run("bare", "a"), ECH_OK);
        CHECK(strcmp(fake.loaded[1], "bare") == 0);
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
    for (int lazy = 0; lazy < 2; lazy++) {
        test_code(lazy);
        test_ptx(lazy);
        test_has(lazy);
        test_no_file(lazy);
    }
    test_refused();
    test_code_for();
    snprintf(path, sizeof path, "%s/kernels.pack", folder);
    unlink(path);
    rmdir(folder);
    return test_finish();
}
