/*
 * cuda/device/complain.cuh - how a kernel says that the data is wrong (core/complaint.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_COMPLAIN_CUH
#define ECHI_CUDA_DEVICE_COMPLAIN_CUH

#include <stdint.h>
#include "core/complaint.h"

/* Of several complaints the one with the least `where` stays, whoever comes first. */
static __device__ inline void complain(uint64_t *complaint, enum echi_complaint what,
                                       uint64_t where)
{
    atomicMax((unsigned long long *)complaint, ~(unsigned long long)(where << 8 | (uint64_t)what));
}

#endif
