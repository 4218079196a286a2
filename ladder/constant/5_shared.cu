/*
 * 5_shared.cu - the same order with the coefficients in shared memory.
 *
 * Idea:   shared memory delivers 32 words of different banks at a time, so tables that the lanes
 *         index differently belong there
 * Cost:   the table is copied once per block; then one load of one wavefront per coefficient
 * Wastes: the loads, if all lanes read the same word after all
 * From:   our addition: the alternative to rung 4
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"
#include "polynomial.cuh"

/* at^lane, by repeated squaring. */
static __device__ inline float constant_5_power(float at, unsigned lane)
{
    float power = 1;
    for (unsigned bit = 0; bit < 5; bit++, at *= at)
        if (lane >> bit & 1) power *= at;
    return power;
}

extern "C" __global__ void constant_5(const float *x, uint64_t n, const float *c, float *y)
{
    __shared__ float table[CONSTANT_TERMS];
    uint64_t i = global_thread();
    unsigned lane = threadIdx.x % 32;
    if (threadIdx.x < CONSTANT_TERMS) table[threadIdx.x] = c[threadIdx.x];
    __syncthreads(); /* the table is loaded */
    if (i >= n) return;
    float at = x[i], power = constant_5_power(at, lane), sum = 0;
    for (unsigned k = 0; k < CONSTANT_TERMS; k++) {
        unsigned term = (lane + k) % CONSTANT_TERMS;
        power = term == 0 ? 1.0f : power;
        sum = fmaf(table[term], power, sum);
        power *= at;
    }
    y[i] = sum;
}
