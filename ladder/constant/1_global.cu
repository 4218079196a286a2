/*
 * 1_global.cu - a polynomial with coefficients in global memory.
 *
 * Idea:   a thread has one x and evaluates by Horner's rule: y = (... c[31] x + c[30]) x + ...
 * Cost:   32 loads of coefficients per load of x; all lanes read the same coefficient, one sector
 * Wastes: each of these loads is a request to the L1 cache, which also serves x
 * From:   our addition: what constant memory is compared with
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"
#include "polynomial.cuh"

extern "C" __global__ void constant_1(const float *x, uint64_t n, const float *c, float *y)
{
    uint64_t i = global_thread();
    if (i >= n) return;
    float at = x[i], sum = 0;
#pragma unroll
    for (int k = CONSTANT_TERMS - 1; k >= 0; k--) sum = fmaf(sum, at, c[k]);
    y[i] = sum;
}
