/*
 * 3_parameters.cu - the coefficients as a parameter of the kernel.
 *
 * Idea:   what a kernel is called with lies in constant memory: a struct by value is a constant
 *         table that each launch can choose anew
 * Cost:   as before; 128 bytes more to send with the launch
 * Wastes: nothing, up to the 4 KB that parameters can take (32 KB from CUDA 12.1 on)
 * From:   sm_20, which moved parameters from shared to constant memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"
#include "polynomial.cuh"

extern "C" __global__ void constant_3(const float *x, uint64_t n, constant_coefficients given,
                                      float *y)
{
    uint64_t i = global_thread();
    if (i >= n) return;
    float at = x[i], sum = 0;
#pragma unroll
    for (int k = CONSTANT_TERMS - 1; k >= 0; k--) sum = fmaf(sum, at, given.c[k]);
    y[i] = sum;
}
