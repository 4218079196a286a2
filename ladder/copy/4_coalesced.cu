/*
 * 4_coalesced.cu - one thread per element.
 *
 * Idea:   the lanes of a warp read 32 adjacent words: one request, four sectors of 32 bytes
 * Cost:   n / 32 read requests and n / 32 write requests, without unused bytes
 * Wastes: a thread processes only one element and has only one load in flight
 * From:   coalesced access, the first rule of CUDA since 2007
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void copy_4(const element *in, uint64_t n, element *out)
{
    uint64_t i = global_thread();
    if (i < n) out[i] = in[i];
}
