/*
 * 5_shared.cu - the same order with the coefficients in shared memory.
 *
 * Idea:   shared memory gives 32 words of different banks at a time: where lanes want different
 *         words of a table, that is where the table belongs
 * Cost:   the table is copied once a block; then a load of one pass for each coefficient
 * Wastes: the loads, if all lanes want the same word after all
 * From:   ours, as the other side of the warning
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"
#include "polynomial.cuh"

/* The lane's power of x, by squares: at^lane. */
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
    __syncthreads(); /* the table is there */
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
