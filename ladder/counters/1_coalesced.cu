/*
 * 1_coalesced.cu - requests and sectors: adjacent words.
 *
 * Idea:   lane l of warp w copies word 32 w + l
 * Cost:   one load request and one store request per warp, of four sectors each: 32 words of 4
 *         bytes are 128 bytes, four sectors of 32 bytes
 * Wastes: nothing that the counters show
 * From:   the definitions of Nsight Compute
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_1(const element *in, uint64_t n, element *out)
{
    uint64_t i = global_thread();
    if (i < n) out[i] = in[i];
}
