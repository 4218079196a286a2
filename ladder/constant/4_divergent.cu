/*
 * 4_divergent.cu - constant memory where each lane wants another coefficient.
 *
 * Idea:   lane l begins with c[l] x^l and goes round: at any time the lanes want 32 different words
 * Cost:   the cache of constants gives one word at a time: a load takes 32 turns
 * Wastes: the whole point of constant memory.  Tables that are looked up by data are such a case
 * From:   the lecture's warning
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"
#include "polynomial.cuh"

__constant__ float constant_4_c[CONSTANT_TERMS] = CONSTANT_COEFFICIENTS;

/* The lane's power of x, by squares: at^lane. */
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
