/*
 * cuda/backend.c - the CUDA backend, for NVIDIA GPUs and for the SIMT emulator: the functions and
 * operations of core/backend.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cuda/cuda.h"
#include "cuda/cusolver.h"

#include <stdio.h>

static ech_status cuda_sync(ech_ctx *ctx)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CU(cuStreamSynchronize, echi_cuda_stream(ctx));
    TRY(echi_cuda_poll_error(ctx));
done:
    echi_cuda_leave(ctx);
    return status;
}

static ech_status cuda_poll(ech_ctx *ctx, bool *done)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CUresult result = driver->cuStreamQuery(echi_cuda_stream(ctx));
    *done = result == CUDA_SUCCESS;
    if (result != CUDA_ERROR_NOT_READY) TRY(echi_cuda_check(ctx, driver, result, "cuStreamQuery"));
    if (*done) TRY(echi_cuda_poll_error(ctx));
done:
    echi_cuda_leave(ctx);
    return status;
}

static ech_status cuda_record_event(ech_ctx *ctx, void *event)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CU(cuEventRecord, (CUevent)event, echi_cuda_stream(ctx));
done:
    echi_cuda_leave(ctx);
    return status;
}

static ech_status cuda_wait_event(ech_ctx *ctx, void *event)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CU(cuStreamWaitEvent, echi_cuda_stream(ctx), (CUevent)event, 0);
done:
    echi_cuda_leave(ctx);
    return status;
}

static ech_status cuda_make_event(ech_ctx *ctx, void **event)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    CUevent made = NULL;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CU(cuEventCreate, &made, CU_EVENT_DISABLE_TIMING);
    *event = made;
done:
    echi_cuda_leave(ctx);
    return status;
}

static void cuda_free_event(ech_ctx *ctx, void *event)
{
    const struct echi_cuda *cuda = ctx->state;
    if (!event) return;
    const bool entered = echi_cuda_enter(ctx) == ECH_OK;
    cuda->driver->cuEventDestroy((CUevent)event);
    if (entered) echi_cuda_leave(ctx);
}

static ech_status cuda_raise_priority(ech_ctx *ctx)
{
    enum { HIGHEST = -1000 }; /* the driver uses the highest that there is */
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    CUstream stream = NULL;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CU(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, HIGHEST);
    driver->cuStreamDestroy(cuda->own_stream);
    cuda->own_stream = stream;
done:
    echi_cuda_leave(ctx);
    return status;
}

/* ---- Memory ---- */

static void *cuda_stream(ech_ctx *ctx)
{
    return echi_cuda_stream(ctx);
}

static ech_status cuda_allocate(ech_ctx *ctx, size_t bytes, void **pointer)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    CUdeviceptr at = 0;
    *pointer = NULL;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    CUresult result =
        cuda->pool ? driver->cuMemAllocFromPoolAsync(&at, bytes, cuda->pool, echi_cuda_stream(ctx))
                   : driver->cuMemAlloc(&at, bytes);
    if (result == CUDA_SUCCESS)
        *pointer = (void *)(uintptr_t)at;
    else if (result == CUDA_ERROR_OUT_OF_MEMORY)
        status = ECH_ERR_MEMORY;
    else
        status = echi_cuda_check(ctx, driver, result,
                                 cuda->pool ? "cuMemAllocFromPoolAsync" : "cuMemAlloc");
    echi_cuda_leave(ctx);
    return status;
}

static void cuda_release(ech_ctx *ctx, void *pointer, size_t bytes)
{
    struct echi_cuda *cuda = ctx->state;
    (void)bytes;
    const bool entered =
        echi_cuda_enter(ctx) == ECH_OK; /* the driver may release it nevertheless */
    if (cuda->pool)
        cuda->driver->cuMemFreeAsync((CUdeviceptr)(uintptr_t)pointer, echi_cuda_stream(ctx));
    else
        cuda->driver->cuMemFree((CUdeviceptr)(uintptr_t)pointer);
    if (entered) echi_cuda_leave(ctx);
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

/* The driver copies pinned memory asynchronously; other memory may be copied before it returns. */
static ech_status cuda_copy_async(ech_ctx *ctx, void *to, const void *from, size_t bytes)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    echi_log(ctx, ECH_LOG_TRACE, "queue a copy of %zu bytes", bytes);
    CU(cuMemcpyAsync, (CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes,
       echi_cuda_stream(ctx));
done:
    echi_cuda_leave(ctx);
    return status;
}

/* Small sorts take little more time than this query. The driver answers it in a third of the time
 * if no context is current. */
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

static ech_status cuda_reach(ech_ctx *ctx, ech_ctx *other, bool *can)
{
    ech_status status;
    *can = false;
    TRY(echi_cuda_enter(ctx));
    status = echi_cuda_reach(ctx, other, can);
    echi_cuda_leave(ctx);
done:
    return status;
}

static ech_status cuda_share(ech_ctx *ctx, const void *pointer)
{
    ech_status status;
    TRY(echi_cuda_enter(ctx));
    status = echi_cuda_share(ctx, pointer);
    echi_cuda_leave(ctx);
done:
    return status;
}

/* At most BATCH copies. */
enum { BATCH = 256 };
static ech_status copy_batch(ech_ctx *ctx, CUstream stream, const struct echi_copy *copies,
                             size_t n)
{
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    CUmemcpyAttributes attributes = { .access_order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM };
    CUdeviceptr to[BATCH], from[BATCH];
    size_t bytes[BATCH], first = 0, failed = 0;
    ech_status status = ECH_OK;
    for (size_t i = 0; i < n; i++) {
        to[i] = (CUdeviceptr)(uintptr_t)copies[i].to;
        from[i] = (CUdeviceptr)(uintptr_t)copies[i].from;
        bytes[i] = copies[i].bytes;
    }
    if (n > 1 && driver->cuMemcpyBatchAsync) {
        CU(cuMemcpyBatchAsync, to, from, bytes, n, &attributes, &first, 1, &failed, stream);
        goto done;
    }
    for (size_t i = 0; i < n; i++) CU(cuMemcpyAsync, to[i], from[i], bytes[i], stream);
done:
    return status;
}

/* Its kernels start before those of the context's stream. */
ech_status echi_cuda_lane(ech_ctx *ctx, unsigned lane, CUstream *stream)
{
    enum { HIGHEST = -1000 }; /* the driver uses the highest that there is */
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    if (!cuda->lanes[lane])
        CU(cuStreamCreateWithPriority, &cuda->lanes[lane], CU_STREAM_NON_BLOCKING, HIGHEST);
    cuda->lane_used[lane] = true;
    *stream = cuda->lanes[lane];
done:
    return status;
}

/* Each lane has a stream of its own. */
static ech_status cuda_copy_beside(ech_ctx *ctx, unsigned lane, const struct echi_copy *copies,
                                   size_t n)
{
    CUstream stream = NULL;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    TRY(echi_cuda_lane(ctx, lane, &stream));
    for (size_t i = 0; i < n; i += BATCH)
        TRY(copy_batch(ctx, stream, copies + i, n - i < BATCH ? n - i : BATCH));
done:
    echi_cuda_leave(ctx);
    return status;
}

static ech_status cuda_lane(ech_ctx *ctx, unsigned lane, void **stream)
{
    CUstream of = NULL;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    status = echi_cuda_lane(ctx, lane, &of);
    *stream = of;
    echi_cuda_leave(ctx);
    return status;
}

static ech_status cuda_wait_beside(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = echi_cuda_enter(ctx);
    if (status != ECH_OK) return status;
    for (int i = 0; i < ECHI_LANES; i++) {
        if (!cuda->lane_used[i]) continue;
        if (!cuda->lane_events[i])
            CU(cuEventCreate, &cuda->lane_events[i], CU_EVENT_DISABLE_TIMING);
        CU(cuEventRecord, cuda->lane_events[i], cuda->lanes[i]);
        CU(cuStreamWaitEvent, echi_cuda_stream(ctx), cuda->lane_events[i], 0);
        cuda->lane_used[i] = false;
    }
done:
    echi_cuda_leave(ctx);
    return status;
}

extern const struct echi_divide_ops echi_cuda_divide;
extern const struct echi_scan_ops echi_cuda_scan_ops;

/* ---- The two kinds of device, which differ in their driver ---- */

#define OPERATION(name, folder, call, command, tests, benchmark)                                   \
    [ECHI_OP_##name] = &echi_cuda_##name,
#define COMMON                                                                                     \
    .close = echi_cuda_close, .sync = cuda_sync, .stream = cuda_stream, .allocate = cuda_allocate, \
    .release = cuda_release, .trim = cuda_trim, .pooled = true, .scratch = echi_cuda_scratch,      \
    .copy = cuda_copy, .copy_async = cuda_copy_async, .reach = cuda_reach, .share = cuda_share,    \
    .poll = cuda_poll, .record_event = cuda_record_event, .wait_event = cuda_wait_event,           \
    .side = cuda_side, .make_event = cuda_make_event, .free_event = cuda_free_event,               \
    .raise_priority = cuda_raise_priority, .copy_beside = cuda_copy_beside,                        \
    .wait_beside = cuda_wait_beside, .lane = cuda_lane, .divide = &echi_cuda_divide,               \
    .scan_ops = &echi_cuda_scan_ops, .enter = echi_cuda_enter, .leave = echi_cuda_leave,           \
    .direct_vendor_name = "cusolver"

#ifdef ECHELON_CUDA
static const struct echi_provider gpu = { .device = "cuda",
                                          .numbered = true,
                                          .unit = "GPU",
                                          .unusable = "no GPU can be used",
                                          .code_for = echi_cuda_code_for,
                                          .ptx_file = "kernels.pack",
                                          .file = &echi_libcuda };

static int cuda_count(void)
{
    const struct echi_driver *driver = echi_driver(&echi_libcuda, NULL);
    return driver ? driver->devices : 0;
}

static ech_status cuda_describe(int ordinal, ech_device *out)
{
    const struct echi_driver *driver = echi_driver(&echi_libcuda, NULL);
    ech_ctx *ctx = NULL; /* failures are reported in the thread's message */
    ech_status status = ECH_OK;
    CUdevice device;
    CUcontext context = NULL, popped;
    size_t free_bytes = 0, total_bytes = 0;
    CU(cuDeviceGet, &device, ordinal);
    echi_cuda_name(&gpu, ordinal, out->name, sizeof out->name);
    CU(cuDeviceGetName, out->description, (int)sizeof out->description, device);
    snprintf(out->features, sizeof out->features, "sm_%d", echi_cuda_architecture(driver, device));
    out->multiprocessors =
        echi_cuda_attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    out->driver = driver->version;
    CU(cuDeviceTotalMem, &total_bytes, device);
    out->memory_bytes = total_bytes;
    /* The amount of free memory can be queried only with a current context. */
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
    return echi_cuda_open(&gpu, ctx, ordinal);
}

const struct echi_backend echi_cuda = { .name = "cuda",
                                        .count = cuda_count,
                                        .describe = cuda_describe,
                                        .open = cuda_open,
                                        .direct_vendor = &echi_cusolver,
                                        COMMON,
                                        .operations = {
#include "operations.def"
                                        } };
#endif

#ifdef ECHELON_SIMT
extern const char echi_simt_layout[33]; /* simt_layout() in cmake/simt.cmake */

/* The emulator has every module for the architecture of its device. */
static int same(int arch)
{
    return arch;
}

static const struct echi_provider emulator = { .device = "simt",
                                               .unit = "SIMT emulator",
                                               .unusable = "\"simt\" cannot be used",
                                               .layout = echi_simt_layout,
                                               .code_for = same,
                                               .file = &echi_libsimt };

/* It is not listed as a device, so that programs which choose from the list do not use it. */
static int simt_count(void)
{
    return 0;
}

static ech_status simt_open(ech_ctx *ctx, int ordinal)
{
    return echi_cuda_open(&emulator, ctx, ordinal);
}

const struct echi_backend echi_simt = {
    .name = "simt",
    .count = simt_count,
    .open = simt_open,
    COMMON,
    .operations = {
#include "operations.def"
    },
};
#endif
