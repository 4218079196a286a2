/*
 * cuda/backend.c - an NVIDIA GPU as a device: contexts, memory and streams of the CUDA driver.
 *
 * The device's primary context is used, so that memory of the CUDA runtime in the same process can
 * be sorted; it is made current only for the length of a call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cuda/cublas.h"
#include "cuda/cuda.h"
#include "cuda/cusolver.h"
#include "sort/cuda/lean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ech_status echi_cuda_check(ech_ctx *ctx, const struct echi_driver *driver, CUresult result,
                           const char *call)
{
    if (result == CUDA_SUCCESS) return ECH_OK;
    const char *name = NULL, *text = NULL;
    driver->cuGetErrorName(result, &name);
    driver->cuGetErrorString(result, &text);
    return echi_fail(ctx, result == CUDA_ERROR_OUT_OF_MEMORY ? ECH_ERR_MEMORY : ECH_ERR_DEVICE,
                     "%s failed with %s: %s", call, name ? name : "an unknown error",
                     text ? text : "no text");
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
    return ctx->stream ? (CUstream)ctx->stream : cuda->own_stream;
}

/* ---- Devices ---- */

static int attribute(const struct echi_driver *driver, CUdevice device, int which)
{
    int value = 0;
    return driver->cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static int architecture(const struct echi_driver *driver, CUdevice device)
{
    return 10 * attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

/* There may be several GPUs, and there is one executor. */
static void name_device(enum echi_provider provider, int ordinal, char *name, size_t bytes)
{
    if (provider == ECHI_GPU)
        snprintf(name, bytes, "cuda:%d", ordinal);
    else
        snprintf(name, bytes, "simt");
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
    if (!attribute(driver, cuda->device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)) return ECH_OK;
    CU(cuMemPoolCreate, &cuda->pool, &properties);
    CU(cuMemPoolSetAttribute, cuda->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all);
done:
    return status;
}

static void cuda_close(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    if (cuda->context && echi_cuda_enter(ctx) == ECH_OK) {
        if (ctx->stream) driver->cuStreamSynchronize((CUstream)ctx->stream);
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
        echi_cuda_leave(ctx);
    }
    if (cuda->context) driver->cuDevicePrimaryCtxRelease(cuda->device);
    free(cuda->libraries);
    free(cuda);
}

static ech_status open_device(enum echi_provider provider, ech_ctx *ctx, int ordinal)
{
    const struct echi_driver_failure *failure;
    const struct echi_driver *driver = echi_driver(provider, &failure);
    ech_status status = ECH_OK;
    bool entered = false;
    if (!driver)
        return echi_fail(ctx, failure->status, "%s: %s",
                         provider == ECHI_GPU ? "no GPU can be used" : "\"simt\" cannot be used",
                         failure->reason);
    if (ordinal >= driver->devices)
        return provider == ECHI_GPU
                   ? echi_fail(ctx, ECH_ERR_NO_DEVICE,
                               "device is \"cuda:%d\", but there are %d GPUs", ordinal,
                               driver->devices)
                   : echi_fail(ctx, ECH_ERR_NO_DEVICE,
                               "device is \"simt:%d\", but there is one executor", ordinal);
    struct echi_cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda) return echi_fail(ctx, ECH_ERR_MEMORY, "out of memory for a context");
    ctx->state = cuda;
    cuda->driver = driver;
    name_device(provider, ordinal, ctx->name, sizeof ctx->name);
    cuda->libraries = calloc((size_t)echi_image_count, sizeof *cuda->libraries);
    if (!cuda->libraries) FAIL(ctx, ECH_ERR_MEMORY, "out of memory for a context");
    CU(cuDeviceGet, &cuda->device, ordinal);
    cuda->multiprocessors =
        attribute(driver, cuda->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    cuda->gpu_architecture = architecture(driver, cuda->device);
    cuda->architecture =
        provider == ECHI_GPU ? echi_cuda_code_for(cuda->gpu_architecture) : cuda->gpu_architecture;
    CU(cuDevicePrimaryCtxRetain, &cuda->context, cuda->device);
    TRY(echi_cuda_enter(ctx));
    entered = true;
    CU(cuStreamCreate, &cuda->own_stream, CU_STREAM_NON_BLOCKING);
    TRY(create_pool(ctx));
    TRY(echi_cuda_state_open(ctx));
done:
    if (entered) echi_cuda_leave(ctx);
    if (status != ECH_OK) cuda_close(ctx);
    /* The driver failed before there was a context that could be broken: no usable device. */
    return status == ECH_ERR_DEVICE ? ECH_ERR_NO_DEVICE : status;
}

static ech_status cuda_sync(ech_ctx *ctx)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CU(cuStreamSynchronize, echi_cuda_stream(ctx));
    TRY(echi_cuda_hear(ctx));
done:
    echi_cuda_leave(ctx);
    return status;
}

/* ---- Memory ---- */

static void *cuda_stream(ech_ctx *ctx)
{
    return echi_cuda_stream(ctx);
}

static void *cuda_allocate(ech_ctx *ctx, size_t bytes)
{
    struct echi_cuda *cuda = ctx->state;
    CUdeviceptr pointer = 0;
    if (echi_cuda_enter(ctx) != ECH_OK) return NULL;
    CUresult result = cuda->pool ? cuda->driver->cuMemAllocFromPoolAsync(
                                       &pointer, bytes, cuda->pool, echi_cuda_stream(ctx))
                                 : cuda->driver->cuMemAlloc(&pointer, bytes);
    echi_cuda_leave(ctx);
    return result == CUDA_SUCCESS ? (void *)(uintptr_t)pointer : NULL;
}

static void cuda_release(ech_ctx *ctx, void *pointer, size_t bytes)
{
    struct echi_cuda *cuda = ctx->state;
    (void)bytes;
    if (echi_cuda_enter(ctx) != ECH_OK) return;
    if (cuda->pool)
        cuda->driver->cuMemFreeAsync((CUdeviceptr)(uintptr_t)pointer, echi_cuda_stream(ctx));
    else
        cuda->driver->cuMemFree((CUdeviceptr)(uintptr_t)pointer);
    echi_cuda_leave(ctx);
}

void echi_cuda_trim_pool(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    if (!cuda->pool || echi_cuda_enter(ctx) != ECH_OK) return;
    cuda->driver->cuStreamSynchronize(
        echi_cuda_stream(ctx)); /* what is freed in its order is not yet free */
    cuda->driver->cuMemPoolTrimTo(cuda->pool, 0);
    echi_cuda_leave(ctx);
}

static void cuda_trim(ech_ctx *ctx)
{
    echi_cuda_drop_runs(ctx->state);
    echi_cuda_trim_pool(ctx);
}

static ech_status cuda_copy(ech_ctx *ctx, void *to, const void *from, size_t bytes)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    TRY(echi_cuda_copy(ctx, to, from, bytes));
    CU(cuStreamSynchronize, echi_cuda_stream(ctx));
done:
    echi_cuda_leave(ctx);
    return status;
}

/* Small sorts are over in little more time than this takes.  The driver tells of memory in a third
 * of the time if no context is current. */
static ech_status cuda_side(ech_ctx *ctx, const void *pointer, enum echi_side *side, bool *out)
{
    bool on_device, pinned;
    ech_status status = echi_cuda_side(ctx, pointer, &on_device, &pinned);
    if (status != ECH_OK) {
        TRY(echi_cuda_enter(ctx));
        status = echi_cuda_side(ctx, pointer, &on_device, &pinned);
        echi_cuda_leave(ctx);
    }
    *side = on_device ? ECHI_DEVICE : ECHI_HOST;
    if (out) *out = pinned;
done:
    return status;
}

/* ---- Operations ---- */

static ech_status cuda_run(ech_ctx *ctx, const struct echi_operation *operation,
                           const void *request, void *work)
{
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    status = operation->run(ctx, request, work);
    echi_cuda_leave(ctx);
    return status;
}

static ech_status cuda_sort(ech_ctx *ctx, const struct echi_sort *sort)
{
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    status = echi_cuda_any_sort(ctx, sort);
    echi_cuda_leave(ctx);
    return status;
}

static ech_status cuda_sort_host(ech_ctx *ctx, const struct echi_sort *sort)
{
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    status = echi_cuda_sort_host(ctx, sort);
    echi_cuda_leave(ctx);
    return status;
}

/* ---- The two kinds: they differ in whose driver it is ---- */

#define OPERATIONS                                                                                 \
    .close = cuda_close, .sync = cuda_sync, .stream = cuda_stream, .allocate = cuda_allocate,      \
    .release = cuda_release, .trim = cuda_trim, .pooled = true, .copy = cuda_copy,                 \
    .side = cuda_side, .enter = echi_cuda_enter, .leave = echi_cuda_leave, .run = cuda_run,        \
    .reduce = &echi_cuda_reduce, .scan = &echi_cuda_scan, .histogram = &echi_cuda_histogram,       \
    .select = &echi_cuda_select, .arrange = &echi_cuda_arrange, .gf2 = &echi_cuda_gf2,             \
    .matmul = &echi_cuda_matmul, .matvec = &echi_cuda_matvec, .gf2_mul = &echi_cuda_gf2_mul,       \
    .gf2_echelon = &echi_cuda_gf2_echelon, .gf2_batch = &echi_cuda_gf2_batch,                      \
    .sparse = &echi_cuda_sparse, .solve = &echi_cuda_solve, .direct = &echi_cuda_direct,           \
    .direct_vendor_name = "cusolver", .sort_workspace = echi_cuda_any_sort_workspace,              \
    .sort_explain = echi_cuda_any_sort_explain, .sort_lean = "lean", .sort = cuda_sort,            \
    .sort_host = cuda_sort_host

#ifdef ECHELON_CUDA
static int cuda_count(void)
{
    const struct echi_driver *driver = echi_driver(ECHI_GPU, NULL);
    return driver ? driver->devices : 0;
}

static ech_status cuda_describe(int ordinal, ech_device *out)
{
    const struct echi_driver *driver = echi_driver(ECHI_GPU, NULL);
    ech_ctx *ctx = NULL; /* failures go to the thread's message */
    ech_status status = ECH_OK;
    CUdevice device;
    CUcontext context = NULL, popped;
    size_t free_bytes = 0, total_bytes = 0;
    CU(cuDeviceGet, &device, ordinal);
    name_device(ECHI_GPU, ordinal, out->name, sizeof out->name);
    CU(cuDeviceGetName, out->description, (int)sizeof out->description, device);
    snprintf(out->features, sizeof out->features, "sm_%d", architecture(driver, device));
    out->units = attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    out->driver = driver->version;
    CU(cuDeviceTotalMem, &total_bytes, device);
    out->memory_bytes = total_bytes;
    /* Free memory is known only inside a context. */
    CU(cuDevicePrimaryCtxRetain, &context, device);
    if (driver->cuCtxPushCurrent(context) == CUDA_SUCCESS) {
        if (driver->cuMemGetInfo(&free_bytes, &total_bytes) == CUDA_SUCCESS)
            out->free_bytes = free_bytes;
        driver->cuCtxPopCurrent(&popped);
    }
    driver->cuDevicePrimaryCtxRelease(device);
done:
    return status;
}

static ech_status cuda_open(ech_ctx *ctx, int ordinal)
{
    return open_device(ECHI_GPU, ctx, ordinal);
}

const struct echi_backend echi_cuda = { .name = "cuda",
                                        .count = cuda_count,
                                        .describe = cuda_describe,
                                        .open = cuda_open,
                                        .direct_vendor = &echi_cusolver,
                                        OPERATIONS };
#endif

#ifdef ECHELON_SIMT
/* It is no device for work: a program that uses whatever there is must not come upon it. */
static int simt_count(void)
{
    return 0;
}

static ech_status simt_open(ech_ctx *ctx, int ordinal)
{
    return open_device(ECHI_EXECUTOR, ctx, ordinal);
}

const struct echi_backend echi_simt = {
    .name = "simt", .count = simt_count, .open = simt_open, OPERATIONS
};
#endif
