/*
 * simt/devices.c - the devices of the emulator, their contexts, and who may copy from whose memory.
 *
 * The option devices=N of ECHELON_SIMT makes N devices, 1 by default.  They share one memory and
 * one CPU.  An allocation belongs to the device of the context or the pool that made it; a copy by
 * another device fails, as on GPUs, unless that device has been permitted to access it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/driver.h"
#include "simt/emulator.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_DEVICES = SIMT_MOST_DEVICES, NESTED = 16 };

struct CUctx_st {
    int device, uses;
};
struct CUmemPoolHandle_st {
    struct CUmemPoolHandle_st *next; /* in `destroyed` */
    int device;
    unsigned access; /* a bit per other device that may access its memory */
};

static struct CUctx_st contexts[MOST_DEVICES];
static int uses;
static CUmemoryPool destroyed;             /* pools for reuse: memory of them may still be in use */
static unsigned peer_access[MOST_DEVICES]; /* a bit per device whose other memory this one may
                                              access */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct {
    CUcontext of[NESTED];
    int count;
} current;

/* ---- Devices and contexts ---- */

CUresult simt_cuDeviceGetCount(int *count)
{
    *count = (int)simt_options.devices;
    return CUDA_SUCCESS;
}

CUresult simt_cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return ordinal >= 0 && (uint64_t)ordinal < simt_options.devices ? CUDA_SUCCESS
                                                                    : CUDA_ERROR_INVALID_DEVICE;
}

CUresult simt_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    pthread_mutex_lock(&lock);
    contexts[device].device = device;
    contexts[device].uses++;
    uses++;
    pthread_mutex_unlock(&lock);
    *context = &contexts[device];
    return CUDA_SUCCESS;
}

bool simt_release_context(CUdevice device)
{
    pthread_mutex_lock(&lock);
    if (--contexts[device].uses == 0) peer_access[device] = 0;
    const bool last = --uses == 0;
    pthread_mutex_unlock(&lock);
    return last;
}

CUresult simt_cuCtxPushCurrent(CUcontext context)
{
    if (!context || current.count == NESTED) return CUDA_ERROR_INVALID_VALUE;
    current.of[current.count++] = context;
    return CUDA_SUCCESS;
}

CUresult simt_cuCtxPopCurrent(CUcontext *context)
{
    if (current.count == 0) return CUDA_ERROR_INVALID_VALUE;
    *context = current.of[--current.count];
    return CUDA_SUCCESS;
}

static int current_device(void)
{
    return current.count ? current.of[current.count - 1]->device : 0;
}

/* ---- Memory ---- */

static CUresult allocate(CUdeviceptr *pointer, size_t bytes, struct simt_owner owner)
{
    void *at = bytes ? simt_memory_allocate(bytes, SIMT_MEMORY_DEVICE) : NULL;
    *pointer = (CUdeviceptr)(uintptr_t)at;
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (!at) return CUDA_ERROR_OUT_OF_MEMORY;
    simt_memory_set_owner(at, owner);
    return CUDA_SUCCESS;
}

CUresult simt_cuMemAlloc(CUdeviceptr *pointer, size_t bytes)
{
    return allocate(pointer, bytes, (struct simt_owner){ current_device(), NULL });
}

CUresult simt_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    const int device = properties->location_id;
    if (properties->location_type != CU_MEM_LOCATION_TYPE_DEVICE || device < 0 ||
        device >= MOST_DEVICES)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *pool = destroyed;
    if (destroyed) destroyed = destroyed->next;
    pthread_mutex_unlock(&lock);
    if (!*pool) *pool = malloc(sizeof **pool);
    if (!*pool) return CUDA_ERROR_OUT_OF_MEMORY;
    **pool = (struct CUmemPoolHandle_st){ .device = device };
    return CUDA_SUCCESS;
}

CUresult simt_cuMemPoolDestroy(CUmemoryPool pool)
{
    pthread_mutex_lock(&lock);
    pool->next = destroyed;
    destroyed = pool;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

CUresult simt_cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                      CUstream stream)
{
    (void)stream;
    if (!pool) return CUDA_ERROR_INVALID_VALUE;
    return allocate(pointer, bytes, (struct simt_owner){ pool->device, pool });
}

/* ---- Access to the memory of other devices ---- */

CUresult simt_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    if (!pool || !access || count != 1 || access->location_id < 0 ||
        access->location_id >= MOST_DEVICES)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (access->flags)
        pool->access |= 1u << access->location_id;
    else
        pool->access &= ~(1u << access->location_id);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

CUresult simt_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    *can = device != peer;
    return CUDA_SUCCESS;
}

CUresult simt_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    if (!peer || flags) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    peer_access[current_device()] |= 1u << peer->device;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

bool simt_may_access(const void *pointer)
{
    struct simt_owner owner;
    const int device = current_device();
    if (!simt_memory_owner(pointer, &owner) || owner.device == device) return true;
    pthread_mutex_lock(&lock);
    const unsigned allowed =
        owner.pool ? owner.pool->access >> device : peer_access[device] >> owner.device;
    pthread_mutex_unlock(&lock);
    return allowed & 1;
}
