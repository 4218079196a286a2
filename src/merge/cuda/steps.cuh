/*
 * merge/cuda/steps.cuh - the steps of a merge of keys whose codes are equal only if their bits are:
 * five instructions per key, without tests for the end of a part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_STEPS_CUH
#define ECHI_MERGE_CUDA_STEPS_CUH

#include "cuda/device/merge_tile.cuh"

/* The next `ITEMS` keys of the merge of two sequences that begin at a and at b and are followed by
 * ITEMS + 1 codes of all ones; put(k, key) for each.  Both parts' next keys are at
 *
 *     u + k   and   (sum - u)    before step k, u being that of the part of the last result */
template <int ITEMS, typename call>
static __device__ inline void merge_steps(const ukey *keys, uint32_t a, uint32_t b, const call &put)
{
    const ukey x = keys[a], y = keys[b];
    const uint32_t sum = (a + b + 2) * KEY_BYTES; /* positions are in bytes */
    uint32_t u = (x <= y ? a + 1 : b + 1) * KEY_BYTES;
    ukey other = max(x, y);
    put(0, min(x, y));
#pragma unroll
    for (int k = 1; k < ITEMS; k++) {
        const uint32_t at = u + (k - 1) * KEY_BYTES; /* u may be below 0 */
        const ukey next = *(const ukey *)((const char *)keys + at);
        put(k, min(next, other));
        if (next > other) u = (sum - k * KEY_BYTES) - u;
        other = max(next, other);
    }
}

#endif
