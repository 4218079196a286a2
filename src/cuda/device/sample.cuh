/*
 * cuda/device/sample.cuh - the positions of a stratified random sample.
 *
 *     strata    |  x   |    x  | x    |     x|  ...  |   x   |     `sample` of them, equal up to
 *     position  0                                            n     one element, which cover all n
 *
 * Each stratum has one random position.  The sample has therefore at most the variance of a random
 * one, for every order of the elements.  This requires that the strata cover the array: if the
 * sample omitted the last n % sample elements, it would be biased for sorted ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_SAMPLE_CUH
#define ECHI_CUDA_DEVICE_SAMPLE_CUH

#include <stdint.h>

/* The position of sample element i of 0 < n < 2^44 elements; sample is at most 2^20.  The bounds of
 * strata are computed without a division per element; at most the last element is in none. */
static __device__ inline uint64_t sample_position(uint64_t n, uint64_t sample, uint64_t i)
{
    const uint64_t part = (n << 20) / sample; /* 2^20 times the length of a stratum */
    const uint64_t first = i * part >> 20, size = ((i + 1) * part >> 20) - first;
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return first + ((x >> 32) * size >> 32);
}

#endif
