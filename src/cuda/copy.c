/*
 * cuda/copy.c - copies between host and device memory.
 *
 * The driver is fast for small copies and for pinned memory; exchange.c performs large copies of
 * pageable memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/exchange.h"
#include "cuda/tuning.h"

#include <string.h>

static CUdeviceptr device_pointer(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

enum { MOST_READERS = 64 }; /* bits of echi_cuda.readers */

/* Memory of a pool is accessible only to the devices to which the pool grants access. */
static ech_status permit(ech_ctx *ctx, CUmemoryPool pool, CUdevice device)
{
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    const CUmemAccessDesc access = { .location_type = CU_MEM_LOCATION_TYPE_DEVICE,
                                     .location_id = device,
                                     .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    ech_status status = ECH_OK;
    CU(cuMemPoolSetAccess, pool, &access, 1);
done:
    return status;
}

ech_status echi_cuda_reach(ech_ctx *ctx, ech_ctx *other, bool *can)
{
    const struct echi_cuda *cuda = ctx->state;
    struct echi_cuda *peer = other->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    int possible = cuda->device == peer->device;
    *can = possible;
    if (possible) return ECH_OK;
    CU(cuDeviceCanAccessPeer, &possible, cuda->device, peer->device);
    if (!possible) return ECH_OK;
    const CUresult enabled = driver->cuCtxEnablePeerAccess(peer->context, 0);
    if (enabled != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        TRY(echi_cuda_check(ctx, driver, enabled, "cuCtxEnablePeerAccess"));
    if (peer->pool) TRY(permit(ctx, peer->pool, cuda->device));
    if (cuda->device < MOST_READERS) peer->readers |= (uint64_t)1 << cuda->device;
    *can = true;
done:
    return status;
}

ech_status echi_cuda_share(ech_ctx *ctx, const void *pointer)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    CUmemoryPool pool = NULL;
    int attributes[] = { CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE };
    void *values[] = { &pool };
    if (!cuda->readers || !pointer) return ECH_OK;
    CU(cuPointerGetAttributes, 1, attributes, values, device_pointer(pointer));
    if (!pool || pool == cuda->pool) return ECH_OK;
    for (int device = 0; device < MOST_READERS; device++)
        if (cuda->readers >> device & 1) TRY(permit(ctx, pool, device));
done:
    return status;
}

ech_status echi_cuda_side(ech_ctx *ctx, const void *pointer, bool *on_device, bool *pinned)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    unsigned type = 0, managed = 0; /* the driver's answer for memory that CUDA does not know */
    int attributes[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED };
    void *values[] = { &type, &managed };
    CU(cuPointerGetAttributes, 2, attributes, values, device_pointer(pointer));
done:
    *on_device = type == CU_MEMORYTYPE_DEVICE || managed;
    *pinned = type == CU_MEMORYTYPE_HOST && !managed;
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
    } else if (to_device && !from_device && !from_pinned && bytes > LINK_SMALL_BYTES) {
        const struct echi_move up = { .host = (void *)(uintptr_t)from,
                                      .device = to,
                                      .bytes = bytes };
        TRY(echi_cuda_move(ctx, &up, true));
    } else if (from_device && !to_device && !to_pinned && bytes > LINK_SMALL_BYTES) {
        const struct echi_move down = { .host = to,
                                        .device = (void *)(uintptr_t)from,
                                        .bytes = bytes };
        TRY(echi_cuda_move(ctx, &down, false));
    } else {
        CU(cuMemcpyAsync, device_pointer(to), device_pointer(from), bytes, stream);
        if (!to_device || from_pinned) CU(cuStreamSynchronize, stream);
    }
done:
    return status;
}
