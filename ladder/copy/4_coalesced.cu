/*
 * 4_coalesced.cu - a thread an element.
 *
 * Idea:   the lanes of a warp want 32 neighbouring words: one request, four sectors of 32 bytes
 * Cost:   n / 32 requests to read and as many to write, none of them in vain
 * Wastes: a thread lives for one element; each has one load under way
 * From:   coalescing, the first rule of CUDA since 2007
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void copy_4(const element *in, uint64_t n, element *out)
{
    uint64_t i = global_thread();
    if (i < n) out[i] = in[i];
}
