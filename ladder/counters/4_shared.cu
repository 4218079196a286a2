/*
 * 4_shared.cu - wavefronts: a warp reverses 32 words in shared memory.
 *
 * Idea:   lane l stores its word at position l and reads position 31 - l: each access uses every
 *         bank once
 * Cost:   one store request and one load request to shared memory per warp, one wavefront each
 * Wastes: nothing in shared memory
 * From:   the definitions of Nsight Compute
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void counters_4(const element *in, uint64_t n, element *out)
{
    __shared__ element s[32];
    unsigned lane = threadIdx.x, other = 31 - lane;
    uint64_t first = (uint64_t)blockIdx.x * 32;
    if (first + lane < n) s[lane] = in[first + lane];
    __syncwarp(); /* all lanes have stored their words */
    if (first + other < n) out[first + other] = s[other];
}
