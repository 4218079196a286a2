/*
 * 3_parameters.cu - the coefficients as a kernel parameter.
 *
 * Idea:   kernel parameters are in constant memory: a struct passed by value is a constant table
 *         that belongs to one launch, so a change needs no copy
 * Cost:   the same; 128 more bytes per launch
 * Wastes: nothing, up to the 4 KB that parameters may have (32 KB from CUDA 12.1 on)
 * From:   our addition. GPUs since sm_20 have parameters in constant memory; the first GPUs had
 *         them in shared memory
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
