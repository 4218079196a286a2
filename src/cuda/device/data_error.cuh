/*
 * cuda/device/data_error.cuh - how a kernel says that the data is wrong (core/data_error.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_COMPLAIN_CUH
#define ECHI_CUDA_DEVICE_COMPLAIN_CUH

#include <stdint.h>
#include "core/data_error.h"

/* Of several errors the one with the least `where` stays, whoever comes first. */
static __device__ inline void report_error(uint64_t *data_error, enum echi_data_error what,
                                           uint64_t where)
{
    atomicMax((unsigned long long *)data_error, ~(unsigned long long)(where << 8 | (uint64_t)what));
}

#endif
