/*
 * cuda/launch.c - from the name of a kernel to its launch.
 *
 * An image is loaded when its first kernel is asked for, and a kernel is looked up once per
 * context.
 *
 * A kernel launched early (programmatic dependent launch, from sm_90 on) is on the GPU when those
 * before it in the stream have ended, and waits there until what they wrote can be seen.  All its
 * threads wait, so that its end is the end of all before it too, and what follows may be launched
 * in any way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/cuda.h"

#include <string.h>

enum { EARLY_BLOCKS = 8 /* a multiprocessor, at most, of launches that begin early */ };

/* *image gets a name that lasts; the caller's may not. */
static ech_status load_image(ech_ctx *ctx, const char *name, CUlibrary *library, const char **image)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    int i = 0;
    while (i < echi_image_count && strcmp(echi_images[i].name, name) != 0) i++;
    if (i == echi_image_count)
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "this build of the library has no kernels for %s", name);
    if (!cuda->libraries[i]) {
        const void *data = driver->loads_by_name ? echi_images[i].name : echi_images[i].data;
        CUresult result =
            driver->cuLibraryLoadData(&cuda->libraries[i], data, NULL, NULL, 0, NULL, NULL, 0);
        if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
            FAIL(ctx, ECH_ERR_UNSUPPORTED,
                 "this build of the library has no kernels for sm_%d, the GPU of %s",
                 cuda->architecture, ctx->name);
        TRY(echi_cuda_check(ctx, driver, result, "cuLibraryLoadData"));
        echi_log(ctx, ECH_LOG_TRACE, "load image %s", name);
    }
    *library = cuda->libraries[i];
    *image = echi_images[i].name;
done:
    return status;
}

/* Where a kernel is in the table, or the empty place where it would be. */
static struct echi_cuda_kernel *place_of(struct echi_cuda *cuda, const char *image,
                                         const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = image; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (;; hash++) {
        struct echi_cuda_kernel *k = &cuda->kernels[hash % ECHI_KERNELS];
        if (!k->name || (strcmp(k->name, name) == 0 && strcmp(k->image, image) == 0)) return k;
    }
}

/* name is a literal; image need not last. */
static ech_status find_kernel(ech_ctx *ctx, const char *image, const char *name,
                              unsigned shared_bytes, struct echi_cuda_kernel **kernel)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    CUlibrary library = NULL;
    struct echi_cuda_kernel *k = place_of(cuda, image, name), found;
    if (!k->name) {
        found = (struct echi_cuda_kernel){ .name = name, .shared_bytes = 48 << 10 };
        TRY(load_image(ctx, image, &library, &found.image));
        CU(cuLibraryGetKernel, &found.kernel, library, name);
        CU(cuKernelGetAttribute, &found.architecture, CU_FUNC_ATTRIBUTE_PTX_VERSION, found.kernel,
           cuda->device);
        if (cuda->kernel_count == ECHI_KERNELS - 1) /* one place stays empty, where a search ends */
            FAIL(ctx, ECH_ERR_UNSUPPORTED, "a context cannot hold more than %d kernels",
                 ECHI_KERNELS - 1);
        cuda->kernel_count++;
        *k = found;
    }
    if (shared_bytes > k->shared_bytes) { /* more than it may have without asking */
        CU(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared_bytes,
           k->kernel, cuda->device);
        k->shared_bytes = shared_bytes;
    }
    *kernel = k;
done:
    return status;
}

/* Whether a launch may be told to begin early: of a kernel that was compiled for an architecture
 * that can wait, which one that the driver made of older PTX was not.  Each block pays for it, so
 * that it does not gain where there are many, one after another.  In a graph it gains next to
 * nothing, and who asks the driver for the edges of a graph with such launches must ask in a newer
 * way. */
static ech_status may_be_early(ech_ctx *ctx, const struct echi_cuda_kernel *kernel, unsigned blocks,
                               bool *early)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    int capturing = 0;
    *early = false;
    if (cuda->architecture < 90 || kernel->architecture < 90 ||
        blocks > EARLY_BLOCKS * (unsigned)cuda->multiprocessors)
        return ECH_OK;
    CU(cuStreamIsCapturing, echi_cuda_stream(ctx), &capturing);
    *early = !capturing;
done:
    return status;
}

ech_status echi_cuda_compiled_for(ech_ctx *ctx, const char *image, const char *kernel,
                                  int *architecture)
{
    struct echi_cuda_kernel *found = NULL;
    ech_status status = find_kernel(ctx, image, kernel, 0, &found);
    if (status == ECH_OK) *architecture = found->architecture;
    return status;
}

enum how { LAUNCH_PLAIN, LAUNCH_EARLY, LAUNCH_TOGETHER };

static ech_status launch(ech_ctx *ctx, const char *image, const char *name, unsigned blocks,
                         unsigned threads, unsigned shared_bytes, const void *args, enum how how)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    struct echi_cuda_kernel *kernel = NULL;
    void *parameters[] = { (void *)(uintptr_t)args };
    TRY(find_kernel(ctx, image, name, shared_bytes, &kernel));
    echi_log(ctx, ECH_LOG_TRACE,
             "launch %s of %s: %u blocks of %u threads, %u bytes of shared memory", name, image,
             blocks, threads, shared_bytes);
    bool early = how == LAUNCH_EARLY;
    if (early) TRY(may_be_early(ctx, kernel, blocks, &early));
    if (early || how == LAUNCH_TOGETHER) {
        CUlaunchAttribute attribute = {
            .id = early ? CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
                        : CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        };
        if (early)
            attribute.value.early = 1;
        else
            attribute.value.cooperative = 1;
        CUlaunchConfig config = { .grid_x = blocks,
                                  .grid_y = 1,
                                  .grid_z = 1,
                                  .block_x = threads,
                                  .block_y = 1,
                                  .block_z = 1,
                                  .shared_bytes = shared_bytes,
                                  .stream = echi_cuda_stream(ctx),
                                  .attributes = &attribute,
                                  .attribute_count = 1 };
        CU(cuLaunchKernelEx, &config, kernel->kernel, parameters, NULL);
        return ECH_OK;
    }
    CU(cuLaunchKernel, kernel->kernel, blocks, 1, 1, threads, 1, 1, shared_bytes,
       echi_cuda_stream(ctx), parameters, NULL);
done:
    return status;
}

bool echi_cuda_has(ech_ctx *ctx, const char *image, const char *name)
{
    struct echi_cuda *cuda = ctx->state;
    CUlibrary library = NULL;
    CUkernel kernel;
    if (place_of(cuda, image, name)->name) return true;
    return load_image(ctx, image, &library, &image) == ECH_OK &&
           cuda->driver->cuLibraryGetKernel(&kernel, library, name) == CUDA_SUCCESS;
}

ech_status echi_cuda_prefer_cache(ech_ctx *ctx, const char *image, const char *name,
                                  int shared_percent)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    struct echi_cuda_kernel *kernel = NULL;
    TRY(find_kernel(ctx, image, name, 0, &kernel));
    if (kernel->cached) return ECH_OK;
    CU(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, shared_percent,
       kernel->kernel, cuda->device);
    kernel->cached = true;
done:
    return status;
}

ech_status echi_cuda_launch(ech_ctx *ctx, const char *image, const char *name, unsigned blocks,
                            unsigned threads, unsigned shared_bytes, const void *args)
{
    return launch(ctx, image, name, blocks, threads, shared_bytes, args, LAUNCH_PLAIN);
}

ech_status echi_cuda_launch_early(ech_ctx *ctx, const char *image, const char *name,
                                  unsigned blocks, unsigned threads, unsigned shared_bytes,
                                  const void *args)
{
    return launch(ctx, image, name, blocks, threads, shared_bytes, args, LAUNCH_EARLY);
}

ech_status echi_cuda_launch_together(ech_ctx *ctx, const char *image, const char *name,
                                     unsigned blocks, unsigned threads, unsigned shared_bytes,
                                     const void *args)
{
    return launch(ctx, image, name, blocks, threads, shared_bytes, args, LAUNCH_TOGETHER);
}
