/*
 * cuda/context.c - the CUDA context of an Echelon context: errors, the device's properties,
 * streams, and the memory pool.
 *
 * The device's primary context is used, so that memory of the CUDA runtime in the same process can
 * be used; it is current only for the duration of a call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cuda/cublas.h"
#include "cuda/cuda.h"
#include "cuda/cusolver.h"

#include <stdio.h>
#include <stdlib.h>

ech_status echi_cuda_check(ech_ctx *ctx, const struct echi_driver *driver, CUresult result,
                           const char *call)
{
    if (result == CUDA_SUCCESS) return ECH_OK;
    const char *name = NULL, *text = NULL;
    driver->cuGetErrorName(result, &name);
    driver->cuGetErrorString(result, &text);
    return echi_fail(ctx, result == CUDA_ERROR_OUT_OF_MEMORY ? ECH_ERR_MEMORY : ECH_ERR_DEVICE,
                     "%s failed with %s: %s", call, name ? name : "an unknown error",
                     text ? text : "no description");
}

ech_status echi_cuda_enter(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    if (!cuda->entered) CU(cuCtxPushCurrent, cuda->context);
    cuda->entered++;
done:
    return status;
}

void echi_cuda_leave(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    CUcontext popped;
    if (--cuda->entered == 0) cuda->driver->cuCtxPopCurrent(&popped);
}

CUstream echi_cuda_stream(const ech_ctx *ctx)
{
    const struct echi_cuda *cuda = ctx->state;
    return ctx->private_stream ? cuda->own_stream : (CUstream)ctx->stream;
}

/* ---- Devices ---- */

int echi_cuda_attribute(const struct echi_driver *driver, CUdevice device, int which)
{
    int value = 0;
    return driver->cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

int echi_cuda_architecture(const struct echi_driver *driver, CUdevice device)
{
    return 10 * echi_cuda_attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           echi_cuda_attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

void echi_cuda_name(const struct echi_provider *provider, int ordinal, char *name, size_t bytes)
{
    if (provider->numbered || ordinal > 0)
        snprintf(name, bytes, "%s:%d", provider->device, ordinal);
    else
        snprintf(name, bytes, "%s", provider->device);
}

/* ---- Open and close ---- */

static ech_status create_pool(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    uint64_t keep_all = UINT64_MAX; /* cached until ech_trim() or ech_close() */
    CUmemPoolProps properties = { .allocation_type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location_type = CU_MEM_LOCATION_TYPE_DEVICE,
                                  .location_id = cuda->device };
    if (!echi_cuda_attribute(driver, cuda->device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED))
        return ECH_OK;
    CU(cuMemPoolCreate, &cuda->pool, &properties);
    CU(cuMemPoolSetAttribute, cuda->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all);
done:
    return status;
}

void echi_cuda_close(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    if (cuda->context) {
        const bool entered = echi_cuda_enter(ctx) == ECH_OK; /* if not, what can be is released */
        driver->cuStreamSynchronize((CUstream)ctx->stream);
        if (cuda->own_stream) driver->cuStreamSynchronize(cuda->own_stream);
        echi_cuda_close_slots(cuda);
        echi_cuda_drop_runs(cuda);
        for (int i = 0; cuda->libraries && i < echi_image_count; i++)
            if (cuda->libraries[i]) driver->cuLibraryUnload(cuda->libraries[i]);
        echi_cublas_close(ctx);
        echi_cusolver_close(ctx);
        echi_cuda_state_close(ctx);
        if (cuda->pool) driver->cuMemPoolDestroy(cuda->pool);
        if (cuda->own_stream) driver->cuStreamDestroy(cuda->own_stream);
        if (entered) echi_cuda_leave(ctx);
        driver->cuDevicePrimaryCtxRelease(cuda->device);
    }
    free(cuda->libraries);
    free(cuda);
}

/* Launches depend on these attributes, so none may be missing. */
static ech_status read_properties(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    int major = 0, minor = 0, shared_bytes = 0, l2_bytes = 0;
    CU(cuDeviceGetAttribute, &cuda->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
       cuda->device);
    CU(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cuda->device);
    CU(cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, cuda->device);
    CU(cuDeviceGetAttribute, &shared_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
       cuda->device);
    CU(cuDeviceGetAttribute, &l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, cuda->device);
    cuda->gpu_architecture = 10 * major + minor;
    cuda->architecture = cuda->provider->code_for(cuda->gpu_architecture);
    cuda->shared_bytes = (unsigned)shared_bytes;
    cuda->l2_bytes = (unsigned)l2_bytes;
done:
    return status;
}

ech_status echi_cuda_open(const struct echi_provider *provider, ech_ctx *ctx, int ordinal)
{
    struct echi_driver_failure failure;
    const struct echi_driver *driver = echi_driver(provider->file, &failure);
    ech_status status = ECH_OK;
    bool entered = false;
    if (!driver)
        return echi_fail(ctx, failure.status, "%s: %s", provider->unusable, failure.reason);
    if (ordinal >= driver->devices && (provider->numbered || driver->devices > 1))
        return echi_fail(ctx, ECH_ERR_NO_DEVICE, "device is \"%s:%d\", but there are %d %ss",
                         provider->device, ordinal, driver->devices, provider->unit);
    if (ordinal >= driver->devices)
        return echi_fail(ctx, ECH_ERR_NO_DEVICE, "device is \"%s:%d\", but there is one %s",
                         provider->device, ordinal, provider->unit);
    struct echi_cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda) return echi_fail(ctx, ECH_ERR_MEMORY, "out of memory for a context");
    ctx->state = cuda;
    cuda->provider = provider;
    cuda->driver = driver;
    echi_cuda_name(provider, ordinal, ctx->name, sizeof ctx->name);
    cuda->libraries = calloc((size_t)echi_image_count, sizeof *cuda->libraries);
    if (!cuda->libraries) FAIL(ctx, ECH_ERR_MEMORY, "out of memory for a context");
    CU(cuDeviceGet, &cuda->device, ordinal);
    TRY(read_properties(ctx));
    CU(cuDevicePrimaryCtxRetain, &cuda->context, cuda->device);
    TRY(echi_cuda_enter(ctx));
    entered = true;
    CU(cuStreamCreate, &cuda->own_stream, CU_STREAM_NON_BLOCKING);
    TRY(create_pool(ctx));
    TRY(echi_cuda_state_open(ctx));
done:
    if (entered) echi_cuda_leave(ctx);
    if (status != ECH_OK) echi_cuda_close(ctx);
    /* The driver failed before the context existed, so this means that there is no usable
     * device. */
    return status == ECH_ERR_DEVICE ? ECH_ERR_NO_DEVICE : status;
}

/* ---- Memory pool ---- */

void echi_cuda_trim_pool(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    if (!cuda->pool || echi_cuda_enter(ctx) != ECH_OK) return;
    cuda->driver->cuStreamSynchronize(
        echi_cuda_stream(ctx)); /* frees queued on the stream must be complete first */
    cuda->driver->cuMemPoolTrimTo(cuda->pool, 0);
    echi_cuda_leave(ctx);
}
