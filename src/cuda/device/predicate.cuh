/*
 * cuda/device/predicate.cuh - the test of core/predicate.h on the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_PREDICATE_CUH
#define ECHI_CUDA_DEVICE_PREDICATE_CUH

#include "core/predicate.h"
#include "cuda/device/order.cuh"

static __device__ inline bool predicate_passes(const struct echi_predicate &p, ukey u)
{
    ukey e = order_merge(p.order, order_encode(p.order, u)) & (ukey)p.mask;
    return ((ukey)(e - (ukey)p.low) <= (ukey)p.span) != (p.invert != 0);
}

#endif
