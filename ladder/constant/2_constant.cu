/*
 * 2_constant.cu - the coefficients in constant memory.
 *
 * Idea:   64 KB of constant memory have a separate cache, which broadcasts one word to all lanes at
 *         a time; an instruction can use the word as an operand, so there is no load
 * Cost:   one load and one store per thread. The host writes the array before the launch, and
 *         again if the coefficients change: a copy per change
 * Wastes: that copy, which the launch has to wait for
 * From:   the lecture: a __constant__ array that the host writes with cudaMemcpyToSymbol()
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"
#include "polynomial.cuh"

__constant__ float constant_2_c[CONSTANT_TERMS]; /* written by the host, read by kernels */

extern "C" __global__ void constant_2(const float *x, uint64_t n, float *y)
{
    uint64_t i = global_thread();
    if (i >= n) return;
    float at = x[i], sum = 0;
#pragma unroll
    for (int k = CONSTANT_TERMS - 1; k >= 0; k--) sum = fmaf(sum, at, constant_2_c[k]);
    y[i] = sum;
}
