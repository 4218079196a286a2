/*
 * 11_shuffle.cu - warp operations: a warp reverses 32 words by a shuffle.
 *
 * Idea:   lane l receives the word of lane 31 - l from its register
 * Cost:   one warp operation per warp; no access to shared memory
 * Wastes: nothing that the counters show
 * From:   the shuffles of sm_30 (2012)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_11(const element *in, uint64_t n, element *out)
{
    uint64_t i = global_thread(), other = i ^ 31;
    element x = 0;
    if (i < n) x = in[i];
    x = __shfl_xor_sync(ALL_LANES, x, 31);
    if (other < n) out[other] = x;
}
