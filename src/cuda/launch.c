/*
 * cuda/launch.c - finds a kernel by its name and launches it.
 *
 * A module is loaded when one of its kernels is first requested, and a kernel is looked up once per
 * context. Machine code is in the library; if none of it fits the GPU, PTX is read from the file
 * kernels.pack.
 *
 * A kernel launched early (programmatic dependent launch, from sm_90 on) is on the GPU when the
 * previous kernels of the stream end, and waits there until their writes are visible. All its
 * threads wait, so when it ends, all earlier kernels have ended too, and later work may be launched
 * in any way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/cuda.h"
#include "cuda/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Modules ---- */

/* Machine code runs on GPUs of its major version and the same or a later minor version; PTX on all
 * GPUs that are not older. */
static int machine_code_for(int gpu)
{
    int best = 0;
    for (const int *arch = echi_image_archs; *arch; arch++)
        if (*arch / 10 == gpu / 10 && *arch <= gpu && *arch > best) best = *arch;
    return best;
}

int echi_cuda_code_for(int gpu)
{
    int best = machine_code_for(gpu);
    if (!best && echi_ptx_arch <= gpu) best = echi_ptx_arch;
    return best ? best : gpu;
}

static ech_status find_image(ech_ctx *ctx, const char *name, int *index)
{
    int i = 0;
    while (i < echi_image_count && strcmp(echi_images[i], name) != 0) i++;
    *index = i;
    if (i < echi_image_count) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "this build of the library has no kernels for %s",
                     name);
}

static ech_status has_none(ech_ctx *ctx)
{
    const struct echi_cuda *cuda = ctx->state;
    return echi_fail(ctx, ECH_ERR_UNSUPPORTED,
                     "this build of the library has no kernels for sm_%d, the GPU of %s",
                     cuda->gpu_architecture, ctx->name);
}

/* The code of a module, from malloc(): machine code, or PTX, which the driver compiles. */
static ech_status read_image(ech_ctx *ctx, const char *name, void **data)
{
    const struct echi_cuda *cuda = ctx->state;
    const int gpu = cuda->gpu_architecture;
    struct echi_pack pack = echi_cuda_code();
    ech_status status = ECH_OK;
    char path[ECHI_PACK_PATH], reason[ECHI_PACK_REASON];
    size_t bytes = 0;
    if (!machine_code_for(gpu)) {
        if (!cuda->provider->ptx_file || !echi_ptx_id) return has_none(ctx);
        echi_pack_find(cuda->provider->ptx_file, &echi_ptx_id, path);
        pack = (struct echi_pack){ .path = path, .id = echi_ptx_id };
    }
    *data = echi_pack_read(&pack, name, gpu, &bytes, reason);
    if (!*data && pack.data)
        FAIL(ctx, bytes ? ECH_ERR_MEMORY : ECH_ERR_UNSUPPORTED, "cannot load kernels: %s", reason);
    if (!*data)
        FAIL(ctx, ECH_ERR_UNSUPPORTED,
             "the library has no machine code for sm_%d, the GPU of %s, and no PTX: %s", gpu,
             ctx->name, reason);
    echi_log(ctx, ECH_LOG_TRACE, "load module %s, %zu bytes, from %s", name, bytes,
             pack.data ? "the library" : path);
done:
    return status;
}

static ech_status load_image(ech_ctx *ctx, int i)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    void *data = NULL;
    if (cuda->libraries[i]) return ECH_OK;
    char name[ECHI_ERROR_BYTES];
    if (cuda->provider->layout)
        snprintf(name, sizeof name, "%s?%s", echi_images[i], cuda->provider->layout);
    else
        TRY(read_image(ctx, echi_images[i], &data));
    CUresult result = driver->cuLibraryLoadData(&cuda->libraries[i], data ? data : name, NULL, NULL,
                                                0, NULL, NULL, 0);
    free(data); /* the driver has copied it */
    if (result != CUDA_SUCCESS) cuda->libraries[i] = NULL;
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) return has_none(ctx);
    TRY(echi_cuda_check(ctx, driver, result, "cuLibraryLoadData"));
done:
    return status;
}

/* Looks up a kernel in a module; *result is the driver's result if the module was loaded. */
static ech_status look_up(ech_ctx *ctx, int i, const char *name, CUkernel *kernel, CUresult *result)
{
    const struct echi_cuda *cuda = ctx->state;
    ech_status status = load_image(ctx, i);
    if (status != ECH_OK) return status;
    *result = cuda->driver->cuLibraryGetKernel(kernel, cuda->libraries[i], name);
    return *result == CUDA_ERROR_NO_BINARY_FOR_GPU ? has_none(ctx) : ECH_OK;
}

/* ---- Kernels ---- */

/* The entry of a kernel in the table, or the empty entry for it. */
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

/* name must be a literal; the string image need not stay valid. */
static ech_status find_kernel(ech_ctx *ctx, const char *image, const char *name,
                              unsigned shared_bytes, struct echi_cuda_kernel **kernel)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    CUresult result = CUDA_SUCCESS;
    int i = 0, own_bytes;
    struct echi_cuda_kernel *k = place_of(cuda, image, name), found;
    if (!k->name) {
        found = (struct echi_cuda_kernel){ .name = name };
        TRY(find_image(ctx, image, &i));
        found.image = echi_images[i]; /* stays valid, unlike the caller's string */
        TRY(look_up(ctx, i, name, &found.kernel, &result));
        TRY(echi_cuda_check(ctx, driver, result, "cuLibraryGetKernel"));
        CU(cuKernelGetAttribute, &found.architecture, CU_FUNC_ATTRIBUTE_PTX_VERSION, found.kernel,
           cuda->device);
        CU(cuKernelGetAttribute, &own_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, found.kernel,
           cuda->device);
        found.shared_bytes = (48u << 10) - (unsigned)own_bytes;
        if (cuda->kernel_count == ECHI_KERNELS - 1) /* one entry stays empty, to end a search */
            FAIL(ctx, ECH_ERR_UNSUPPORTED, "a context cannot load more than %d kernels",
                 ECHI_KERNELS - 1);
        cuda->kernel_count++;
        *k = found;
    }
    if (shared_bytes > k->shared_bytes) { /* more than the default limit leaves */
        CU(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared_bytes,
           k->kernel, cuda->device);
        k->shared_bytes = shared_bytes;
    }
    *kernel = k;
done:
    return status;
}

/* Whether a launch may begin early. Its kernel must be compiled for an architecture that can wait;
 * a kernel that the driver compiled from older PTX is not. In a graph it gains almost nothing, and
 * a program that queries the edges of a graph with such launches needs a newer driver function. */
static ech_status may_be_early(ech_ctx *ctx, const struct echi_cuda_kernel *kernel, bool *early)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    int capturing = 0;
    *early = false;
    if (cuda->architecture < 90 || kernel->architecture < 90) return ECH_OK;
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
    if (early) TRY(may_be_early(ctx, kernel, &early));
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
    if (status != ECH_OK) cuda->slots_to_clear = UINT32_MAX; /* blocks may have run (emulator) */
    return status;
}

bool echi_cuda_has(ech_ctx *ctx, const char *image, const char *name)
{
    struct echi_cuda *cuda = ctx->state;
    CUresult result = CUDA_SUCCESS;
    CUkernel kernel;
    int i = 0;
    if (place_of(cuda, image, name)->name) return true;
    return find_image(ctx, image, &i) == ECH_OK &&
           look_up(ctx, i, name, &kernel, &result) == ECH_OK && result == CUDA_SUCCESS;
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

ech_status echi_cuda_launch_pdl(ech_ctx *ctx, const char *image, const char *name, unsigned blocks,
                                unsigned threads, unsigned shared_bytes, const void *args)
{
    return launch(ctx, image, name, blocks, threads, shared_bytes, args, LAUNCH_EARLY);
}

ech_status echi_cuda_launch_cooperative(ech_ctx *ctx, const char *image, const char *name,
                                        unsigned blocks, unsigned threads, unsigned shared_bytes,
                                        const void *args)
{
    return launch(ctx, image, name, blocks, threads, shared_bytes, args, LAUNCH_TOGETHER);
}
