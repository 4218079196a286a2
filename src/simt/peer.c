/*
 * simt/peer.c - the driver's functions for access to the memory of other GPUs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/driver.h"

#include <stddef.h>

/* There is one device, which needs no access to others. */
CUresult simt_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    return pool && access && count == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult simt_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    *can = device != peer;
    return CUDA_SUCCESS;
}

CUresult simt_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    return peer && flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
