/*
 * cuda/device/data_error.cuh - reports an error in the data from a kernel (core/data_error.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_COMPLAIN_CUH
#define ECHI_CUDA_DEVICE_COMPLAIN_CUH

#include <stdint.h>
#include "core/data_error.h"

/* The error with the lowest `where` is kept, in whatever order errors are reported. */
static __device__ inline void report_error(uint64_t *data_error, enum echi_data_error what,
                                           uint64_t where)
{
    atomicMax((unsigned long long *)data_error, ~(unsigned long long)(where << 8 | (uint64_t)what));
}

#endif
