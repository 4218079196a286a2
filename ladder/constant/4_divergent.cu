/*
 * 4_divergent.cu - constant memory if each lane reads another coefficient.
 *
 * Idea:   lane l begins with c[l] x^l and continues cyclically: at any time the lanes read 32
 *         different words
 * Cost:   the constant cache delivers one word at a time: a load is serialised into 32
 * Wastes: the whole advantage of constant memory. Tables indexed by data are such a case
 * From:   our addition. The CUDA programming guide documents the rule: reads of different words by
 *         one warp are serialised
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"
#include "polynomial.cuh"

__constant__ float constant_4_c[CONSTANT_TERMS]; /* written by the host */

/* at^lane, by repeated squaring. */
static __device__ inline float constant_4_power(float at, unsigned lane)
{
    float power = 1;
    for (unsigned bit = 0; bit < 5; bit++, at *= at)
        if (lane >> bit & 1) power *= at;
    return power;
}

extern "C" __global__ void constant_4(const float *x, uint64_t n, float *y)
{
    uint64_t i = global_thread();
    unsigned lane = threadIdx.x % 32;
    if (i >= n) return;
    float at = x[i], power = constant_4_power(at, lane), sum = 0;
    for (unsigned k = 0; k < CONSTANT_TERMS; k++) {
        unsigned term = (lane + k) % CONSTANT_TERMS;
        power = term == 0 ? 1.0f : power;
        sum = fmaf(constant_4_c[term], power, sum);
        power *= at;
    }
    y[i] = sum;
}
