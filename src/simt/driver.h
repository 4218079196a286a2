/*
 * simt/driver.h - the driver's types that more.def needs in addition to ../cuda/driver.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_DRIVER_H
#define SIMT_DRIVER_H

#include "cuda/driver.h"

#include <stdbool.h>

enum {
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
    CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4
};

enum {
    SIMT_MULTIPROCESSORS = 4, /* that the device reports; few, so that grids are small */
    SIMT_L2_BYTES = 25 << 10, /* few, so that small arrays exceed the cache */
    SIMT_MOST_CLUSTER = 16
};

/* The architecture for which the modules are compiled (CMake: ECHELON_SIMT_ARCH).  By default they
 * contain the kernels of all architectures, and otherwise the code for 9.0.  Some of it needs more
 * than the 64 KiB of shared memory of sm_75. */
#ifdef ECHELON_SIMT_ARCH
enum { SIMT_CODE = ECHELON_SIMT_ARCH };
#else
enum { SIMT_CODE = 90 };
#endif
enum { SIMT_OLDEST_SHARED_BYTES = (SIMT_CODE < 80 ? 64 : 99) << 10 };

/* ---- devices.c ---- */

CUresult simt_cuDeviceGetCount(int *count);
CUresult simt_cuDeviceGet(CUdevice *device, int ordinal);
CUresult simt_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult simt_cuCtxPushCurrent(CUcontext context);
CUresult simt_cuCtxPopCurrent(CUcontext *context);
CUresult simt_cuMemAlloc(CUdeviceptr *pointer, size_t bytes);
CUresult simt_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties);
CUresult simt_cuMemPoolDestroy(CUmemoryPool pool);
CUresult simt_cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                      CUstream stream);
CUresult simt_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count);
CUresult simt_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CUresult simt_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);

/* Releases a context; whether it was the last one of all devices. */
bool simt_release_context(CUdevice device);

/* Whether copies of the current device may use this memory. */
bool simt_may_access(const void *pointer);

#endif
