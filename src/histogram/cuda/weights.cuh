/*
 * histogram/cuda/weights.cuh - each element adds a weight to its bin.
 *
 *     weights --histogram_largest--> the maximum magnitude, which determines the
 *                                      units of core/exact.h
 *     elements, weights --histogram_weights--> sums[copy][counter][word]
 *     sums --histogram_sums--> counts
 *
 * Sums are integers: 64 bits, or 192 bits for float weights. A thread adds the carry of its
 * addition to the next word, so the sum does not depend on the order. Several copies reduce
 * contention if there are few counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_CUDA_WEIGHTS_CUH
#define ECHI_HISTOGRAM_CUDA_WEIGHTS_CUH

#include "histogram/cuda/common.cuh"
#include "histogram/cuda/global.cuh"
#include "core/exact.h"

static __device__ inline bool weights_are_floats(const struct histogram_args &a)
{
    return a.weights_type >= HISTOGRAM_F32;
}

static __device__ inline double float_weight(const struct histogram_args &a, uint64_t i)
{
    if (a.weights_type == HISTOGRAM_F32) return ((const float *)a.weights)[i];
    return ((const double *)a.weights)[i];
}

static __device__ inline uint64_t integer_weight(const struct histogram_args &a, uint64_t i)
{
    if (a.weights_type == HISTOGRAM_I32) return (uint64_t)(int64_t)((const int32_t *)a.weights)[i];
    if (a.weights_type == HISTOGRAM_U32) return ((const uint32_t *)a.weights)[i];
    return ((const uint64_t *)a.weights)[i];
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_MOVE_THREADS)
    histogram_largest(const __grid_constant__ struct histogram_args a)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    uint64_t largest = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += threads) {
        uint64_t magnitude = exact_magnitude(float_weight(a, i));
        if (magnitude > largest) largest = magnitude;
    }
    for (int step = 16; step; step /= 2) {
        uint64_t other = __shfl_xor_sync(WARP_ALL, (unsigned long long)largest, step);
        if (other > largest) largest = other;
    }
    if (lane_id() == 0 && largest)
        atomicMax((unsigned long long *)a.largest, (unsigned long long)largest);
}

static __device__ inline void add_exact(uint64_t *sum, double x, uint64_t largest)
{
    uint64_t word[ECHI_EXACT_WORDS], carry = 0;
    exact_split(x, largest, word);
#pragma unroll
    for (int w = 0; w < ECHI_EXACT_LIMBS; w++) {
        uint64_t with = word[w] + carry;
        carry = with < carry;
        if (!with) continue;
        uint64_t before = atomicAdd((unsigned long long *)sum + w, (unsigned long long)with);
        carry += before + with < with;
    }
    if (word[ECHI_EXACT_LIMBS])
        atomicOr((unsigned long long *)sum + ECHI_EXACT_LIMBS,
                 (unsigned long long)word[ECHI_EXACT_LIMBS]);
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_MOVE_THREADS)
    histogram_weights(const __grid_constant__ struct histogram_args a)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t copy = thread % a.copies * a.counters;
    const uint64_t largest = weights_are_floats(a) ? *a.largest : 0;
    check_edges(a);
    for (uint64_t i = thread; i < a.n; i += threads) {
        uint64_t counter = counter_at(a, i);
        if (counter == ECHI_NO_SLOT) continue;
        if (weights_are_floats(a))
            add_exact(a.sums + (copy + counter) * ECHI_EXACT_WORDS, float_weight(a, i), largest);
        else
            add_count(a.sums, copy + counter, integer_weight(a, i));
    }
}

extern "C" __global__ void __launch_bounds__(HISTOGRAM_MOVE_THREADS)
    histogram_sums(const __grid_constant__ struct histogram_args a)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; k < a.counters;
         k += threads) {
        uint64_t sum[ECHI_EXACT_WORDS] = { 0, 0, 0, 0 };
        for (uint64_t copy = 0; copy < a.copies; copy++) {
            const uint64_t at = copy * a.counters + k;
            if (weights_are_floats(a))
                exact_add(sum, a.sums + at * ECHI_EXACT_WORDS);
            else
                sum[0] += a.sums[at];
        }
        if (weights_are_floats(a)) {
            double *to = (double *)a.counts + k, x = exact_round(sum, *a.largest);
            *to = a.add ? exact_plus(*to, x) : x;
        } else {
            a.counts[k] = sum[0] + (a.add ? a.counts[k] : 0);
        }
    }
}

#endif
