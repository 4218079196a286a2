/*
 * cuda/launch.c - from the name of a kernel to its launch.
 *
 * An image is loaded when its first kernel is asked for, and a kernel is looked up once per
 * context.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda.h"

#include <string.h>

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

/* name is a literal; image need not last. */
static ech_status find_kernel(ech_ctx *ctx, const char *image, const char *name,
                              unsigned shared_bytes, CUkernel *kernel)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    CUlibrary library = NULL;
    for (int i = 0; i < cuda->kernel_count; i++) {
        const struct echi_cuda_kernel *k = &cuda->kernels[i];
        if (strcmp(k->name, name) == 0 && strcmp(k->image, image) == 0) {
            *kernel = k->kernel;
            return ECH_OK;
        }
    }
    TRY(load_image(ctx, image, &library, &image));
    CU(cuLibraryGetKernel, kernel, library, name);
    if (shared_bytes > 48 << 10) /* more than every kernel may have without asking */
        CU(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared_bytes,
           *kernel, cuda->device);
    if (cuda->kernel_count < ECHI_KERNELS)
        cuda->kernels[cuda->kernel_count++] = (struct echi_cuda_kernel){ image, name, *kernel };
done:
    return status;
}

ech_status echi_cuda_launch(ech_ctx *ctx, const char *image, const char *name, unsigned blocks,
                            unsigned threads, unsigned shared_bytes, const void *args)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    CUkernel kernel = NULL;
    void *parameters[] = { (void *)(uintptr_t)args };
    TRY(find_kernel(ctx, image, name, shared_bytes, &kernel));
    echi_log(ctx, ECH_LOG_TRACE,
             "launch %s of %s: %u blocks of %u threads, %u bytes of shared memory", name, image,
             blocks, threads, shared_bytes);
    CU(cuLaunchKernel, kernel, blocks, 1, 1, threads, 1, 1, shared_bytes, echi_cuda_stream(ctx),
       parameters, NULL);
done:
    return status;
}
