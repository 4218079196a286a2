/*
 * cuda/copy.c - copies between host and device memory.
 *
 * The driver moves pageable memory through a buffer of its own at a fraction of the link's speed,
 * so large copies go through pinned buffers: while one is on the link, the CPU's threads fill (or
 * drain) the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda.h"

#include <string.h>

enum { SMALL_BYTES = 1 << 20 }; /* below, the driver's own path is as good */

static CUdeviceptr device_pointer(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

ech_status echi_cuda_side(ech_ctx *ctx, const void *pointer, bool *on_device, bool *pinned)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    unsigned type = 0, managed = 0; /* what the driver says of memory that CUDA never saw */
    int attributes[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED };
    void *values[] = { &type, &managed };
    CU(cuPointerGetAttributes, 2, attributes, values, device_pointer(pointer));
done:
    *on_device = type == CU_MEMORYTYPE_DEVICE || managed;
    *pinned = type == CU_MEMORYTYPE_HOST && !managed;
    return status;
}

static ech_status pinned_buffers(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    for (int i = 0; i < ECHI_PINNED; i++) {
        if (!cuda->pinned_done[i])
            CU(cuEventCreate, &cuda->pinned_done[i], CU_EVENT_DISABLE_TIMING);
        if (!cuda->pinned[i]) CU(cuMemHostAlloc, &cuda->pinned[i], ECHI_PINNED_BYTES, 0);
    }
done:
    return status;
}

/* One core does not fill the link; a handful do. */
static void copy_with_threads(const ech_ctx *ctx, char *to, const char *from, size_t bytes)
{
#ifdef _OPENMP
    const int most = 8;
    int threads = ctx->threads > 0 && ctx->threads < most ? ctx->threads : most;
    const size_t piece = (size_t)1 << 20;
    size_t pieces = (bytes + piece - 1) / piece;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < pieces; i++) {
        size_t begin = i * piece, length = bytes - begin < piece ? bytes - begin : piece;
        memcpy(to + begin, from + begin, length);
    }
#else
    (void)ctx;
    memcpy(to, from, bytes);
#endif
}

static ech_status upload(ech_ctx *ctx, char *to, const char *from, size_t bytes)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    CUstream stream = echi_cuda_stream(ctx);
    ech_status status = ECH_OK;
    TRY(pinned_buffers(ctx));
    for (size_t at = 0, i = 0; at < bytes; at += ECHI_PINNED_BYTES, i++) {
        size_t length = bytes - at < ECHI_PINNED_BYTES ? bytes - at : ECHI_PINNED_BYTES;
        size_t b = i % ECHI_PINNED;
        CU(cuEventSynchronize,
           cuda->pinned_done[b]); /* until the copy before from this buffer is done */
        copy_with_threads(ctx, cuda->pinned[b], from + at, length);
        CU(cuMemcpyAsync, device_pointer(to + at), device_pointer(cuda->pinned[b]), length, stream);
        CU(cuEventRecord, cuda->pinned_done[b], stream);
    }
done:
    return status;
}

static ech_status download(ech_ctx *ctx, char *to, const char *from, size_t bytes)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    CUstream stream = echi_cuda_stream(ctx);
    ech_status status = ECH_OK;
    size_t pieces = (bytes + ECHI_PINNED_BYTES - 1) / ECHI_PINNED_BYTES;
    TRY(pinned_buffers(ctx));
    /* Piece i is queued ECHI_PINNED - 1 pieces before it is drained. */
    for (size_t i = 0; i < pieces + ECHI_PINNED - 1; i++) {
        if (i < pieces) {
            size_t at = i * ECHI_PINNED_BYTES, b = i % ECHI_PINNED;
            size_t length = bytes - at < ECHI_PINNED_BYTES ? bytes - at : ECHI_PINNED_BYTES;
            CU(cuMemcpyAsync, device_pointer(cuda->pinned[b]), device_pointer(from + at), length,
               stream);
            CU(cuEventRecord, cuda->pinned_done[b], stream);
        }
        if (i >= ECHI_PINNED - 1) {
            size_t j = i - (ECHI_PINNED - 1), at = j * ECHI_PINNED_BYTES, b = j % ECHI_PINNED;
            size_t length = bytes - at < ECHI_PINNED_BYTES ? bytes - at : ECHI_PINNED_BYTES;
            CU(cuEventSynchronize, cuda->pinned_done[b]);
            copy_with_threads(ctx, to + at, cuda->pinned[b], length);
        }
    }
done:
    return status;
}

ech_status echi_cuda_copy(ech_ctx *ctx, void *to, const void *from, size_t bytes)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    CUstream stream = echi_cuda_stream(ctx);
    ech_status status = ECH_OK;
    bool to_device, from_device, to_pinned, from_pinned;
    TRY(echi_cuda_side(ctx, to, &to_device, &to_pinned));
    TRY(echi_cuda_side(ctx, from, &from_device, &from_pinned));
    echi_log(ctx, ECH_LOG_TRACE, "copy %zu bytes from %s to %s", bytes,
             from_device ? "device" : "host", to_device ? "device" : "host");
    if (!to_device && !from_device) {
        memmove(to, from, bytes);
    } else if (to_device && !from_device && !from_pinned && bytes > SMALL_BYTES) {
        TRY(upload(ctx, to, from, bytes));
    } else if (from_device && !to_device && !to_pinned && bytes > SMALL_BYTES) {
        TRY(download(ctx, to, from, bytes));
    } else {
        CU(cuMemcpyAsync, device_pointer(to), device_pointer(from), bytes, stream);
        if (!to_device || from_pinned) CU(cuStreamSynchronize, stream);
    }
done:
    return status;
}
